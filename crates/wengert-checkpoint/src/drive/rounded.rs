//! Runs whose stored states have fewer digits.
//!
//! The first sweep never goes on from such a state: results are exact. The way back does, and what it computes there is not quite what it was.
//! So it is not compared with what it was, except for what must not differ: where the loop ends, counters, the sizes of
//! arrays.
//!
//! What this does to the gradient is measured. Of some states an exact copy is held. A range of steps that was reversed from such a
//! state is reversed once more from its copy, beginning with the same adjoint; the way back goes on with what came
//! out the first time, so that measuring changes nothing.

use super::effect::Effects;
use super::{Run, not_measured};
use crate::disk::Disk;
use crate::kept::{HEAD, Packed};
use crate::outcome::{Error, Shortened};
use crate::plan::copies;
use crate::short::{Change, Precision, differences, inside};
use crate::steps::Steps;
use std::collections::BTreeMap;
use std::ops::Range;
use wengert_schedule::Slot;

/// Of all steps, the part that is run again to compare: one in so many.
const FOR_COMPARING: u64 = 16;

/// What is known of a run whose states have fewer digits.
#[derive(Debug, Default)]
pub(super) struct Rounded {
    /// The step of the stored state that the live one was computed from, if that had lost digits.
    origin: Option<u64>,
    /// A step to which the adjoint comes, and the outline of the state before it.
    pub(super) joint: Option<(u64, u64)>,
    /// Ranges that are recorded, the last one last.
    records: Vec<Recorded>,
    copies: Copies,
    /// Of ranges that begin at the state they were computed from, and of others.
    near: Effects,
    far: Effects,
    /// How often ranges were compared, and how many steps were run to do so.
    times: u64,
    spent: u64,
    /// Bytes of adjoints that are held to compare them.
    adjoints: u64,
}

#[derive(Debug)]
struct Recorded {
    range: Range<u64>,
    /// What its first state was computed from.
    origin: Option<u64>,
    /// Outlines of the states at its ends.
    ends: [Option<u64>; 2],
}

/// Exact copies of some states that are stored with fewer digits: the last one, the first one, and some between them.
#[derive(Debug, Default)]
struct Copies {
    /// How many there may be.
    most: usize,
    /// By their steps, and how often they were used.
    held: BTreeMap<u64, (Vec<u8>, u64)>,
    bytes: u64,
}

impl Copies {
    /// Copies a state. If there are too many, the one goes that is nearest to those beside it.
    fn push(&mut self, step: u64, state: &[u8]) {
        let mut copy = Vec::new();
        if self.held.len() >= self.most {
            let mut steps: Vec<u64> = self.held.keys().copied().chain([step]).collect();
            steps.sort_unstable();
            let between = steps.windows(3).min_by_key(|of| of[2] - of[0]).map(|of| of[1]);
            // Where there may be only one, the last one stays.
            let goes = between.filter(|_| self.most > 1).or(steps.first().copied());
            copy = goes.and_then(|step| self.remove(step)).unwrap_or_default();
        }
        copy.clear();
        if self.held.len() < self.most && copy.try_reserve_exact(state.len()).is_ok() {
            copy.extend(state);
            self.remove(step);
            self.bytes += state.len() as u64;
            self.held.insert(step, (copy, 0));
        }
    }

    fn remove(&mut self, step: u64) -> Option<Vec<u8>> {
        let (copy, _) = self.held.remove(&step)?;
        self.bytes -= copy.len() as u64;
        Some(copy)
    }
}

impl Rounded {
    fn effects(&mut self, is_near: bool) -> &mut Effects {
        if is_near { &mut self.near } else { &mut self.far }
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> u64 {
        self.copies.bytes + self.adjoints
    }

    /// No range is recorded any more.
    pub(super) fn forget(&mut self) {
        self.records.clear();
    }
}

impl Run {
    /// Begins to shorten states, if that was asked for and spares something.
    pub(super) fn begin_rounded<S: Steps>(&mut self, steps: &S) -> Result<(), Error<S::Error>> {
        self.stored_bytes = self.state_bytes;
        if self.precision == Precision::Exact {
            return Ok(());
        }
        self.done.shortened = Some(Shortened { precision: self.precision, ..Shortened::default() });
        if let Some(short) = self.kept.begin(steps, self.precision)? {
            self.stored_bytes = short;
            let mut most = copies(self.memory, self.state_bytes);
            self.adjoint_bytes = steps.adjoint_bytes();
            if self.adjoint_bytes > self.state_bytes.saturating_add(self.memory / 4) {
                // There would be no room to compare.
                most = 0;
            }
            let copies = Copies { most, ..Copies::default() };
            self.rounded = Some(Box::new(Rounded { copies, ..Rounded::default() }));
        }
        Ok(())
    }

    /// Whether the live state is what it was in the first sweep, or that is not known.
    pub(super) fn is_same(&self) -> bool {
        self.rounded.as_ref().is_none_or(|rounded| rounded.origin.is_none())
    }

    /// The live state was read, or reached from one that was.
    pub(super) fn came_from(&mut self, step: u64, is_same: bool) {
        if let Some(rounded) = &mut self.rounded {
            rounded.origin = (!is_same).then_some(step);
        }
    }

    /// Bytes for copies that there will be.
    pub(super) fn reserved(&self) -> u64 {
        let Some(Rounded { copies, .. }) = self.rounded.as_deref() else { return 0 };
        if copies.most == 0 {
            return 0;
        }
        let all = (copies.most as u64).saturating_mul(self.state_bytes);
        // An adjoint takes the place of a state on its way, and perhaps more.
        let more = self.adjoint_bytes.saturating_sub(self.state_bytes);
        all.saturating_sub(copies.bytes).saturating_add(more)
    }

    /// The loop has ended elsewhere.
    pub(super) fn other_end<E>(&self, now: u64) -> Error<E> {
        let before = self.steps.unwrap_or(now);
        match self.is_same() {
            true => Error::OtherEnd { before, now },
            false => Error::Astray { precision: self.precision, step: now.min(before) },
        }
    }

    /// Makes a point of the first sweep the live state, exactly: from the last exact one before it.
    pub(super) fn load_exactly<S: Steps>(
        &mut self,
        steps: &mut S,
        step: u64,
    ) -> Result<(), Error<S::Error>> {
        let Some((mut from, place)) = self.kept.same_before(step) else {
            return Err(Error::Schedule("the first state is gone".into()));
        };
        match self.live {
            Some(live) if self.is_same() && (from..=step).contains(&live) => from = live,
            _ => self.load(steps, from, place)?,
        }
        match self.advance(steps, from..step)? {
            now if now < step => Err(self.other_end(now)),
            _ => Ok(()),
        }
    }

    /// Stores the live state where there is room. Where it takes more than was expected and there is none, that is expected from
    /// now on.
    pub(super) fn try_store<S: Steps>(
        &mut self,
        steps: &mut S,
        step: u64,
        place: Slot,
    ) -> Result<bool, Error<S::Error>> {
        if self.rounded.is_none() {
            self.store(steps, step, place)?;
            return Ok(true);
        }
        let is_same = self.is_same();
        let packed = self.kept.pack(steps, false, is_same)?;
        let Some(measured) = self.measured else { return Err(not_measured()) };
        if packed.bytes > measured.state_bytes && !self.has_room(steps, place, packed.bytes) {
            // By no less than half, so that states that grow are no surprise each time.
            let known = measured.state_bytes;
            if let Some(measured) = &mut self.measured {
                measured.state_bytes = packed.bytes.max(known.saturating_add(known / 2));
            }
            self.is_surprised = true;
            return Ok(false);
        }
        self.count(&packed);
        self.room_for_state(steps, place);
        self.kept.store(steps, (step, place), Some(&packed), &mut self.done)?;
        let held = self.held(steps).saturating_add(self.state_bytes);
        if let (Some(rounded), false) = (&mut self.rounded, packed.is_same || !is_same)
            && (held <= self.memory || rounded.copies.held.len() == rounded.copies.most)
        {
            rounded.copies.push(step, self.kept.whole());
        }
        self.note_peak(steps);
        self.compare(steps, step)?;
        Ok(true)
    }

    fn has_room<S: Steps>(&self, steps: &S, place: Slot, bytes: u64) -> bool {
        match (place, &self.kept.disk) {
            (Slot::Disk(_), Some(disk)) => disk.room() >= Disk::file_bytes(bytes),
            _ => self.held(steps).saturating_add(bytes) <= self.memory,
        }
    }

    fn count(&mut self, packed: &Packed) {
        let Some(shortened) = &mut self.done.shortened else { return };
        match packed.change {
            Some(change) => {
                shortened.states += 1;
                shortened.rounding = shortened.rounding.max(change.relative());
            }
            None => shortened.too_large += 1,
        }
    }

    /// Stores the live state as it is.
    pub(super) fn store_whole<S: Steps>(
        &mut self,
        steps: &mut S,
        step: u64,
        place: Slot,
    ) -> Result<(), Error<S::Error>> {
        if self.rounded.is_none() {
            return self.store(steps, step, place);
        }
        let packed = self.kept.pack(steps, true, true)?;
        self.room_for_state(steps, place);
        self.kept.store(steps, (step, place), Some(&packed), &mut self.done)?;
        self.note_peak(steps);
        self.compare(steps, step)
    }

    /// Writes the live state of the first sweep as it is, if there is room for it.
    pub(super) fn store_head<S: Steps>(&mut self, steps: &S) -> Result<(), Error<S::Error>> {
        let Some(live) = self.live.filter(|_| self.rounded.is_some() && !self.is_back) else {
            return Ok(());
        };
        let packed = self.kept.pack(steps, true, true)?;
        if self.steps != Some(live) && self.has_room(steps, HEAD, packed.bytes) {
            self.kept.store(steps, (live, HEAD), Some(&packed), &mut self.done)?;
        }
        Ok(())
    }

    /// The state before a step is of no use any more.
    pub(super) fn drop_copy(&mut self, step: u64) {
        if let Some(rounded) = &mut self.rounded {
            _ = rounded.copies.remove(step);
        }
    }

    /// What must not differ in the live state.
    pub(super) fn outline<S: Steps>(&self, steps: &S) -> Option<u64> {
        self.rounded.as_ref().map(|_| steps.outline())
    }

    /// The live state is the one before a step to which the adjoint will come.
    pub(super) fn set_joint<S: Steps>(&mut self, steps: &S, step: u64) {
        let joint = self.outline(steps).map(|outline| (step, outline));
        self.rounded.iter_mut().for_each(|rounded| rounded.joint = joint);
    }

    /// The outline of the state at which the adjoint is, where that is known.
    pub(super) fn joint(&self) -> Option<u64> {
        let joint = self.rounded.as_ref().and_then(|rounded| rounded.joint);
        joint.filter(|(step, _)| *step == self.adjoint).map(|(_, outline)| outline)
    }

    /// A range has been recorded. The outline is that of the state where it begins.
    pub(super) fn note_record<S: Steps>(
        &mut self,
        steps: &S,
        range: Range<u64>,
        begin: Option<u64>,
    ) {
        let ends = [begin, self.outline(steps)];
        if let Some(rounded) = &mut self.rounded {
            let origin = rounded.origin;
            rounded.records.push(Recorded { range, origin, ends });
        }
    }

    /// Finds out what must not differ in the state at which the adjoint is, if it is not known.
    pub(super) fn find_joint<S: Steps>(&mut self, steps: &mut S) -> Result<(), Error<S::Error>> {
        if self.rounded.is_some() && self.joint().is_none() {
            self.load_exactly(steps, self.adjoint)?;
            self.set_joint(steps, self.adjoint);
        }
        Ok(())
    }

    /// Reverses a range that was recorded under a plan, and a second time from an exact copy if there is one.
    pub(super) fn reverse_recorded<S: Steps>(
        &mut self,
        steps: &mut S,
        range: Range<u64>,
    ) -> Result<(), Error<S::Error>> {
        let Some(rounded) = &mut self.rounded else { return self.reverse(steps, range) };
        let mut origins = Vec::new();
        while let Some(last) = rounded.records.pop_if(|last| last.range.end > range.start) {
            // What comes next must be what this one came to.
            let Range { start, end: step } = last.range;
            let joint = rounded.joint.filter(|(joint, _)| *joint == step);
            if joint.zip(last.ends[1]).is_some_and(|((_, then), now)| then != now) {
                return Err(Error::Astray { precision: self.precision, step });
            }
            origins.push(last.origin);
            rounded.joint = last.ends[0].map(|outline| (start, outline));
            if start < range.start {
                let (range, ends) = (start..range.start, [last.ends[0], None]);
                rounded.records.push(Recorded { range, ends, ..last });
            }
        }
        let steps_in_all = self.steps.unwrap_or(0);
        let origin = origins.iter().copied().flatten().last();
        if let (Some(shortened), Some(_)) = (&mut self.done.shortened, origin) {
            shortened.reversals += 1;
            rounded.effects(origin == Some(range.start)).reversed();
        }
        let copy = origin.filter(|_| origins.len() == 1).filter(|origin| {
            let used = rounded.copies.held.get(origin).map(|(_, used)| *used);
            let spent = rounded.spent.saturating_add(range.end - origin);
            // Two in any case, and more for what has not been looked at.
            let is_new = |used: u64| used == 0 || *origin == range.start;
            let most = |used| steps_in_all / FOR_COMPARING * if is_new(used) { 2 } else { 1 };
            used.is_some_and(|used| rounded.times < 2 || spent <= most(used))
        });
        match copy {
            Some(origin) => self.compare_reversals(steps, origin, range.clone())?,
            None => self.reverse(steps, range.clone())?,
        }
        // Copies of states behind which everything is reversed are of no use.
        while let Some(rounded) = &mut self.rounded
            && let Some((last, _)) = rounded.copies.held.last_key_value()
            && *last >= range.start
        {
            let last = *last;
            _ = rounded.copies.remove(last);
        }
        Ok(())
    }

    /// Reverses a range twice: with the records there are, and with those computed from the exact copy of a state.
    fn compare_reversals<S: Steps>(
        &mut self,
        steps: &mut S,
        origin: u64,
        range: Range<u64>,
    ) -> Result<(), Error<S::Error>> {
        let bytes = steps.adjoint_bytes();
        let fits = |run: &Run, steps: &S| run.held(steps).saturating_add(bytes) <= run.memory;
        let floats = inside(steps.adjoint_floats(), usize::try_from(bytes).unwrap_or(0));
        // No state is on its way meanwhile.
        self.kept.let_go();
        if bytes == 0 || !fits(self, steps) {
            return self.reverse(steps, range);
        }
        let Some(begin) = self.hold_adjoint(steps) else { return self.reverse(steps, range) };
        self.reverse(steps, range.clone())?;
        let came_to = if fits(self, steps) { self.hold_adjoint(steps) } else { None };
        let Some(came_to) = came_to.filter(|came_to| came_to.len() == begin.len()) else {
            self.let_go(0);
            return Ok(());
        };
        steps.load_adjoint(&begin).map_err(Error::Step)?;
        drop(begin);
        self.let_go(bytes);
        let is_near = origin == range.start;
        let compared = self.reverse_exactly(steps, origin, range)?;
        if compared {
            let exact = self.hold_adjoint(steps);
            let exact = exact.filter(|exact| exact.len() == came_to.len());
            if let (Some(shortened), Some(exact)) = (&mut self.done.shortened, exact) {
                let differences = differences(&came_to, &exact, &floats);
                let far = differences.iter().map(Change::relative).fold(0.0, f64::max);
                shortened.compared += 1;
                shortened.largest = shortened.largest.max(far);
                if let Some(rounded) = &mut self.rounded {
                    rounded.effects(is_near).compare(differences);
                }
            }
        }
        steps.load_adjoint(&came_to).map_err(Error::Step)?;
        self.let_go(0);
        Ok(())
    }

    /// Reverses a range from the exact copy of a state. Whether there was room for that.
    fn reverse_exactly<S: Steps>(
        &mut self,
        steps: &mut S,
        origin: u64,
        range: Range<u64>,
    ) -> Result<bool, Error<S::Error>> {
        let Some(rounded) = &mut self.rounded else { return Ok(false) };
        let Some((copy, used)) = rounded.copies.held.get_mut(&origin) else { return Ok(false) };
        *used += 1;
        rounded.spent += range.end - origin;
        rounded.times += 1;
        self.live = None;
        steps.load(copy).map_err(Error::Step)?;
        rounded.origin = None;
        self.live = Some(origin);
        let now = self.advance(steps, origin..range.start)?;
        if now != range.start {
            return Err(self.other_end(now));
        }
        match self.try_record(steps, range.clone())? {
            Some(now) if now == range.end => {}
            Some(now) => return Err(self.other_end(now)),
            None => return Ok(false),
        }
        steps.reverse(range).map_err(Error::Step)?;
        Ok(true)
    }

    /// What fewer digits have done to the gradient, now that it is there.
    pub(super) fn find_effect<S: Steps>(&mut self, steps: &S) {
        let compared = self.done.shortened.as_ref().map_or(0, |shortened| shortened.compared);
        let gradient = if compared > 0 { self.hold_adjoint(steps) } else { None };
        self.let_go(0);
        let Some(shortened) = &mut self.done.shortened else { return };
        if let (Some(rounded), Some(gradient)) = (&self.rounded, gradient) {
            let floats = inside(steps.adjoint_floats(), gradient.len());
            let parts = differences(&gradient, &gradient, &floats);
            let largest: Vec<f64> = parts.iter().map(|part| part.largest).collect();
            shortened.effect = Effects::of_gradient(&[&rounded.near, &rounded.far], &largest);
        } else if shortened.reversals == 0 {
            shortened.effect = Some(0.0);
        }
    }

    /// A copy of the adjoint.
    fn hold_adjoint<S: Steps>(&mut self, steps: &S) -> Option<Vec<u8>> {
        let bytes = steps.adjoint_bytes();
        let len = usize::try_from(bytes).ok()?;
        let mut copy = Vec::new();
        copy.try_reserve_exact(len).ok()?;
        copy.resize(len, 0);
        steps.save_adjoint(&mut copy);
        if let Some(rounded) = &mut self.rounded {
            rounded.adjoints += bytes;
        }
        self.note_peak(steps);
        Some(copy)
    }

    /// So many bytes of adjoints are still held.
    fn let_go(&mut self, bytes: u64) {
        if let Some(rounded) = &mut self.rounded {
            rounded.adjoints = bytes;
        }
    }
}
