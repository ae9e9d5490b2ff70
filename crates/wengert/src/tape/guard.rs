//! Comparisons of variables that a tape keeps, so that a recording that no longer holds is found out.

use std::panic::Location;
use wengert_core::ops::Prim;

/// A comparison and how it came out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    /// A row of the table that compares two floats.
    pub(super) row: Prim,
    pub(super) a: u32,
    pub(super) b: u32,
    /// How many entries there were.
    pub(super) before: u32,
    pub(super) holds: bool,
    pub(super) at: &'static Location<'static>,
}

/// How a comparison comes out.
pub(super) fn holds(row: Prim, a: f64, b: f64) -> bool {
    match row {
        Prim::Lt => a < b,
        Prim::Le => a <= b,
        Prim::Gt => a > b,
        Prim::Ge => a >= b,
        Prim::Ne => a != b,
        _ => a == b,
    }
}
