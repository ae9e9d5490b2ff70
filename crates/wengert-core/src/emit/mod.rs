//! Programs as text in other languages.
//!
//! [`rust`] prints functions of numbers as Rust; the elementary functions of `wengert-math` are made by it.

pub mod rust;
