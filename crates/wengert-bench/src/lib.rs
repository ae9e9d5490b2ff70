//! Loop workloads, their hand-written adjoints, and the measuring of one against the other.
//!
//! Reading order: [`workload`] (the loops, their references and how they are compiled), [`hand`]
//! (the same by hand, with [`hand_math`]; [`hand_scalar`] for one that
//! looks ahead in lanes), [`measure`] (timing), [`passes`] (what the fixed pipeline
//! saves), [`lowering`] (how long text takes to become IR).

pub mod hand;
pub mod hand_math;
pub mod hand_scalar;
pub mod lowering;
pub mod measure;
pub mod passes;
pub mod workload;
