//! Guesses: what a loop is taken to carry, the first of them, how a guess grows, and the bindings at the
//! head of the loop that it asks for.

use super::env::{Binding, Env, StorageId, Unset, View};
use super::names::{assigned, escapes, likely_written, target};
use super::operand::join_elem;
use super::stmt::RETURNED;
use super::{Lowered, Lowering};
use crate::ir::{Elem, Type};
use crate::span::Span;
use crate::surface::tree::{Stmt, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a loop is taken to carry.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Guess {
    /// Scalar variables, and the kind that holds them in every iteration.
    pub(super) scalars: BTreeMap<Arc<str>, Elem>,
    /// Hidden variables the body sets and the code after the loop looks at, with their types; whether
    /// they are lists.
    pub(super) set: BTreeMap<Arc<str>, (Type, bool)>,
    /// Storage from before the loop.
    pub(super) storage: BTreeSet<StorageId>,
    /// Arrays that part ways with what they share storage with: they get a copy before the loop.
    pub(super) split: BTreeSet<Arc<str>>,
    /// Variables that do not hold one kind of thing in every iteration.
    pub(super) lost: BTreeMap<(usize, Arc<str>), Unset>,
    /// Arrays that may share memory after an iteration.
    pub(super) shares: BTreeSet<(Slot, Slot)>,
    /// Storage whose axes of one element may have more after an iteration.
    pub(super) growing: BTreeSet<Slot>,
}

/// A piece of storage at the head of a loop, whatever its number is this time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    Old(StorageId),
    /// Made at the head for this variable.
    New(Arc<str>),
}

/// What a loop was found to carry, and the bindings before it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) guess: Guess,
    pub(super) env: Env,
}

/// One value a loop carries.
#[derive(Clone)]
pub(super) enum Carry {
    Scalar { name: Arc<str>, elem: Elem, at: Span },
    Storage { storage: StorageId, slot: Slot },
}

impl Guess {
    /// Takes in another guess.
    pub(super) fn widen(&mut self, other: Guess) {
        for (name, elem) in other.scalars {
            let known = self.scalars.entry(name).or_insert(elem);
            *known = join_elem(*known, elem);
        }
        for (name, (ty, list)) in other.set {
            let (known, known_list) = self.set.entry(name).or_insert((ty, list));
            *known_list |= list;
            if let (Some(a), Some(b), false) = (known.elem(), ty.elem(), known.is_array()) {
                *known = join_elem(a, b).scalar();
            }
        }
        for (name, (ty, _)) in &mut self.set {
            if let (Some(a), Some(b)) = (self.scalars.remove(name), ty.elem()) {
                *ty = ty.with_elem(join_elem(a, b));
            }
        }
        self.storage.extend(other.storage);
        self.split.extend(other.split);
        for (name, unset) in other.lost {
            self.lost.entry(name).or_insert(unset);
        }
        self.shares.extend(other.shares);
        self.growing.extend(other.growing);
    }
}

impl Lowering<'_> {
    /// What the tree says of a loop; each iteration assigns the target first.
    pub(super) fn first_guess(&self, first: Option<&Target>, body: &[Stmt]) -> Guess {
        let mut guess = Guess::default();
        let mut names = assigned(body);
        if let Some(first) = first {
            target(first, &mut names);
        }
        let written = likely_written(&body.iter().collect::<Vec<_>>());
        if escapes(body).returns {
            guess.scalars.insert(RETURNED.into(), Elem::Bool);
        }
        for name in names.keys().chain(&written) {
            match self.env.get(name) {
                Some((Binding::Scalar(v), _))
                    if self.env.own(name).is_some() && names.contains_key(name) =>
                {
                    guess.scalars.insert(name.as_str().into(), self.elem(*v));
                }
                Some((Binding::Array(view), _)) => {
                    guess.storage.insert(view.storage);
                }
                _ => {}
            }
        }
        guess
    }

    /// What was found when a loop was lowered before, as a guess for now: when the loop around it is lowered
    /// again, it is not found again round by round, which would double the work at each level.
    pub(super) fn recalled(&self, found: &Found) -> Guess {
        let Guess { scalars, set, split, lost, storage, shares, growing } = found.guess.clone();
        let mut guess = Guess { scalars, set, split, ..Guess::default() };
        // With numbers or arrays of another kind fewer variables may be lost. One that cannot be used makes
        // no difference.
        let same = found.env.all_names().all(|(depth, name, (old, _))| {
            match (old, self.env.at_depth(depth, name).map(|(b, _)| b)) {
                (_, Some(Binding::Maybe(_))) => true,
                (Binding::Scalar(v), Some(Binding::Scalar(w))) => self.b.ty(*v) == self.b.ty(*w),
                (Binding::Array(v), Some(Binding::Array(w))) => {
                    self.type_in(&found.env, v) == self.type_of(w)
                }
                (old, now) => Some(old) == now,
            }
        });
        if !same {
            return guess;
        }
        // Storage may have other numbers now: it is found by its names.
        let names = found.env.names_by_storage();
        let now = |s: &StorageId| {
            let views = names.get(s).into_iter().flatten();
            let views = views.filter_map(|(depth, name)| match self.env.at_depth(*depth, name) {
                Some((Binding::Array(view), _)) => Some(view.storage),
                _ => None,
            });
            views.collect::<BTreeSet<StorageId>>()
        };
        let slots = |slot: &Slot| match slot {
            Slot::Old(s) => now(s).into_iter().map(Slot::Old).collect(),
            new => vec![new.clone()],
        };
        guess.lost = lost;
        guess.storage = storage.iter().flat_map(now).collect();
        guess.growing = growing.iter().flat_map(slots).collect();
        for (a, b) in &shares {
            let others = slots(b);
            guess.shares.extend(
                slots(a).iter().flat_map(|a| others.iter().map(|b| (a.clone(), b.clone()))),
            );
        }
        guess
    }

    /// Makes the bindings before the loop as the guess has them; gives back what is carried.
    pub(super) fn prepare(&mut self, guess: &Guess, span: Span) -> Lowered<Vec<Carry>> {
        let depth = self.env.depth() - 1;
        for (name, unset) in &guess.lost {
            // A value that is returned in the loop may have no name before it.
            if name.0 == depth && self.env.own(&name.1).is_none() {
                self.env.bind(&name.1, Binding::Maybe(unset.clone()), span);
            }
            self.env.lose(name, unset.clone());
        }
        let set = |(name, _): &(&Arc<str>, &(Type, bool))| {
            !guess.lost.contains_key(&(depth, Arc::clone(name)))
        };
        let set: Vec<(&Arc<str>, &(Type, bool))> = guess.set.iter().filter(set).collect();
        let mut storages: Vec<(StorageId, Slot)> =
            guess.storage.iter().map(|s| (*s, Slot::Old(*s))).collect();
        self.b.at(span);
        for (name, (ty, list)) in set.iter().copied() {
            let v = self.stand_in(*ty);
            let binding = self.bind_value(v);
            if let Binding::Array(view) = &binding {
                if *list {
                    self.env.mark_list(view.storage);
                }
                storages.push((view.storage, Slot::New(name.clone())));
            }
            self.env.bind(name, binding, span);
        }
        for name in &guess.split {
            let Some((Binding::Array(view), at)) = self.env.own(name).cloned() else { continue };
            let copy = self.read_copy(&view, span);
            if !name.contains(' ') {
                self.b.name(copy, name);
            }
            let storage = self.env.new_storage(copy);
            self.env.share(storage, view.storage);
            if self.env.is_list(view.storage) {
                self.env.mark_list(storage);
            }
            self.env.bind(name, Binding::Array(View::whole(storage)), at);
            storages.push((storage, Slot::New(name.clone())));
        }
        let find = |slot: &Slot| match slot {
            Slot::Old(s) => Some(*s),
            new => storages.iter().find(|(_, s)| s == new).map(|(id, _)| *id),
        };
        for (a, b) in &guess.shares {
            if let (Some(a), Some(b)) = (find(a), find(b)) {
                self.env.share_pair(a, b);
            }
        }
        let scalars = guess.scalars.iter().filter_map(|(name, elem)| {
            let (binding, at) = self.env.own(name)?;
            let scalar = matches!(binding, Binding::Scalar(_));
            scalar.then(|| Carry::Scalar { name: name.clone(), elem: *elem, at: *at })
        });
        let set = set.into_iter().filter(|(_, (ty, _))| !ty.is_array());
        let set = set.map(|(name, (ty, _))| Carry::Scalar {
            name: name.clone(),
            elem: ty.elem().unwrap_or(Elem::F64),
            at: span,
        });
        let scalars: Vec<Carry> = scalars.chain(set).collect();
        let storages = storages.into_iter().map(|(storage, slot)| Carry::Storage { storage, slot });
        Ok(scalars.into_iter().chain(storages).collect())
    }
}
