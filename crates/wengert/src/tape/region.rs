//! Parts that are not kept: a closure runs on plain numbers, and is recorded when the way back comes to it.

use super::Tape;
use super::error::Error;
use super::outside::Outside;
use super::recorder::is_above;
use super::var::Var;
use std::panic::Location;

impl Tape {
    /// Runs a part without keeping it. It is run again, and recorded, each time a sweep comes to it; so it has to compute the same from
    /// the same inputs. All variables that it uses are among its inputs.
    ///
    /// A tape above another one records the part as it is, so that it can be differentiated again.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(1.0);
    /// // A thousand operations, of which one entry is kept.
    /// let y = tape.checkpoint(&[x], |x| vec![(0..1000).fold(x[0], |y, _| y.sin())])?;
    /// assert_eq!(tape.len(), 2);
    /// let slope = y[0].backward()?.wrt(x)?;
    /// # let kept = wengert::tape::grad(|x| (0..1000).fold(x[0], |y, _| y.sin()), &[1.0])?;
    /// # assert_eq!(slope, kept[0]);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn checkpoint(
        &self,
        inputs: &[Var],
        part: impl Fn(&[Var]) -> Vec<Var> + 'static,
    ) -> Result<Vec<Var>, Error> {
        let at = Location::caller();
        if is_above(self.id, inputs, at).map_err(Error::Misuse)? {
            return Ok(part(inputs));
        }
        self.call(Region { part, at }, inputs)
    }
}

/// A part that is recorded again.
struct Region<F> {
    part: F,
    at: &'static Location<'static>,
}

impl<F: Fn(&[Var]) -> Vec<Var>> Region<F> {
    /// Records it, and sees to it that it is what it was.
    fn again(&self, x: &[f64], y: &[f64]) -> Result<Again, Error> {
        let tape = Tape::new();
        let x = tape.var_vec(x);
        let results = (self.part)(&x);
        only_inputs(&tape, &results, self.at)?;
        same(y, &results.iter().map(|y| y.value()).collect::<Vec<f64>>(), self.at)?;
        Ok(Again { tape, x, y: results })
    }
}

/// A part that is recorded.
struct Again {
    tape: Tape,
    x: Vec<Var>,
    y: Vec<Var>,
}

impl<F: Fn(&[Var]) -> Vec<Var>> Outside for Region<F> {
    fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        plain(&(self.part)(&constants(x)), self.at)
    }

    fn vjp(&self, x: &[f64], y: &[f64], dy: &[f64]) -> Result<Vec<f64>, Error> {
        let again = self.again(x, y)?;
        let seeds: Vec<(Var, f64)> = again.y.into_iter().zip(dy.iter().copied()).collect();
        again.tape.reverse(&seeds)?.wrt_all(&again.x)
    }

    fn jvp(&self, x: &[f64], y: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
        let again = self.again(x, y)?;
        let direction: Vec<(Var, f64)> = again.x.into_iter().zip(dx.iter().copied()).collect();
        again.tape.forward(&direction, &again.y)
    }
}

/// Numbers as variables that are on no tape.
pub(super) fn constants(x: &[f64]) -> Vec<Var> {
    x.iter().map(|x| Var::constant(*x)).collect()
}

/// What a closure computed of constants. A variable among that can only come of one that is not an input.
pub(super) fn plain(results: &[Var], at: &'static Location<'static>) -> Result<Vec<f64>, Error> {
    for y in results {
        if let Some(misuse) = y.misuse() {
            return Err(Error::Misuse(misuse));
        }
        if !y.is_constant() {
            return Err(Error::Captured(at));
        }
    }
    Ok(results.iter().map(|y| y.value()).collect())
}

/// What a closure recorded on a tape of its own is computed of its inputs only.
pub(super) fn only_inputs(
    tape: &Tape,
    results: &[Var],
    at: &'static Location<'static>,
) -> Result<(), Error> {
    if let Some(misuse) = results.iter().find_map(|y| y.misuse()) {
        return Err(Error::Misuse(misuse));
    }
    let is_its = |recorder: &mut super::Recorder| {
        let recording = &recorder.recording;
        let is_own = |y: &Var| y.is_constant() || recording.owns(*y);
        recording.primals.is_empty() && results.iter().all(is_own)
    };
    match tape.recorder(is_its) {
        Some(true) => Ok(()),
        _ => Err(Error::Captured(at)),
    }
}

/// What a closure computes when it is run again has the same bits.
pub(super) fn same(
    before: &[f64],
    now: &[f64],
    at: &'static Location<'static>,
) -> Result<(), Error> {
    if before.len() != now.len() {
        let what = format!("it gave {} results, and now {}", before.len(), now.len());
        return Err(Error::NotRepeatable { at, what });
    }
    let differs = |(a, b): &(&f64, &f64)| a.to_bits() != b.to_bits() && !(a.is_nan() && b.is_nan());
    match before.iter().zip(now).enumerate().find(|(_, pair)| differs(pair)) {
        None => Ok(()),
        Some((k, (before, now))) => {
            let what = format!("result {k} was {before:?} and is {now:?} now");
            Err(Error::NotRepeatable { at, what })
        }
    }
}
