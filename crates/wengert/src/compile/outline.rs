//! The surface tree as text: Python, library names spelled in one way.

pub(crate) use wengert_core::surface::print::function;
