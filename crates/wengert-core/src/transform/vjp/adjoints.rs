//! Adjoints as they are accumulated, each with the cases in which its value has a part in the results.

use crate::ir::Value;
use crate::transform::when::When;
use rustc_hash::FxHashMap as HashMap;

/// The adjoints of values, as far as they have been accumulated.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjoints(HashMap<Value, (Value, When)>);

impl Adjoints {
    /// What has been accumulated for a value.
    pub(super) fn get(&self, v: Value) -> Option<Value> {
        self.0.get(&v).map(|(bar, _)| *bar)
    }

    /// When it has a part in the results.
    pub(super) fn when(&self, v: Value) -> When {
        self.0.get(&v).map_or(When::Never, |(_, when)| *when)
    }

    /// Sets an adjoint that may be anything in all cases.
    pub(super) fn set(&mut self, v: Value, bar: Value) {
        self.set_when(v, bar, When::Always);
    }

    pub(super) fn set_when(&mut self, v: Value, bar: Value, when: When) {
        self.0.insert(v, (bar, when));
    }

    /// Takes the adjoint of a value whose definition has been reached: nothing is added to it any more.
    pub(super) fn take(&mut self, v: Value) -> Option<Value> {
        self.take_when(v).map(|(bar, _)| bar)
    }

    pub(super) fn take_when(&mut self, v: Value) -> Option<(Value, When)> {
        self.0.remove(&v)
    }
}
