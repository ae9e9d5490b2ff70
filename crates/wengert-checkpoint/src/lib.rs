//! Gradients of long loops in the memory you allow.
//!
//! What is to be done is [`Steps`], written by hand or compiled; [`Run`] does it within a number of bytes. Steps that can be taken back
//! are [`Unstep`], and [`Inverted`] takes them back.
//!
//! # Reading order
//!
//! `steps` (what a loop must be able to do), `drive` (what is done with it), `plan` (which schedule), `kept` with `slots` and `disk`
//! (where states lie), `short` (states with fewer digits), `journal` (where a run stands), `fingerprint` (how they are told apart), `watch` (what is shown), `invert` (loops that run
//! backwards).
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod disk;
mod drive;
mod fingerprint;
mod invert;
mod journal;
mod kept;
mod outcome;
mod plan;
mod short;
mod slots;
mod steps;
mod watch;

pub use disk::{Disk, DiskError, Folder};
pub use drive::{LOOKED_AT, Run};
pub use fingerprint::Fingerprint;
pub use invert::{Distance, Drift, InvertError, Inverted, Unstep, Unwound};
pub use outcome::{Done, Error, Shortened};
pub use plan::{Forecast, Measured};
pub use short::Precision;
pub use steps::Steps;
pub use watch::{Seen, Watch};
