//! Faults in elementary functions as Rust text, and in what prints them.

use super::{CORE, MATH, Tests};
use crate::faults::Fault;

const PRINTED: Tests = &[(CORE, "rust_text")];
const PROGRAMS: Tests = &[(CORE, "rust_programs")];
const WINDOWS: Tests = &[(CORE, "lib")];
const BITS: Tests = &[(MATH, "bits")];

pub(super) const FAULTS: &[Fault] = &[
    // A range runs one iteration too many.
    Fault {
        name: "rust-loop-end",
        file: "crates/wengert-core/src/emit/rust/homes.rs",
        from: "{counter} >= {end}",
        to: "{counter} > {end}",
        tests: PRINTED,
    },
    // A loop without checks goes one element too far along a row.
    Fault {
        name: "rust-window-end",
        file: "crates/wengert-core/src/ahead/windows.rs",
        from: "steps > dim - k",
        to: "steps > dim - k + 1",
        tests: WINDOWS,
    },
    // One that counts down begins with the wrong element.
    Fault {
        name: "rust-window-down",
        file: "crates/wengert-core/src/emit/rust/windows.rs",
        from: ".wrapping_sub({count} as i64 - 1)",
        to: ".wrapping_sub({count} as i64)",
        tests: PROGRAMS,
    },
    // An array that is written under two indices is taken for one that is only read.
    Fault {
        name: "rust-window-offset",
        file: "crates/wengert-core/src/emit/rust/windows.rs",
        from: "window.more = window.more.max(by);",
        to: "",
        tests: PROGRAMS,
    },
    // A row of a matrix is taken from another place.
    Fault {
        name: "rust-piece-place",
        file: "crates/wengert-core/src/ahead/array.rs",
        from: "at = at * dim + start as usize;",
        to: "at = at * dim.max(5) + start as usize;",
        tests: WINDOWS,
    },
    // Shapes of operands that differ are taken for equal.
    Fault {
        name: "rust-fits",
        file: "crates/wengert-core/src/emit/rust/arrays.rs",
        from: "(!all.is_empty()).then(|| all.join(\" && \"))",
        to: "(!all.is_empty()).then(|| all.join(\" || \"))",
        tests: PROGRAMS,
    },
    // The sign of a NaN is seen.
    Fault {
        name: "rust-nan-bits",
        file: "crates/wengert-math/src/generated.rs",
        from: "if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() as i64 }",
        to: "x.to_bits() as i64",
        tests: BITS,
    },
    // The product of a huge angle with 2/pi is cut one bit off.
    Fault {
        name: "rust-upper-half",
        file: "crates/wengert-math/src/generated.rs",
        from: "((a as u64 as u128 * b as u64 as u128) >> 64) as i64",
        to: "((a as u64 as u128 * b as u64 as u128) >> 63) as i64",
        tests: BITS,
    },
];
