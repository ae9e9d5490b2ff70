//! States that are kept, in memory and in files.
//!
//! Those from which the loop can go on, whatever a plan does, are *points*. There is one before the first step, always.

use crate::disk::{Disk, DiskError};
use crate::outcome::{Done, Error};
use crate::slots::Slots;
use crate::steps::Steps;
use std::collections::BTreeMap;
use wengert_schedule::Slot;

/// Where the last state is kept, for those who resume the run.
pub(crate) const LAST: Slot = Slot::Disk(usize::MAX);

/// So many bytes of memory for each number of a state that is remembered.
const PER_PRINT: u64 = 4096;

/// So many are remembered in any case.
const LEAST_PRINTS: u64 = 32;

/// The states of a loop.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) slots: Slots,
    pub(crate) disk: Option<Disk>,
    /// Where the states are from which the loop can go on, by their steps.
    pub(crate) points: BTreeMap<u64, Slot>,
    /// The numbers of states at which something began or ended, by their steps; those that were dropped are among them.
    prints: BTreeMap<u64, u64>,
}

impl Kept {
    /// A free place in memory, or on disk.
    pub(crate) fn vacant(&mut self, on_disk: bool) -> Slot {
        match &self.disk {
            Some(disk) if on_disk => Slot::Disk(disk.vacant()),
            _ => Slot::Memory(self.slots.vacant()),
        }
    }

    /// Stores the live state, which is the one before a step.
    pub(crate) fn store<S: Steps>(
        &mut self,
        steps: &S,
        (step, place): (u64, Slot),
        done: &mut Done,
    ) -> Result<(), Error<S::Error>> {
        let bytes = steps.state_bytes();
        match (place, &mut self.disk) {
            (Slot::Disk(slot), Some(disk)) => {
                let storage = usize::try_from(bytes).ok().and_then(|bytes| disk.storage(bytes));
                let mut storage = storage.ok_or(Error::NoMemory(bytes))?;
                steps.save(&mut storage);
                disk.put(slot, step, storage)?;
                done.written += 1;
            }
            (Slot::Memory(slot) | Slot::Disk(slot), _) => {
                steps.save(self.slots.put(slot, step, bytes).ok_or(Error::NoMemory(bytes))?);
            }
        }
        done.stored += 1;
        Ok(())
    }

    /// Makes a state that is stored the live one.
    pub(crate) fn load<S: Steps>(
        &mut self,
        steps: &mut S,
        (step, place): (u64, Slot),
        done: &mut Done,
    ) -> Result<(), Error<S::Error>> {
        done.loaded += 1;
        match (place, &mut self.disk) {
            (Slot::Disk(slot), Some(disk)) => {
                done.read += 1;
                steps.load(&disk.get(slot, step)?)
            }
            (Slot::Memory(slot) | Slot::Disk(slot), _) => {
                let state = self.slots.get(slot);
                let missing = || Error::Schedule(format!("state {step} is not stored"));
                steps.load(state.ok_or_else(missing)?)
            }
        }
        .map_err(Error::Step)
    }

    /// A place holds nothing any more.
    pub(crate) fn free(&mut self, place: Slot) -> Result<(), DiskError> {
        match (place, &mut self.disk) {
            (Slot::Disk(slot), Some(disk)) => return disk.free(slot),
            (Slot::Memory(slot) | Slot::Disk(slot), _) => self.slots.free(slot),
        }
        Ok(())
    }

    /// The last point before a step.
    pub(crate) fn point_before(&self, step: u64) -> Option<(u64, Slot)> {
        self.points.range(..step).next_back().map(|(step, place)| (*step, *place))
    }

    /// The last point before a step is none any more.
    pub(crate) fn drop_point_before(&mut self, step: u64) -> Result<(), DiskError> {
        let Some((at, place)) = self.point_before(step) else { return Ok(()) };
        self.points.remove(&at);
        self.free(place)
    }

    /// Points from a step on are of no use.
    pub(crate) fn drop_points_from(&mut self, step: u64) -> Result<(), DiskError> {
        let places: Vec<Slot> = self.points.split_off(&step).into_values().collect();
        places.into_iter().try_for_each(|place| self.free(place))
    }

    /// Gives up the last point in memory but the first. Whether there was one.
    pub(crate) fn drop_one(&mut self) -> bool {
        let in_memory = |(_, place): &(&u64, &Slot)| matches!(place, Slot::Memory(_));
        let found = self.points.range(1..).rev().find(in_memory);
        let Some((step, place)) = found.map(|(step, place)| (*step, *place)) else {
            return false;
        };
        self.points.remove(&step);
        let Slot::Memory(slot) = place else { return false };
        self.slots.free(slot);
        true
    }

    /// A state from which the loop can go on. One that was there already is enough.
    pub(crate) fn make_point(&mut self, step: u64, place: Slot) -> Result<(), DiskError> {
        match self.points.get(&step) {
            Some(there) if *there != place => self.free(place),
            Some(_) => Ok(()),
            None => {
                self.points.insert(step, place);
                Ok(())
            }
        }
    }

    /// Whether the live state is the one that it was before; one that is new is remembered, as long as there is room in the memory
    /// allowed.
    pub(crate) fn compare<S: Steps>(
        &mut self,
        steps: &S,
        step: u64,
        memory: u64,
    ) -> Result<(), Error<S::Error>> {
        match self.prints.get(&step) {
            Some(print) if *print != steps.fingerprint() => return Err(Error::OtherState(step)),
            None if (self.prints.len() as u64) < (memory / PER_PRINT).max(LEAST_PRINTS) => {
                self.prints.insert(step, steps.fingerprint());
            }
            _ => {}
        }
        Ok(())
    }
}
