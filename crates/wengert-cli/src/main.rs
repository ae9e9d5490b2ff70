//! The `wengert` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(wengert_cli::run(std::env::args_os()))
}
