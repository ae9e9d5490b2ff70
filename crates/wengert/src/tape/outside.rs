//! Functions whose derivative is given, not recorded.

use super::error::Error;
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
}

/// Says so where a function gives another number of values than there should be.
pub(super) fn counted(
    what: &'static str,
    values: Vec<f64>,
    wanted: usize,
) -> Result<Vec<f64>, Error> {
    if values.len() == wanted {
        Ok(values)
    } else {
        Err(Error::Count { what, wanted, given: values.len() })
    }
}
