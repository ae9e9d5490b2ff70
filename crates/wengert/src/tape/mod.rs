//! The eager tape: any Rust program, recorded as it runs.
//!
//! For what cannot be compiled ahead: generic numerical code, recursion over trees, callbacks, crates written for any
//! scalar. A [`Var`] is used like an `f64`; what is computed of it is recorded on its [`Tape`], and sweeps over the recording
//! give derivatives.
//!
//! ```
//! use wengert::tape::Tape;
//!
//! let tape = Tape::new();
//! let x = tape.var(2.0);
//! let mut y = x;
//! while y < 100.0 {
//!     y = y * y + x.sin();
//! }
//! let slope = y.backward()?.wrt(x)?;
//! # assert!((slope - (y.value() - {
//! #     let (x, mut y): (f64, f64) = (2.0 - 1e-7, 2.0 - 1e-7);
//! #     while y < 100.0 { y = y * y + x.sin(); }
//! #     y
//! # }) / 1e-7).abs() < 1e-3 * slope);
//! # Ok::<(), wengert::tape::Error>(())
//! ```
//!
//! - [`grad`], [`value_and_grad`], [`jacobian`], [`hessian`], [`hvp`] and [`third`] make tapes by themselves.
//! - [`Tape::reverse`] and [`Tape::forward`] sweep a recording, as often as wanted; [`Tape::replay`] computes it anew at other inputs;
//!   [`Tape::position`] and [`Tape::rewind`] record a part again.
//! - A tape made while another records is a level above it: derivatives of derivatives ([`Var::backward_var`]).
//! - [`Tape::call`] takes functions with derivatives of their own.
//! - [`Tape::compress`] makes a recording smaller; [`Tape::to_program`] makes a compiled function of it.
//! - [`Tape::table`], [`Tape::graphviz`], [`Tape::audit`] and [`Tape::lines`] show what was recorded.
//! - [`Dual`] carries derivatives along, [`Jet`] those of any order, over numbers or variables; [`Scalar`] is any of these.
//! - Code written for `num_traits::Float` takes them all. With feature `nalgebra` they are elements of that crate's matrices
//!   (`RealField`), with feature `ndarray` of that crate's arrays.
//!
//! Rules come from the one table that the compiler has; values from the same elementary functions
//! ([`wengert_math`]).
//!
//! Reading order: `nodes` (the list), `var` (what is recorded), `recorder` (how), `sweep` (what is made of it), `nested` (the same with
//! variables in place of numbers), then this file; `compress` and `fuse` (smaller recordings), `statements`, `rolling` and
//! `program` (recordings as programs), `inspect`; `number` (the rule table as numbers), `guard`, `outside`, `error`; `scalar`, `dual`,
//! `jet` and `series` (derivatives that are carried along), `methods` and `operators` (what all have), `generic`, `nalgebras` and
//! `ndarrays` (the traits of other crates).

mod adjoints;
mod compress;
mod dual;
mod error;
mod functions;
mod fuse;
mod generic;
mod guard;
mod inspect;
mod jet;
mod methods;
#[cfg(feature = "nalgebra")]
mod nalgebras;
#[cfg(feature = "ndarray")]
mod ndarrays;
mod nested;
mod nodes;
mod number;
mod operators;
mod outside;
mod program;
mod recorder;
mod rolling;
mod scalar;
mod series;
mod statements;
mod stats;
mod sweep;
mod var;

pub use adjoints::Adjoints;
pub use compress::{Compressed, Compression};
pub use dual::{Dual, derivative, jvp};
pub use error::{Error, Misuse, MisuseKind};
pub use functions::{grad, hessian, hvp, jacobian, third, value_and_grad};
pub use inspect::{Audit, LineCost, Lines, Row, Table};
pub use jet::{Jet, derivatives, taylor};
pub use nested::VarAdjoints;
pub use outside::Outside;
pub use scalar::Scalar;
pub use stats::Stats;
pub use var::Var;

use self::nodes::Op;
use self::outside::Call;
use self::recorder::{CONSTANT, Recorder, Recording, append, entries, with};
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

/// What is computed of its variables is recorded here, on the thread that made it, until it is dropped.
///
/// ```
/// use wengert::tape::Tape;
///
/// let tape = Tape::new();
/// let [a, b] = tape.vars([1.0, 2.0]);
/// let y = (a * b).exp();
/// assert_eq!(tape.len(), 4);
/// let d = y.backward()?;
/// assert_eq!(d.wrt(a)?, 2.0 * 2f64.exp());
/// # Ok::<(), wengert::tape::Error>(())
/// ```
#[derive(Debug)]
pub struct Tape {
    id: u64,
    /// It stays on its thread.
    here: PhantomData<*const ()>,
}

thread_local! {
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// A place in a recording, to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    tape: u64,
    /// How often entries had been given other numbers.
    epoch: u32,
    at: u32,
}

impl Position {
    fn is_in(self, tape: u64, recording: &Recording) -> bool {
        let counts = self.epoch == recording.epoch || self.at == 0;
        self.tape == tape && counts && self.at as usize <= recording.nodes.len()
    }
}

impl Default for Tape {
    fn default() -> Tape {
        Tape::new()
    }
}

impl Tape {
    /// A tape that records from now on.
    pub fn new() -> Tape {
        let id = LAST.with(|last| {
            last.set(last.get() + 1);
            last.get()
        });
        with(|stack| stack.add(id));
        Tape { id, here: PhantomData }
    }

    /// A tape that keeps the source line of every entry, for [`Tape::table`] and [`Tape::audit`]. It takes longer.
    pub fn with_lines() -> Tape {
        let tape = Tape::new();
        tape.recorder(|recorder| {
            recorder.recording.places = Some(Vec::new());
            recorder.choose();
        });
        tape
    }

    /// Keeps from now on how comparisons of variables come out, so that [`Tape::replay`] finds out branches that would go the
    /// other way.
    pub fn guarded(self) -> Tape {
        self.recorder(|recorder| recorder.recording.guards.get_or_insert_with(Vec::new).clear());
        self
    }

    fn recorder<R>(&self, look: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
        with(|stack| stack.find(self.id).map(look))
    }

    /// A variable: derivatives can be taken by it. Of a variable of an earlier tape it is the same number one level
    /// above.
    #[track_caller]
    pub fn var(&self, value: impl Into<Var>) -> Var {
        self.var_at(value.into(), Location::caller())
    }

    fn var_at(&self, value: Var, at: &'static Location<'static>) -> Var {
        match value.checked(at) {
            Err(Error::Misuse(misuse)) => recorder::misused(value.value(), misuse.kind, misuse.at),
            _ => append(self.id, Op::Input, [0, 0], value, at),
        }
    }

    /// Several variables.
    #[track_caller]
    pub fn vars<const N: usize, T: Into<Var>>(&self, values: [T; N]) -> [Var; N] {
        let at = Location::caller();
        values.map(|value| self.var_at(value.into(), at))
    }

    /// A variable for each number of a slice.
    #[track_caller]
    pub fn var_vec(&self, values: &[f64]) -> Vec<Var> {
        let mut all = Vec::with_capacity(values.len());
        for value in values {
            all.push(self.var(*value));
        }
        all
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.recorder(|recorder| recorder.recording.nodes.len()).unwrap_or(0)
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the recording ends now.
    pub fn position(&self) -> Position {
        let epoch = self.recorder(|recorder| recorder.recording.epoch).unwrap_or(0);
        Position { tape: self.id, epoch, at: self.len() as u32 }
    }

    /// Where the recording begins, however often its entries are given other numbers.
    fn beginning(&self) -> Position {
        Position { tape: self.id, epoch: 0, at: 0 }
    }

    /// Forgets what was recorded since a position. Variables made since then are no longer any; memory stays, for what is recorded next.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let rate = tape.var(0.5);
    /// let begin = tape.position();
    /// let mut slope = 0.0;
    /// for k in 0..1000 {
    ///     let loss = (rate * k as f64).cos();
    ///     slope += loss.backward()?.wrt(rate)?;
    ///     tape.rewind(begin)?;
    /// }
    /// assert_eq!(tape.len(), 1);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    pub fn rewind(&self, position: Position) -> Result<(), Error> {
        with(|stack| {
            let tag = stack.tag();
            let recorder = stack.find(self.id).filter(|recorder| !recorder.busy);
            let recorder = recorder.ok_or(Error::NoTape)?;
            let len = recorder.recording.nodes.len() as u32;
            if !position.is_in(self.id, &recorder.recording) {
                return Err(Error::NoPosition { position: position.at, len });
            }
            recorder.rewind(position.at, tag);
            Ok(())
        })
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&self) -> Result<(), Error> {
        self.rewind(self.beginning())
    }

    /// Gives memory back that no entry is in, and what this thread keeps for its next tapes.
    pub fn free(&self) {
        self.recorder(|recorder| recorder.recording.nodes.free_unused());
        nodes::free_spare();
    }

    /// Takes the recording away for a sweep, which may call functions that record on other tapes.
    fn swept<R>(&self, sweep: impl FnOnce(&mut Recording) -> R) -> Result<R, Error> {
        /// Brings it back, also where a function panics.
        struct Away(u64, Recording);
        impl Drop for Away {
            fn drop(&mut self) {
                let recording = std::mem::take(&mut self.1);
                with(|stack| {
                    if let Some(recorder) = stack.find(self.0) {
                        recorder.recording = recording;
                        recorder.busy = false;
                        recorder.choose();
                    }
                });
            }
        }
        let taken = self.recorder(|recorder| {
            if recorder.busy {
                return None;
            }
            recorder.busy = true;
            let taken = std::mem::take(&mut recorder.recording);
            recorder.choose();
            Some(taken)
        });
        let mut away = Away(self.id, taken.flatten().ok_or(Error::NoTape)?);
        Ok(sweep(&mut away.1))
    }

    /// Adjoints of everything recorded, from weights of results: `seeds` are results with their weights.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(3.0);
    /// let (y, z) = (x * x, x.ln());
    /// let d = tape.reverse(&[(y, 1.0), (z, 6.0)])?;
    /// assert_eq!(d.wrt(x)?, 6.0 + 6.0 / 3.0);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn reverse(&self, seeds: &[(Var, f64)]) -> Result<Adjoints, Error> {
        let mut adjoints = Adjoints::default();
        self.reverse_into(seeds, &mut adjoints)?;
        Ok(adjoints)
    }

    /// The same, in the memory of adjoints that were made before.
    #[track_caller]
    pub fn reverse_into(&self, seeds: &[(Var, f64)], adjoints: &mut Adjoints) -> Result<(), Error> {
        self.begin(seeds, adjoints)?;
        self.reverse_to(self.beginning(), adjoints)
    }

    /// Adjoints at the end of the recording, which [`Tape::reverse_to`] takes back.
    #[track_caller]
    pub fn seeded(&self, seeds: &[(Var, f64)]) -> Result<Adjoints, Error> {
        let mut adjoints = Adjoints::default();
        self.begin(seeds, &mut adjoints)?;
        Ok(adjoints)
    }

    #[track_caller]
    fn begin(&self, seeds: &[(Var, f64)], adjoints: &mut Adjoints) -> Result<(), Error> {
        let at = Location::caller();
        seeds.iter().try_for_each(|(y, _)| y.checked(at).map(|_| ()))?;
        self.swept(|recording| adjoints.begin(recording, seeds, at))?
    }

    /// Takes adjoints back to a position. What was recorded since may then be forgotten by [`Tape::rewind`].
    pub fn reverse_to(&self, position: Position, adjoints: &mut Adjoints) -> Result<(), Error> {
        self.swept(|recording| {
            if !position.is_in(self.id, recording) {
                let len = recording.nodes.len() as u32;
                return Err(Error::NoPosition { position: position.at, len });
            }
            adjoints.take_back(recording, position.at as usize)
        })?
    }

    /// Adjoints for several sets of seeds, in one sweep for every four of them.
    #[track_caller]
    pub fn reverse_many(&self, seeds: &[&[(Var, f64)]]) -> Result<Vec<Adjoints>, Error> {
        let at = Location::caller();
        for (y, _) in seeds.iter().copied().flatten() {
            y.checked(at)?;
        }
        self.swept(|recording| adjoints::many(recording, seeds, at))?
    }

    /// Tangents of results along a direction: `direction` gives variables their tangents.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let (x, y) = (tape.var(3.0), tape.var(5.0));
    /// let (s, p) = (x + y, x * y);
    /// assert_eq!(tape.forward(&[(x, 1.0), (y, -1.0)], &[s, p])?, [0.0, 2.0]);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn forward(&self, direction: &[(Var, f64)], results: &[Var]) -> Result<Vec<f64>, Error> {
        let at = Location::caller();
        for x in direction.iter().map(|(x, _)| x).chain(results) {
            x.checked(at)?;
        }
        self.swept(|recording| {
            let mut tangents = vec![0.0; recording.nodes.len()];
            for (x, d) in direction {
                let other = Misuse { kind: MisuseKind::OtherTape, at };
                let is_input =
                    recording.owns(*x) && recording.nodes.get(x.index() as usize).op == Op::Input;
                if !is_input {
                    return Err(Error::Misuse(other));
                }
                tangents[x.index() as usize] += d;
            }
            sweep::forward(recording, &mut tangents)?;
            let of = |y: &Var| if recording.owns(*y) { tangents[y.index() as usize] } else { 0.0 };
            Ok(results.iter().map(of).collect())
        })?
    }

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
                return Err(Error::NotReplayable(why.into()));
            }
            let mut before = Vec::with_capacity(inputs.len());
            let mut set = || {
                for (x, value) in inputs {
                    let is_input = recording.owns(*x) && recording.nodes.get(x.index() as usize).op == Op::Input;
                    if !is_input {
                        return Err(Error::Misuse(Misuse { kind: MisuseKind::OtherTape, at }));
                    }
                    before.push((x.index(), recording.nodes.value(x.index())));
                    recording.nodes.set_value(x.index(), *value);
                }
                sweep::replay(recording)
            };
            let done = set();
            if let Err(error) = done {
                for (x, value) in before.into_iter().rev() {
                    recording.nodes.set_value(x, value);
                }
                // At the values before, everything came out as it was recorded.
                let _ = sweep::replay(recording);
                return Err(error);
            }
            let of = |y: &Var| if recording.owns(*y) { recording.nodes.value(y.index()) } else { y.value() };
            Ok(results.iter().map(of).collect())
        })?
    }

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
        let places = entries(self.id, inputs, at).map_err(Error::Misuse)?;
        let is_nested = self.recorder(|recorder| !recorder.recording.primals.is_empty());
        if is_nested != Some(false) {
            let why = "a function with derivatives of its own has no second ones: call it with variables of the outermost tape";
            return Err(Error::NotReplayable(why.into()));
        }
        let x: Vec<f64> = inputs.iter().map(|x| x.value()).collect();
        let y = function.value(&x)?;
        let outputs = y.len() as u32;
        let number = self.recorder(|recorder| {
            let first = recorder.recording.nodes.len() as u32;
            let call = Call { function: Rc::new(function), inputs: places, first, outputs };
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

    /// Records a part and keeps only its partials: results of few inputs then take an entry and 12 bytes for each of them,
    /// however much was computed in between.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(1.0);
    /// let y = tape.preaccumulate(&[x], |x| {
    ///     vec![(0..1000).fold(x[0], |y, _| y.sin())]
    /// })?;
    /// assert_eq!(tape.len(), 2);
    /// # assert!((y[0].backward()?.wrt(x)? - 1.2e-4).abs() < 1e-4);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn preaccumulate(
        &self,
        inputs: &[Var],
        part: impl FnOnce(&[Var]) -> Vec<Var>,
    ) -> Result<Vec<Var>, Error> {
        let at = Location::caller();
        let places = entries(self.id, inputs, at).map_err(Error::Misuse)?;
        if self.recorder(|recorder| !recorder.recording.primals.is_empty()) != Some(false) {
            let why = "a preaccumulated part has no second derivatives: record it as it is";
            return Err(Error::NotReplayable(why.into()));
        }
        let inner = Tape::new();
        let x = inner.var_vec(&inputs.iter().map(|x| x.value()).collect::<Vec<f64>>());
        let y = part(&x);
        let seeds: Vec<[(Var, f64); 1]> = y.iter().map(|y| [(*y, 1.0)]).collect();
        let seeds: Vec<&[(Var, f64)]> = seeds.iter().map(|seed| &seed[..]).collect();
        let rows = inner.reverse_many(&seeds)?;
        if inner.recorder(|recorder| !recorder.recording.primals.is_empty()) != Some(false) {
            let why =
                "a preaccumulated part uses a variable that is not among its inputs: name it there";
            return Err(Error::NotReplayable(why.into()));
        }
        drop(inner);
        let mut results = Vec::with_capacity(y.len());
        for (y, row) in y.iter().zip(rows) {
            let first = self.recorder(|recorder| {
                let terms = &mut recorder.recording.terms;
                let first = terms.len();
                let slopes = places.iter().zip(&x).map(|(place, x)| (*place, row.of(*x)));
                terms.extend(slopes.filter(|(_, slope)| *slope != 0.0));
                [first as u32, (terms.len() - first) as u32]
            });
            let first = first.ok_or(Error::NoTape)?;
            results.push(append(self.id, Op::Sum, first, Var::constant(y.value()), at));
        }
        Ok(results)
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        // What it holds is dropped after the stack is let go: functions on it may have tapes of their own.
        let gone = with(|stack| stack.remove(self.id));
        drop(gone);
        with(|stack| stack.tidy());
    }
}

impl Var {
    /// Adjoints of everything it was computed of: derivatives of this number.
    #[track_caller]
    pub fn backward(self) -> Result<Adjoints, Error> {
        let at = Location::caller();
        self.checked(at)?;
        if self.tag() == CONSTANT {
            return Ok(Adjoints::default());
        }
        let id = with(|stack| stack.owner(self).map(|(_, recorder)| recorder.id));
        let tape =
            std::mem::ManuallyDrop::new(Tape { id: id.ok_or(Error::NoTape)?, here: PhantomData });
        tape.reverse(&[(self, 1.0)])
    }
}
