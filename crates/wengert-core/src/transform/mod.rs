//! Programs from programs: derivatives and passes.
//!
//! Reading order: [`emit`] (the rule table, evaluated into IR), [`activity`] (what carries a
//! derivative), [`jvp`] (forward mode), [`vjp`] (reverse mode), [`unstep`] (loops run backwards), [`flat`] and [`derivative`] (derivatives of
//! derivatives), [`batch`] (many members at once), then the passes. Before differentiation:
//! [`inline`], [`simplify`], [`unroll`], [`scalars`], [`views`], [`hoist`], [`carries`], [`dce`], [`fma`]; after it:
//! [`stores`], [`registers`], [`rotate`], [`expand`], [`branches`], [`order`]. [`pipeline`] is the fixed order they run in, [`account`] what the
//! first ones save.
//! What happens to whole arrays after differentiation: [`shapes`] (what is known of them), [`elementwise`],
//! [`fuse`], [`copies`], [`reuse`], [`tiles`], [`deferred`]; for C compilers, [`flatten`].

pub mod account;
pub mod activity;
pub mod batch;
pub mod branches;
mod calls;
pub mod carries;
pub mod copies;
pub mod copy;
pub mod dce;
pub mod deferred;
pub mod derivative;
pub mod elementwise;
pub mod emit;
pub mod expand;
pub mod flat;
pub mod flatten;
pub mod fma;
pub mod fuse;
pub mod hoist;
pub mod inline;
pub mod jvp;
pub mod order;
pub mod parts;
pub mod pipeline;
pub mod raise;
pub mod registers;
pub mod reuse;
pub mod rotate;
pub mod scalars;
pub mod shapes;
pub mod simplify;
pub mod spread;
pub mod stores;
#[cfg(test)]
mod testing;
pub mod tiles;
pub mod unroll;
pub mod unstep;
pub mod views;
pub mod vjp;
mod when;
