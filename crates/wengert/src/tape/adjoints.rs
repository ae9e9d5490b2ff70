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
    /// Where the recording ended, and from where on entries have been looked at.
    end: usize,
    reached: usize,
    /// Whether a sweep was broken off.
    is_torn: bool,
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
        let at = Location::caller();
        let wrong = |kind| Err(Error::Misuse(Misuse { kind, at }));
        if self.is_torn {
            return wrong(MisuseKind::Unfinished);
        }
        if x.tag() == CONSTANT {
            return wrong(MisuseKind::Constant);
        }
        // The derivative of a constant: there is no tape.
        if self.segments.is_empty() {
            return Ok(0.0);
        }
        let found = self.segments.iter().rev().find(|segment| segment.tag == x.tag());
        if found.is_some_and(|segment| (segment.start..segment.end).contains(&x.index())) {
            return Ok(self.of(x));
        }
        wrong(MisuseKind::OtherTape)
    }

    /// Derivatives by several variables.
    ///
    /// ```
    /// let tape = wengert::tape::Tape::new();
    /// let x = tape.vars([2.0, 5.0]);
    /// assert_eq!((x[0] * x[1]).backward()?.wrt_all(&x)?, [5.0, 2.0]);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
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
        (self.end, self.reached) = (recording.nodes.len(), recording.nodes.len());
        self.is_torn = false;
        self.segments.clone_from(&recording.segments);
        for (y, weight) in seeds.iter().filter(|(y, _)| y.tag() != CONSTANT) {
            self.values[y.index() as usize][0] += weight;
        }
        Ok(())
    }

    /// Takes them back to an entry.
    pub(super) fn take_back(
        &mut self,
        recording: &Recording,
        to: usize,
        at: &'static Location<'static>,
    ) -> Result<(), Error> {
        let wrong = |kind| Err(Error::Misuse(Misuse { kind, at }));
        if self.is_torn {
            return wrong(MisuseKind::Unfinished);
        }
        // What was looked at may be forgotten; what was not must be what it was.
        if !covered(&self.segments, self.reached).eq(covered(&recording.segments, self.reached))
            || self.reached > recording.nodes.len()
        {
            return wrong(MisuseKind::OtherTape);
        }
        if to > self.reached && self.reached < self.end {
            let (position, reached) = (to as u32, self.reached as u32);
            return Err(Error::Passed { position, reached, at });
        }
        let from = self.reached.min(self.values.len());
        if from > to {
            self.is_torn = true;
            reverse(recording, from, to, &mut self.values)?;
            self.is_torn = false;
        }
        self.reached = self.reached.min(to);
        Ok(())
    }
}

/// Whose entries are, up to one.
fn covered(segments: &[Segment], end: usize) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
    let end = end as u32;
    let cut = move |segment: &Segment| (segment.tag, segment.start, segment.end.min(end));
    segments.iter().map(cut).filter(|(_, start, end)| start < end)
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
            let (end, segments) = (recording.nodes.len(), recording.segments.clone());
            all.push(Adjoints { values, end, reached: 0, is_torn: false, segments });
        }
    }
    Ok(all)
}
