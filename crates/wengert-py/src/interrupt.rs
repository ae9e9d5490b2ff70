//! Ctrl-C while a program runs.
//!
//! Python notes a signal and acts on it when its interpreter is back at work, which a long run keeps it from. So in its main
//! thread, for the time of a run, a handler of our own notes it too, for the program to see, and hands it on to Python's.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What programs look at.
static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// What a run looks at to see whether it is to end; until it is dropped, Ctrl-C sets it.
pub(crate) struct Listening {
    #[cfg(unix)]
    before: Option<libc::sigaction>,
}

impl Listening {
    /// Whether Ctrl-C is listened to.
    pub(crate) fn is_on(&self) -> bool {
        #[cfg(unix)]
        return self.before.is_some();
        #[cfg(not(unix))]
        return false;
    }
}

/// The flag that ends runs in the main thread.
pub(crate) fn flag() -> Arc<AtomicBool> {
    ASKED.get_or_init(Arc::default).clone()
}

#[cfg(unix)]
mod handler {
    use super::{ASKED, Ordering};
    use std::sync::atomic::AtomicUsize;

    /// Python's handler.
    pub(super) static PYTHONS: AtomicUsize = AtomicUsize::new(0);

    pub(super) extern "C" fn note(signal: libc::c_int) {
        if let Some(asked) = ASKED.get() {
            asked.store(true, Ordering::Relaxed);
        }
        let before = PYTHONS.load(Ordering::Relaxed);
        if before != 0 {
            // SAFETY: it is a handler that was installed without `SA_SIGINFO`, which takes the signal alone.
            let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(before) };
            handler(signal);
        }
    }
}

#[cfg(unix)]
impl Listening {
    /// Listens, in the main thread of the process and where Python does.
    pub(crate) fn start() -> Listening {
        if !is_main_thread() {
            return Listening { before: None };
        }
        flag().store(false, Ordering::Relaxed);
        // SAFETY: a structure of numbers, for which zeros are good.
        let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: it writes to `before` alone.
        let found = unsafe { libc::sigaction(libc::SIGINT, std::ptr::null(), &mut before) };
        let is_ignored = [libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction);
        let is_ours = before.sa_sigaction == handler::note as *const () as usize;
        let takes_more = before.sa_flags & libc::SA_SIGINFO != 0;
        if found != 0 || is_ignored || is_ours || takes_more {
            return Listening { before: None };
        }
        handler::PYTHONS.store(before.sa_sigaction, Ordering::Relaxed);
        let ours = libc::sigaction { sa_sigaction: handler::note as *const () as usize, ..before };
        // SAFETY: `note` does what a handler may: it stores to atomics, and calls the handler that was there.
        let set = unsafe { libc::sigaction(libc::SIGINT, &ours, std::ptr::null_mut()) };
        Listening { before: (set == 0).then_some(before) }
    }
}

#[cfg(unix)]
impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: it installs what was there before.
            unsafe { libc::sigaction(libc::SIGINT, before, std::ptr::null_mut()) };
        }
    }
}

#[cfg(target_os = "linux")]
fn is_main_thread() -> bool {
    thread_local! {
        /// The process that this thread is the main one of, once asked.
        static MAIN_OF: std::cell::Cell<i32> = const { std::cell::Cell::new(-1) };
    }
    // SAFETY: these read numbers.
    let process = unsafe { libc::getpid() };
    MAIN_OF.with(|main| {
        if main.get() != process {
            // SAFETY: as above.
            let thread = unsafe { libc::gettid() };
            main.set(if thread == process { process } else { -1 });
        }
        main.get() == process
    })
}

#[cfg(all(unix, target_os = "macos"))]
fn is_main_thread() -> bool {
    // SAFETY: it reads a number.
    unsafe { libc::pthread_main_np() == 1 }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
fn is_main_thread() -> bool {
    false
}

#[cfg(not(unix))]
impl Listening {
    pub(crate) fn start() -> Listening {
        Listening {}
    }
}
