//! Finds what a recording repeats: runs of statements that are the same block again and again.
//!
//! Two statements are alike at a distance of `period` when their operations are the same and every operand either
//! moves along (a statement `period` later), stays (the same statement, constant or input each time), or steps
//! through the inputs evenly. A run in which every statement is like the one a period later, always in the same way,
//! is a loop. Candidates for periods are distances between equal sequences of operations; every candidate is checked in full.

use super::statements::{Operand, Source, Statements};
use std::collections::HashMap;
use std::ops::Range;

/// A part of a list of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Straight(Range<usize>),
    Loop(Loop),
}

/// `count` times `period` statements from `start` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) start: usize,
    pub(super) period: usize,
    pub(super) count: usize,
    /// For every operand of the body, how far it moves from one iteration to the next.
    pub(super) steps: Vec<[i64; 3]>,
    /// Statements of the last iterations that are read after the loop.
    pub(super) used_after: Vec<usize>,
}

impl Loop {
    pub(super) fn end(&self) -> usize {
        self.start + self.period * self.count
    }
}

/// How many iterations later a value of a loop may still be read.
const REACH: usize = 8;
/// Equal sequences of this many operations are where periods are looked for.
const WINDOW: usize = 6;
/// A loop of fewer iterations is not made.
const FEWEST: usize = 6;
/// How many recurrences are looked at from one statement.
const CANDIDATES: usize = 48;
/// How far ahead a rare sequence of operations is looked for.
const AHEAD: usize = 1 << 12;

/// The parts of a list, in order.
pub(super) fn parts(all: &Statements) -> Vec<Part> {
    let looking = Looking::new(all);
    let mut parts = Vec::new();
    let (mut at, mut straight) = (0, 0);
    // Where the run of a period ended, so that no statement is looked at twice for it.
    let mut failed: HashMap<usize, usize> = HashMap::new();
    let mut rare = Vec::new();
    while at < all.list.len() {
        if at % (AHEAD / 4) == 0 || rare.is_empty() {
            rare = looking.rare_periods(at);
        }
        let candidates = looking.recurrences(at).chain(rare.iter().copied());
        let mut best: Option<Loop> = None;
        for period in candidates {
            if failed.get(&period).is_some_and(|end| at <= *end) {
                continue;
            }
            let found = looking.run(at, period);
            failed.insert(period, found.end() - period);
            let covers = |l: &Loop| l.period * (l.count - 1);
            let better = best.as_ref().is_none_or(|best| covers(&found) > covers(best) + period);
            if found.count >= FEWEST && looking.is_closed(&found) && better {
                best = Some(found);
            }
        }
        match best {
            None => at += 1,
            Some(mut found) => {
                found.used_after = looking.used_after(&found);
                if straight < at {
                    parts.push(Part::Straight(straight..at));
                }
                at = found.end();
                straight = at;
                failed.clear();
                parts.push(Part::Loop(found));
            }
        }
    }
    if straight < at {
        parts.push(Part::Straight(straight..at));
    }
    parts
}

struct Looking<'a> {
    all: &'a Statements,
    /// Where the sequence of operations at each statement comes next.
    next: Vec<u32>,
    /// How often it comes from there on.
    often: Vec<u32>,
    /// The statement that reads each one last.
    last_use: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl<'a> Looking<'a> {
    fn new(all: &'a Statements) -> Looking<'a> {
        let list = &all.list;
        let mut last_use = vec![0; list.len()];
        for (at, statement) in list.iter().enumerate() {
            for operand in statement.operands {
                if let Source::Statement(k) = operand.source() {
                    last_use[k] = at as u32;
                }
            }
        }
        for output in &all.outputs {
            if let Source::Statement(k) = output.source() {
                last_use[k] = NOWHERE;
            }
        }
        let mut seen: HashMap<u64, (u32, u32)> = HashMap::new();
        let (mut next, mut often) = (vec![NOWHERE; list.len()], vec![1; list.len()]);
        for at in (0..list.len().saturating_sub(WINDOW)).rev() {
            // Codes have 16 bits, so four of them are told apart; whatever comes together is checked in full.
            let mix = |hash: u64, code: u16| hash.rotate_left(16) ^ u64::from(code);
            let hash = list[at..at + WINDOW].iter().fold(0, |hash, one| mix(hash, one.code));
            let place = seen.entry(hash).or_insert((NOWHERE, 0));
            (next[at], often[at]) = (place.0, place.1 + 1);
            *place = (at as u32, often[at]);
        }
        Looking { all, next, often, last_use }
    }

    /// Distances to where the operations from here on come again.
    fn recurrences(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let step = |from: &u32| Some(self.next[*from as usize]).filter(|k| *k != NOWHERE);
        std::iter::successors(step(&(at as u32)), step)
            .take(CANDIDATES)
            .map(move |k| k as usize - at)
    }

    /// Distances between the rarest of sequences that come again: periods of what is around inner loops.
    fn rare_periods(&self, at: usize) -> Vec<usize> {
        let end = (at + AHEAD).min(self.next.len());
        let again = (at..end).filter(|k| self.often[*k] as usize >= FEWEST);
        let rarest = again.min_by_key(|k| self.often[*k]);
        rarest.map(|k| self.next[k] as usize - k).into_iter().collect()
    }

    /// The loop of this period that begins here, of at least one iteration.
    fn run(&self, start: usize, period: usize) -> Loop {
        let list = &self.all.list;
        let mut steps: Vec<[i64; 3]> = Vec::with_capacity(period.min(1 << 16));
        let mut at = start;
        while at + period < list.len() {
            let (one, other) = (&list[at], &list[at + period]);
            if one.code != other.code {
                break;
            }
            let known = steps.get((at - start) % period).copied();
            let found = [0, 1, 2].map(|k| step(one.operands[k], other.operands[k], start, period));
            let [Some(a), Some(b), Some(c)] = found else { break };
            if known.is_some_and(|known| known != [a, b, c]) {
                break;
            }
            if known.is_none() {
                steps.push([a, b, c]);
            }
            at += 1;
        }
        let count = (at - start) / period + 1;
        Loop { start, period, count, steps, used_after: Vec::new() }
    }

    /// Whether what comes after a loop needs only its last iterations, and every iteration only those just before it.
    fn is_closed(&self, found: &Loop) -> bool {
        let early = found.start..found.end() - found.period * REACH.min(found.count);
        let mut reads = self.all.list[found.start..][..found.period].iter().zip(&found.steps);
        let is_near = |operand: &Operand| match operand.source() {
            Source::Statement(k) => k + REACH * found.period >= found.start,
            _ => true,
        };
        self.last_use[early].iter().all(|last| (*last as usize) < found.end())
            && reads.all(|(statement, steps)| {
                let mut moving =
                    statement.operands.iter().zip(steps).filter(|(_, step)| **step != 0);
                moving.all(|(operand, _)| is_near(operand))
            })
    }

    fn used_after(&self, found: &Loop) -> Vec<usize> {
        let late = found.end() - found.period * REACH.min(found.count)..found.end();
        late.filter(|at| self.last_use[*at] as usize >= found.end()).collect()
    }
}

/// How an operand moves between one iteration and the next, if it may.
fn step(one: Operand, other: Operand, start: usize, period: usize) -> Option<i64> {
    let step = one.step_to(other)?;
    let fits = match one.source() {
        Source::Statement(k) => step == period as i64 || step == 0 && k < start,
        Source::Input(_) => true,
        Source::Constant(_) => step == 0,
    };
    fits.then_some(step)
}
