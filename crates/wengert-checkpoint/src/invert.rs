//! Loops whose steps can be taken back.
//!
//! Where a step can be undone, as in leapfrog and other symplectic schemes, the way back needs no old states: the live
//! one is taken back step by step. Rounding makes it drift away from what it was. So some states are stored on the way
//! there; when the way back comes to one of them, the two are compared, and it goes on from the stored one. A drift
//! never grows over more steps than lie between two stored states, and what it was is told.

use crate::steps::Steps;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The largest relative drift, where none is given.
const BOUND: f64 = 1e-6;

/// A loop whose steps can be taken back.
pub trait Unstep: Steps {
    /// Takes the live state from the one at the end of a range back to the one at its start. There are no records then, and the
    /// adjoint stays as it is.
    fn unstep(&mut self, range: Range<u64>) -> Result<(), Self::Error>;

    /// How far a state that was reached by taking steps back is from the one that was stored. Both are as [`Steps::save`] wrote
    /// them. Where it is not given, both are taken for floats of eight bytes, the lowest first.
    fn distance(&self, reached: &[u8], stored: &[u8]) -> Distance {
        Distance::of_floats(reached, stored)
    }
}

/// How far a state is from the one that was stored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// The largest difference of two numbers.
    pub difference: f64,
    /// The largest number of the stored state, without its sign.
    pub largest: f64,
}

impl Distance {
    /// Of states that are floats of eight bytes, the lowest first. It is infinite where a number is none, or states differ in what
    /// is left of eight bytes; equal bits are no difference, whatever they are.
    pub fn of_floats(reached: &[u8], stored: &[u8]) -> Distance {
        let ((reached, end), (stored, stored_end)) = (reached.as_chunks::<8>(), stored.as_chunks());
        let is_like = reached.len() == stored.len() && end == stored_end;
        let mut distance = Distance::default();
        if !is_like {
            distance.difference = f64::INFINITY;
        }
        for (reached, stored) in reached.iter().zip(stored) {
            let (now, then) = (f64::from_le_bytes(*reached), f64::from_le_bytes(*stored));
            if reached != stored {
                let difference = (now - then).abs();
                let difference = if difference.is_nan() { f64::INFINITY } else { difference };
                distance.difference = distance.difference.max(difference);
            }
            if then.is_finite() {
                distance.largest = distance.largest.max(then.abs());
            }
        }
        distance
    }
}

/// Why a loop could not be reversed by taking its steps back.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvertError<E> {
    /// A step has failed.
    #[error(transparent)]
    Step(E),
    /// A state came out too far from what it had been.
    #[error(
        "the state before step {step} came out {relative:e} from the one that was stored, relative to the largest number, and {bound:e} is allowed: store states more often, or allow more"
    )]
    Drift {
        /// The step.
        step: u64,
        /// The difference, relative to the largest number of the states met so far.
        relative: f64,
        /// What was allowed.
        bound: f64,
    },
    /// The states to be stored do not fit.
    #[error(
        "{allowed} bytes are too few for {states} states of {state} bytes: store states less often, or allow more memory"
    )]
    TooSmall {
        /// What was allowed.
        allowed: u64,
        /// How many states.
        states: u64,
        /// What a state takes.
        state: u64,
    },
    /// Records do not fit beside the states.
    #[error(
        "the record of step {step} does not fit the {room} bytes that are left: store states less often, or allow more memory"
    )]
    NoRoom {
        /// The first step that was to be recorded.
        step: u64,
        /// What was left.
        room: u64,
    },
    /// The system has no memory for a state.
    #[error("there is no memory for a state of {0} bytes")]
    NoMemory(u64),
    /// The loop ended before its last step.
    #[error("the loop has ended after {now} steps, before step {wanted}")]
    Ended {
        /// Where it was to go on to.
        wanted: u64,
        /// Where it ended.
        now: u64,
    },
    /// There was no first sweep, or it has been reversed.
    #[error("there is nothing to reverse: run the first sweep")]
    NotRun,
}

/// How far states have drifted at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drift {
    /// The largest difference of two numbers.
    pub absolute: f64,
    /// The largest difference relative to the largest number of the stored states met before.
    pub relative: f64,
    /// The step before which the relative one was found.
    pub step: u64,
}

/// What a run that takes steps back has done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unwound {
    /// Steps of the loop.
    pub steps: u64,
    /// Steps run without being recorded.
    pub advanced: u64,
    /// Steps taken back.
    pub unstepped: u64,
    /// Steps recorded.
    pub recorded: u64,
    /// States stored on the first sweep.
    pub stored: u64,
    /// The most bytes of states and records that were held at one time.
    pub peak_bytes: u64,
    /// How far states have drifted.
    pub drift: Drift,
    /// How long both sweeps took.
    pub time: Duration,
}

impl Unwound {
    /// Evaluations of steps, forwards and backwards.
    pub fn evaluations(&self) -> u64 {
        self.advanced + self.unstepped + self.recorded
    }
}

/// One loop whose steps are taken back.
///
/// Every step is run once, taken back once, and recorded once. Two states are held, the records of as many steps as are recorded
/// together, and the states that are stored on the way.
///
/// ```
/// use std::ops::Range;
/// use wengert_checkpoint::{Inverted, Steps, Unstep};
///
/// /// A pendulum, and the derivative of where it ends by where and how fast it begins.
/// #[derive(Default)]
/// struct Pendulum {
///     x: f64,
///     v: f64,
///     tape: Vec<f64>,
///     adjoint: [f64; 2],
/// }
///
/// const H: f64 = 0.01;
///
/// impl Unstep for Pendulum {
///     fn unstep(&mut self, range: Range<u64>) -> Result<(), Self::Error> {
///         for _ in range {
///             self.x -= H * self.v;
///             self.v += H * self.x.sin();
///         }
///         Ok(())
///     }
/// }
///
/// impl Steps for Pendulum {
///     type Error = std::convert::Infallible;
///
///     fn advance(&mut self, range: Range<u64>) -> Result<u64, Self::Error> {
///         for _ in range.clone() {
///             self.v -= H * self.x.sin();
///             self.x += H * self.v;
///         }
///         Ok(range.end)
///     }
///     // Record, reverse, save and load as in every loop.
/// #   fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, Self::Error> {
/// #       if 8 * (range.end - range.start) > room {
/// #           return Ok(None);
/// #       }
/// #       for k in range.clone() {
/// #           self.tape.push(self.x);
/// #           self.advance(k..k + 1)?;
/// #       }
/// #       Ok(Some(range.end))
/// #   }
/// #   fn reverse(&mut self, range: Range<u64>) -> Result<(), Self::Error> {
/// #       for _ in range {
/// #           let [dx, dv] = self.adjoint;
/// #           let dv = dv + H * dx;
/// #           self.adjoint = [dx - H * self.tape.pop().unwrap().cos() * dv, dv];
/// #       }
/// #       Ok(())
/// #   }
/// #   fn forget(&mut self) {
/// #       self.tape.clear();
/// #   }
/// #   fn record_bytes(&self) -> u64 {
/// #       8 * self.tape.len() as u64
/// #   }
/// #   fn state_bytes(&self) -> u64 {
/// #       16
/// #   }
/// #   fn save(&self, to: &mut [u8]) {
/// #       to[..8].copy_from_slice(&self.x.to_le_bytes());
/// #       to[8..].copy_from_slice(&self.v.to_le_bytes());
/// #   }
/// #   fn load(&mut self, from: &[u8]) -> Result<(), Self::Error> {
/// #       self.x = f64::from_le_bytes(from[..8].try_into().unwrap());
/// #       self.v = f64::from_le_bytes(from[8..].try_into().unwrap());
/// #       Ok(())
/// #   }
/// }
///
/// let steps = 100_000;
/// let mut pendulum = Pendulum { x: 1.0, ..Pendulum::default() };
/// // The first state and the last one, and one number for the record of a step.
/// let mut run = Inverted::new(40, steps).within(1e-9);
/// run.forward(&mut pendulum)?;
/// pendulum.adjoint = [1.0, 0.0];
/// run.backward(&mut pendulum)?;
/// assert!((pendulum.adjoint[0] - 126.572_575_793).abs() < 1e-6);
/// let done = run.done();
/// assert_eq!((done.peak_bytes, done.unstepped), (40, steps));
/// // All steps taken back, it is where it began but for rounding.
/// assert!(done.drift.relative > 0.0 && done.drift.relative < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Inverted {
    /// Bytes for states and records.
    memory: u64,
    steps: u64,
    /// A state is stored after so many steps.
    every: u64,
    /// So many steps are recorded together.
    unit: u64,
    /// The largest relative drift.
    bound: f64,
    /// Whether the first step of all is not taken back.
    is_apart: bool,
    /// States by their steps, the last one at the end.
    stored: Vec<(u64, Vec<u8>)>,
    /// Bytes of states.
    bytes: u64,
    /// The largest number of the stored states met on the way back.
    largest: f64,
    done: Unwound,
}

impl Inverted {
    /// A loop of so many steps, in so many bytes for states and records. The first state is stored, and the last one.
    pub fn new(memory: u64, steps: u64) -> Inverted {
        Inverted {
            memory,
            steps,
            every: u64::MAX,
            unit: 1,
            bound: BOUND,
            is_apart: false,
            stored: Vec::new(),
            bytes: 0,
            largest: 0.0,
            done: Unwound::default(),
        }
    }

    /// A state is stored every so many steps as well. With one step, all states are the exact ones.
    pub fn storing_every(self, steps: u64) -> Inverted {
        Inverted { every: steps.max(1), ..self }
    }

    /// So many steps are taken back, recorded and reversed together; one if it is not said. More take more room for records, and
    /// states are copied less often. Where their records do not fit, fewer are recorded together.
    pub fn recording(self, steps: u64) -> Inverted {
        Inverted { unit: steps.max(1), ..self }
    }

    /// A drift that is larger is an error: the difference relative to the largest number. A millionth if it is not said.
    pub fn within(self, relative: f64) -> Inverted {
        Inverted { bound: relative, ..self }
    }

    /// The first step of all is never taken back: what it makes of the first state is compared instead. For states that hold what the
    /// step before has made of them; before the first one there is none. One state more is held.
    pub fn beginning_apart(self) -> Inverted {
        Inverted { is_apart: true, ..self }
    }

    /// How many steps lie between two states that are stored.
    pub fn every(&self) -> u64 {
        self.every
    }

    /// What has been done so far.
    pub fn done(&self) -> &Unwound {
        &self.done
    }

    /// The first sweep: the last state is live afterwards.
    pub fn forward<S: Unstep>(&mut self, steps: &mut S) -> Result<(), InvertError<S::Error>> {
        let start = Instant::now();
        self.done = Unwound { steps: self.steps, ..Unwound::default() };
        let ran = self.run(steps);
        self.done.time += start.elapsed();
        ran
    }

    /// The way back: what `steps` holds as the adjoint of the last state becomes that of the first, which is live afterwards.
    pub fn backward<S: Unstep>(&mut self, steps: &mut S) -> Result<(), InvertError<S::Error>> {
        let start = Instant::now();
        let ran = self.unwind(steps);
        self.done.time += start.elapsed();
        self.stored.clear();
        self.bytes = 0;
        ran
    }

    fn run<S: Unstep>(&mut self, steps: &mut S) -> Result<(), InvertError<S::Error>> {
        self.stored.clear();
        self.bytes = 0;
        if self.steps == 0 {
            return Ok(());
        }
        let states = self.steps.div_ceil(self.every) + 1 + u64::from(self.is_apart);
        let state = steps.state_bytes();
        if states.saturating_mul(state) > self.memory {
            return Err(InvertError::TooSmall { allowed: self.memory, states, state });
        }
        let mut at = 0;
        while at < self.steps {
            self.store(steps, at)?;
            let wanted = at.saturating_add(self.every).min(self.steps);
            let now = steps.advance(at..wanted).map_err(InvertError::Step)?;
            self.done.advanced += now - at;
            if now != wanted {
                return Err(InvertError::Ended { wanted, now });
            }
            at = now;
        }
        self.store(steps, at)
    }

    fn unwind<S: Unstep>(&mut self, steps: &mut S) -> Result<(), InvertError<S::Error>> {
        if self.steps == 0 {
            return Ok(());
        }
        // What lies where the last state was becomes the copy of the state at which a unit begins.
        let Some((last, mut copy)) = self.stored.pop().filter(|(step, _)| *step == self.steps)
        else {
            return Err(InvertError::NotRun);
        };
        steps.load(&copy).map_err(InvertError::Step)?;
        self.largest = steps.distance(&copy, &copy).largest;
        let mut end = last;
        while end > 0 {
            let start = self.stored.last().map_or(0, |(step, _)| *step);
            let from = start.max(end.saturating_sub(self.unit));
            let first = from + u64::from(self.is_apart && from == 0);
            if first < end {
                steps.unstep(first..end).map_err(InvertError::Step)?;
            }
            self.done.unstepped += end - first;
            self.bytes -= copy.len() as u64;
            save(steps, &mut copy)?;
            self.bytes += copy.len() as u64;
            self.note_peak(steps);
            if let Some((step, stored)) = self.stored.pop_if(|(step, _)| *step == from) {
                match first == from {
                    true => self.compare(steps, step, &copy, &stored)?,
                    false => self.compare_second(steps, &copy, &stored)?,
                }
                self.bytes -= copy.len() as u64;
                copy = stored;
                steps.load(&copy).map_err(InvertError::Step)?;
            }
            self.reverse(steps, from..end, &copy)?;
            end = from;
        }
        Ok(())
    }

    /// Reverses a range that begins with the live state, of which there is a copy. Where the records of all of it do not fit, its steps are
    /// recorded in smaller units.
    fn reverse<S: Unstep>(
        &mut self,
        steps: &mut S,
        range: Range<u64>,
        copy: &[u8],
    ) -> Result<(), InvertError<S::Error>> {
        let mut end = range.end;
        while end > range.start {
            let from = range.start.max(end.saturating_sub(self.unit));
            if from > range.start {
                let now = steps.advance(range.start..from).map_err(InvertError::Step)?;
                self.done.advanced += now - range.start;
            }
            let room = self.memory.saturating_sub(self.bytes + steps.record_bytes());
            match steps.record(from..end, room).map_err(InvertError::Step)? {
                Some(now) if now == end => {
                    self.done.recorded += now - from;
                    self.note_peak(steps);
                    steps.reverse(from..end).map_err(InvertError::Step)?;
                    end = from;
                }
                Some(now) => return Err(InvertError::Ended { wanted: end, now }),
                None => {
                    steps.forget();
                    if end - from == 1 {
                        return Err(InvertError::NoRoom { step: from, room });
                    }
                    self.unit = (end - from) / 2;
                }
            }
            // Recording has moved it.
            steps.load(copy).map_err(InvertError::Step)?;
        }
        Ok(())
    }

    fn store<S: Unstep>(&mut self, steps: &S, step: u64) -> Result<(), InvertError<S::Error>> {
        let mut state = Vec::new();
        save(steps, &mut state)?;
        self.bytes += state.len() as u64;
        self.stored.push((step, state));
        self.done.stored += 1;
        self.note_peak(steps);
        Ok(())
    }

    /// Notes how far the state before a step has drifted.
    fn compare<S: Unstep>(
        &mut self,
        steps: &S,
        step: u64,
        reached: &[u8],
        stored: &[u8],
    ) -> Result<(), InvertError<S::Error>> {
        let Distance { difference, largest } = steps.distance(reached, stored);
        // States may begin at zero: what they become later tells what is large.
        self.largest = self.largest.max(largest);
        let relative = if difference == 0.0 { 0.0 } else { difference / self.largest };
        let relative = if relative.is_nan() { f64::INFINITY } else { relative };
        let drift = &mut self.done.drift;
        drift.absolute = drift.absolute.max(difference);
        if relative > drift.relative {
            (drift.relative, drift.step) = (relative, step);
        }
        match relative <= self.bound {
            true => Ok(()),
            false => Err(InvertError::Drift { step, relative, bound: self.bound }),
        }
    }

    /// The same of the state after the first step, which is made of the first one.
    fn compare_second<S: Unstep>(
        &mut self,
        steps: &mut S,
        reached: &[u8],
        stored: &[u8],
    ) -> Result<(), InvertError<S::Error>> {
        steps.load(stored).map_err(InvertError::Step)?;
        let now = steps.advance(0..1).map_err(InvertError::Step)?;
        self.done.advanced += now;
        let mut second = Vec::new();
        save(steps, &mut second)?;
        self.bytes += second.len() as u64;
        self.note_peak(steps);
        let compared = self.compare(steps, 1, reached, &second);
        self.bytes -= second.len() as u64;
        compared
    }

    fn note_peak<S: Steps>(&mut self, steps: &S) {
        self.done.peak_bytes = self.done.peak_bytes.max(self.bytes + steps.record_bytes());
    }
}

/// Writes the live state to storage that becomes as large as it is.
fn save<S: Steps>(steps: &S, to: &mut Vec<u8>) -> Result<(), InvertError<S::Error>> {
    let bytes = steps.state_bytes();
    let none = InvertError::NoMemory(bytes);
    let Ok(length) = usize::try_from(bytes) else { return Err(none) };
    if to.try_reserve_exact(length.saturating_sub(to.len())).is_err() {
        return Err(none);
    }
    to.resize(length, 0);
    steps.save(to);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_floats() {
        let bytes = |x: &[f64]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let of = |a: &[f64], b: &[f64]| {
            let Distance { difference, largest } = Distance::of_floats(&bytes(a), &bytes(b));
            (difference, largest)
        };
        assert_eq!(of(&[], &[]), (0.0, 0.0));
        assert_eq!(of(&[1.0, 2.0, -3.0], &[1.5, 2.0, -4.0]), (1.0, 4.0));
        assert_eq!(of(&[9.0], &[-1.0]), (10.0, 1.0));
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        // Numbers that are none count where they are on one side only.
        assert_eq!(of(&[nan, inf, 1.0], &[nan, inf, 1.0]), (0.0, 1.0));
        for (a, b) in [(nan, 1.0), (1.0, nan), (inf, 1.0), (1.0, inf), (inf, -inf)] {
            assert_eq!(of(&[0.0, a, 2.0], &[0.0, b, 2.0]).0, inf, "{a} {b}");
        }
        assert_eq!(of(&[1.0], &[1.0, 2.0]).0, inf);
        let odd = |end| [&bytes(&[1.0])[..], end].concat();
        assert_eq!(Distance::of_floats(&odd(&[1, 2]), &odd(&[1, 2])).difference, 0.0);
        assert_eq!(Distance::of_floats(&odd(&[1, 2]), &odd(&[1, 3])).difference, inf);
    }
}
