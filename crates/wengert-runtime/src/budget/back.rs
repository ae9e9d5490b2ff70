//! Compiled loops whose steps are taken back.

use super::way::Way;
use super::{Budget, Failed, Loop, Of, values};
use crate::jit::link::Plan;
use std::ops::Range;
use wengert_checkpoint::{Distance, Error, InvertError, Inverted, Run, Steps, Unstep};
use wengert_core::fault::FaultKind;

/// As many bytes of states as steps are recorded together, about: so many that going from one piece of code to another does not count.
const UNIT_BYTES: u64 = 1 << 14;

/// The most steps that are recorded together.
const UNIT: u64 = 64;

/// How a loop is reversed.
#[derive(Debug)]
pub(super) enum Course {
    /// By states that are stored, and parts of it that are run again.
    Stored(Box<Run>),
    /// By taking its steps back.
    Back(Inverted),
}

impl Course {
    /// The most bytes of states it takes.
    pub(super) fn most_bytes(&self) -> u64 {
        match self {
            Course::Stored(run) => run.most_bytes(),
            Course::Back(back) => back.done().peak_bytes,
        }
    }
}

impl Budget {
    /// Whether the steps of a loop are taken back.
    pub(super) fn is_taken_back(&self, plan: &Plan) -> bool {
        let can = plan.unstep.is_some() && plan.shape.as_ref().is_some_and(|s| s.unstep.is_some());
        self.invert.is_some() && can
    }
}

impl Of<'_, '_> {
    /// The function that takes steps back, if they are.
    pub(super) fn unstep(&self, captures: &[u64]) -> Option<Way> {
        let (step, of) = (self.plan.unstep?, self.shape.unstep.as_ref()?);
        Some(Way::new(step, of, 2, self.shape.carries, captures))
    }

    /// What takes the steps of a loop back; nothing where they are not.
    pub(super) fn back(&mut self, steps: &Loop, memory: u64, length: u64) -> Option<Inverted> {
        let plan = self.plan;
        let budget = &self.context().budget;
        let invert = budget.invert.filter(|_| budget.is_taken_back(plan))?;
        let state = steps.state_bytes().max(1);
        let states = memory / 2 / state;
        let every = match (invert.every, budget.memory) {
            (Some(every), _) => every,
            // As many states as half of the memory holds, beside the last one.
            (None, Some(_)) if states > 2 && length > 0 => length.div_ceil(states - 1),
            (None, _) => u64::MAX,
        };
        let unit = (UNIT_BYTES / state).clamp(1, UNIT);
        let run = Inverted::new(memory, length).within(invert.within);
        let run = run.storing_every(every.min(length.max(1))).recording(unit);
        Some(if self.shape.apart { run.beginning_apart() } else { run })
    }

    /// Says why a loop was not taken back.
    pub(super) fn not_taken_back(&mut self, why: InvertError<u32>) -> Failed {
        let kind = match &why {
            InvertError::Step(status) => return Error::Step(*status),
            InvertError::Drift { .. } => FaultKind::Drift(why.to_string().into()),
            _ => FaultKind::Budget { why: why.to_string().into(), too_small: false },
        };
        let site = self.plan.stopped;
        self.context().stop(site, kind);
        Error::Step(1)
    }
}

impl Unstep for Loop<'_, '_> {
    fn unstep(&mut self, range: Range<u64>) -> Result<(), u32> {
        let from = i128::from(self.place.from);
        let at = |k: u64| (from + i128::from(k)) as i64 as u64;
        let bounds = [at(range.start), at(range.end)];
        let Some(way) = &mut self.unstep else { return Err(1) };
        let ran = way.call(self.context, &bounds, &mut self.live, &mut self.top, true);
        if ran.is_err() {
            // Its arrays are where nobody knows.
            self.live.clear();
        }
        ran
    }

    fn distance(&self, reached: &[u8], stored: &[u8]) -> Distance {
        values::distance(&self.carries, &self.shape.free, reached, stored)
    }
}
