//! Bindings: names to scalars, to parts of storage and to functions; storage to its current version.
//!
//! A name stands for a *view* of a piece of storage, mostly all of it. Writing through any view makes a
//! new version of the storage, so every other view sees it. Where an array is copied that Python would share
//! (a reshaped array; one that is either of two, depending on the path), the two pieces are noted as
//! *sharing*: reading both is fine, and a write to one makes the names of the other unusable, since what they
//! hold may be out of date.

use super::call::Callable;
use crate::ir::Value;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A piece of array storage, whatever names it goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct StorageId(usize);

/// All of a piece of storage, or part of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    pub(super) storage: StorageId,
    /// Nothing where it is all of it.
    pub(super) part: Option<Rc<Part>>,
}

impl View {
    pub(super) fn whole(storage: StorageId) -> View {
        View { storage, part: None }
    }
}

/// A part of an array: what is picked on each of its axes, and which of them the axes of the part are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) picks: Vec<Pick>,
    /// Axis `k` of the part is axis `axes[k]` of the array; that axis has a range.
    pub(super) axes: Vec<usize>,
}

/// What is picked on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pick {
    /// One place, known to exist.
    At(Value),
    /// `count` places from `start` on, `step` apart, known to exist.
    Range { start: Value, count: Value, step: Value },
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Binding {
    Scalar(Value),
    Array(View),
    /// So many values, each in a hidden variable of its own ([`element_name`]).
    Tuple(usize),
    Function(Callable),
    /// Set on some paths only, or out of date: why, and where it is set.
    Maybe(Unset),
}

/// The hidden variable of an element of a tuple. No program can name it: it holds a space.
pub(super) fn element_name(tuple: &str, k: usize) -> Arc<str> {
    format!("{tuple} {k}").into()
}

/// Why a variable may be unset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unset {
    pub(super) reason: UnsetReason,
    /// Where it is set.
    pub(super) set_at: Span,
    /// The branch, loop or write that is to blame.
    pub(super) by: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum UnsetReason {
    /// Set in one branch of an `if` only.
    Branch,
    /// Set in the body of a loop, which may not run.
    Loop,
    /// Set in the body of a loop that can be left before.
    Break,
    /// Values of different kinds on the paths that lead here.
    Kind,
    /// Every iteration of a parallel loop has one of its own.
    Own,
    /// A sum over the iterations of a parallel loop, which is there after it.
    Sum,
    /// It may share memory with this other array, which has been written since.
    Stale(Arc<str>),
}

/// The variables of one call in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    names: BTreeMap<Arc<str>, (Binding, Span)>,
    /// The frame of the function this one is defined in.
    outer: Option<usize>,
}

/// One piece of storage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Storage {
    version: Value,
    /// A Python list of numbers: `+` and `*` would not be arithmetic.
    list: bool,
}

/// The bindings at one point of the program. Copies are cheap: they have their frames in common until one
/// of them binds a name.
#[derive(Clone, Debug)]
pub(super) struct Env {
    frames: Vec<Rc<Frame>>,
    storage: Vec<Storage>,
    /// Pairs that may share memory in Python but not here, the older one first.
    shares: Rc<BTreeSet<(StorageId, StorageId)>>,
}

impl Default for Env {
    fn default() -> Self {
        Env { frames: vec![Rc::default()], storage: Vec::new(), shares: Rc::default() }
    }
}

impl Env {
    fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        Rc::make_mut(&mut self.frames[last])
    }

    pub(super) fn bind(&mut self, name: &str, binding: Binding, at: Span) {
        let names = &mut self.frame_mut().names;
        match names.get_mut(name) {
            Some(slot) => *slot = (binding, at),
            None => {
                names.insert(name.into(), (binding, at));
            }
        }
    }

    pub(super) fn unbind(&mut self, name: &str) {
        self.frame_mut().names.remove(name);
    }

    /// Makes a variable of one of the calls in progress unusable.
    pub(super) fn lose(&mut self, (depth, name): &(usize, Arc<str>), unset: Unset) {
        if let Some(slot) = Rc::make_mut(&mut self.frames[*depth]).names.get_mut(name) {
            slot.0 = Binding::Maybe(unset);
        }
    }

    /// What a name stands for in the function itself.
    pub(super) fn own(&self, name: &str) -> Option<&(Binding, Span)> {
        self.frame().names.get(name)
    }

    /// What a name stands for, in the function itself or in those it is defined in.
    pub(super) fn get(&self, name: &str) -> Option<&(Binding, Span)> {
        let mut frame = self.frame();
        loop {
            match (frame.names.get(name), frame.outer) {
                (Some(found), _) => return Some(found),
                (None, Some(outer)) => frame = &self.frames[outer],
                (None, None) => return None,
            }
        }
    }

    /// The names of the function itself.
    pub(super) fn names(&self) -> impl Iterator<Item = (&Arc<str>, &(Binding, Span))> {
        self.frame().names.iter()
    }

    /// The names of all calls in progress, with the depth of the call.
    pub(super) fn all_names(&self) -> impl Iterator<Item = (usize, &Arc<str>, &(Binding, Span))> {
        let frames = self.frames.iter().enumerate();
        frames.flat_map(|(depth, f)| f.names.iter().map(move |(n, b)| (depth, n, b)))
    }

    /// The names, of all calls in progress, that do not stand for the same here and there.
    pub(super) fn differing(&self, other: &Env) -> Vec<(usize, Arc<str>)> {
        let mut found = Vec::new();
        for (depth, (a, b)) in self.frames.iter().zip(&other.frames).enumerate() {
            if Rc::ptr_eq(a, b) {
                continue;
            }
            let (mut here, mut there) = (a.names.iter(), b.names.iter());
            let (mut x, mut y) = (here.next(), there.next());
            // Both are in the order of the names.
            while let Some(name) = x.map(|(n, _)| n).into_iter().chain(y.map(|(n, _)| n)).min() {
                let of = |entry: Option<(&Arc<str>, _)>| entry.is_some_and(|(n, _)| n == name);
                let (in_x, in_y) = (of(x), of(y));
                if !(in_x && in_y && x == y) {
                    found.push((depth, name.clone()));
                }
                if in_x {
                    x = here.next();
                }
                if in_y {
                    y = there.next();
                }
            }
        }
        found
    }

    pub(super) fn at_depth(&self, depth: usize, name: &str) -> Option<&(Binding, Span)> {
        self.frames.get(depth).and_then(|f| f.names.get(name))
    }

    /// How many calls are in progress, the outermost included.
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn known_names(&self) -> Vec<&str> {
        self.frame().names.keys().map(|n| &**n).filter(|n| !n.contains(' ')).collect()
    }

    pub(super) fn new_storage(&mut self, version: Value) -> StorageId {
        self.storage.push(Storage { version, list: false });
        StorageId(self.storage.len() - 1)
    }

    pub(super) fn mark_list(&mut self, storage: StorageId) {
        self.storage[storage.0].list = true;
    }

    pub(super) fn is_list(&self, storage: StorageId) -> bool {
        self.storage[storage.0].list
    }

    pub(super) fn version(&self, storage: StorageId) -> Value {
        self.storage[storage.0].version
    }

    pub(super) fn set_version(&mut self, storage: StorageId, version: Value) {
        self.storage[storage.0].version = version;
    }

    /// A write at `at`: the storage has a new version, and what may share memory with it is out of date.
    pub(super) fn write(&mut self, storage: StorageId, version: Value, at: Span) {
        self.set_version(storage, version);
        let others = self.sharing(storage);
        if others.is_empty() {
            return;
        }
        let by: Arc<str> = self.name_of(storage).unwrap_or_else(|| "another array".into());
        let stale = |b: &Binding| matches!(b, Binding::Array(v) if others.contains(&v.storage));
        for frame in &mut self.frames {
            if !frame.names.values().any(|(b, _)| stale(b)) {
                continue;
            }
            for (binding, set_at) in Rc::make_mut(frame).names.values_mut() {
                if stale(binding) {
                    let reason = UnsetReason::Stale(by.clone());
                    *binding = Binding::Maybe(Unset { reason, set_at: *set_at, by: at });
                }
            }
        }
    }

    /// All storage, oldest first.
    pub(super) fn all_storage(&self) -> impl Iterator<Item = StorageId> + use<> {
        (0..self.storage.len()).map(StorageId)
    }

    /// How many storages exist: those made later have higher numbers.
    pub(super) fn storage_count(&self) -> usize {
        self.storage.len()
    }

    pub(super) fn made_since(&self, storage: StorageId, count: usize) -> bool {
        storage.0 >= count
    }

    /// Notes that `copy` holds what Python would share with `base`, and with whatever shares that.
    pub(super) fn share(&mut self, copy: StorageId, base: StorageId) {
        let all: Vec<StorageId> = self.sharing(base).into_iter().chain([base]).collect();
        for other in all.into_iter().filter(|o| *o != copy) {
            Rc::make_mut(&mut self.shares).insert((copy.min(other), copy.max(other)));
        }
    }

    /// Notes that two older pieces of storage may share memory.
    pub(super) fn share_pair(&mut self, a: StorageId, b: StorageId) {
        if a != b {
            Rc::make_mut(&mut self.shares).insert((a.min(b), a.max(b)));
        }
    }

    /// What may share memory with a piece of storage.
    pub(super) fn sharing(&self, storage: StorageId) -> Vec<StorageId> {
        let other = |(a, b): &(StorageId, StorageId)| match storage {
            s if s == *a => Some(*b),
            s if s == *b => Some(*a),
            _ => None,
        };
        self.shares.iter().filter_map(other).collect()
    }

    pub(super) fn shares(&self) -> &BTreeSet<(StorageId, StorageId)> {
        &self.shares
    }

    /// The names of each piece of storage, with the depth of their call.
    pub(super) fn names_by_storage(&self) -> BTreeMap<StorageId, Vec<(usize, Arc<str>)>> {
        let mut all: BTreeMap<StorageId, Vec<(usize, Arc<str>)>> = BTreeMap::new();
        for (depth, name, (binding, _)) in self.all_names() {
            if let Binding::Array(view) = binding {
                all.entry(view.storage).or_default().push((depth, name.clone()));
            }
        }
        all
    }

    /// The names whose views lie in a piece of storage, with the depth of their call.
    pub(super) fn names_of(&self, storage: StorageId) -> Vec<(usize, Arc<str>, Span)> {
        let held = self
            .all_names()
            .filter(|(_, _, (b, _))| matches!(b, Binding::Array(v) if v.storage == storage));
        held.map(|(depth, n, (_, at))| (depth, n.clone(), *at)).collect()
    }

    /// A name of a piece of storage, for messages.
    pub(super) fn name_of(&self, storage: StorageId) -> Option<Arc<str>> {
        let named = self.names_of(storage).into_iter().map(|(_, n, _)| n);
        named.filter(|n| !n.contains(' ')).last()
    }

    /// Enters a called function: its names start empty, storage stays.
    pub(super) fn enter(&mut self, outer: Option<usize>) {
        self.frames.push(Rc::new(Frame { outer, ..Frame::default() }));
    }

    /// Leaves it again.
    pub(super) fn leave(&mut self) {
        self.frames.pop();
    }
}
