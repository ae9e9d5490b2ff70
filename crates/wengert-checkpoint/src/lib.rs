//! Gradients of long loops in the memory you allow.
#![forbid(unsafe_code)]

mod disk;
mod drive;
mod fingerprint;
mod plan;
mod slots;
mod steps;

pub use disk::{Disk, DiskError};
pub use drive::{Done, Error, Run};
pub use fingerprint::Fingerprint;
pub use plan::Measured;
pub use steps::Steps;
