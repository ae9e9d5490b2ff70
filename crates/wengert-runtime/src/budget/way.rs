//! One function of a loop, and what it is called with.

use crate::context::Context;
use crate::jit::link::{Signature, Step};
use std::ops::Range;

/// One of a loop's functions over a range, with its frame: the range, what is handed on, what is only read and
/// perhaps a tape; then results in the same order.
pub(super) struct Way {
    step: Step,
    frame: Vec<u64>,
    /// What is handed on.
    carried: Range<usize>,
    /// Where its results begin.
    results: usize,
    /// Arrays among what is handed on that the function does not take over.
    pub(super) lent: Vec<usize>,
    /// The last parameter, where that is a tape.
    tape: Option<usize>,
}

impl Way {
    /// The carried parameters come after `first` words of the range; the words of what is only read are given.
    pub(super) fn new(step: Step, of: &Signature, first: usize, count: usize, read: &[u64]) -> Way {
        let carried = of.slots(first..first + count);
        let results = of.words_of_params();
        let mut frame = vec![0; of.words()];
        frame[carried.end..carried.end + read.len()].copy_from_slice(read);
        let lent = of.arrays(first..first + count).filter(|(.., taken)| !taken);
        let lent = lent.map(|(at, ..)| at - carried.start).collect();
        let tape = (carried.end + read.len() < results).then_some(results - 1);
        Way { step, frame, carried, results, lent, tape }
    }

    /// How many words are handed on.
    pub(super) fn words_carried(&self) -> usize {
        self.carried.len()
    }

    /// Runs a range on what is handed on, which becomes what comes out, and on a tape, whose top moves. Arrays that were lent to
    /// it are freed, if they are the loop's own.
    pub(super) fn call(
        &mut self,
        context: *mut Context,
        range: &[u64],
        carried: &mut [u64],
        top: &mut u64,
        owned: bool,
    ) -> Result<(), u32> {
        self.frame[..range.len()].copy_from_slice(range);
        self.frame[self.carried.clone()].copy_from_slice(carried);
        if let Some(tape) = self.tape {
            self.frame[tape] = *top;
        }
        // SAFETY: the frame has the words of the function's parameters, which have the types of the loop's own, and
        // room for its results; arrays in them are alive, and those that it takes over are the loop's.
        let status = unsafe { self.step.call(context, self.frame.as_mut_ptr()) };
        if status != 0 {
            return Err(status);
        }
        let back = &self.frame[self.results..self.results + carried.len()];
        for at in self.lent.iter().filter(|at| owned && back[**at] != carried[**at]) {
            // SAFETY: compiled code is not running, and nobody else has the context.
            unsafe { &mut *context }.arrays.free(carried[*at] as usize);
        }
        carried.copy_from_slice(back);
        if self.tape.is_some() {
            *top = self.frame[self.frame.len() - 1];
        }
        Ok(())
    }

    /// How far the last range came, and by which exit.
    pub(super) fn ended(&self) -> (i64, u64) {
        let at = self.results + self.carried.len();
        (self.frame[at] as i64, self.frame[at + 1])
    }
}
