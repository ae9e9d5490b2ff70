//! States that are kept, in memory and in files.
//!
//! Those from which the loop can go on, whatever a plan does, are *points*. There is one before the first step, always.

use crate::disk::{Disk, DiskError};
use crate::outcome::{Done, Error};
use crate::short::{self, Change, Precision};
use crate::slots::Slots;
use crate::steps::Steps;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use wengert_schedule::Slot;

/// Where the last state is kept, for those who resume the run.
pub(crate) const LAST: Slot = Slot::Disk(usize::MAX);

/// Where the live state of the first sweep is kept as it is, where others are shortened, for those who resume the run there.
pub(crate) const HEAD: Slot = Slot::Disk(usize::MAX - 1);

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
    /// How the floats of states are kept.
    pub(crate) precision: Precision,
    /// A state on its way to be shortened, or back.
    whole: Vec<u8>,
    /// Where shortened states are that lost nothing, and states that were not shortened.
    same: HashSet<Slot>,
}

/// A state that is about to be stored among others that are shortened.
#[derive(Debug)]
pub(crate) struct Packed {
    floats: Vec<Range<usize>>,
    /// What it takes.
    pub(crate) bytes: u64,
    /// What shortening does to it; nothing where it is kept as it is.
    pub(crate) change: Option<Change>,
    /// Whether what is stored is the state of the first sweep.
    pub(crate) is_same: bool,
}

impl Packed {
    fn write(&self, precision: Precision, state: &[u8], to: &mut [u8]) {
        match self.change {
            Some(_) => short::shorten(precision, state, &self.floats, self.is_same, to),
            None => short::keep_whole(state, self.is_same, to),
        }
    }
}

impl Kept {
    /// Shortens states from now on, if that spares something: then gives back what a state like the live one takes.
    pub(crate) fn begin<S: Steps>(
        &mut self,
        steps: &S,
        precision: Precision,
    ) -> Result<Option<u64>, Error<S::Error>> {
        let bytes = steps.state_bytes();
        let whole = usize::try_from(bytes).map_err(|_| Error::NoMemory(bytes))?;
        let floats = short::tidy(steps.floats(), whole);
        let short = short::size(precision, whole, &floats) as u64;
        if precision == Precision::Exact || short >= bytes {
            return Ok(None);
        }
        self.precision = precision;
        Ok(Some(short))
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.slots.bytes() + self.whole.len() as u64
    }

    /// Gives up the memory for a state on its way.
    pub(crate) fn let_go(&mut self) {
        self.whole = Vec::new();
    }

    /// The state that was packed last.
    pub(crate) fn whole(&self) -> &[u8] {
        &self.whole
    }

    /// Makes the live state ready to be stored, as it is or shortened if that can be. Whether it is the one of the first sweep.
    pub(crate) fn pack<S: Steps>(
        &mut self,
        steps: &S,
        as_it_is: bool,
        is_same: bool,
    ) -> Result<Packed, Error<S::Error>> {
        let bytes = steps.state_bytes();
        let len = usize::try_from(bytes).map_err(|_| Error::NoMemory(bytes))?;
        self.whole.clear();
        self.whole.try_reserve_exact(len).map_err(|_| Error::NoMemory(bytes))?;
        self.whole.resize(len, 0);
        steps.save(&mut self.whole);
        let floats = short::tidy(steps.floats(), len);
        let change = match as_it_is {
            true => None,
            false => short::change(self.precision, &self.whole, &floats),
        };
        let bytes = match change {
            Some(_) => short::size(self.precision, len, &floats) as u64,
            None => short::whole_size(bytes),
        };
        let is_same = is_same && change.is_none_or(|change| change.difference == 0.0);
        Ok(Packed { floats, bytes, change, is_same })
    }

    /// The last point up to a step, this one included, that is a state of the first sweep to the bit.
    pub(crate) fn same_before(&self, step: u64) -> Option<(u64, Slot)> {
        let same = |(_, place): &(&u64, &Slot)| self.same.contains(place);
        let found = self.points.range(..=step).rev().find(same);
        found.map(|(step, place)| (*step, *place))
    }

    /// A free place in memory, or on disk.
    pub(crate) fn vacant(&mut self, on_disk: bool) -> Slot {
        match &self.disk {
            Some(disk) if on_disk => Slot::Disk(disk.vacant()),
            _ => Slot::Memory(self.slots.vacant()),
        }
    }

    /// Stores the live state, which is the one before a step, or what was packed of it.
    pub(crate) fn store<S: Steps>(
        &mut self,
        steps: &S,
        (step, place): (u64, Slot),
        packed: Option<&Packed>,
        done: &mut Done,
    ) -> Result<(), Error<S::Error>> {
        let bytes = packed.map_or(steps.state_bytes(), |packed| packed.bytes);
        let (precision, whole) = (self.precision, &self.whole);
        let save = |to: &mut [u8]| match packed {
            Some(packed) => packed.write(precision, whole, to),
            None => steps.save(to),
        };
        match (place, &mut self.disk) {
            (Slot::Disk(slot), Some(disk)) => {
                let storage = usize::try_from(bytes).ok().and_then(|bytes| disk.storage(bytes));
                let mut storage = storage.ok_or(Error::NoMemory(bytes))?;
                save(&mut storage);
                disk.put(slot, step, storage)?;
                done.written += 1;
            }
            (Slot::Memory(slot) | Slot::Disk(slot), _) => {
                save(self.slots.put(slot, step, bytes).ok_or(Error::NoMemory(bytes))?);
            }
        }
        match packed {
            Some(packed) if packed.is_same => _ = self.same.insert(place),
            Some(_) => _ = self.same.remove(&place),
            None => {}
        }
        done.stored += 1;
        Ok(())
    }

    /// Makes a state that is stored the live one. Whether it is the one of the first sweep.
    pub(crate) fn load<S: Steps>(
        &mut self,
        steps: &mut S,
        (step, place): (u64, Slot),
        done: &mut Done,
    ) -> Result<bool, Error<S::Error>> {
        done.loaded += 1;
        let read;
        let state = match (place, &mut self.disk) {
            (Slot::Disk(slot), Some(disk)) => {
                done.read += 1;
                read = disk.get(slot, step)?;
                &read
            }
            (Slot::Memory(slot) | Slot::Disk(slot), _) => {
                let state = self.slots.get(slot);
                state.ok_or_else(|| Error::Schedule(format!("state {step} is not stored")))?
            }
        };
        if self.precision == Precision::Exact {
            return steps.load(state).map(|()| true).map_err(Error::Step);
        }
        let Some(is_same) = short::read(self.precision, state, &mut self.whole) else {
            return Err(Error::Schedule(format!("state {step} is not one that was stored")));
        };
        steps.load(&self.whole).map(|()| is_same).map_err(Error::Step)
    }

    /// A place holds nothing any more.
    pub(crate) fn free(&mut self, place: Slot) -> Result<(), DiskError> {
        self.same.remove(&place);
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
        self.free(place).is_ok()
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
