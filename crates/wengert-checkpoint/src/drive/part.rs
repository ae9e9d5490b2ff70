//! The way back through the steps behind one point.

use super::{Run, not_measured};
use crate::kept::Kept;
use crate::outcome::Error;
use crate::plan::{Forecast, MOST_SUMS, Plan, Room};
use crate::steps::Steps;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use wengert_schedule::{Action, Impossible, Slot};

/// How many actions are looked through for the next state on disk.
const LOOK_AHEAD: usize = 64;

/// Steps that are reversed under one plan.
pub(super) struct Part {
    pub(super) plan: Plan,
    /// The point behind which it begins, which stays until all of it is reversed.
    pub(super) base: (u64, Slot),
    pub(super) end: u64,
    pub(super) places: Places,
    /// What comes next, as far as it has been looked at.
    ahead: VecDeque<Action>,
}

/// Where the states are that a plan has stored, by its slots.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Those in memory; their steps are known there.
    memory: Vec<Option<NonZeroUsize>>,
    /// Steps and slots of those on disk.
    disk: BTreeMap<usize, (u64, usize)>,
}

impl Places {
    fn set(&mut self, slot: Slot, step: u64, place: Slot) {
        match (slot, place) {
            (Slot::Memory(slot), Slot::Memory(place)) => {
                let len = self.memory.len().max(slot + 1);
                self.memory.resize(len, None);
                self.memory[slot] = NonZeroUsize::MIN.checked_add(place);
            }
            (Slot::Disk(slot) | Slot::Memory(slot), Slot::Disk(place) | Slot::Memory(place)) => {
                self.disk.insert(slot, (step, place));
            }
        }
    }

    fn get(&self, slot: Slot, kept: &Kept) -> Option<(u64, Slot)> {
        match slot {
            Slot::Memory(slot) => {
                let place = self.memory.get(slot).copied().flatten()?.get() - 1;
                Some((kept.slots.step(place)?, Slot::Memory(place)))
            }
            Slot::Disk(slot) => self.disk.get(&slot).map(|(step, at)| (*step, Slot::Disk(*at))),
        }
    }

    fn take(&mut self, slot: Slot, kept: &Kept) -> Option<(u64, Slot)> {
        let found = self.get(slot, kept);
        match slot {
            Slot::Memory(slot) => _ = self.memory.get_mut(slot).and_then(Option::take),
            Slot::Disk(slot) => _ = self.disk.remove(&slot),
        }
        found
    }

    /// All of them.
    fn all(&self, kept: &Kept) -> Vec<(u64, Slot)> {
        let memory = (0..self.memory.len()).map(Slot::Memory);
        let disk = self.disk.keys().copied().map(Slot::Disk);
        memory.chain(disk).filter_map(|slot| self.get(slot, kept)).collect()
    }
}

impl Part {
    /// Steps of the loop, for one of the plan.
    fn step(&self, k: u64) -> u64 {
        self.base.0.saturating_add(k.saturating_mul(self.plan.unit)).min(self.end)
    }
}

impl Run {
    /// Begins with the part behind the last point before a step: it becomes the live state.
    pub(super) fn begin_part<S: Steps>(
        &mut self,
        steps: &mut S,
        end: u64,
    ) -> Result<(), Error<S::Error>> {
        let Some(measured) = self.measured else { return Err(not_measured()) };
        let disk = self.disk_room()?;
        loop {
            let Some(base) = self.kept.point_before(end) else {
                return Err(Error::Schedule("the first state is gone".into()));
            };
            let room = Room { memory: self.memory_beside(base.1), disk, sums: MOST_SUMS };
            match Plan::new(end - base.0, &measured, &room) {
                Ok(plan) => return self.begin(steps, plan, base, end),
                Err(Impossible::TooFewBytes { .. } | Impossible::NoSlot) => {
                    // What does not seem to fit may do so.
                    if !self.kept.drop_one() {
                        let plan = Plan::least(end - base.0)?;
                        return self.begin(steps, plan, base, end);
                    }
                }
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// The memory that points leave, but for one, which is part of what follows.
    pub(super) fn memory_beside(&self, base: Slot) -> u64 {
        let held = self.state_bytes().saturating_add(self.reserved());
        let left = self.memory.saturating_sub(held);
        match base {
            Slot::Memory(_) => left.saturating_add(self.stored_bytes),
            Slot::Disk(_) => left,
        }
    }

    fn begin<S: Steps>(
        &mut self,
        steps: &mut S,
        plan: Plan,
        base: (u64, Slot),
        end: u64,
    ) -> Result<(), Error<S::Error>> {
        self.load_point(steps, base.0)?;
        let (places, ahead) = (Places::default(), VecDeque::new());
        // The parts before it take as many of each step, with one more of the first sweep, which is behind it or part of this one.
        let whole = plan.schedule.cost().evaluations().saturating_mul(plan.unit.into());
        let each = whole / u128::from((end - base.0).max(1));
        let before = each.saturating_sub(u128::from(self.is_back)) * u128::from(base.0);
        let rest = u64::try_from(whole + before).unwrap_or(u64::MAX);
        self.expected = self.done.evaluations().saturating_add(rest);
        if let (None, Some(measured), false) = (self.done.forecast, &self.measured, self.is_back) {
            let part = plan.forecast(measured);
            // Of all parts, as long as this one.
            let all = |of: u128| of.saturating_mul(end.into()) / u128::from((end - base.0).max(1));
            let (evaluations, time) = (all(part.evaluations), all(part.time));
            self.done.forecast = Some(Forecast { evaluations, time, ..part });
        }
        self.part = Some(Part { plan, base, end, places, ahead });
        Ok(())
    }

    /// Carries out actions: up to the end of the first sweep, or of the part. Whether it came so far; if not, the part is
    /// given up.
    pub(super) fn follow<S: Steps>(&mut self, steps: &mut S) -> Result<bool, Error<S::Error>> {
        while let Some(action) = self.next_action() {
            let Some(part) = &mut self.part else { break };
            match action {
                Action::Advance { from, to } => {
                    let (from, to) = (part.step(from), part.step(to));
                    let now = self.advance(steps, from..to)?;
                    if now != to {
                        return Err(self.other_end(now));
                    }
                }
                Action::Record { from, to } => {
                    let range = part.step(from)..part.step(to);
                    let length = range.end - range.start;
                    let begin = self.outline(steps);
                    match self.try_record(steps, range.clone())? {
                        Some(now) if now == range.end => self.note_record(steps, range, begin),
                        Some(now) => return Err(self.other_end(now)),
                        None => {
                            self.expect_more();
                            let is_least = self.give_up(steps)? && length == 1;
                            if is_least && !self.kept.drop_one() && !self.tighten(steps) {
                                return Err(self.too_small(range.start));
                            }
                            return Ok(false);
                        }
                    }
                }
                Action::Store { step, slot } => {
                    let (step, base) = (part.step(step), part.base);
                    // The base is there.
                    let mut place = base.1;
                    if step != base.0
                        || matches!((place, slot), (Slot::Disk(_), _) | (_, Slot::Disk(_)))
                    {
                        place = self.kept.vacant(matches!(slot, Slot::Disk(_)));
                        if !self.try_store(steps, step, place)? {
                            self.give_up(steps)?;
                            return Ok(false);
                        }
                    }
                    if let Some(part) = &mut self.part {
                        part.places.set(slot, step, place);
                    }
                    self.note(steps)?;
                }
                Action::Load { slot, .. } => {
                    let Some((step, place)) = part.places.get(slot, &self.kept) else {
                        return Err(Error::Schedule(format!("{slot:?} holds nothing")));
                    };
                    self.load(steps, step, place)?;
                }
                Action::Free { slot } => {
                    // The base stays: should records not fit, it begins there once more.
                    let base = part.base.1;
                    let taken = part.places.take(slot, &self.kept);
                    if let Some((_, place)) = taken.filter(|(_, place)| *place != base) {
                        self.kept.free(place)?;
                    }
                }
                Action::PrimalDone if !self.is_back => return Ok(true),
                Action::PrimalDone => {}
                Action::Reverse { from, to } => {
                    let range = part.step(from)..part.step(to);
                    self.reverse_recorded(steps, range)?;
                }
            }
            if self.is_less() {
                self.give_up(steps)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives up the part: its states become points, and every record is dropped. Whether there was no state but the one it began
    /// with.
    pub(super) fn give_up<S: Steps>(&mut self, steps: &mut S) -> Result<bool, Error<S::Error>> {
        steps.forget();
        self.rounded.iter_mut().for_each(|rounded| rounded.forget());
        (self.live, self.is_recorded) = (None, false);
        let Some(part) = self.part.take() else { return Ok(true) };
        let mut others = part.places.all(&self.kept);
        others.retain(|(_, place)| *place != part.base.1);
        for (step, place) in &others {
            self.kept.make_point(*step, *place)?;
        }
        while self.held(steps) > self.memory && self.kept.drop_one() {}
        // Of a point on disk there may be a copy.
        Ok(others.iter().all(|(step, _)| *step == part.base.0))
    }

    /// The next action. On the way back the next state on disk is being read meanwhile.
    fn next_action(&mut self) -> Option<Action> {
        let before = self.part.as_ref().and_then(|part| self.kept.point_before(part.base.0));
        let Part { plan, ahead, places, .. } = self.part.as_mut()?;
        if let (true, Some(disk)) = (self.is_back, &mut self.kept.disk) {
            let mut from_disk = |action: &Action| match action {
                Action::Load { slot: Slot::Disk(slot), .. } => {
                    let place = places.disk.get(slot);
                    place.map(|(step, place)| disk.look_ahead(*place, *step)).is_some()
                }
                _ => false,
            };
            // The first one is carried out now.
            let mut found = ahead.iter().skip(1).any(&mut from_disk);
            while !found && ahead.len() < LOOK_AHEAD {
                let Some(action) = plan.schedule.next() else {
                    if let Some((step, Slot::Disk(slot))) = before {
                        disk.look_ahead(slot, step);
                    }
                    break;
                };
                found = !ahead.is_empty() && from_disk(&action);
                ahead.push_back(action);
            }
        }
        ahead.pop_front().or_else(|| plan.schedule.next())
    }
}
