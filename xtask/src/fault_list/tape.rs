//! Faults in the eager tape.

use super::{Tests, WHOLE};
use crate::faults::Fault;

const TAPE: Tests = &[(WHOLE, "tape")];

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "tape-rewound-variable",
        file: "crates/wengert/src/tape/recording.rs",
        from: "found.is_some_and(|segment| (segment.start..segment.end).contains(&x.index()))",
        to: "found.is_some()",
        tests: TAPE,
    },
    Fault {
        name: "tape-constants-after-rewind",
        file: "crates/wengert/src/tape/recorder.rs",
        from: "        self.tag = tag;\n        self.constants = [ABSENT; CONSTANTS];",
        to: "        self.tag = tag;",
        tests: TAPE,
    },
    Fault {
        name: "tape-choice-lets-through",
        file: "crates/wengert/src/tape/sweep.rs",
        from: "Partial::Where(p) if p.0.0 == 1.0 => *to += d,",
        to: "Partial::Where(_) if d != 0.0 => *to += d,",
        tests: TAPE,
    },
    Fault {
        name: "tape-third-input",
        file: "crates/wengert/src/tape/sweep.rs",
        from: "            z = nodes.value(third);",
        to: "            z = nodes.value(node.b);",
        tests: TAPE,
    },
    Fault {
        name: "tape-lanes-mixed",
        file: "crates/wengert/src/tape/adjoints.rs",
        from: "lanes[y.index() as usize][lane] += weight;",
        to: "lanes[y.index() as usize][lane] = *weight;",
        tests: TAPE,
    },
    Fault {
        name: "tape-replay-not-undone",
        file: "crates/wengert/src/tape/replay.rs",
        from: "        let _ = replay(self.recording, Some(&self.outputs));",
        to: "        let _ = &self.outputs;",
        tests: TAPE,
    },
    Fault {
        name: "tape-level-slope",
        file: "crates/wengert/src/tape/nested.rs",
        from: "Partial::Const(c) => d * c,",
        to: "Partial::Const(_) => d,",
        tests: TAPE,
    },
    Fault {
        name: "tape-level-primal",
        file: "crates/wengert/src/tape/recorder.rs",
        from: "if recording.owns(x) { recording.primal(x.index()) } else { x }",
        to: "if recording.owns(x) { Var::constant(x.value()) } else { x }",
        tests: TAPE,
    },
];
