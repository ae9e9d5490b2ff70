//! The driver of printed loops that keeps to a memory.
//!
//! A loop is run by the checkpointing driver, in pieces. What it carries is its state; what it only reads is copied once, because
//! the program may overwrite an array between the two sweeps. Between them the loop waits here. Loops inside belong to the steps, as
//! long as the record of one step fits. Where it does not, they are run here as well, each time the loop around them records a step or
//! reverses it, in the memory that is left for that step; what they keep between their two sweeps is part of the step's record.

use super::memory::{Memory, MemoryError};
use super::steps::{Loop, Place, Way};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use wengert_checkpoint::{Disk, Error, LOOKED_AT, Measured, Run, Steps};
use wengert_core::ahead::{
    Backward, Driver, Fault, FaultKind, Forward, Ran, Result, Tape, Values, at,
};
use wengert_core::ops::room;
use wengert_math::{Work, fastest};

/// Pieces of the tape take this part of the memory: what is vacant in the last one is beside what is allowed.
const PIECES: u64 = 64;

/// What is known of a loop: where it stands in the source, and what it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looked {
    /// The number of its place.
    pub place: u32,
    /// How many iterations it has, where that is known.
    pub steps: Option<u64>,
    /// What they take; nothing where there are none.
    pub measured: Option<Measured>,
    /// What was done, once it is.
    pub done: Option<wengert_checkpoint::Done>,
}

/// Runs loops in limited memory.
#[derive(Default)]
pub struct Within {
    /// Bytes for states and records; none where nothing is limited now.
    memory: Option<u64>,
    disk: Option<Memory>,
    /// How many loops have been begun.
    begun: u64,
    /// Whether a loop is being run, and whether loops that begin now are parts of its steps.
    is_inside: bool,
    is_shut: bool,
    /// Whether the memory was too small for a loop inside another.
    pub(super) is_small: bool,
    open: Vec<Box<dyn Waiting>>,
    /// What was measured of loops, and how many iterations they had.
    known: HashMap<TypeId, (Measured, u64)>,
    /// Loops are only looked at, and everything ends when all of them are; that has happened.
    is_dry: bool,
    is_planned: bool,
    loops: Vec<Looked>,
}

impl std::fmt::Debug for Within {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Within").field("memory", &self.memory).finish_non_exhaustive()
    }
}

/// A loop between its two sweeps.
trait Waiting: Any {
    /// The loop.
    fn of(&self) -> TypeId;
    /// The most bytes it takes until it is reversed, beside the records it has now.
    fn bytes(&self) -> u64;
    fn any(self: Box<Self>) -> Box<dyn Any>;
}

struct Open<L: Forward> {
    run: Run,
    place: Place,
    captures: L::Captures,
}

impl<L: Forward> Waiting for Open<L> {
    fn of(&self) -> TypeId {
        TypeId::of::<L>()
    }

    fn bytes(&self) -> u64 {
        self.run.most_bytes().saturating_add(self.captures.array_bytes())
    }

    fn any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// What went wrong: a fault of the program, or there is something to be told.
type Failed = Error<Box<Fault>>;

/// Numbers for folders of loops of one process.
static FOLDERS: AtomicU64 = AtomicU64::new(0);

impl Within {
    /// In so much memory.
    pub fn new(memory: &std::result::Result<Memory, MemoryError>) -> Result<Within> {
        match memory {
            Ok(memory) => Ok(Within {
                memory: Some(memory.in_bytes()),
                disk: Some(memory.clone()).filter(|memory| memory.disk().is_some()),
                ..Within::default()
            }),
            Err(error) => {
                let why = error.to_string().as_str().into();
                let place = (u32::MAX, u32::MAX);
                Err(at(FaultKind::Budget { why, too_small: false }, place, &[]))
            }
        }
    }

    /// Runs a few iterations of each loop, to see what they take.
    pub fn looking() -> Within {
        Within { memory: Some(u64::MAX), is_dry: true, ..Within::default() }
    }

    /// What was seen, where what a run came to is what it should.
    pub fn looked<T>(self, ran: Result<T>) -> Result<Vec<Looked>> {
        match ran {
            Err(fault) if !self.is_planned => Err(fault),
            _ => Ok(self.loops),
        }
    }

    /// What loops have done that are not inside others.
    pub fn loops(&self) -> &[Looked] {
        &self.loops
    }

    /// How many loops wait.
    pub(super) fn waiting(&self) -> usize {
        self.open.len()
    }

    /// What loops take that wait behind so many others.
    pub(super) fn bytes_behind(&self, first: usize) -> u64 {
        let open = self.open.get(first..).unwrap_or_default();
        open.iter().fold(0, |sum: u64, open| sum.saturating_add(open.bytes()))
    }

    /// Loops that wait behind so many others are never reversed.
    pub(super) fn drop_behind(&mut self, first: usize) {
        self.open.truncate(first);
    }

    /// Gives loops inside so much memory; none, and they are parts of steps.
    pub(super) fn open_inside(&mut self, memory: Option<u64>) {
        (self.memory, self.is_shut) = (memory, memory.is_none());
    }

    /// Does something with a loop, inside of which others are parts of its steps.
    fn inside<T>(
        &mut self,
        place: (u32, u32),
        run: impl FnOnce(&mut Within, bool) -> std::result::Result<T, Failed>,
    ) -> Result<T> {
        let (is_inner, memory) = (self.is_inside, self.memory);
        (self.is_inside, self.is_shut) = (true, true);
        let ran = run(self, is_inner);
        (self.is_inside, self.is_shut, self.memory) = (is_inner, false, memory);
        if !is_inner {
            room::keep_as_usual();
        }
        ran.map_err(|why| match why {
            Error::Step(fault) => fault,
            other => {
                let too_small = matches!(other, Error::TooSmall { .. });
                self.is_small = is_inner && too_small;
                let why = other.to_string().as_str().into();
                let kind = match other {
                    Error::Disk(_) => FaultKind::Folder(why),
                    _ => FaultKind::Budget { why, too_small },
                };
                at(kind, place, &[])
            }
        })
    }

    /// A folder of its own for a loop, and what files in it may take.
    fn folder(&mut self, loops: u64) -> std::result::Result<Option<Disk>, Failed> {
        self.begun += 1;
        let Some((folder, bytes)) = self.disk.as_ref().and_then(Memory::disk) else {
            return Ok(None);
        };
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("loop-{}-{}-{number}", std::process::id(), self.begun);
        Ok(Some(Disk::new(folder.join(name), bytes / loops, number)?))
    }

    fn go<L: Forward>(
        &mut self,
        [from, to]: [i64; 2],
        carries: L::Carries,
        captures: <L::Captures as Values>::Lent<'_>,
        tape: &mut Tape,
        is_inner: bool,
    ) -> std::result::Result<(L::Carries, i64, i64), Failed> {
        let Some(captures) = L::Captures::copied(captures) else {
            return Err(Error::NoMemory(carries.bytes()));
        };
        let first = self.open.len();
        let (base, base_bytes) = (tape.mark(), tape.bytes());
        let place = Place { from, to, ended: None, base, base_bytes, first, tight: None };
        let loops = L::BESIDE.max(1);
        let memory = self.memory.unwrap_or(u64::MAX);
        let memory = match is_inner {
            true => (memory / loops).saturating_sub(captures.array_bytes()),
            // Those that come have equal parts of what those before have left.
            false => {
                let taken = self.bytes_behind(0).saturating_add(base_bytes as u64);
                memory.saturating_sub(taken) / loops.saturating_sub(first as u64).max(1)
            }
        };
        let length = u64::try_from(i128::from(to) - i128::from(from)).unwrap_or(0);
        // One that may be left early, but has no iteration, has none.
        let counted = (L::COUNTED || length == 0).then_some(length);
        // The first steps are slow: what few of them took says little of many.
        let says = |steps: u64| steps >= 2 * LOOKED_AT || counted.is_none_or(|n| n / 4 < steps);
        let known = self.known.get(&TypeId::of::<L>()).filter(|(_, steps)| says(*steps));
        let mut run = Run::new(memory, counted, known.map(|(measured, _)| *measured));
        if !is_inner
            && !self.is_dry
            && let Some(disk) = self.folder(loops)?
        {
            run = run.with_disk(disk);
        }
        let is_dry = self.is_dry;
        let mut steps = Loop::<L> {
            driver: self,
            tape,
            place,
            captures: &captures,
            live: Some(carries),
            back: None,
            has_reversed: false,
        };
        if is_dry {
            look(&mut steps, &mut run, counted)?;
        } else {
            run.forward(&mut steps)?;
            if L::CUT_APART && steps.place.ended.is_some_and(|(_, exit)| exit != 0) {
                run.leave_last(&mut steps)?;
            }
        }
        let Loop { mut place, live, .. } = steps;
        let Some(live) = live else { return Err(Error::Schedule("the last state is gone".into())) };
        let (done, exit) = *place.ended.get_or_insert((from.max(to), 0));
        if !is_dry {
            self.learn::<L>(run.measured(), run.done().steps);
            self.open.push(Box::new(Open::<L> { run, place, captures }));
        }
        Ok((live, done, exit))
    }

    fn learn<L: Forward>(&mut self, measured: Option<&Measured>, steps: u64) {
        match measured {
            Some(measured) => _ = self.known.insert(TypeId::of::<L>(), (*measured, steps)),
            None => _ = self.known.remove(&TypeId::of::<L>()),
        }
    }

    fn come_back<L: Backward>(
        &mut self,
        range: [i64; 3],
        state: L::State,
        fixed: <L::Fixed as Values>::Lent<'_>,
        tape: &mut Tape,
        is_inner: bool,
    ) -> std::result::Result<L::State, Failed> {
        if self.is_dry {
            return Err(self.planned(L::Of::PLACE));
        }
        let last = self.open.iter().rposition(|open| open.of() == TypeId::of::<L::Of>());
        // Those behind it are never reversed.
        let open = last.and_then(|last| {
            self.open.truncate(last + 1);
            self.open.pop()?.any().downcast::<Open<L::Of>>().ok()
        });
        let Some(open) = open else {
            return Err(Error::Schedule("a loop is reversed that was not recorded".into()));
        };
        let Open { mut run, mut place, captures } = *open;
        let mut state = Some(state);
        let mut way = |driver: &mut Within, tape: &mut Tape, range: [i64; 3]| {
            let Some(given) = state.take() else {
                return Err(at(FaultKind::Record, L::Of::PLACE, &[]));
            };
            state = Some(fastest(Back::<L> { driver, range, state: given, fixed, tape })?);
            Ok(())
        };
        let way: &mut Way<'_> = &mut way;
        place.first = self.open.len();
        let mut steps = Loop::<L::Of> {
            driver: self,
            tape,
            place,
            captures: &captures,
            live: None,
            back: Some((way, range[0])),
            has_reversed: false,
        };
        run.backward(&mut steps)?;
        if !steps.has_reversed {
            // Of no iterations, too, what comes out is not what was given.
            steps.reverse(0..0).map_err(Error::Step)?;
        }
        drop(steps);
        self.learn::<L::Of>(run.measured(), run.done().steps);
        if !is_inner {
            self.loops.push(Looked {
                place: L::Of::PLACE.0,
                steps: Some(run.done().steps),
                measured: run.measured().copied(),
                done: Some(*run.done()),
            });
        }
        state.ok_or_else(|| Error::Schedule("the adjoint is gone".into()))
    }

    /// Ends a run that only looks.
    fn planned(&mut self, place: (u32, u32)) -> Failed {
        self.is_planned = true;
        Error::Step(at(FaultKind::Interrupted, place, &[]))
    }
}

/// Looks at a loop, and runs it without recording it if there is another one to be looked at.
fn look<L: Forward>(
    steps: &mut Loop<'_, L>,
    run: &mut Run,
    counted: Option<u64>,
) -> std::result::Result<(), Failed> {
    let measured = match counted {
        Some(0) => None,
        _ => Some(run.measure(steps)?),
    };
    let seen = Looked { place: L::PLACE.0, steps: counted, measured, done: None };
    steps.driver.loops.push(seen);
    if steps.driver.loops.len() as u64 >= L::BESIDE {
        return Err(steps.driver.planned(L::PLACE));
    }
    let end = counted.unwrap_or(u64::MAX);
    let at = steps.place.steps().unwrap_or(LOOKED_AT.min(end));
    if at < end && steps.place.steps().is_none() {
        steps.advance(at..end).map_err(Error::Step)?;
    }
    Ok(())
}

/// A range on its way back, in the version for this processor.
struct Back<'a, 'f, L: Backward> {
    driver: &'a mut Within,
    range: [i64; 3],
    state: L::State,
    fixed: <L::Fixed as Values>::Lent<'f>,
    tape: &'a mut Tape,
}

impl<L: Backward> Work for Back<'_, '_, L> {
    type Out = Result<L::State>;

    #[inline(always)]
    fn run(self) -> Result<L::State> {
        let Back { driver, range, state, fixed, tape } = self;
        L::reverse(driver, range, state, fixed, tape)
    }
}

impl Driver for Within {
    const ALL: bool = false;

    fn is_shut(&self) -> bool {
        self.is_shut
    }

    fn tape(&self) -> Tape {
        let bytes = self.memory.unwrap_or(u64::MAX) / PIECES;
        Tape::in_pieces(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    #[inline(never)]
    fn forward<L: Forward>(
        &mut self,
        range: [i64; 2],
        carries: L::Carries,
        captures: <L::Captures as Values>::Lent<'_>,
        tape: &mut Tape,
    ) -> Ran<L::Carries> {
        self.inside(L::PLACE, |within, is_inner| {
            within.go::<L>(range, carries, captures, tape, is_inner)
        })
    }

    #[inline(never)]
    fn backward<L: Backward>(
        &mut self,
        range: [i64; 3],
        state: L::State,
        fixed: <L::Fixed as Values>::Lent<'_>,
        tape: &mut Tape,
    ) -> Result<L::State> {
        self.inside(L::Of::PLACE, |within, is_inner| {
            within.come_back::<L>(range, state, fixed, tape, is_inner)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        static EVALUATED: Cell<u64> = const { Cell::new(0) };
    }

    /// The logistic map, written by hand as the text of a loop is.
    struct Logistic;

    impl Forward for Logistic {
        type Carries = (f64, ());
        type Captures = (f64, ());
        const PLACE: (u32, u32) = (3, 4);
        const COUNTED: bool = true;
        const CUT_APART: bool = false;
        const BESIDE: u64 = 1;
        const NESTED: bool = false;

        fn advance<D: Driver>(
            _: &mut D,
            [from, to]: [i64; 2],
            (mut x, ()): (f64, ()),
            (r, ()): (f64, ()),
        ) -> Ran<(f64, ())> {
            for _ in from..to {
                EVALUATED.set(EVALUATED.get() + 1);
                x = r * x * (1.0 - x);
            }
            Ok(((x, ()), to, 0))
        }

        fn record<D: Driver>(
            _: &mut D,
            [from, to]: [i64; 2],
            (mut x, ()): (f64, ()),
            (r, ()): (f64, ()),
            tape: &mut Tape,
        ) -> Ran<(f64, ())> {
            for _ in from..to {
                EVALUATED.set(EVALUATED.get() + 1);
                if !tape.push([x.to_bits()]) {
                    return Err(at(FaultKind::OutOfMemory(8), (0, 0), &[]));
                }
                x = r * x * (1.0 - x);
            }
            Ok(((x, ()), to, 0))
        }
    }

    impl Backward for Logistic {
        type Of = Logistic;
        type State = (f64, ());
        type Fixed = (f64, ());

        fn reverse<D: Driver>(
            _: &mut D,
            [from, to, _]: [i64; 3],
            (mut bar, ()): (f64, ()),
            (r, ()): (f64, ()),
            tape: &mut Tape,
        ) -> Result<(f64, ())> {
            for _ in from..to {
                let Some([x]) = tape.pop() else {
                    return Err(at(FaultKind::Record, (0, 0), &[]));
                };
                bar *= r * (1.0 - 2.0 * f64::from_bits(x));
            }
            Ok((bar, ()))
        }
    }

    fn gradient(driver: &mut impl Driver, n: i64) -> (f64, f64) {
        let mut tape = driver.tape();
        let range = [0, n];
        let ran = driver.forward::<Logistic>(range, (0.3, ()), (3.9, ()), &mut tape).unwrap();
        let ((x, ()), done, exit) = ran;
        let back = [0, done, exit];
        let (bar, ()) = driver.backward::<Logistic>(back, (1.0, ()), (3.9, ()), &mut tape).unwrap();
        assert_eq!(tape.bytes(), 0);
        (x, bar)
    }

    #[test]
    fn what_is_done_is_what_was_planned() {
        let n = 20_000;
        let whole = gradient(&mut wengert_core::ahead::All, n);
        for memory in [2000, 10_000, 100_000, 1 << 20] {
            EVALUATED.set(0);
            let mut driver = Within::new(&Ok(Memory::bytes(memory))).unwrap();
            assert_eq!(gradient(&mut driver, n), whole);
            let [of] = driver.loops() else { panic!("{:?}", driver.loops()) };
            let done = of.done.unwrap();
            assert_eq!((of.place, of.steps), (3, Some(n as u64)));
            assert_eq!(done.evaluations(), EVALUATED.get(), "in {memory}");
            assert!(done.peak_bytes <= memory, "{} of {memory}", done.peak_bytes);
            if let Some(forecast) = done.forecast {
                let (planned, counted) = (forecast.evaluations as f64, EVALUATED.get() as f64);
                assert!((planned / counted - 1.0).abs() < 0.02, "{planned} planned, {counted}");
            }
        }
    }

    #[test]
    fn looking_runs_little() {
        EVALUATED.set(0);
        let mut driver = Within::looking();
        let mut tape = driver.tape();
        let range = [0, 1_000_000];
        let ran = driver.forward::<Logistic>(range, (0.3, ()), (3.9, ()), &mut tape);
        let looked = driver.looked(ran.map(|_| ())).unwrap();
        let measured = looked[0].measured.unwrap();
        assert_eq!((looked[0].steps, looked[0].place), (Some(1_000_000), 3));
        assert_eq!((measured.state_bytes, measured.record_bytes), (8, 8));
        assert!(EVALUATED.get() < 100, "{}", EVALUATED.get());
    }
}
