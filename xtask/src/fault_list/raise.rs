//! Faults in what makes operations on arrays of loops, and in records that loops make together.

use super::{CORE, Tests};
use crate::faults::Fault;

const MADE: Tests = &[(CORE, "lib")];
const PROGRAMS: Tests = &[(CORE, "rust_programs"), (CORE, "lib")];

pub(super) const FAULTS: &[Fault] = &[
    // An index may be one too large.
    Fault {
        name: "raise-range",
        file: "crates/wengert-core/src/transform/raise/look.rs",
        from: "lo + index.offset >= 0 && more + index.offset <= room",
        to: "lo + index.offset >= 0 && more + index.offset <= room + 1",
        tests: MADE,
    },
    // What an iteration writes is taken for what was there.
    Fault {
        name: "raise-written",
        file: "crates/wengert-core/src/transform/raise/find.rs",
        from: "self.place(*a, &i.args[1..]).as_ref() == Some(index);",
        to: "(self.place(*a, &i.args[1..]).as_ref() == Some(index) || !stored);",
        tests: MADE,
    },
    // Sums of rows begin with what the row before left.
    Fault {
        name: "raise-start",
        file: "crates/wengert-core/src/transform/raise/make.rs",
        from: "let sums = self.owned(plan.start, &[i]);",
        to: "let zero = self.b.f64(0.0);\n        let count = self.axes[&i].count;\n        let sums = self.b.filled(&[count], zero);",
        tests: MADE,
    },
    // A part of an array is written as if it were all of it.
    Fault {
        name: "raise-whole",
        file: "crates/wengert-core/src/transform/raise/find.rs",
        from: "let whole = all.clone().all(",
        to: "let whole = all.clone().any(",
        tests: MADE,
    },
    // A slice of a copy that is taken after the original has changed reads the original.
    Fault {
        name: "raise-original",
        file: "crates/wengert-core/src/transform/raise/mod.rs",
        from: "if slice && !changed {",
        to: "if slice {",
        tests: MADE,
    },
    // The first record of a loop is taken for its last.
    Fault {
        name: "rust-records-order",
        file: "crates/wengert-core/src/emit/rust/windows.rs",
        from: "(Op::Push, false) | (Op::Pop, true) => at.to_string(),",
        to: "(Op::Push, false) | (Op::Pop, _) => at.to_string(),",
        tests: PROGRAMS,
    },
    // Records that are taken back together stay on the tape.
    Fault {
        name: "rust-records-left",
        file: "crates/wengert-core/src/ahead/tape.rs",
        from: "        self.used = start;\n",
        to: "",
        tests: PROGRAMS,
    },
];
