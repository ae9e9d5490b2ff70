//! The surface tree: what the user wrote, before types.
//!
//! Every way of writing a program (Python text, a Rust attribute macro) becomes one [`Module`] of
//! the tree in [`tree`]; lowering reads only that tree. A front end does the part that depends on
//! its language: it resolves imports and aliases to canonical library names, and it reports
//! what the language allows but differentiation here does not, with a span and a way out.
//!
//! Reading order: [`tree`] (the data), [`names`] (library names and imports), `construct` and
//! `unsupported` (what is refused), `python` and `rust` (text to tree, each the only place that knows its
//! parser, and each behind a feature of its name), [`mod@print`] (tree to text).
//!
//! ```
//! # #[cfg(feature = "python")] {
//! # use wengert_core::surface::{python, tree::StmtKind};
//! let module = python::parse("def square(x):\n    return x * x\n").unwrap();
//! assert_eq!(module.functions[0].name.text, "square");
//! assert!(matches!(module.functions[0].body[0].kind, StmtKind::Return { .. }));
//!
//! let errors = python::parse("def f(x):\n    return [y for y in x]\n").unwrap_err();
//! assert_eq!(errors[0].code, "unsupported-syntax");
//! # }
//! ```

#[cfg(any(feature = "python", feature = "rust"))]
mod construct;
pub mod names;
pub mod print;
#[cfg(feature = "python")]
pub mod python;
#[cfg(feature = "rust")]
pub mod rust;
pub mod tree;
#[cfg(feature = "python")]
mod unsupported;

#[cfg(all(test, feature = "python"))]
mod tests;

pub use names::Imports;
pub use tree::Module;
