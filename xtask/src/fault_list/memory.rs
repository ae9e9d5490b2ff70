//! Faults in what keeps loops within a memory.

use super::{CHECKPOINT, CORE, RUNTIME, SCHEDULE, Tests, WHOLE};
use crate::faults::Fault;

const MIXED: Tests = &[(SCHEDULE, "sized"), (SCHEDULE, "legal")];
const SECOND: Tests = &[(WHOLE, "examples"), (WHOLE, "outputs"), (RUNTIME, "differential")];
const WRITTEN: Tests = &[(RUNTIME, "lib"), (WHOLE, "outputs")];
const OUTPUTS: Tests = &[(WHOLE, "outputs"), (RUNTIME, "differential")];
const DRIVEN: Tests = &[(CHECKPOINT, "drive"), (WHOLE, "examples"), (RUNTIME, "differential")];
const COUNTED: Tests = &[(WHOLE, "peak")];
const PLACED: Tests = &[(CORE, "filetests"), (WHOLE, "examples"), (RUNTIME, "differential")];

pub(super) const FAULTS: &[Fault] = &[
    // The first group of steps is taken to cost as little to pass over as the others.
    Fault {
        name: "memory-first-group",
        file: "crates/wengert-schedule/src/sized.rs",
        from: "cost.advances = over_others.saturating_add(over_first * u128::from(first));",
        to: "cost.advances = over_others.saturating_add(over_first * u128::from(group));",
        tests: MIXED,
    },
    // Groups are as long as fits, but never the first.
    Fault {
        name: "memory-short-first",
        file: "crates/wengert-schedule/src/sized.rs",
        from: ".flat_map(move |group| [(group, group), (group, alone)])",
        to: ".flat_map(move |group| [(group, group), (group, group)])",
        tests: MIXED,
    },
    // What becomes varied in the first iteration has no tangent in the second.
    Fault {
        name: "memory-tangents-once",
        file: "crates/wengert-core/src/transform/jvp/drives.rs",
        from: "            if more.is_empty() {\n                return;",
        to: "            if !more.is_empty() {\n                return;",
        tests: SECOND,
    },
    // Tangents of what is only read come in the order of what is handed on.
    Fault {
        name: "memory-tangents-of-captures",
        file: "crates/wengert-core/src/transform/jvp/drives.rs",
        from: "    order.extend(tangents(carried, by.len()));",
        to: "    order.extend(tangents(carried, by.len()).rev());",
        tests: SECOND,
    },
    // A loop whose iterations run at once is left where it is in second derivatives.
    Fault {
        name: "memory-parallel-driven",
        file: "crates/wengert-core/src/transform/flat.rs",
        from: "module.loops.iter().partition(|plan| plan.parallel);",
        to: "module.loops.iter().partition(|plan| plan.parallel && !plan.bounded);",
        tests: PLACED,
    },
    // An array that is added to counts as one that is only written.
    Fault {
        name: "memory-added-to",
        file: "crates/wengert-runtime/src/jit/written.rs",
        from: "ArrayOp::Poke | ArrayOp::Put | ArrayOp::Refill",
        to: "ArrayOp::Poke | ArrayOp::Put | ArrayOp::AddSlice | ArrayOp::Refill",
        tests: WRITTEN,
    },
    // An array that changes places with another counts, too.
    Fault {
        name: "memory-exchanged",
        file: "crates/wengert-runtime/src/jit/written.rs",
        from: "values.all(|v| self.has(v) == self.has(r))",
        to: "values.all(|_| true)",
        tests: WRITTEN,
    },
    // What an exit hands on is not looked at.
    Fault {
        name: "memory-exits-of-outputs",
        file: "crates/wengert-runtime/src/jit/written.rs",
        from: "exits.map(|exit| &exit.blocks[0].yields[..]).chain([&body.yields[..]])",
        to: "exits.filter(|_| false).map(|exit| &exit.blocks[0].yields[..]).chain([&body.yields[..]])",
        tests: WRITTEN,
    },
    // On the way back iterations write to the arrays that the program has got.
    Fault {
        name: "memory-outputs-shared",
        file: "crates/wengert-runtime/src/budget/outputs.rs",
        from: "        self.all.iter_mut().for_each(|(.., words)| words[0] = 0);\n",
        to: "        self.all.iter_mut().for_each(|_| ());\n",
        tests: OUTPUTS,
    },
    // When a state is loaded, what was written before is gone.
    Fault {
        name: "memory-outputs-lost",
        file: "crates/wengert-runtime/src/budget/outputs.rs",
        from: "            if words[0] == 0 {",
        to: "            if words[0] != 1 {",
        tests: OUTPUTS,
    },
    // A state that is reached again is not compared with the one that it was.
    Fault {
        name: "memory-not-compared",
        file: "crates/wengert-checkpoint/src/kept.rs",
        from: "Some(print) if *print != steps.fingerprint() =>",
        to: "Some(print) if *print != steps.fingerprint() && step == 0 =>",
        tests: DRIVEN,
    },
    // Of two states the later one is loaded for an earlier step.
    Fault {
        name: "memory-wrong-point",
        file: "crates/wengert-checkpoint/src/kept.rs",
        from: "self.points.range(..step).next_back()",
        to: "self.points.range(..step).next()",
        tests: DRIVEN,
    },
    // Arrays among what is carried are stored without their shapes' last axis.
    Fault {
        name: "memory-short-states",
        file: "crates/wengert-runtime/src/budget/values.rs",
        from: "            if let Some(place) = to.split_off_mut(..elements.len()) {\n                place.copy_from_slice(elements);",
        to: "            if let Some(place) = to.split_off_mut(..elements.len()) {\n                place[..elements.len() / 2].copy_from_slice(&elements[..elements.len() / 2]);",
        tests: SECOND,
    },
    // Memory in which states were stays theirs.
    Fault {
        name: "memory-states-stay",
        file: "crates/wengert-checkpoint/src/drive.rs",
        from: "            slots.shrink();\n",
        to: "",
        tests: COUNTED,
    },
    // Storage of records is kept for others, however much there is.
    Fault {
        name: "memory-records-stay",
        file: "crates/wengert-runtime/src/budget/steps.rs",
        from: "        room::keep(whole(taken), whole(bytes));\n",
        to: "        room::keep(whole(taken), whole(u64::MAX - bytes));\n",
        tests: COUNTED,
    },
];
