//! Programs from programs: derivatives and passes.
//!
//! Reading order: [`emit`] (the rule table, evaluated into IR), [`activity`] (what carries a
//! derivative), [`jvp`] (forward mode), [`vjp`] (reverse mode), [`flat`] and [`derivative`] (derivatives of
//! derivatives), then the passes. Before differentiation:
//! [`inline`], [`simplify`], [`unroll`], [`scalars`], [`hoist`], [`carries`], [`dce`], [`fma`]; after it:
//! [`stores`], [`registers`], [`expand`]. [`pipeline`] is the fixed order they run in, [`account`] what the
//! first ones save.

pub mod account;
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
pub mod scalars;
pub mod simplify;
pub mod stores;
pub mod unroll;
pub mod vjp;
