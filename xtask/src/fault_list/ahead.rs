//! Faults in what runs the loops of `#[differentiable]` in a memory, and batches.

use super::{Tests, WHOLE};
use crate::faults::Fault;

const LIMITED: Tests = &[(WHOLE, "differentiable_memory"), (WHOLE, "differentiable_peak")];
const MEMBERS: Tests = &[(WHOLE, "lib"), (WHOLE, "differentiable_batch")];

pub(super) const FAULTS: &[Fault] = &[
    // Iterations are counted from where a range begins.
    Fault {
        name: "ahead-iteration-of-range",
        file: "crates/wengert/src/ahead/steps.rs",
        from: "*k = k.saturating_add(i64::try_from(first).unwrap_or(i64::MAX));",
        to: "*k = k.saturating_add(0 * i64::try_from(first).unwrap_or(i64::MAX));",
        tests: LIMITED,
    },
    // The iteration that an exit cut short is reversed as a whole one.
    Fault {
        name: "ahead-cut-as-whole",
        file: "crates/wengert/src/ahead/steps.rs",
        from: "(to, exit) = (done, by);",
        to: "(to, exit) = (done + 1, 0);",
        tests: LIMITED,
    },
    // What an array held before stays in it when a state is loaded.
    Fault {
        name: "ahead-stale-elements",
        file: "crates/wengert-core/src/ahead/drive.rs",
        from: "data.clear();\n        data.try_reserve_exact",
        to: "data.truncate(1);\n        data.try_reserve_exact",
        tests: LIMITED,
    },
    // A piece of the tape is taken back twice.
    Fault {
        name: "ahead-tape-piece",
        file: "crates/wengert-core/src/ahead/tape.rs",
        from: "    of.before -= last.len();\n    if words.capacity() > 0 {",
        to: "    of.before -= last.len() - 1;\n    if words.capacity() > 0 {",
        tests: LIMITED,
    },
    // Records go beyond what is allowed.
    Fault {
        name: "ahead-no-limit",
        file: "crates/wengert-core/src/ahead/tape.rs",
        from: "    if room < more {",
        to: "    if room < more && more > 1 << 20 {",
        tests: LIMITED,
    },
    // Blocks of members are summed as they come.
    Fault {
        name: "ahead-sums-in-blocks",
        file: "crates/wengert/src/ahead/members.rs",
        from: "                sum.add(all.len(), part);",
        to: "                sum.add(all.len() + own.len(), part);",
        tests: MEMBERS,
    },
    // The error of any member is told.
    Fault {
        name: "ahead-wrong-member",
        file: "crates/wengert/src/ahead/members.rs",
        from: "return Err(error.in_member(k));",
        to: "return Err(error.in_member(k + 1));",
        tests: MEMBERS,
    },
];
