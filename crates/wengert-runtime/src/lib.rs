//! Runs wengert programs: native code, tape memory, the loop driver.
//!
//! ```
//! use wengert_core::ir::parse;
//! use wengert_runtime::{Arg, Options, Out, Program};
//!
//! let module = parse::module(
//!     "func @decay(%w: f64, %h0: f64, %n: i64) -> f64 {
//!        %h = for %i in 0..%n carry (%h_in = %h0) {
//!          %t = mul %w, %h_in
//!          yield %t
//!        }
//!        return %h
//!      }",
//! )?;
//! let program = Program::compile(&module, &["decay"])?;
//! let args = [Arg::F64(0.5), Arg::F64(8.0), Arg::I64(3)];
//! let (out, _) = program.call("decay", &args, &Options::default())?;
//! assert_eq!(out, [Out::F64(1.0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading order: [`program`] (what callers see), [`jit`] (IR to native code), [`cc`] (the same through C), [`tiers`] (first one, then the other), `context` (what
//! running code and the runtime share), `hooks` (what running code calls), `kernel`
//! (operations on whole arrays; the kernels themselves are in crate `wengert-kernels`), [`driver`] (outlined loops), `workers` (parallel ones on threads), [`tape`], `tapes`, `arrays`, `small`, `held` and `kept`
//! (memory).
//!
//! `unsafe` code stands in the modules marked below, in `jit::link` and in `cc::load`.
#![deny(unsafe_code)]

mod addresses;
mod arrays;
#[allow(unsafe_code)] // enters compiled code, reads and writes arrays by their addresses
mod budget;
pub mod cc;
mod context;
#[allow(unsafe_code)] // reads and writes the floating-point control register
mod control;
pub mod driver;
mod held;
#[allow(unsafe_code)] // called by compiled code with raw pointers
mod hooks;
pub mod jit;
mod kept;
#[allow(unsafe_code)] // reads and writes arrays by their addresses
mod kernel;
mod memory;
#[allow(unsafe_code)] // enters compiled code
pub mod program;
#[allow(unsafe_code)] // writes arrays by their addresses
mod small;
#[allow(unsafe_code)] // writes arrays past the caches
mod streams;
#[allow(unsafe_code)] // hands pages back to the operating system
pub mod tape;
mod tapes;
pub mod tiers;
#[allow(unsafe_code)] // enters compiled code on several threads
mod workers;

pub use jit::{CompileError, disassemble};
pub use program::{Arg, Invert, LoopStats, OnDisk, Options, Out, Program, RunError, Stats};
pub use tiers::Tiered;
