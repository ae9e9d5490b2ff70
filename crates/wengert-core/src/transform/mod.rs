//! Programs from programs: derivatives and passes.
//!
//! Reading order: [`emit`] (the rule table, evaluated into IR), [`activity`] (what carries a
//! derivative), [`jvp`] (forward mode), [`vjp`] (reverse mode), then the passes: [`inline`], [`carries`], [`fma`],
//! [`dce`], [`stores`], [`registers`], [`expand`], [`hoist`], and [`pipeline`], the fixed order they run in.
//! What happens to whole arrays after differentiation: [`shapes`] (what is known of them), [`elementwise`],
//! [`fuse`], [`copies`], [`reuse`], [`deferred`].

pub mod activity;
pub mod carries;
pub mod copies;
pub mod copy;
pub mod dce;
pub mod deferred;
pub mod elementwise;
pub mod emit;
pub mod expand;
pub mod fma;
pub mod fuse;
pub mod hoist;
pub mod inline;
pub mod jvp;
pub mod pipeline;
pub mod registers;
pub mod reuse;
pub mod shapes;
pub mod stores;
#[cfg(test)]
mod testing;
pub mod vjp;
