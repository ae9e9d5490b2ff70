//! The eager tape. What must not compile is `refused`; memory is counted in `tape_peak`, a process of its own.

mod agree;
mod compress;
mod confusion;
mod generic;
mod higher;
mod inspect;
mod misuse;
mod misuse_parts;
mod program;
mod programs;
mod record;
mod regions;
mod told;
