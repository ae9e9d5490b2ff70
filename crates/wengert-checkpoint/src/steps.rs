//! What a loop must be able to do.

use crate::fingerprint::Fingerprint;
use crate::short::tidy;
use std::ops::Range;

/// A loop that runs in pieces and is reversed in pieces.
///
/// There is one *live* state. Step `k` takes it from state `k` to state `k + 1`. What the reversal of a step needs is its
/// *record*; records are a stack: the last ones are used up first. There is one adjoint, that of the last state at
/// first.
///
/// What is asked for is always possible: the live state is the one at the start of the range, and the last records are those of the
/// range that is reversed.
pub trait Steps {
    /// What may go wrong in a step.
    type Error;

    /// Runs the steps of a range without recording them. Gives back the state that is live then: the end of the range, or an earlier
    /// one after which there is no step; a later one where the loop had ended at the end of the range and does not any more.
    fn advance(&mut self, range: Range<u64>) -> Result<u64, Self::Error>;

    /// Runs the steps of a range and records each of them. Gives back as much as [`Steps::advance`]; nothing where the records would take
    /// more than `room` bytes. Then neither they nor the live state are used again.
    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, Self::Error>;

    /// Takes the adjoint of the state at the end of the range to that of the state at its start. The records of the range are used
    /// up.
    fn reverse(&mut self, range: Range<u64>) -> Result<(), Self::Error>;

    /// Drops all records.
    fn forget(&mut self);

    /// All records may take so many bytes from now on, those that there are and storage kept for others. What is kept beyond that is
    /// to be given back.
    fn spare(&mut self, _bytes: u64) {}

    /// From now on the record of a step takes so many bytes at most, about, because loops inside it keep to a memory as well. There are
    /// no records when this is asked for. Whether that can be done.
    fn tighten(&mut self, _bytes: u64) -> bool {
        false
    }

    /// Whether somebody wants it to end: the next thing that is asked for will be an error. Before that a run that can be resumed writes
    /// where it stands.
    fn is_asked_to_end(&self) -> bool {
        false
    }

    /// How many bytes all records take that there are.
    fn record_bytes(&self) -> u64;

    /// How many bytes [`Steps::save`] writes of the live state.
    fn state_bytes(&self) -> u64;

    /// Writes the live state to as many bytes as it takes.
    fn save(&self, to: &mut [u8]);

    /// Makes a state that was saved the live one.
    fn load(&mut self, from: &[u8]) -> Result<(), Self::Error>;

    /// How many bytes [`Steps::save_adjoint`] writes; before the way back, about. Needed by runs that can be resumed.
    fn adjoint_bytes(&self) -> u64 {
        0
    }

    /// Writes the adjoint, and whatever else the way back has gathered, to as many bytes as it takes.
    fn save_adjoint(&self, _to: &mut [u8]) {}

    /// Makes an adjoint that was saved the one to go on with.
    fn load_adjoint(&mut self, _from: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Which of the bytes that [`Steps::save`] writes of the live state are floats of eight bytes, the lowest first: ranges in their
    /// order. They may be kept with fewer digits, where that is asked for ([`Run::keeping`](crate::Run::keeping)); all other
    /// bytes are kept as they are. Where it is not given, there are none.
    fn floats(&self) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// A number that depends on what must not differ in a live state that was reached from one with fewer digits: counters, the
    /// sizes of arrays. Where it is not given, those are all bytes of a state but its floats.
    fn outline(&self) -> u64 {
        let mut copy = vec![0; usize::try_from(self.state_bytes()).unwrap_or(usize::MAX)];
        self.save(&mut copy);
        for range in tidy(self.floats(), copy.len()) {
            copy[range].fill(0);
        }
        let mut print = Fingerprint::new();
        print.bytes(&copy);
        print.finish()
    }

    /// Which of the bytes that [`Steps::save_adjoint`] writes are floats of eight bytes. Adjoints of states, and what the way back only
    /// adds to, are in ranges of their own. Where it is not given, all bytes are one range.
    fn adjoint_floats(&self) -> Vec<Range<usize>> {
        let bytes = usize::try_from(self.adjoint_bytes()).unwrap_or(usize::MAX);
        std::iter::once(0..bytes).collect()
    }

    /// A number that tells the live state from others; see [`Fingerprint`]. Where it is not given, the state is copied for it.
    fn fingerprint(&self) -> u64 {
        let mut copy = vec![0; usize::try_from(self.state_bytes()).unwrap_or(usize::MAX)];
        self.save(&mut copy);
        let mut print = Fingerprint::new();
        print.bytes(&copy);
        print.finish()
    }
}
