//! Faults in `wengert-schedule`.

use super::{SCHEDULE, Tests};
use crate::faults::Fault;

const COUNTED: Tests = &[(SCHEDULE, "lib"), (SCHEDULE, "legal"), (SCHEDULE, "binomial")];
const RESUMED: Tests = &[(SCHEDULE, "resume"), (SCHEDULE, "legal")];
const PLACED: Tests = &[(SCHEDULE, "online")];
const MIXED: Tests = &[(SCHEDULE, "sized"), (SCHEDULE, "legal")];
const LEVELS: Tests = &[(SCHEDULE, "two_level")];
const JUDGED: Tests = &[(SCHEDULE, "legal")];

pub(super) const FAULTS: &[Fault] = &[
    // A checkpoint is placed one step before the best place.
    Fault {
        name: "schedule-split",
        file: "crates/wengert-schedule/src/counts.rs",
        from: "full.min(u128::from(n) - capacity(slots - 1, r - 1)) as u64",
        to: "(full.min(u128::from(n) - capacity(slots - 1, r - 1)) as u64 - 1).max(1)",
        tests: COUNTED,
    },
    // A state that is moved on keeps its slot's content.
    Fault {
        name: "schedule-unfreed",
        file: "crates/wengert-schedule/src/reversal.rs",
        from: "            self.waiting.push_back(Action::Free { slot: top.slot });\n            self.advance",
        to: "            self.advance",
        tests: RESUMED,
    },
    // Stored states are never moved on.
    Fault {
        name: "schedule-unmoved",
        file: "crates/wengert-schedule/src/resume.rs",
        from: "for moved in 0..=between.min(self.breadth) {",
        to: "for moved in 0..=between.min(0) {",
        tests: RESUMED,
    },
    // What a slot more is worth to the steps behind a state is forgotten.
    Fault {
        name: "schedule-greedy",
        file: "crates/wengert-schedule/src/online.rs",
        from: "let raise = gap(k - 1, k + 1, slots + 1) - alone + behind;",
        to: "let raise = gap(k - 1, k + 1, slots + 1) + alone + behind;",
        tests: PLACED,
    },
    // A stored state is held until the steps behind it are reversed.
    Fault {
        name: "schedule-unswapped",
        file: "crates/wengert-schedule/src/sized.rs",
        from: "let swapped = left.checked_add(self.state)",
        to: "let swapped = left.checked_add(0)",
        tests: MIXED,
    },
    // Reading from disk is taken to cost nothing.
    Fault {
        name: "schedule-free-reads",
        file: "crates/wengert-schedule/src/two_level.rs",
        from: "let mut advances = self.read;",
        to: "let mut advances = 0;",
        tests: LEVELS,
    },
    // A tape that is recorded twice is not noticed.
    Fault {
        name: "schedule-unjudged",
        file: "crates/wengert-schedule/src/check.rs",
        from: "if before || behind || to > self.adjoint {",
        to: "if to > self.adjoint {",
        tests: JUDGED,
    },
];
