//! The tapes of one run.
//!
//! Most runs have one, given to the entry, and compare its top with its limit. Programs that differentiate
//! inside make more and end them; the limit holds for all together, so they count what is left of it with
//! every push and pop.

use crate::tape::{self, Lease, NoTape};
use std::mem::offset_of;

/// The tapes in use.
#[derive(Debug, Default)]
pub(crate) struct Tapes {
    open: Vec<Open>,
    /// The limit the user has set.
    wanted: Option<u64>,
    /// Bytes all tapes together may hold, once there is one.
    bytes: Option<u64>,
    /// How many of them are left, where compiled code counts them: in programs with several tapes.
    left: u64,
    peak: u64,
}

#[derive(Debug)]
struct Open {
    lease: Lease,
    base: usize,
    limit: usize,
    /// The highest place noted.
    peak: usize,
}

impl Tapes {
    /// Where compiled code finds the bytes left.
    pub(crate) const LEFT: usize = offset_of!(Tapes, left);

    /// No tapes yet.
    pub(crate) fn new(wanted: Option<u64>) -> Self {
        Tapes { wanted, ..Tapes::default() }
    }

    /// Makes an empty tape; gives back its address.
    pub(crate) fn open(&mut self) -> Result<usize, NoTape> {
        let mut lease = tape::lease(self.bytes.or(self.wanted))?;
        match &mut self.bytes {
            None => (self.bytes, self.left) = (Some(lease.limit()), lease.limit()),
            // There may be fewer addresses for this tape than for those before it; no tape may ever hold
            // more than the smallest.
            Some(bytes) => {
                self.left = self.left.checked_sub(*bytes - lease.limit()).ok_or(NoTape)?;
                *bytes = lease.limit();
            }
        }
        let (base, limit) = (lease.base(), lease.limit_address());
        self.open.push(Open { lease, base, limit, peak: base });
        Ok(base)
    }

    /// One past the last address that may be written of the tape with this top; 0 where there is none.
    pub(crate) fn limit(&self, top: usize) -> usize {
        self.find(top).map_or(0, |k| self.open[k].limit)
    }

    /// Where the tape with this top begins; past every address where there is none.
    pub(crate) fn base(&self, top: usize) -> usize {
        self.find(top).map_or(usize::MAX / 2, |k| self.open[k].base)
    }

    /// Gives the pages behind this top back to the system, of a tape that was written up to `touched`.
    pub(crate) fn give_back_above(&mut self, top: usize, touched: usize) {
        if let Some(k) = self.find(top) {
            let Open { lease, base, .. } = &mut self.open[k];
            lease.give_back_above(top - *base, touched.saturating_sub(*base));
        }
    }

    /// A tape stands at this top.
    pub(crate) fn note(&mut self, top: usize) {
        if let Some(k) = self.find(top) {
            let tape = &mut self.open[k];
            tape.peak = tape.peak.max(top);
            let held: u64 = self.open.iter().map(|t| (t.peak - t.base) as u64).sum();
            self.peak = self.peak.max(held);
        }
    }

    /// The tape with this top is not used again.
    pub(crate) fn end(&mut self, top: usize) {
        self.note(top);
        if let Some(k) = self.find(top) {
            let tape = self.open.remove(k);
            self.left += (top - tape.base) as u64;
            tape.hand_back();
        }
    }

    /// The run is over and no tape is in use.
    pub(crate) fn close(&mut self) {
        self.open.drain(..).for_each(Open::hand_back);
    }

    /// Bytes all tapes together may hold.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.unwrap_or(0)
    }

    /// At most this many bytes stood on all tapes together.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.min(self.bytes())
    }

    /// The last one made is the likeliest.
    fn find(&self, top: usize) -> Option<usize> {
        self.open.iter().rposition(|t| (t.base..=t.limit).contains(&top))
    }
}

impl Open {
    /// To the pool, with the pages it has touched.
    fn hand_back(mut self) {
        self.lease.used((self.peak - self.base) as u64);
    }
}
