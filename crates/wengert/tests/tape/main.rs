//! The eager tape.

mod agree;
mod programs;
mod record;
