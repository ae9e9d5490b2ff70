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
//! - [`Tape::compress`] makes a recording smaller; with feature `compile`, `Tape::to_program` makes a compiled function of it.
//! - [`Tape::table`], [`Tape::graphviz`], [`Tape::audit`] and [`Tape::lines`] show what was recorded.
//! - [`Dual`] carries derivatives along, [`Jet`] those of any order, over numbers or variables; [`Scalar`] is any of these.
//! - Code written for `num_traits::Float` takes them all. With feature `nalgebra` they are elements of that crate's matrices
//!   (`RealField`), with feature `ndarray` of that crate's arrays.
//! - [`Tape::checkpoint`] and [`Tape::for_each`] record parts and loops again on the way back, in little memory.
//! - [`Tape::call`] takes functions with derivatives of their own; [`Tape::solve`] and [`Tape::fixed_point`] are such.
//!
//! Rules come from the one table that the compiler has; values from the same elementary functions
//! ([`wengert_math`]).
//!
//! Reading order: `nodes` (the list), `recording` (what is kept beside it), `var` (what is recorded), `recorder` (how), `sweep` (what is
//! made of it), `nested` (the same with variables in place of numbers), then this file; `number` (the rule table as numbers),
//! `guard`, `replay`, `outside` and what is built on it (`region`, `loops`, `solve`, `fixed`), `error`; `compress` and `fuse` (smaller
//! recordings), `statements`, `rolling` and `program` (recordings as programs), `inspect`; `scalar`, `dual`, `jet` and `series` (derivatives that
//! are carried along), `methods` and `operators` (what all have), `generic`, `nalgebras` and `ndarrays` (the traits of other crates).

mod adjoints;
mod compress;
mod dual;
mod error;
mod fixed;
mod functions;
mod fuse;
mod generic;
mod guard;
mod inspect;
mod jet;
mod loops;
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
#[cfg(feature = "compile")]
mod program;
mod recorder;
mod recording;
mod region;
mod replay;
#[cfg(feature = "compile")]
mod rolling;
mod scalar;
mod series;
mod solve;
#[cfg(feature = "compile")]
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
use self::recorder::{CONSTANT, Recorder, Recording, append, entries, with};
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;

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
    at: u32,
    /// Of the entry before it: what is recorded there later has another one.
    tag: u32,
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

    fn owns(&self, x: Var) -> bool {
        self.recorder(|recorder| recorder.recording.owns(x)).unwrap_or(false)
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
        let misuse = match recorder::is_above(self.id, &[value], at) {
            // An input of its own tape would stand for two things.
            Ok(_) if self.owns(value) => Misuse { kind: MisuseKind::Later, at },
            Ok(_) => return append(self.id, Op::Input, [0, 0], value, at),
            Err(misuse) => misuse,
        };
        recorder::misused(value.value(), misuse.kind, misuse.at)
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
        let here = |recorder: &mut Recorder| {
            let at = recorder.recording.nodes.len() as u32;
            Position { tape: self.id, at, tag: recorder.recording.tag_before(at) }
        };
        // While it is swept it has no place to go back to.
        let idle = self.recorder(|recorder| (!recorder.busy).then(|| here(recorder))).flatten();
        idle.unwrap_or(Position { tape: self.id, at: u32::MAX, tag: CONSTANT })
    }

    /// Where nothing is recorded.
    fn start(&self) -> Position {
        Position { tape: self.id, at: 0, tag: CONSTANT }
    }

    /// Whether a position is one of this tape, and what was before it is still there.
    fn finds(
        &self,
        position: Position,
        recording: &Recording,
        at: &'static Location<'static>,
    ) -> Result<(), Error> {
        let len = recording.nodes.len() as u32;
        let is_here = position.tape == self.id && position.at <= len;
        if is_here && recording.tag_before(position.at) == position.tag {
            return Ok(());
        }
        Err(Error::NoPosition { position: position.at, len, at })
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
    #[track_caller]
    pub fn rewind(&self, position: Position) -> Result<(), Error> {
        let at = Location::caller();
        let gone = with(|stack| {
            let tag = stack.tag();
            let recorder = stack.find(self.id).ok_or(Error::NoTape)?;
            if recorder.busy {
                return Err(Error::Misuse(Misuse { kind: MisuseKind::Busy, at }));
            }
            self.finds(position, &recorder.recording, at)?;
            Ok(recorder.rewind(position.at, tag))
        });
        gone.map(drop)
    }

    /// Forgets everything, and keeps the memory.
    ///
    /// ```
    /// let tape = wengert::tape::Tape::new();
    /// let x = tape.var(1.0);
    /// tape.clear()?;
    /// // It is no variable any more: that is told, with the line.
    /// assert!((x * 2.0).backward().is_err());
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn clear(&self) -> Result<(), Error> {
        self.rewind(self.start())
    }

    /// Gives memory back that no entry is in, and what this thread keeps for its next tapes.
    pub fn free(&self) {
        self.recorder(|recorder| recorder.recording.nodes.free_unused());
        nodes::free_spare();
    }

    /// Takes the recording away for a sweep, which may call functions that record on other tapes.
    #[track_caller]
    fn swept<R>(&self, sweep: impl FnOnce(&mut Recording) -> R) -> Result<R, Error> {
        /// Brings it back, also where a function panics.
        struct Away(u64, Option<Recording>);
        impl Drop for Away {
            fn drop(&mut self) {
                with(|stack| {
                    if let Some(recorder) = stack.find(self.0) {
                        self.1.take().into_iter().for_each(|it| recorder.take_back(it));
                    }
                });
            }
        }
        let busy = Misuse { kind: MisuseKind::Busy, at: Location::caller() };
        let taken = self.recorder(Recorder::lend).ok_or(Error::NoTape)?;
        let mut away = Away(self.id, Some(taken.ok_or(Error::Misuse(busy))?));
        match &mut away.1 {
            Some(recording) => Ok(sweep(recording)),
            None => Err(Error::NoTape),
        }
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
    ///
    /// ```
    /// use wengert::tape::{Adjoints, Tape};
    ///
    /// let (tape, mut d) = (Tape::new(), Adjoints::default());
    /// let x = tape.var(3.0);
    /// for n in 1..4 {
    ///     tape.reverse_into(&[(x.powi(n), 1.0)], &mut d)?;
    ///     assert_eq!(d.wrt(x)?, f64::from(n) * 3f64.powi(n - 1));
    /// }
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn reverse_into(&self, seeds: &[(Var, f64)], adjoints: &mut Adjoints) -> Result<(), Error> {
        self.begin(seeds, adjoints)?;
        self.reverse_to(self.start(), adjoints)
    }

    /// Adjoints at the end of the recording, which [`Tape::reverse_to`] takes back: see there.
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

    /// Takes adjoints back to a position. What was recorded since may then be forgotten by [`Tape::rewind`]; derivatives by what was
    /// recorded before are so far those by way of what comes after the position.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(3.0);
    /// let y = x * x;
    /// let middle = tape.position();
    /// let z = y * y;
    /// let mut d = tape.seeded(&[(z, 1.0)])?;
    /// tape.reverse_to(middle, &mut d)?;
    /// assert_eq!(d.wrt(y)?, 18.0);
    /// tape.rewind(middle)?;
    /// tape.reverse_to(middle, &mut d)?;
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn reverse_to(&self, position: Position, adjoints: &mut Adjoints) -> Result<(), Error> {
        let at = Location::caller();
        self.swept(|recording| {
            self.finds(position, recording, at)?;
            adjoints.take_back(recording, position.at as usize, at)
        })?
    }

    /// Adjoints for several sets of seeds, in one sweep for every four of them.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(2.0);
    /// let (y, z) = (x * x, x * x * x);
    /// let d = tape.reverse_many(&[&[(y, 1.0)], &[(z, 1.0)]])?;
    /// assert_eq!((d[0].wrt(x)?, d[1].wrt(x)?), (4.0, 12.0));
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
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
            recording.has_results(results, at)?;
            for (x, d) in direction {
                tangents[recording.input(*x, at)?] += d;
            }
            sweep::forward(recording, &mut tangents)?;
            let of = |y: &Var| if recording.owns(*y) { tangents[y.index() as usize] } else { 0.0 };
            Ok(results.iter().map(of).collect())
        })?
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
        if recorder::is_above(self.id, inputs, at).map_err(Error::Misuse)? {
            let why = "a preaccumulated part has no second derivatives: record it as it is";
            return Err(Error::NotReplayable(format!("{at}: {why}")));
        }
        let inner = Tape::new();
        let x = inner.var_vec(&inputs.iter().map(|x| x.value()).collect::<Vec<f64>>());
        let y = part(&x);
        region::only_inputs(&inner, &y, at)?;
        let seeds: Vec<[(Var, f64); 1]> = y.iter().map(|y| [(*y, 1.0)]).collect();
        let seeds: Vec<&[(Var, f64)]> = seeds.iter().map(|seed| &seed[..]).collect();
        let rows = inner.reverse_many(&seeds)?;
        drop(inner);
        // The part may have recorded here.
        recorder::is_above(self.id, inputs, at).map_err(Error::Misuse)?;
        let places = entries(self.id, inputs, y.len(), at).map_err(Error::Misuse)?;
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
