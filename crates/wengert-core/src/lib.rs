//! The wengert compiler.
//!
//! Reading order: [`ops`] (the rule table), [`ir`] (programs), [`surface`] (what users write),
//! [`lower`] (surface to IR), [`transform`] (derivatives and passes), [`interp`] (the
//! specification of what programs mean), [`math`] (elementary functions, written in the IR),
//! [`check`] (derivatives against each other), [`generate`] (random programs to check it all on),
//! [`structure`] (sparse derivatives from few runs), [`emit`] (programs as text in other languages), [`ahead`] (what such
//! text uses when it runs), [`quantity`] (bytes and seconds in words).
#![forbid(unsafe_code)]

pub mod ahead;
pub mod arrays;
pub mod check;
pub mod emit;
pub mod fault;
pub mod generate;
pub mod interp;
pub mod ir;
pub mod lower;
pub mod math;
pub mod ops;
pub mod quantity;
pub mod span;
pub mod structure;
pub mod surface;
pub mod transform;
