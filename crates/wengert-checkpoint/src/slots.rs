//! Places for states in memory.
//!
//! States of a loop mostly have one size. They lie in blocks of several, so that small ones take no more memory than
//! their bytes; a state of another size lies by itself.

use std::collections::HashMap;

/// Bytes in a block of small states, at most.
const BLOCK: u64 = 16 << 10;

/// Of the memory allowed, the part that a block may take: its vacant places are beside what is allowed.
const OF_MEMORY: u64 = 64;

/// Numbered places for states.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// The size of states in blocks.
    usual: usize,
    /// Bytes in a block.
    block: usize,
    /// Those that were needed and are not too many.
    blocks: Vec<Option<Box<[u8]>>>,
    /// Those of another size, by their places.
    others: HashMap<usize, Box<[u8]>>,
    /// One more than the step of the state at each place, 0 where there is none.
    steps: Vec<u64>,
    /// Places that held something and do no more; some may again.
    freed: Vec<usize>,
    bytes: u64,
    /// Bytes of blocks.
    in_blocks: u64,
}

impl Slots {
    /// Places for states of this size, in so much memory.
    pub(crate) fn new(usual: u64, memory: u64) -> Slots {
        let block = BLOCK.min(memory / OF_MEMORY) as usize;
        Slots { usual: usize::try_from(usual).unwrap_or(usize::MAX), block, ..Slots::default() }
    }

    /// A place that holds nothing: the first one, or one that became free a short while ago.
    pub(crate) fn vacant(&mut self) -> usize {
        while let Some(slot) = self.freed.pop() {
            if self.step(slot).is_none() {
                return slot;
            }
        }
        self.steps.len()
    }

    /// How many places a block has.
    fn in_block(&self) -> usize {
        (self.block / self.usual.max(1)).max(1)
    }

    /// A place for the state before a step, of so many bytes, which is then held there; nothing where there is no memory for
    /// it.
    pub(crate) fn put(&mut self, slot: usize, step: u64, bytes: u64) -> Option<&mut [u8]> {
        self.free(slot);
        let bytes = usize::try_from(bytes).ok()?;
        if self.steps.len() <= slot {
            self.steps.try_reserve(slot + 1 - self.steps.len()).ok()?;
            self.steps.resize(slot + 1, 0);
        }
        if bytes != self.usual {
            self.others.insert(slot, blank(bytes)?);
        }
        let (block, at) = (slot / self.in_block(), slot % self.in_block() * self.usual);
        if self.lacks(slot, bytes as u64) {
            let size = self.in_block().checked_mul(bytes)?;
            self.blocks.resize_with(self.blocks.len().max(block + 1), || None);
            self.blocks[block] = Some(blank(size)?);
            self.in_blocks += size as u64;
        }
        self.steps[slot] = step.checked_add(1)?;
        self.bytes += bytes as u64;
        match self.others.get_mut(&slot) {
            Some(other) => Some(other),
            None => Some(&mut self.blocks[block].as_mut()?[at..at + bytes]),
        }
    }

    /// The state that is held at a place.
    pub(crate) fn get(&self, slot: usize) -> Option<&[u8]> {
        self.step(slot)?;
        if let Some(other) = self.others.get(&slot) {
            return Some(other);
        }
        let at = slot % self.in_block() * self.usual;
        Some(&self.blocks[slot / self.in_block()].as_ref()?[at..at + self.usual])
    }

    /// Whether memory has to be found for a state of so many bytes to be held at a place.
    pub(crate) fn lacks(&self, slot: usize, bytes: u64) -> bool {
        let block = self.blocks.get(slot / self.in_block());
        bytes == self.usual as u64 && block.is_none_or(Option::is_none)
    }

    /// Bytes of memory that hold no state.
    pub(crate) fn unused(&self) -> u64 {
        let others = self.others.values().map(|other| other.len() as u64).sum::<u64>();
        (self.in_blocks + others).saturating_sub(self.bytes)
    }

    /// Gives back memory in which there is no state.
    pub(crate) fn shrink(&mut self) {
        let (in_block, steps) = (self.in_block(), &self.steps);
        for (k, block) in self.blocks.iter_mut().enumerate() {
            let places = k * in_block..(k + 1) * in_block;
            let is_empty = places.into_iter().all(|slot| steps.get(slot).is_none_or(|s| *s == 0));
            if let Some(block) = block.take_if(|_| is_empty) {
                self.in_blocks -= block.len() as u64;
            }
        }
    }

    /// The step before which the state at a place was.
    pub(crate) fn step(&self, slot: usize) -> Option<u64> {
        self.steps.get(slot).and_then(|step| step.checked_sub(1))
    }

    /// The place holds nothing any more.
    pub(crate) fn free(&mut self, slot: usize) {
        let Some(state) = self.get(slot) else { return };
        self.bytes -= state.len() as u64;
        self.others.remove(&slot);
        self.steps[slot] = 0;
        self.freed.push(slot);
    }

    /// Bytes of all states that are held.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// So many zeros; nothing where there is no memory for them.
fn blank(bytes: usize) -> Option<Box<[u8]>> {
    let mut all = Vec::new();
    all.try_reserve_exact(bytes).ok()?;
    all.resize(bytes, 0);
    Some(all.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_any_size_are_found_again() {
        let mut slots = Slots::new(24, 1 << 20);
        let sizes = [24, 24, 8, 0, 24, 40_000, 24];
        for round in 0..3u8 {
            for (slot, size) in sizes.iter().enumerate() {
                slots.put(slot * 700, 1, *size).unwrap().fill(slot as u8 + round);
            }
            assert_eq!(slots.bytes(), sizes.iter().sum::<u64>());
            for (slot, size) in sizes.iter().enumerate() {
                let state = slots.get(slot * 700).unwrap();
                assert_eq!(state, vec![slot as u8 + round; *size as usize]);
            }
        }
        assert!(slots.get(1).is_none() && slots.get(10_000_000).is_none());
        assert_eq!((slots.step(700), slots.step(701)), (Some(1), None));
        (0..sizes.len()).for_each(|slot| slots.free(700 * slot));
        assert_eq!(slots.bytes(), 0);
        assert!(slots.get(700).is_none());
    }

    #[test]
    fn what_is_vacant_holds_nothing() {
        let mut slots = Slots::new(8, 1 << 20);
        let mut held = Vec::new();
        for step in 0..1000u64 {
            let slot = slots.vacant();
            assert!(!held.contains(&slot) && slot <= held.len() + 1, "{slot}");
            slots.put(slot, step, 8).unwrap();
            held.push(slot);
            if step % 3 > 0 {
                slots.free(held.swap_remove(step as usize * 7 % held.len()));
            }
        }
    }

    #[test]
    fn little_memory_has_little_vacant() {
        for memory in [0, 1000, 20_000, 1 << 30] {
            let mut slots = Slots::new(24, memory);
            slots.put(0, 0, 24).unwrap();
            assert!(slots.unused() <= memory / OF_MEMORY, "{} of {memory}", slots.unused());
        }
    }

    #[test]
    fn what_cannot_be_held_is_told() {
        let mut slots = Slots::new(u64::MAX, u64::MAX);
        assert!(slots.put(0, 0, u64::MAX).is_none());
        assert!(slots.put(0, 0, u64::MAX / 4).is_none());
    }
}
