//! A recording computed anew at other inputs.

use super::Tape;
use super::error::{Error, Misuse, MisuseKind};
use super::guard::holds;
use super::nodes::{Node, Nodes, Op};
use super::number::value;
use super::outside::counted;
use super::recorder::{CONSTANT, Recording};
use super::sweep::around;
use super::var::Var;
use std::panic::Location;
use wengert_core::ops::{Looks, Prim};

impl Tape {
    /// Computes the recording anew at other values of variables, without recording; sweeps then give derivatives there.
    /// Gives back the values of `results`. On a [guarded](Tape::guarded) tape a comparison that comes out
    /// otherwise is an error, and the recording is as it was before.
    ///
    /// ```
    /// use wengert::tape::{Error, Tape};
    ///
    /// let tape = Tape::new().guarded();
    /// let x = tape.var(3.0);
    /// let y = if x > 0.0 { x * x } else { -x };
    /// assert_eq!(tape.replay(&[(x, 4.0)], &[y])?, [16.0]);
    /// assert_eq!(y.backward()?.wrt(x)?, 8.0);
    /// assert!(matches!(tape.replay(&[(x, -1.0)], &[y]), Err(Error::OtherBranch { .. })));
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn replay(&self, inputs: &[(Var, f64)], results: &[Var]) -> Result<Vec<f64>, Error> {
        let at = Location::caller();
        for x in inputs.iter().map(|(x, _)| x).chain(results) {
            x.checked(at)?;
        }
        self.swept(|recording| {
            if !recording.primals.is_empty() {
                let why = "a recording of variables of an earlier tape cannot be replayed: record anew, or replay the earlier one";
                return Err(Error::NotReplayable(format!("{at}: {why}")));
            }
            recording.has_results(results, at)?;
            let mut places = Vec::with_capacity(inputs.len());
            for (x, value) in inputs {
                places.push((recording.input(*x, at)? as u32, *value));
            }
            let mut replaying = Replaying::new(recording);
            replaying.set(&places);
            replaying.run()?;
            let of = |y: &Var| if recording.owns(*y) { recording.nodes.value(y.index()) } else { y.value() };
            Ok(results.iter().map(of).collect())
        })?
    }
}

impl Recording {
    /// The entry of a variable that a number is given to.
    pub(super) fn input(&self, x: Var, at: &'static Location<'static>) -> Result<usize, Error> {
        let kind = match x.tag() {
            CONSTANT => MisuseKind::Constant,
            _ if !self.owns(x) => MisuseKind::OtherTape,
            _ if self.nodes.get(x.index() as usize).op != Op::Input => MisuseKind::Computed,
            _ => return Ok(x.index() as usize),
        };
        Err(Error::Misuse(Misuse { kind, at }))
    }

    /// Results are of this recording, or constants: what another one has is not known here.
    pub(super) fn has_results(
        &self,
        results: &[Var],
        at: &'static Location<'static>,
    ) -> Result<(), Error> {
        match results.iter().find(|y| y.tag() != CONSTANT && !self.owns(**y)) {
            Some(_) => Err(Error::Misuse(Misuse { kind: MisuseKind::OtherTape, at })),
            None => Ok(()),
        }
    }
}

/// A recording that is as it was before, unless it came to its end.
struct Replaying<'a> {
    recording: &'a mut Recording,
    /// Inputs and what they were.
    before: Vec<(u32, f64)>,
    /// Outputs of functions, so that they need not be called to have them back.
    outputs: Vec<f64>,
    is_done: bool,
}

impl<'a> Replaying<'a> {
    fn new(recording: &'a mut Recording) -> Replaying<'a> {
        let outputs = recording.calls.iter().flat_map(|call| around(recording, call).1).collect();
        Replaying { recording, before: Vec::new(), outputs, is_done: false }
    }

    fn set(&mut self, inputs: &[(u32, f64)]) {
        for (x, value) in inputs {
            self.before.push((*x, self.recording.nodes.value(*x)));
            self.recording.nodes.set_value(*x, *value);
        }
    }

    fn run(mut self) -> Result<(), Error> {
        replay(self.recording, None)?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for Replaying<'_> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        for (x, value) in self.before.iter().rev() {
            self.recording.nodes.set_value(*x, *value);
        }
        // At the values before, comparisons come out as they did; it ends where it ended, at the latest.
        let _ = replay(self.recording, Some(&self.outputs));
    }
}

/// One row on new values.
struct Again<'a> {
    nodes: &'a Nodes,
    node: Node,
    at: usize,
}

impl Looks for Again<'_> {
    type Sees = f64;

    #[inline(always)]
    fn at(self, row: Prim) -> f64 {
        let (a, b) = (self.nodes.value(self.node.a), self.nodes.value(self.node.b));
        let c = if row.slope_count() == 3 {
            self.nodes.value(self.nodes.get(self.at - 1).a)
        } else {
            0.0
        };
        value(row, [a, b, c])
    }
}

/// Computes every entry anew; inputs have their new values. Comparisons that come out otherwise are told. Functions are called where their
/// outputs are not given.
fn replay(recording: &mut Recording, mut outputs: Option<&[f64]>) -> Result<(), Error> {
    let mut guard = 0;
    for at in 0..recording.nodes.len() {
        guard = compare(recording, guard, at as u32)?;
        let nodes = &recording.nodes;
        let node = nodes.get(at);
        match node.op {
            Op::Row(row) => {
                let y = row.shown(Again { nodes, node, at });
                recording.nodes.set_value(at as u32, y);
            }
            Op::Sum | Op::Single => {
                let why = "a recording with preaccumulated or fused parts cannot be replayed: their partials hold for the inputs they were recorded at";
                return Err(Error::NotReplayable(why.into()));
            }
            Op::Called if node.b == 0 => {
                let call = recording.calls[node.a as usize].clone();
                let count = call.outputs as usize;
                let y = match &mut outputs {
                    Some(outputs) => {
                        let (these, others) = outputs.split_at(count);
                        *outputs = others;
                        these.to_vec()
                    }
                    None => {
                        let (x, _) = around(recording, &call);
                        counted(&call, "outputs (`value`)", call.function.value(&x)?, count)?
                    }
                };
                for (k, y) in y.into_iter().enumerate() {
                    recording.nodes.set_value(call.first + k as u32, y);
                }
            }
            Op::Called | Op::Input | Op::Constant | Op::Third => {}
        }
    }
    compare(recording, guard, u32::MAX)?;
    Ok(())
}

/// Makes the comparisons, from one on, that were made before an entry. Gives back the next one.
#[inline(always)]
fn compare(recording: &Recording, mut next: usize, at: u32) -> Result<usize, Error> {
    let Some(guards) = &recording.guards else { return Ok(next) };
    while let Some(guard) = guards.get(next).filter(|guard| guard.before <= at) {
        let (a, b) = (recording.nodes.value(guard.a), recording.nodes.value(guard.b));
        if holds(guard.row, a, b) != guard.holds {
            return Err(Error::OtherBranch {
                number: next,
                was: guard.holds,
                place: Some(guard.at),
            });
        }
        next += 1;
    }
    Ok(next)
}
