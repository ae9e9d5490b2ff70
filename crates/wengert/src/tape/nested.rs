//! Sweeps whose numbers are variables of earlier tapes: derivatives that can be differentiated again.

use super::error::{Error, Misuse, MisuseKind};
use super::nodes::Op;
use super::number::Of;
use super::recorder::{CONSTANT, Segment, with};
use super::var::Var;
use std::panic::Location;
use wengert_core::ops::Partial;

/// Adjoints that are variables: see [`Var::backward_var`].
#[derive(Clone, Debug, Default)]
pub struct VarAdjoints {
    values: Vec<Option<Var>>,
    tape: u64,
    /// Whose they are.
    segments: Vec<Segment>,
}

impl VarAdjoints {
    /// The derivative by a variable, as a variable of the earlier tapes. By a constant, or a variable of an earlier tape, it is an error.
    #[track_caller]
    pub fn wrt(&self, x: Var) -> Result<Var, Error> {
        let at = Location::caller();
        x.checked(at)?;
        let is_its = |s: &Segment| s.tag == x.tag() && (s.start..s.end).contains(&x.index());
        if self.segments.iter().any(is_its) {
            return Ok(self.values.get(x.index() as usize).copied().flatten().unwrap_or_default());
        }
        let owner = with(|stack| stack.owner(x).map(|(_, recorder)| recorder.id));
        match owner {
            None => Err(Error::Misuse(Misuse { kind: MisuseKind::Constant, at })),
            // A number of an earlier tape depends on nothing that is made later.
            Some(tape) if tape > self.tape => Ok(Var::constant(0.0)),
            Some(_) => Err(Error::Misuse(Misuse { kind: MisuseKind::OtherTape, at })),
        }
    }

    /// Derivatives by several variables.
    #[track_caller]
    pub fn wrt_all(&self, x: &[Var]) -> Result<Vec<Var>, Error> {
        let mut all = Vec::with_capacity(x.len());
        for x in x {
            all.push(self.wrt(*x)?);
        }
        Ok(all)
    }
}

impl Var {
    /// Adjoints of everything on its tape that it was computed of, as variables of the tapes below: what they were computed of
    /// is recorded there, so that they can be differentiated again.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let outer = Tape::new();
    /// let x = outer.var(2.0);
    /// let slope = {
    ///     let inner = Tape::new();
    ///     let x = inner.var(x);
    ///     (x * x * x).backward_var()?.wrt(x)?
    /// };
    /// assert_eq!(slope.value(), 12.0);
    /// assert_eq!(slope.backward()?.wrt(x)?, 12.0);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn backward_var(self) -> Result<VarAdjoints, Error> {
        self.checked(Location::caller())?;
        if self.tag() == CONSTANT {
            return Ok(VarAdjoints::default());
        }
        let owner = with(|stack| {
            let (_, recorder) = stack.owner(self)?;
            Some((recorder.id, recorder.recording.segments.clone()))
        });
        let (id, segments) = owner.ok_or(Error::NoTape)?;
        let mut values: Vec<Option<Var>> = vec![None; self.index() as usize + 1];
        values[self.index() as usize] = Some(Var::constant(1.0));
        for at in (0..values.len()).rev() {
            let Some(d) = values[at] else { continue };
            // Only looked at here: what is done with them records on other tapes.
            let entry = with(|stack| {
                let recording = &stack.find(id)?.recording;
                let node = recording.nodes.get(at);
                let places = recording.nodes.inputs(at, node);
                let primals = places.map(|place| recording.primal(place));
                Some((node.op, places, primals, recording.primal(at as u32)))
            });
            let (op, places, primals, y) = entry.ok_or(Error::NoTape)?;
            match op {
                Op::Row(row) => {
                    let slopes = row.slopes(primals.map(Of), Of(y));
                    for (place, slope) in places.into_iter().zip(slopes).take(row.slope_count()) {
                        let part = match slope {
                            Partial::Const(0.0) => continue,
                            Partial::Const(1.0) => d,
                            Partial::Const(c) => d * c,
                            Partial::Of(p) => p.0 * d,
                            Partial::Where(p) if p.0.value() == 1.0 => d,
                            Partial::Where(_) => continue,
                        };
                        let sum = &mut values[place as usize];
                        *sum = Some(sum.map_or(part, |sum| sum + part));
                    }
                }
                Op::Sum | Op::Single | Op::Called => {
                    let why = "a preaccumulated part or a function with derivatives of its own has no second derivatives: record it as it is";
                    return Err(Error::NotReplayable(why.into()));
                }
                Op::Input | Op::Constant | Op::Third => {}
            }
        }
        Ok(VarAdjoints { values, tape: id, segments })
    }
}
