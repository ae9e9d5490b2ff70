//! The first sweep.

use super::{LOOKED_AT, Run, nanoseconds, not_measured};
use crate::outcome::Error;
use crate::plan::{MOST_SUMS, Measured, Plan, Room};
use crate::steps::Steps;
use std::time::Instant;
use wengert_schedule::{Action, Online, Slot};

impl Run {
    /// Records steps from the first one on, and the whole loop if that fits: then nothing else is to be done.
    pub(super) fn look<S: Steps>(&mut self, steps: &mut S) -> Result<bool, Error<S::Error>> {
        let end = self.steps.unwrap_or(u64::MAX);
        let known = self.measured.filter(|known| {
            known.state_bytes == self.stored_bytes && known.whole_bytes == self.state_bytes
        });
        let mut few = LOOKED_AT.min(end);
        let mut recorded = self.record_first(steps, few, self.memory)?;
        if recorded.is_none() && few > 1 {
            // Not so many, but one may fit.
            few = 1;
            recorded = self.record_first(steps, few, self.memory)?;
        }
        if recorded.is_none() && self.tighten(steps) {
            recorded = self.record_first(steps, few, self.memory)?;
        }
        let Some((mut at, mut measured)) = recorded else { return Err(self.too_small(0)) };
        if let Some(bytes) = self.tight {
            measured.record_bytes = measured.record_bytes.max(bytes);
        } else if let Some(known) = known {
            measured =
                Measured { record_bytes: measured.record_bytes.max(known.record_bytes), ..known };
        }
        self.measured = Some(measured);
        // The rest of it, as long as there is room.
        let per_step = measured.record_bytes.max(1);
        let unit = Plan::unit(&measured, self.memory);
        let mut ended = at < few || at == end;
        let mut marks = Vec::new();
        let fits = |run: &Run, steps: &S| run.memory.saturating_sub(run.held(steps)) / per_step;
        if let Some(end) = self.steps.filter(|end| fits(self, steps) >= end - at) {
            marks = self.marks(at, end)?;
            marks.push(end);
            marks.reverse();
        }
        while !ended {
            let to = match self.steps {
                Some(_) => marks.pop().unwrap_or(at),
                // Whole units, twice as many as there are.
                None => at.saturating_add(at.max(unit).min(fits(self, steps))) / unit * unit,
            };
            if to <= at {
                break;
            }
            match self.try_record(steps, at..to)? {
                Some(now) => {
                    ended = now < to || now == end;
                    at = now;
                }
                None => {
                    self.expect_more();
                    break;
                }
            }
            if self.journal.is_some() && !ended {
                self.mark(steps, at)?;
            }
        }
        self.is_recorded = ended;
        if ended {
            self.steps = Some(at);
            self.expected = at;
            return Ok(true);
        }
        steps.forget();
        // What comes now begins here, if that is not too early.
        let rooms = self.memory / Plan::slot_bytes(&measured);
        if self.steps.is_none() && self.live.is_some() && at > 2 * LOOKED_AT && rooms >= 8 {
            let place = self.kept.vacant(false);
            if self.try_store(steps, at, place)? {
                self.kept.make_point(at, place)?;
            }
        }
        if known.is_none() {
            self.time(steps, few, self.memory)?;
        }
        Ok(false)
    }

    /// Records the first steps, where there is room; gives back how far that came, and what it took.
    pub(super) fn record_first<S: Steps>(
        &mut self,
        steps: &mut S,
        few: u64,
        memory: u64,
    ) -> Result<Option<(u64, Measured)>, Error<S::Error>> {
        steps.forget();
        self.load_point(steps, 0)?;
        let room = memory.saturating_sub(self.held(steps));
        let begin = Instant::now();
        self.live = None;
        let Some(at) = steps.record(0..few, room).map_err(Error::Step)? else { return Ok(None) };
        let record = nanoseconds(begin.elapsed()) / at.max(1);
        self.live = Some(at);
        self.done.recorded += at;
        self.note_peak(steps);
        self.compare(steps, at)?;
        let record_bytes = steps.record_bytes().div_ceil(at.max(1));
        let (advance, reverse) = (record, record.saturating_mul(2));
        let (state_bytes, whole_bytes) = (self.stored_bytes, self.state_bytes);
        let measured =
            Measured { state_bytes, whole_bytes, record_bytes, advance, record, reverse };
        Ok(Some((at, measured)))
    }

    /// What the first steps take now that they have run once: before, everything was slow. And without being recorded. What it takes to
    /// begin with a range is not part of it: one step alone tells how much that is.
    pub(super) fn time<S: Steps>(
        &mut self,
        steps: &mut S,
        few: u64,
        memory: u64,
    ) -> Result<(), Error<S::Error>> {
        let one = self.record_first(steps, 1, memory)?;
        let again = self.record_first(steps, few, memory)?;
        steps.forget();
        let mut record = u64::MAX;
        if let Some((count, again)) = again {
            let known = self.measured.get_or_insert(again);
            known.record_bytes = known.record_bytes.max(again.record_bytes);
            let others =
                again.record.saturating_mul(count).checked_sub(one.map_or(0, |(_, m)| m.record));
            let without = others.and_then(|time| time.checked_div(count.saturating_sub(1)));
            record = without.map_or(again.record, |time| time.clamp(1, again.record.max(1)));
            (known.record, known.reverse) = (record, record.saturating_mul(2));
        }
        self.load_point(steps, 0)?;
        self.advance(steps, 0..few)?;
        if let Some(known) = &mut self.measured {
            known.advance = known.advance.min(record);
        }
        Ok(())
    }

    /// Where the record of one step does not fit, it may do with loops inside that keep to a memory. Whether that is new.
    pub(super) fn tighten<S: Steps>(&mut self, steps: &mut S) -> bool {
        // Half of what there is beside the first state and another one.
        let bytes = self.memory.saturating_sub(self.state_bytes.saturating_mul(2)) / 2;
        steps.forget();
        if self.tight.is_some() || !steps.tighten(bytes) {
            return false;
        }
        self.tight = Some(bytes);
        if let Some(measured) = &mut self.measured {
            measured.record_bytes = bytes;
        }
        true
    }

    /// Records take more than was expected.
    pub(super) fn expect_more(&mut self) {
        self.is_surprised = true;
        if let Some(measured) = &mut self.measured {
            measured.record_bytes = measured.record_bytes.max(1).saturating_mul(2);
        }
    }

    /// Where a run that can be resumed leaves points on disk.
    pub(super) fn marks<E>(&mut self, from: u64, end: u64) -> Result<Vec<u64>, Error<E>> {
        let (Some(_), Some(measured)) = (&self.journal, self.measured) else {
            return Ok(Vec::new());
        };
        let Some(disk) = self.disk_room()? else { return Ok(Vec::new()) };
        let room = Room { memory: self.memory, disk: Some(disk), sums: MOST_SUMS };
        let parts = Plan::parts(end - from, &measured, &room);
        let mark =
            |k: u64| from + (u128::from(end - from) * u128::from(k) / u128::from(parts)) as u64;
        let mut marks: Vec<u64> = (1..parts).map(mark).collect();
        marks.dedup();
        marks.retain(|mark| *mark > from && *mark < end);
        Ok(marks)
    }

    /// Leaves a point on disk.
    pub(super) fn mark<S: Steps>(&mut self, steps: &mut S, at: u64) -> Result<(), Error<S::Error>> {
        let place = self.kept.vacant(true);
        if self.try_store(steps, at, place)? {
            self.kept.make_point(at, place)?;
        }
        self.note(steps)
    }

    /// Goes on with the first sweep from the last point. Whether that was all; otherwise there is more to be done.
    pub(super) fn sweep<S: Steps>(&mut self, steps: &mut S) -> Result<bool, Error<S::Error>> {
        let last = self.kept.point_before(u64::MAX);
        let Some(end) = self.steps else { return self.sweep_on(steps) };
        let mut at = last.map_or(0, |(step, _)| step);
        let marks = self.marks(at, end)?;
        if !marks.is_empty() {
            self.load_point(steps, at)?;
        }
        for mark in marks {
            let now = self.advance(steps, at..mark)?;
            if now < mark {
                return Err(Error::OtherEnd { before: end, now });
            }
            at = now;
            self.mark(steps, at)?;
        }
        self.begin_part(steps, end)?;
        self.follow(steps)
    }

    /// The first sweep of a loop whose end is not known.
    fn sweep_on<S: Steps>(&mut self, steps: &mut S) -> Result<bool, Error<S::Error>> {
        let Some(measured) = self.measured else { return Err(not_measured()) };
        let disk = self.disk_room()?;
        let (base, unit, in_memory, slots) = loop {
            let Some((base, place)) = self.kept.point_before(u64::MAX) else {
                return Err(Error::Schedule("the first state is gone".into()));
            };
            let room = Room { memory: self.memory_beside(place), disk, sums: MOST_SUMS };
            let (unit, in_memory, slots) = Plan::online(&measured, &room);
            if slots > 0 {
                break (base, unit, in_memory, slots);
            }
            if !self.kept.drop_one() {
                break (base, 1, 1, 1);
            }
        };
        self.load_point(steps, base)?;
        let step = |k: u64| base.saturating_add(k.saturating_mul(unit));
        // The steps of what is in its slots.
        let mut stored = vec![base];
        for action in Online::new(slots)? {
            match action {
                Action::Store { step: 0, .. } => {}
                Action::Store { step: k, slot: Slot::Memory(slot) } => {
                    let place = self.kept.vacant(slot >= in_memory);
                    if !self.try_store(steps, step(k), place)? {
                        return Ok(false);
                    }
                    self.kept.make_point(step(k), place)?;
                    stored.resize(stored.len().max(slot + 1), base);
                    stored[slot] = step(k);
                    self.note(steps)?;
                }
                Action::Free { slot: Slot::Memory(slot) } => {
                    let step = stored.get(slot).copied().filter(|step| *step != base);
                    step.into_iter().for_each(|step| self.drop_copy(step));
                    if let Some(place) = step.and_then(|step| self.kept.points.remove(&step)) {
                        self.kept.free(place)?;
                    }
                }
                Action::Advance { from, to } => {
                    let now = self.advance(steps, step(from)..step(to))?;
                    if now < step(to) {
                        self.steps = Some(now);
                        return Ok(true);
                    }
                }
                other => return Err(Error::Schedule(format!("{other:?} in the first sweep"))),
            }
            if self.is_less() {
                // Those that are too many go.
                while self.held(steps) > self.memory && self.kept.drop_one() {}
                return Ok(false);
            }
        }
        Ok(false)
    }
}
