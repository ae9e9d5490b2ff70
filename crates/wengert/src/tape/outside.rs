//! Functions whose derivative is given, not recorded.

use super::Tape;
use super::error::Error;
use super::nodes::Op;
use super::recorder::{append, entries, is_above};
use super::var::Var;
use std::panic::Location;
use std::rc::Rc;

/// A function of numbers that is called on a tape as one entry per output, with derivatives of its own.
///
/// See [`Tape::call`](super::Tape::call).
pub trait Outside {
    /// Its outputs at these inputs.
    fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error>;

    /// The adjoints of the inputs, from those of the outputs `y = value(x)`.
    fn vjp(&self, x: &[f64], y: &[f64], dy: &[f64]) -> Result<Vec<f64>, Error>;

    /// The tangents of the outputs, from those of the inputs.
    fn jvp(&self, x: &[f64], y: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error>;
}

/// One call, as the tape keeps it.
pub(super) struct Call {
    pub(super) function: Rc<dyn Outside>,
    /// The entries of its inputs.
    pub(super) inputs: Vec<u32>,
    /// The entry of its first output.
    pub(super) first: u32,
    /// How many outputs there are.
    pub(super) outputs: u32,
    /// Where it was made.
    pub(super) at: &'static Location<'static>,
}

/// Says so where a function gives another number of values than there should be.
pub(super) fn counted(
    call: &Call,
    what: &'static str,
    values: Vec<f64>,
    wanted: usize,
) -> Result<Vec<f64>, Error> {
    if values.len() == wanted {
        Ok(values)
    } else {
        Err(Error::Outside { at: call.at, what, wanted, given: values.len() })
    }
}

impl Tape {
    /// Calls a function with derivatives of its own: it is one entry for every output, whatever it computes.
    ///
    /// ```
    /// use wengert::tape::{Error, Outside, Tape};
    ///
    /// /// The norm of a vector.
    /// struct Norm;
    ///
    /// impl Outside for Norm {
    ///     fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
    ///         Ok(vec![x.iter().map(|x| x * x).sum::<f64>().sqrt()])
    ///     }
    ///     fn vjp(&self, x: &[f64], y: &[f64], dy: &[f64]) -> Result<Vec<f64>, Error> {
    ///         Ok(x.iter().map(|x| x / y[0] * dy[0]).collect())
    ///     }
    ///     fn jvp(&self, x: &[f64], y: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
    ///         Ok(vec![x.iter().zip(dx).map(|(x, d)| x * d).sum::<f64>() / y[0]])
    ///     }
    /// }
    ///
    /// let tape = Tape::new();
    /// let x = tape.vars([3.0, 4.0]);
    /// let y = tape.call(Norm, &x)?[0];
    /// assert_eq!((y.value(), y.backward()?.wrt(x[1])?), (5.0, 0.8));
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn call(
        &self,
        function: impl Outside + 'static,
        inputs: &[Var],
    ) -> Result<Vec<Var>, Error> {
        let at = Location::caller();
        if is_above(self.id, inputs, at).map_err(Error::Misuse)? {
            let why = "a function with derivatives of its own has no second ones: call it with variables of one tape, below which there is none";
            return Err(Error::NotReplayable(format!("{at}: {why}")));
        }
        let x: Vec<f64> = inputs.iter().map(|x| x.value()).collect();
        let y = function.value(&x)?;
        if y.is_empty() {
            return Ok(Vec::new());
        }
        // The function may have done something to this tape.
        is_above(self.id, inputs, at).map_err(Error::Misuse)?;
        let places = entries(self.id, inputs, y.len(), at).map_err(Error::Misuse)?;
        let outputs = y.len() as u32;
        let number = self.recorder(|recorder| {
            let first = recorder.recording.nodes.len() as u32;
            let call = Call { function: Rc::new(function), inputs: places, first, outputs, at };
            recorder.recording.calls.push(Rc::new(call));
            recorder.recording.calls.len() as u32 - 1
        });
        let number = number.ok_or(Error::NoTape)?;
        let mut results = Vec::with_capacity(y.len());
        for (k, y) in y.into_iter().enumerate() {
            results.push(append(self.id, Op::Called, [number, k as u32], Var::constant(y), at));
        }
        Ok(results)
    }
}
