//! Values with what they depend on.

use super::set::Set;
use crate::interp::Val;
use crate::ops::Scalar;
use std::rc::Rc;

/// What one float depends on.
#[derive(Clone, Debug, Default)]
pub(super) struct Dep {
    /// The input elements with a derivative that can be other than zero.
    pub(super) inputs: Set,
    /// The number of its nonlinear interactions; 0 for none.
    pub(super) pairs: u32,
}

impl Dep {
    /// Whether it depends on nothing.
    pub(super) fn is_none(&self) -> bool {
        self.inputs.is_empty()
    }
}

/// What a value depends on.
#[derive(Clone, Debug)]
pub(super) enum Deps {
    /// Not a float: no derivative passes.
    None,
    /// A float.
    One(Dep),
    /// An array of floats: every element on its own, in storage order.
    Each(Rc<Vec<Dep>>),
    /// A tape: its records. The tape of the plain value stays empty.
    Records(Vec<Vec<Traced>>),
}

impl Deps {
    /// What the elements of an array depend on.
    pub(super) fn each(deps: Vec<Dep>) -> Deps {
        Deps::Each(Rc::new(deps))
    }
}

/// A value and what it depends on.
#[derive(Clone, Debug)]
pub(super) struct Traced {
    pub(super) val: Val,
    pub(super) deps: Deps,
}

impl Traced {
    /// A value that depends on no input.
    pub(super) fn passive(val: Val) -> Traced {
        let deps = match count(&val) {
            None if matches!(val, Val::Tape(_)) => Deps::Records(Vec::new()),
            None => Deps::None,
            Some(n) if matches!(val, Val::Array(_)) => Deps::each(vec![Dep::default(); n]),
            Some(_) => Deps::One(Dep::default()),
        };
        Traced { val, deps }
    }

    /// A value whose floats are the inputs from `first` on.
    pub(super) fn input(val: Val, first: u32) -> Traced {
        let mut traced = Traced::passive(val);
        let own = |k: usize| Dep { inputs: Set::One(first + k as u32), pairs: 0 };
        match &mut traced.deps {
            Deps::One(dep) => *dep = own(0),
            Deps::Each(deps) => *deps = Rc::new((0..deps.len()).map(own).collect()),
            Deps::None | Deps::Records(_) => {}
        }
        traced
    }

    /// What a scalar depends on; nothing for one that is not a float.
    pub(super) fn dep(&self) -> Dep {
        match &self.deps {
            Deps::One(dep) => dep.clone(),
            _ => Dep::default(),
        }
    }

    /// What element `k` of an array depends on, or a number, which stands for an array of equal elements.
    pub(super) fn at(&self, k: usize) -> Dep {
        match &self.deps {
            Deps::Each(deps) => deps[k].clone(),
            _ => self.dep(),
        }
    }

    /// What each of its floats depends on.
    pub(super) fn all(&self) -> &[Dep] {
        match &self.deps {
            Deps::One(dep) => std::slice::from_ref(dep),
            Deps::Each(deps) => deps,
            Deps::None | Deps::Records(_) => &[],
        }
    }
}

/// How many floats a value has; nothing for values that are not floats.
pub(super) fn count(val: &Val) -> Option<usize> {
    match val {
        _ if !val.ty().is_float() => None,
        Val::Array(x) => Some(x.len()),
        _ => Some(1),
    }
}

/// Values shaped like the floats among `like`, with these numbers in order; zeros where they run out.
pub(super) fn shaped(like: &[Val], numbers: &[f64]) -> Vec<Val> {
    let mut rest = numbers.iter().copied().chain(std::iter::repeat(0.0));
    let floats = like.iter().filter(|val| val.ty().is_float());
    let mut shape = |val: &Val| match val {
        Val::Array(x) => Val::shaped(x.with_floats(rest.by_ref().take(x.len()))),
        Val::Scalar(s) => Val::Scalar(Scalar::float(s.elem(), rest.next().unwrap_or(0.0))),
        Val::Tape(_) => val.clone(),
    };
    floats.map(&mut shape).collect()
}
