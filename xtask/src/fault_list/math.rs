//! Faults in elementary functions as Rust text, and in what prints them.

use super::{CORE, MATH, Tests};
use crate::faults::Fault;

const PRINTED: Tests = &[(CORE, "rust_text")];
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
