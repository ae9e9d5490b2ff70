//! Bindings: names to scalars and to storage, storage to its current version.

use crate::ir::Value;
use crate::span::Span;
use std::collections::BTreeMap;

/// A piece of array storage, whatever names it goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct StorageId(usize);

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Binding {
    Scalar(Value),
    Array(StorageId),
    /// Set on some paths only: why, and where it is set.
    Maybe(Unset),
}

/// Why a variable may be unset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unset {
    pub(super) reason: UnsetReason,
    /// Where it is set.
    pub(super) set_at: Span,
    /// The branch or loop that may leave it unset.
    pub(super) by: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnsetReason {
    /// Set in one branch of an `if` only.
    Branch,
    /// Set in the body of a loop, which may not run.
    Loop,
    /// Arrays that differ between the branches, or between iterations.
    Ambiguous,
}

/// The bindings at one point of the program.
#[derive(Clone, Debug, Default)]
pub(super) struct Env {
    names: BTreeMap<String, (Binding, Span)>,
    /// The names of the functions this one is called from, outermost first.
    callers: Vec<BTreeMap<String, (Binding, Span)>>,
    /// Current version of each storage.
    storage: Vec<Value>,
}

impl Env {
    pub(super) fn bind(&mut self, name: &str, binding: Binding, at: Span) {
        self.names.insert(name.to_string(), (binding, at));
    }

    pub(super) fn get(&self, name: &str) -> Option<&(Binding, Span)> {
        self.names.get(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&String, &(Binding, Span))> {
        self.names.iter()
    }

    pub(super) fn known_names(&self) -> Vec<&str> {
        self.names.keys().map(String::as_str).filter(|n| !n.contains(' ')).collect()
    }

    pub(super) fn new_storage(&mut self, version: Value) -> StorageId {
        self.storage.push(version);
        StorageId(self.storage.len() - 1)
    }

    pub(super) fn version(&self, storage: StorageId) -> Value {
        self.storage[storage.0]
    }

    pub(super) fn set_version(&mut self, storage: StorageId, version: Value) {
        self.storage[storage.0] = version;
    }

    /// All storage, oldest first.
    pub(super) fn all_storage(&self) -> Vec<StorageId> {
        (0..self.storage.len()).map(StorageId).collect()
    }

    /// How many storages exist: those made later have higher numbers.
    pub(super) fn storage_count(&self) -> usize {
        self.storage.len()
    }

    pub(super) fn made_since(&self, storage: StorageId, count: usize) -> bool {
        storage.0 >= count
    }

    /// The names of a piece of storage, those of callers included.
    pub(super) fn names_of(&self, storage: StorageId) -> Vec<(String, Span)> {
        let all = self.callers.iter().chain([&self.names]).flatten();
        let held = all.filter(|(_, (b, _))| *b == Binding::Array(storage));
        held.map(|(n, (_, at))| (n.clone(), *at)).collect()
    }

    /// Enters a called function: its names start empty, storage stays.
    pub(super) fn enter(&mut self) {
        self.callers.push(std::mem::take(&mut self.names));
    }

    /// Leaves it again.
    pub(super) fn leave(&mut self) {
        self.names = self.callers.pop().unwrap_or_default();
    }
}
