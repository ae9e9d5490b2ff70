//! What the text that `#[differentiable]` makes runs with: arrays, loops in limited memory and batches.
//!
//! Reading order: [`arrays`] (what programs are made of), [`memory`] (what a user allows), [`within`] (the driver that keeps to it), [`steps`] (a printed loop as steps),
//! [`plan`] (what loops will take), [`members`] (batches), [`columns`] (arrays of structs), `nd` (arrays of crate `ndarray`).

pub mod arrays;
pub mod columns;
pub(crate) mod members;
pub(crate) mod memory;
#[cfg(feature = "ndarray")]
pub mod nd;
mod plan;
mod steps;
pub(crate) mod within;
