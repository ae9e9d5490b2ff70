//! Chains of operations whose results are used once, as single entries with known partials.
//!
//! Such an entry takes its own bytes and those of its terms; the operations it stands for, an entry each. Whichever is
//! smaller is written. Partials are products and sums of those that the sweeps would take.

use super::compress::{Compression, NOWHERE, called, empty_like, keep_guard, write, write_row};
use super::guard::Guard;
use super::nodes::{BYTES, Node, Op};
use super::number::{Number, Of};
use super::recorder::Recording;
use super::sweep::slopes;
use std::collections::HashMap;
use wengert_core::ops::Partial;

/// The most terms of an entry.
const TERMS: usize = 8;

/// A recording with fused entries.
pub(super) struct Fused {
    pub(super) next: Recording,
    /// Where entries are now.
    pub(super) places: Vec<u32>,
    /// How many have become part of others.
    pub(super) count: usize,
    /// The largest relative error of a partial in single precision.
    pub(super) largest_error: f64,
}

/// Writes a recording anew, in which `roots` and what is compared, called with or used twice stay entries.
pub(super) fn fused(from: &Recording, roots: &[u32], how: Compression) -> Fused {
    let mut fusing = Fusing {
        from,
        how,
        uses: if how.fuse { uses(from, roots) } else { vec![2; from.nodes.len()] },
        waiting: HashMap::new(),
        term_bytes: if how.single { size_of::<(u32, f32)>() } else { size_of::<(u32, f64)>() },
        all: Fused {
            next: empty_like(from),
            places: vec![NOWHERE; from.nodes.len()],
            count: 0,
            largest_error: 0.0,
        },
    };
    // Numbers have changed once, not twice.
    fusing.entries();
    fusing.all
}

/// How often entries are used, as far as it matters: once, or otherwise.
fn uses(from: &Recording, roots: &[u32]) -> Vec<u8> {
    let mut uses = vec![0_u8; from.nodes.len()];
    let mut used = |at: u32, times: u8| {
        let count = &mut uses[at as usize];
        *count = count.saturating_add(times);
    };
    for (at, node) in from.nodes.iter() {
        match node.op {
            Op::Row(row) => {
                let inputs = from.nodes.inputs(at, node).into_iter().take(row.arity());
                inputs.for_each(|at| used(at, 1));
            }
            Op::Sum => {
                let terms = &from.terms[node.a as usize..][..node.b as usize];
                terms.iter().for_each(|(at, _)| used(*at, 1));
            }
            Op::Single => {
                let terms = &from.singles[node.a as usize..][..node.b as usize];
                terms.iter().for_each(|(at, _)| used(*at, 1));
            }
            Op::Input | Op::Constant | Op::Third | Op::Called => {}
        }
    }
    let guards = from.guards.iter().flatten().flat_map(|guard| [guard.a, guard.b]);
    let inputs = from.calls.iter().flat_map(|call| call.inputs.iter().copied());
    roots.iter().copied().chain(guards).chain(inputs).for_each(|at| used(at, 2));
    uses
}

/// An entry that may become part of the one that uses it.
struct Waiting {
    /// Partials by entries that stand.
    terms: Vec<(u32, f64)>,
    /// What it takes, with all that it is made of.
    bytes: usize,
    /// Whether it is one entry for all of that, or an operation on others that wait.
    is_whole: bool,
}

struct Fusing<'a> {
    from: &'a Recording,
    how: Compression,
    uses: Vec<u8>,
    waiting: HashMap<u32, Waiting>,
    term_bytes: usize,
    all: Fused,
}

impl Fusing<'_> {
    fn entries(&mut self) {
        let from = self.from;
        let mut guards = from.guards.iter().flatten().peekable();
        for (at, node) in from.nodes.iter() {
            while let Some(guard) = guards.next_if(|guard| guard.before as usize <= at) {
                self.guard(guard);
            }
            match node.op {
                Op::Input => {
                    self.all.places[at] = write(&mut self.all.next, from, at, node);
                }
                Op::Row(_) | Op::Sum | Op::Single => {
                    let waiting = self.joined(at, node);
                    self.waiting.insert(at as u32, waiting);
                    if self.uses[at] != 1 {
                        self.standing(at as u32);
                    }
                }
                Op::Called => {
                    let call = &from.calls[node.a as usize];
                    call.inputs.iter().for_each(|at| {
                        self.standing(*at);
                    });
                    let place = called(&mut self.all.next, from, at, node, &self.all.places);
                    self.all.places[at] = place;
                }
                // Written where they are used.
                Op::Constant | Op::Third => {}
            }
        }
        guards.for_each(|guard| self.guard(guard));
    }

    fn guard(&mut self, guard: &Guard) {
        self.standing(guard.a);
        self.standing(guard.b);
        keep_guard(&mut self.all.next, guard, &self.all.places);
    }

    /// The partials of an entry by those it reads.
    fn partials(&self, at: usize, node: Node) -> Vec<(u32, f64)> {
        let (a, b) = (node.a as usize, node.b as usize);
        match node.op {
            Op::Sum => self.from.terms[a..][..b].to_vec(),
            Op::Single => {
                let terms = self.from.singles[a..][..b].iter();
                terms.map(|(at, slope)| (*at, f64::from(*slope))).collect()
            }
            Op::Row(row) => {
                let (places, slopes) = slopes(&self.from.nodes, node, at, row);
                let number = |slope: Partial<Of<Number>>| match slope {
                    Partial::Const(c) => c,
                    Partial::Of(p) | Partial::Where(p) => p.0.0,
                };
                let slopes = slopes.map(number);
                places.into_iter().zip(slopes).take(row.slope_count()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// An entry with those that wait for it.
    fn joined(&mut self, at: usize, node: Node) -> Waiting {
        let partials = self.partials(at, node);
        let mut parts = self.parts(at, node);
        let mut bytes = BYTES + parts.iter().map(|at| self.waiting[at].bytes).sum::<usize>();
        let mut terms = self.terms(&partials);
        if terms.len() > TERMS && !parts.is_empty() {
            parts.drain(..).for_each(|at| {
                self.standing(at);
            });
            bytes = BYTES;
            terms = self.terms(&partials);
        }
        let whole = BYTES + terms.len() * self.term_bytes;
        // A sum has no other form.
        let is_sum = !matches!(node.op, Op::Row(_));
        if is_sum || whole < bytes {
            parts.into_iter().for_each(|at| self.forget(at));
            return Waiting { terms, bytes: whole, is_whole: true };
        }
        Waiting { terms, bytes, is_whole: false }
    }

    /// The entries that an entry reads and that wait.
    fn parts(&self, at: usize, node: Node) -> Vec<u32> {
        let inputs = match node.op {
            Op::Row(row) => self.from.nodes.inputs(at, node)[..row.arity()].to_vec(),
            _ => self.partials(at, node).into_iter().map(|(at, _)| at).collect(),
        };
        inputs.into_iter().filter(|at| self.waiting.contains_key(at)).collect()
    }

    /// Partials by entries that stand. What is constant has none; a zero is left out, as the sweeps do.
    fn terms(&mut self, partials: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let mut terms: Vec<(u32, f64)> = Vec::new();
        let mut add = |at: u32, slope: f64| match terms.iter_mut().find(|(to, _)| *to == at) {
            Some((_, sum)) => *sum += slope,
            None => terms.push((at, slope)),
        };
        for (at, slope) in partials.iter().filter(|(_, slope)| *slope != 0.0) {
            match self.waiting.get(at) {
                Some(part) => part.terms.iter().for_each(|(at, inner)| add(*at, slope * inner)),
                None if self.from.nodes.get(*at as usize).op == Op::Constant => {}
                None => add(self.all.places[*at as usize], *slope),
            }
        }
        terms
    }

    /// Entries that have become part of another.
    fn forget(&mut self, at: u32) {
        let Some(gone) = self.waiting.remove(&at) else { return };
        self.all.count += 1;
        if !gone.is_whole {
            let node = self.from.nodes.get(at as usize);
            self.parts(at as usize, node).into_iter().for_each(|at| self.forget(at));
        }
    }

    /// Writes an entry, if it is not there. Gives back its place.
    fn standing(&mut self, at: u32) -> u32 {
        let (k, node) = (at as usize, self.from.nodes.get(at as usize));
        if self.all.places[k] != NOWHERE {
            return self.all.places[k];
        }
        let place = match (node.op, self.waiting.remove(&at)) {
            (_, Some(Waiting { terms, is_whole: true, .. })) => self.sum(k, node, terms),
            (Op::Row(row), _) => {
                let mut inputs = [0; 3];
                let before = self.from.nodes.inputs(k, node);
                for (to, at) in inputs.iter_mut().zip(before).take(row.arity()) {
                    *to = self.standing(at);
                }
                write_row(&mut self.all.next, self.from, k, node, inputs, row.arity())
            }
            _ => write(&mut self.all.next, self.from, k, node),
        };
        self.all.places[k] = place;
        place
    }

    /// Writes an entry with known partials, in singles where that was asked for and they are in their range.
    fn sum(&mut self, at: usize, node: Node, terms: Vec<(u32, f64)>) -> u32 {
        let next = &mut self.all.next;
        let count = terms.len() as u32;
        let fits = |slope: f64| (slope as f32).is_normal() || slope == 0.0;
        if !self.how.single || !terms.iter().all(|(_, slope)| fits(*slope)) {
            let first = next.terms.len() as u32;
            next.terms.extend(terms);
            return write(next, self.from, at, Node { op: Op::Sum, a: first, b: count, ..node });
        }
        let first = next.singles.len() as u32;
        for (at, slope) in terms {
            let single = slope as f32;
            if slope != 0.0 {
                let error = ((f64::from(single) - slope) / slope).abs();
                self.all.largest_error = self.all.largest_error.max(error);
            }
            next.singles.push((at, single));
        }
        write(next, self.from, at, Node { op: Op::Single, a: first, b: count, ..node })
    }
}
