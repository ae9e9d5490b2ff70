//! Faults in what `#[differentiable]` makes of arrays of structs and of crate `ndarray`.

use super::{Tests, WHOLE};
use crate::faults::Fault;

const STRUCTS: Tests = &[(WHOLE, "differentiable_particles")];
const NDARRAY: Tests = &[(WHOLE, "differentiable_ndarray")];

pub(super) const FAULTS: &[Fault] = &[
    // A struct that is copied out of an array changes with it.
    Fault {
        name: "rust-struct-not-copied",
        file: "crates/wengert-core/src/surface/rust/rows.rs",
        from: "ty, how: How::Place, from: leaf.from }",
        to: "ty, how: leaf.how, from: leaf.from }",
        tests: STRUCTS,
    },
    // A closure sees what an array it took along has become since.
    Fault {
        name: "rust-closure-structs",
        file: "crates/wengert-core/src/surface/rust/closure.rs",
        from: "Val::Rows(_, Len::Fixed(_), _)",
        to: "Val::Rows(_, Len::Vec, _)",
        tests: STRUCTS,
    },
    Fault {
        name: "rust-column-end",
        file: "crates/wengert/src/ahead/columns.rs",
        from: "items.iter_mut().zip(column)",
        to: "items.iter_mut().rev().zip(column)",
        tests: STRUCTS,
    },
    // A transposed view is taken in the order it lies in.
    Fault {
        name: "rust-ndarray-order",
        file: "crates/wengert/src/ahead/nd.rs",
        from: "match x.as_slice() {",
        to: "match x.as_slice_memory_order() {",
        tests: NDARRAY,
    },
    Fault {
        name: "rust-ndarray-axes",
        file: "crates/wengert-core/src/surface/rust/ndarray.rs",
        from: "(\"ncols\", []) if rank == 2 => number(axis(&base.e, 1, at)),",
        to: "(\"ncols\", []) if rank == 2 => number(axis(&base.e, 0, at)),",
        tests: NDARRAY,
    },
];
