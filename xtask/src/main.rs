//! Developer tasks that CI does not run.
fn main() {}
