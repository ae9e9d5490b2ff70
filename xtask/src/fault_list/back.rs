//! Faults in loops that are taken back.

use super::{CORE, RUNTIME, Tests, WHOLE};
use crate::faults::Fault;

const UNSTEP: Tests = &[(CORE, "unstep")];
const VALUES: Tests = &[(RUNTIME, "lib")];
const PROGRAMS: Tests = &[(WHOLE, "invert")];

pub(super) const FAULTS: &[Fault] = &[
    // What was added is added once more.
    Fault {
        name: "unstep-sum",
        file: "crates/wengert-core/src/transform/unstep/rules.rs",
        from: "Add => b.sub(y, other),",
        to: "Add => b.add(y, other),",
        tests: UNSTEP,
    },
    // A loop inside runs forwards again.
    Fault {
        name: "unstep-order",
        file: "crates/wengert-core/src/transform/unstep/emit.rs",
        from: "let counter = self.b.prim(Prim::WSub, &[last, values[0]]);",
        to: "let (counter, _) = (values[0], last);",
        tests: UNSTEP,
    },
    // A factor that the iteration changes is divided by.
    Fault {
        name: "unstep-factor",
        file: "crates/wengert-core/src/transform/unstep/solve.rs",
        from: "self.is_fixed(v) && !is_zero",
        to: "!is_zero",
        tests: UNSTEP,
    },
    // An array is taken over that is read later.
    Fault {
        name: "unstep-copies",
        file: "crates/wengert-core/src/transform/unstep/legal.rs",
        from: "own.contains(&v) && is_over(&v) && used_by(&inst, v) == 1",
        to: "own.contains(&v) && used_by(&inst, v) == 1",
        tests: UNSTEP,
    },
    // What is made again is that of the iteration after.
    Fault {
        name: "unstep-remade",
        file: "crates/wengert-core/src/transform/unstep/emit.rs",
        from: "let before = self.b.prim(Prim::WSub, &[counter, one]);",
        to: "let before = self.b.prim(Prim::WAdd, &[counter, one]);",
        tests: UNSTEP,
    },
    // A carry that nothing begins with is compared.
    Fault {
        name: "unstep-free",
        file: "crates/wengert-core/src/transform/unstep/mod.rs",
        from: "of_result(v).is_some_and(|j| is_free(&j))",
        to: "of_result(v).is_some_and(|j| is_free(&j) && is_solved(&j))",
        tests: UNSTEP,
    },
    // Single precision is taken for double.
    Fault {
        name: "back-single",
        file: "crates/wengert-runtime/src/budget/values.rs",
        from: "Distance::of_floats(&wide(&now[..end]), &wide(&then[..end]))",
        to: "Distance::of_floats(&now[..end], &then[..end])",
        tests: VALUES,
    },
    // The first step of a range is not taken back.
    Fault {
        name: "back-first",
        file: "crates/wengert-runtime/src/budget/back.rs",
        from: "let bounds = [at(range.start), at(range.end)];",
        to: "let bounds = [at(range.start + 1), at(range.end)];",
        tests: PROGRAMS,
    },
    // States on the way are not stored.
    Fault {
        name: "back-every",
        file: "crates/wengert-runtime/src/budget/back.rs",
        from: "(Some(every), _) => every,",
        to: "(Some(every), _) => every.saturating_mul(2),",
        tests: PROGRAMS,
    },
    // All loops are taken back, whichever was named.
    Fault {
        name: "back-line",
        file: "crates/wengert/src/compile/function.rs",
        from: "Task::Inverted(by, invert.line)",
        to: "Task::Inverted(by, invert.line.and(None))",
        tests: PROGRAMS,
    },
];
