//! Work on a thread of its own.

use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Programs are blocks in blocks, and passes follow them down.
const STACK: usize = 64 << 20;

/// What comes of it.
pub(crate) enum Apart<'scope, T> {
    Running(ScopedJoinHandle<'scope, T>),
    Done(T),
}

/// Does something on another thread where there can be one, otherwise here.
pub(crate) fn apart<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Clone + Send + 'scope,
) -> Apart<'scope, T> {
    let here = work.clone();
    match Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
        Ok(running) => Apart::Running(running),
        Err(_) => Apart::Done(here()),
    }
}

impl<T> Apart<'_, T> {
    /// Waits for it.
    pub(crate) fn get(self) -> T {
        match self {
            Apart::Running(running) => {
                running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
            Apart::Done(done) => done,
        }
    }
}
