//! The intermediate representation: typed SSA with structured loops and branches.
//!
//! Reading order: [`types`] (types, operations), [`func`] (functions, blocks, instructions), [`external`] (functions without a body),
//! [`infer`] (result types of each operation), [`builder`] (how programs are made), [`print`] and
//! [`parse`] (the text form), [`verify`] (what a well-formed program is), [`uses`] (who uses what), [`parallel`] (loops
//! whose iterations can run in any order), [`pieces`] (parts of their ranges), [`driven`] (loops
//! that can be run in pieces), [`origin`] (who has made a module).

pub mod builder;
pub mod driven;
pub mod external;
mod fold;
pub mod func;
pub mod infer;
mod lex;
pub mod origin;
pub mod parallel;
pub mod parse;
pub mod pieces;
pub mod print;
mod ranges;
mod reached;
mod same;
mod spell;
pub mod types;
pub mod uses;
pub mod verify;

pub use builder::{Builder, Mark};
pub use external::External;
pub use func::{Block, Func, Inst, LoopPlan, Module, Numbering, Rule, Unstep, Value};
pub use types::{Elem, MAX_RANK, Op, Phase, Type};
