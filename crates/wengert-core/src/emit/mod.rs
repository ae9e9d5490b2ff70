//! Programs as text in other languages.
//!
//! [`rust`] prints programs as Rust; the elementary functions of `wengert-math` are made by it, and derivatives that rustc
//! compiles ahead of time.

pub mod rust;
