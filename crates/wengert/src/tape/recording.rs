//! What a tape holds: the list, and what is kept beside it.

use super::guard::Guard;
use super::nodes::{Nodes, Op};
use super::outside::Call;
use super::recorder::{CONSTANT, NOBODY};
use super::var::Var;
use std::panic::Location;
use std::rc::Rc;

/// Entries from `start` to `end`, recorded under one tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) tag: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// What a tape holds, apart from who may add to it.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) nodes: Nodes,
    /// Values as variables of earlier tapes, from when there is one; one per entry.
    pub(super) primals: Vec<Var>,
    /// The line of every entry, on a tape that keeps them.
    pub(super) places: Option<Vec<&'static Location<'static>>>,
    /// Comparisons of variables, on a tape that keeps them.
    pub(super) guards: Option<Vec<Guard>>,
    /// Terms of sums with known partials.
    pub(super) terms: Vec<(u32, f64)>,
    /// The same in single precision.
    pub(super) singles: Vec<(u32, f32)>,
    /// Functions with derivatives of their own that were called.
    pub(super) calls: Vec<Rc<Call>>,
    /// How many values became plain numbers by conversion.
    pub(super) conversions: u64,
    pub(super) segments: Vec<Segment>,
}

impl Recording {
    /// Whether a variable is one of this tape's.
    pub(super) fn owns(&self, x: Var) -> bool {
        let found = self.segments.iter().rev().find(|segment| segment.tag == x.tag());
        found.is_some_and(|segment| (segment.start..segment.end).contains(&x.index()))
    }

    /// The value of an entry as a variable of earlier tapes, or a constant.
    pub(super) fn primal(&self, at: u32) -> Var {
        match self.primals.get(at as usize) {
            Some(primal) => *primal,
            None => Var::constant(self.nodes.value(at)),
        }
    }

    /// Appends an entry with all that is kept of it.
    pub(super) fn push(
        &mut self,
        op: Op,
        [a, b]: [u32; 2],
        primal: Var,
        at: &'static Location<'static>,
    ) -> u32 {
        if primal.tag() != CONSTANT && self.primals.is_empty() {
            let nodes = &self.nodes;
            self.primals = (0..nodes.len()).map(|k| Var::constant(nodes.value(k as u32))).collect();
        }
        if primal.tag() != CONSTANT || !self.primals.is_empty() {
            self.primals.push(primal);
        }
        if let Some(places) = &mut self.places {
            places.push(at);
        }
        self.nodes.push(op, a, b, primal.value())
    }

    /// Forgets entries from one on. Gives back functions that are no longer called: what they hold may be a tape.
    pub(super) fn truncate(&mut self, len: u32) -> Vec<Rc<Call>> {
        let (keeps, mut calls) = (len as usize, self.calls.len());
        let beside = !self.terms.is_empty() || !self.singles.is_empty() || calls > 0;
        let gone = if beside { self.nodes.len().saturating_sub(keeps) } else { 0 };
        for (_, node) in self.nodes.iter().rev().take(gone) {
            match node.op {
                Op::Sum => self.terms.truncate(self.terms.len().min(node.a as usize)),
                Op::Single => self.singles.truncate(self.singles.len().min(node.a as usize)),
                Op::Called => calls = calls.min(node.a as usize),
                _ => {}
            }
        }
        self.nodes.truncate(keeps);
        self.primals.truncate(keeps);
        if let Some(places) = &mut self.places {
            places.truncate(keeps);
        }
        if let Some(guards) = &mut self.guards {
            guards.retain(|guard| guard.before <= len && guard.a < len && guard.b < len);
        }
        self.segments.retain(|segment| segment.start < len);
        if let Some(last) = self.segments.last_mut() {
            last.end = last.end.min(len);
        }
        self.calls.split_off(calls)
    }

    /// The tag of the entry before a place: what was recorded there later has another one.
    pub(super) fn tag_before(&self, at: u32) -> u32 {
        let holds = |segment: &&Segment| (segment.start..segment.end).contains(&(at - 1));
        match at {
            0 => CONSTANT,
            _ => self.segments.iter().rev().find(holds).map_or(NOBODY, |segment| segment.tag),
        }
    }
}
