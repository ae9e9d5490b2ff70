//! A printed loop as steps that are run in ranges, recorded and reversed.
//!
//! The last step may be an iteration that an exit has cut short. Records lie on the tape from `base` on; a range of them that does not fit is
//! taken off again, and what the loop carried then is lost.

use super::within::Within;
use std::ops::Range;
use wengert_checkpoint::{Fingerprint, Steps};
use wengert_core::ahead::drive::Prints;
use wengert_core::ahead::tape::Mark;
use wengert_core::ahead::{Fault, FaultKind, Forward, Ran, Result, Tape, Values, at};
use wengert_core::ops::room;
use wengert_math::{Work, fastest};

/// Where a loop lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its range.
    pub(super) from: i64,
    pub(super) to: i64,
    /// How far it came, and by which exit, once that is known.
    pub(super) ended: Option<(i64, i64)>,
    /// The tape before its records, and the bytes on it.
    pub(super) base: Mark,
    pub(super) base_bytes: usize,
    /// Loops inside it whose steps are recorded wait behind so many others.
    pub(super) first: usize,
    /// How many bytes the record of a step may take, where loops inside keep to that.
    pub(super) tight: Option<u64>,
}

impl Place {
    /// How many steps it is until there.
    fn steps_to(&self, done: i64, exit: i64) -> u64 {
        (i128::from(done) - i128::from(self.from)) as u64 + u64::from(exit != 0)
    }

    /// How many steps there are, once that is known.
    pub(super) fn steps(&self) -> Option<u64> {
        self.ended.map(|(done, exit)| self.steps_to(done, exit))
    }
}

/// The way back of a loop over a range that ends with an exit or not.
pub(super) type Way<'a> = dyn FnMut(&mut Within, &mut Tape, [i64; 3]) -> Result<()> + 'a;

/// A loop in the middle of a sweep.
pub(super) struct Loop<'a, L: Forward> {
    pub(super) driver: &'a mut Within,
    pub(super) tape: &'a mut Tape,
    pub(super) place: Place,
    /// What it only reads.
    pub(super) captures: &'a L::Captures,
    /// What is carried; nothing once that is lost.
    pub(super) live: Option<L::Carries>,
    /// The way back, and the number by which it calls the first iteration.
    pub(super) back: Option<(&'a mut Way<'a>, i64)>,
    /// Whether some of it was reversed.
    pub(super) has_reversed: bool,
}

/// A range of iterations, in the version for this processor.
struct Piece<'a, L: Forward> {
    driver: &'a mut Within,
    range: [i64; 2],
    carries: L::Carries,
    captures: &'a L::Captures,
    /// None where they are not recorded.
    tape: Option<&'a mut Tape>,
}

impl<L: Forward> Work for Piece<'_, L> {
    type Out = Ran<L::Carries>;

    #[inline(always)]
    fn run(self) -> Ran<L::Carries> {
        let Piece { driver, range, carries, captures, tape } = self;
        match tape {
            Some(tape) => L::record(driver, range, carries, captures.lend(), tape),
            None => L::advance(driver, range, carries, captures.lend()),
        }
    }
}

impl<L: Forward> Loop<'_, L> {
    /// Runs steps forward, recording them or not; gives back the state that is live then.
    fn run(&mut self, range: Range<u64>, recorded: bool) -> Result<u64> {
        let Place { from, to, .. } = self.place;
        if let Some(all) = self.place.steps().filter(|all| *all <= range.start) {
            return Ok(all);
        }
        let at = |k: u64| (i128::from(from) + i128::from(k)).min(i128::from(to)) as i64;
        let Some(carries) = self.live.take() else { return Err(lost::<L>()) };
        let ran = fastest(Piece::<L> {
            driver: &mut *self.driver,
            range: [at(range.start), at(range.end)],
            carries,
            captures: self.captures,
            tape: if recorded { Some(&mut *self.tape) } else { None },
        });
        let (carries, done, exit) = ran.map_err(|fault| numbered::<L>(fault, range.start))?;
        self.live = Some(carries);
        let now = self.place.steps_to(done, exit);
        match self.place.ended {
            // It has ended there before, and otherwise.
            Some(then) if then != (done, exit) && self.place.steps() <= Some(now) => Ok(now + 1),
            None if exit != 0 || done == to => {
                self.place.ended = Some((done, exit));
                Ok(now)
            }
            _ => Ok(now),
        }
    }

    /// Records a range, all of it or nothing.
    fn record_range(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>> {
        let (start, held) = (self.tape.mark(), self.tape.bytes());
        let waiting = self.driver.waiting();
        let allowed = held.saturating_add(usize::try_from(room).unwrap_or(usize::MAX));
        let limit = self.tape.limit(allowed);
        self.tape.limit(allowed.min(limit));
        let ran = self.run(range, true);
        self.tape.limit(limit);
        let is_full = self.tape.was_full();
        match ran {
            Ok(now) => {
                let bytes = (self.tape.bytes() - held) as u64;
                if bytes.saturating_add(self.driver.bytes_behind(waiting)) <= room {
                    return Ok(Some(now));
                }
            }
            Err(fault) => {
                let is_small = std::mem::take(&mut self.driver.is_small);
                if is_full && allowed >= limit {
                    // There was no room in the record of a step around it.
                    self.tape.note_full();
                    return Err(fault);
                }
                if !is_small && !is_full {
                    return Err(fault);
                }
            }
        }
        self.drop_records(start, waiting);
        self.live = None;
        Ok(None)
    }

    fn drop_records(&mut self, start: Mark, waiting: usize) {
        self.tape.back_to(start);
        self.driver.drop_behind(waiting);
    }
}

/// A fault of a range that begins with a later step: in the range, iterations are counted from where that begins.
fn numbered<L: Forward>(mut fault: Box<Fault>, first: u64) -> Box<Fault> {
    if let Some((span, k)) = fault.iterations.last_mut()
        && (span.start, span.end) == L::PLACE
    {
        *k = k.saturating_add(i64::try_from(first).unwrap_or(i64::MAX));
    }
    fault
}

/// There is nothing to go on from: a fault of the driver.
fn lost<L: Forward>() -> Box<Fault> {
    at(FaultKind::Record, L::PLACE, &[])
}

impl<L: Forward> Steps for Loop<'_, L> {
    type Error = Box<Fault>;

    fn advance(&mut self, range: Range<u64>) -> Result<u64> {
        self.run(range, false)
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>> {
        let Some(tight) = self.place.tight else { return self.record_range(range, room) };
        // Each step has what the ones before it have left.
        let (before, mut at) = (self.record_bytes(), range.start);
        while at < range.end {
            let left = room.saturating_sub(self.record_bytes() - before);
            let memory = left.min(tight);
            // Some of it is for what the step records itself.
            self.driver.open_inside(Some(memory - memory / 8));
            let ran = self.record_range(at..at + 1, left);
            self.driver.open_inside(None);
            match ran? {
                Some(now) if now > at => at = now,
                other => return Ok(other),
            }
        }
        Ok(Some(at))
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<()> {
        let Some((way, from)) = &mut self.back else { return Err(lost::<L>()) };
        let at = |k: u64| i128::from(*from).saturating_add(i128::from(k)) as i64;
        let (mut to, mut exit) = (at(range.end), 0);
        if let Some((done, by)) = self.place.ended
            && by != 0
            && to > done
            && !L::CUT_APART
        {
            (to, exit) = (done, by);
        }
        self.driver.open_inside(self.place.tight);
        let ran = way(self.driver, self.tape, [at(range.start), to, exit]);
        self.driver.open_inside(None);
        self.has_reversed = true;
        ran
    }

    fn forget(&mut self) {
        self.drop_records(self.place.base, self.place.first);
    }

    fn spare(&mut self, bytes: u64) {
        let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        room::keep(whole(self.record_bytes()), whole(bytes));
        self.tape.shrink();
    }

    fn tighten(&mut self, bytes: u64) -> bool {
        let can = L::NESTED && bytes > 0;
        self.place.tight = can.then_some(bytes);
        can
    }

    fn record_bytes(&self) -> u64 {
        let own = self.tape.bytes().saturating_sub(self.place.base_bytes) as u64;
        own.saturating_add(self.driver.bytes_behind(self.place.first))
    }

    fn state_bytes(&self) -> u64 {
        self.live.as_ref().map_or(0, Values::bytes)
    }

    fn save(&self, mut to: &mut [u8]) {
        if let Some(live) = &self.live {
            live.save(&mut to);
        }
    }

    fn load(&mut self, mut from: &[u8]) -> Result<()> {
        let bytes = from.len() as u64;
        self.live = L::Carries::load(&mut from, self.live.take());
        match self.live {
            Some(_) => Ok(()),
            None => Err(at(FaultKind::OutOfMemory(bytes), L::PLACE, &[])),
        }
    }

    fn fingerprint(&self) -> u64 {
        let mut print = Print(Fingerprint::new());
        if let Some(live) = &self.live {
            live.print(&mut print);
        }
        print.0.finish()
    }
}

/// A fingerprint of values.
struct Print(Fingerprint);

impl Prints for Print {
    fn word(&mut self, word: u64) {
        self.0.word(word);
    }

    fn floats(&mut self, x: &[f64]) {
        self.0.floats(x);
    }
}
