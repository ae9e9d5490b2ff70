//! Loop workloads, their hand-written adjoints, and the measuring of one against the other.
//!
//! Reading order: [`workload`] (what a workload is and how it is compiled), [`catalogue`] (all of them, with
//! their references; inputs are in [`data`]), [`hand`] (the same by hand, with [`hand_math`]; [`hand_scalar`]
//! for one that looks ahead in lanes; ready to run in [`by_hand`]), [`measure`] (timing, with [`clock`]),
//! [`all`] (everything in one report, with [`bandwidth`], [`compile_time`] and [`start`]),
//! [`passes`] (what the fixed pipeline saves), [`lowering`] (how long text takes to become IR),
//! [`batches`] (many runs of a small function), [`generic`] (the workloads as generic Rust), [`tape`] (the same, recorded) and [`ahead`] (the same as
//! plain Rust functions, differentiated as they are compiled).

pub mod ahead;
pub mod all;
pub mod bandwidth;
pub mod batches;
pub mod by_hand;
pub mod catalogue;
pub mod clock;
pub mod compile_time;
pub mod data;
pub mod generic;
pub mod hand;
pub mod hand_math;
pub mod hand_scalar;
pub mod lowering;
pub mod measure;
pub mod memory;
pub mod passes;
pub mod start;
pub mod tape;
pub mod workload;
