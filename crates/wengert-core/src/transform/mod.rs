//! Programs from programs: derivatives and passes.
//!
//! Reading order: [`emit`] (the rule table, evaluated into IR), [`activity`] (what carries a
//! derivative), [`jvp`] (forward mode), [`vjp`] (reverse mode), [`flat`]
//! and [`derivative`] (derivatives of derivatives), then the passes: [`inline`], [`carries`], [`fma`],
//! [`dce`], [`stores`], [`registers`], [`expand`], [`hoist`], and [`pipeline`], the fixed order they run in.

pub mod activity;
mod calls;
pub mod carries;
pub mod copy;
pub mod dce;
pub mod derivative;
pub mod emit;
pub mod expand;
pub mod flat;
pub mod fma;
pub mod hoist;
pub mod inline;
pub mod jvp;
pub mod pipeline;
pub mod registers;
pub mod stores;
pub mod vjp;
