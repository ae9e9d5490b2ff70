//! Adjoints: derivatives of a result by everything it was computed of.

use super::error::{Error, Misuse, MisuseKind};
use super::recorder::{CONSTANT, Recording, Segment};
use super::sweep::{Lanes, reverse};
use super::var::Var;
use std::panic::Location;

/// Derivatives of results by everything on the tape they were computed of.
#[derive(Clone, Debug, Default)]
pub struct Adjoints {
    values: Vec<Lanes<1>>,
    /// Entries from here on have been looked at.
    reached: usize,
    /// Whose they are.
    segments: Vec<Segment>,
}

impl Adjoints {
    /// The derivative by a variable. By a constant, or a variable of another tape, it is an error.
    #[track_caller]
    pub fn wrt(&self, x: Var) -> Result<f64, Error> {
        if let Some(misuse) = x.misuse() {
            return Err(Error::Misuse(misuse));
        }
        // The derivative of a constant: there is no tape.
        if self.segments.is_empty() && x.tag() != CONSTANT {
            return Ok(0.0);
        }
        let found = self.segments.iter().rev().find(|segment| segment.tag == x.tag());
        if found.is_some_and(|segment| (segment.start..segment.end).contains(&x.index())) {
            return Ok(self.of(x));
        }
        Err(Error::Misuse(Misuse { kind: MisuseKind::OtherTape, at: Location::caller() }))
    }

    /// Derivatives by several variables.
    #[track_caller]
    pub fn wrt_all(&self, x: &[Var]) -> Result<Vec<f64>, Error> {
        let mut all = Vec::with_capacity(x.len());
        for x in x {
            all.push(self.wrt(*x)?);
        }
        Ok(all)
    }

    /// The adjoint of a variable of the tape; what was recorded after the result has none.
    pub(super) fn of(&self, x: Var) -> f64 {
        self.values.get(x.index() as usize).map_or(0.0, |d| d[0])
    }

    /// Begins at the results.
    pub(super) fn begin(
        &mut self,
        recording: &Recording,
        seeds: &[(Var, f64)],
        at: &'static Location<'static>,
    ) -> Result<(), Error> {
        let len = length(recording, seeds, at)?;
        self.values.clear();
        self.values.resize(len, [0.0]);
        self.reached = len;
        self.segments.clone_from(&recording.segments);
        for (y, weight) in seeds.iter().filter(|(y, _)| y.tag() != CONSTANT) {
            self.values[y.index() as usize][0] += weight;
        }
        Ok(())
    }

    /// Takes them back to an entry.
    pub(super) fn take_back(&mut self, recording: &Recording, to: usize) -> Result<(), Error> {
        let same = |a: &Segment, b: &Segment| a.tag == b.tag;
        let is_its = self.segments.iter().zip(&recording.segments).all(|(a, b)| same(a, b));
        if !is_its || self.reached > recording.nodes.len() {
            return Err(Error::Misuse(Misuse {
                kind: MisuseKind::OtherTape,
                at: Location::caller(),
            }));
        }
        if self.reached > to {
            reverse(recording, self.reached, to, &mut self.values)?;
            self.reached = to;
        }
        Ok(())
    }
}

/// As far as results reach.
fn length(
    recording: &Recording,
    seeds: &[(Var, f64)],
    at: &'static Location<'static>,
) -> Result<usize, Error> {
    let mut len = 0;
    for (y, _) in seeds.iter().filter(|(y, _)| y.tag() != CONSTANT) {
        if !recording.owns(*y) {
            return Err(Error::Misuse(Misuse { kind: MisuseKind::OtherTape, at }));
        }
        len = len.max(y.index() as usize + 1);
    }
    Ok(len)
}

/// Several at once.
pub(super) fn many(
    recording: &Recording,
    seeds: &[&[(Var, f64)]],
    at: &'static Location<'static>,
) -> Result<Vec<Adjoints>, Error> {
    const L: usize = 4;
    let mut all = Vec::with_capacity(seeds.len());
    for group in seeds.chunks(L) {
        let mut len = 0;
        for seeds in group {
            len = len.max(length(recording, seeds, at)?);
        }
        let mut lanes: Vec<Lanes<L>> = vec![[0.0; L]; len];
        for (lane, seeds) in group.iter().enumerate() {
            for (y, weight) in seeds.iter().filter(|(y, _)| y.tag() != CONSTANT) {
                lanes[y.index() as usize][lane] += weight;
            }
        }
        reverse(recording, len, 0, &mut lanes)?;
        for lane in 0..group.len() {
            let values = lanes.iter().map(|d| [d[lane]]).collect();
            all.push(Adjoints { values, reached: 0, segments: recording.segments.clone() });
        }
    }
    Ok(all)
}
