//! What a terminal shows while something takes long, and what Ctrl-C does.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long nothing is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a run may take to end by itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(1);

const SPINNER: [char; 4] = ['|', '/', '-', '\\'];

/// Erases the line on a terminal.
const ERASE: &str = "\r\x1b[2K";

/// Sets the flag it gives back when the user presses Ctrl-C. What has not ended by itself shortly after,
/// such as compiling or the interpreter, is ended.
pub(crate) fn interrupt() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = flag.clone();
    // Without a handler, Ctrl-C ends the process as it does any other.
    let _ = ctrlc::set_handler(move || {
        set.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        if std::io::stderr().is_terminal() {
            eprint!("{ERASE}");
        }
        eprintln!("error[interrupted]: interrupted");
        std::process::exit(130);
    });
    flag
}

/// A line on the terminal with the time elapsed, from the first second until this is dropped.
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(crate) fn start(what: &'static str) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress { running: None };
        }
        let (end, ended) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            let mut wait = PATIENCE;
            let mut turn = 0;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = Duration::from_millis(200);
                let spinner = SPINNER[turn % SPINNER.len()];
                turn += 1;
                let seconds = start.elapsed().as_secs();
                eprint!("{ERASE}{spinner} {what}, {seconds} s (Ctrl-C stops it)");
                let _ = std::io::stderr().flush();
            }
            if turn > 0 {
                eprint!("{ERASE}");
            }
        });
        Progress { running: Some((end, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.running.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}
