//! Faults in `wengert-checkpoint`, and where compiled loops meet it.

use super::{CHECKPOINT, Tests, WHOLE};
use crate::faults::Fault;

const CODED: Tests = &[(CHECKPOINT, "lib")];
const ROUNDED: Tests = &[(CHECKPOINT, "rounded")];
const TOLD: Tests = &[(CHECKPOINT, "lib"), (CHECKPOINT, "rounded")];
const DIGITS: Tests = &[(WHOLE, "digits")];

pub(super) const FAULTS: &[Fault] = &[
    // Halves go up, not to the even one.
    Fault {
        name: "short-halves",
        file: "crates/wengert-checkpoint/src/short.rs",
        from: "bits.wrapping_add(0x7fff + ((bits >> 16) & 1))",
        to: "bits.wrapping_add(0x8000)",
        tests: CODED,
    },
    // What is cut off first is forgotten when it is rounded again.
    Fault {
        name: "short-twice",
        file: "crates/wengert-checkpoint/src/short.rs",
        from: "        bits |= 1;\n",
        to: "        bits |= 0;\n",
        tests: CODED,
    },
    // Numbers that are too large become infinite.
    Fault {
        name: "short-infinite",
        file: "crates/wengert-checkpoint/src/short.rs",
        from: "if short.is_infinite() && x.is_finite() {",
        to: "if short.is_infinite() && x.is_nan() {",
        tests: CODED,
    },
    // The first sweep goes on from states that have lost digits.
    Fault {
        name: "short-results",
        file: "crates/wengert-checkpoint/src/drive.rs",
        from: "if self.rounded.is_some() && !self.is_back {",
        to: "if self.rounded.is_none() && !self.is_back && step > u64::MAX - 1 {",
        tests: ROUNDED,
    },
    // States that have lost digits must be what they were.
    Fault {
        name: "short-compared",
        file: "crates/wengert-checkpoint/src/drive.rs",
        from: "if self.is_same() { self.kept.compare(steps, step, self.memory) } else { Ok(()) }",
        to: "self.kept.compare(steps, step, self.memory)",
        tests: ROUNDED,
    },
    // No state is compared with what it was.
    Fault {
        name: "short-uncompared",
        file: "crates/wengert-checkpoint/src/drive.rs",
        from: "if self.is_same() { self.kept.compare",
        to: "if self.rounded.is_none() { self.kept.compare",
        tests: ROUNDED,
    },
    // Counters may differ where ranges join.
    Fault {
        name: "short-joints",
        file: "crates/wengert-checkpoint/src/drive/rounded.rs",
        from: "is_some_and(|((_, then), now)| then != now)",
        to: "is_some_and(|((_, then), now)| then != now && then == 0)",
        tests: ROUNDED,
    },
    // States that turn out larger are stored where there is no room.
    Fault {
        name: "short-room",
        file: "crates/wengert-checkpoint/src/drive/rounded.rs",
        from: "if packed.bytes > measured.state_bytes && !self.has_room",
        to: "if packed.bytes > u64::MAX - 1 && !self.has_room",
        tests: ROUNDED,
    },
    // The second reversal begins where the first one ended.
    Fault {
        name: "short-adjoint",
        file: "crates/wengert-checkpoint/src/drive/rounded.rs",
        from: "        steps.load_adjoint(&begin).map_err(Error::Step)?;\n",
        to: "",
        tests: ROUNDED,
    },
    // The way back goes on with an adjoint that was only to be compared.
    Fault {
        name: "short-left",
        file: "crates/wengert-checkpoint/src/drive/rounded.rs",
        from: "        steps.load_adjoint(&came_to).map_err(Error::Step)?;\n",
        to: "",
        tests: ROUNDED,
    },
    // What an adjoint with a difference adds later is taken to be exact.
    Fault {
        name: "short-sums",
        file: "crates/wengert-checkpoint/src/drive/effect.rs",
        from: "(part.relative() * now).max(most * added)",
        to: "(part.relative() * now).max(0.0 * most * added)",
        tests: TOLD,
    },
    // Nobody can go on with a first sweep but from the start.
    Fault {
        name: "short-head",
        file: "crates/wengert-checkpoint/src/drive/standing.rs",
        from: "        self.store_head(steps)?;\n",
        to: "",
        tests: ROUNDED,
    },
    // A run goes on with states that were kept otherwise.
    Fault {
        name: "short-resumed",
        file: "crates/wengert-checkpoint/src/drive/standing.rs",
        from: "if precision != self.kept.precision.number() {",
        to: "if precision > 2 {",
        tests: ROUNDED,
    },
    // A compiled loop that leaves by another exit is not noticed.
    Fault {
        name: "short-exits",
        file: "crates/wengert-runtime/src/budget/steps.rs",
        from: "Some(then) if then != (done, exit) && self.place.steps() <= Some(now) => Ok(now + 1),",
        to: "Some(then) if then != (done, exit) && self.place.steps() <= Some(now) => Ok(now),",
        tests: DIGITS,
    },
    // Integers of a state are rounded as well.
    Fault {
        name: "short-integers",
        file: "crates/wengert-runtime/src/budget/values.rs",
        from: "        if elem == Elem::F64 {\n            floats.push",
        to: "        if elem == Elem::F64 || elem == Elem::I64 {\n            floats.push",
        tests: DIGITS,
    },
];
