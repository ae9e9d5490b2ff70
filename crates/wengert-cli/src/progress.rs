//! What a terminal shows while something takes long, and what Ctrl-C does.

use crate::human;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wengert::checkpoint::{Seen, Watch};

/// How long nothing is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a run may take to end by itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(1);

/// The length of a bar.
const BAR: usize = 20;

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
    /// Of loops in limited memory it shows where they stand.
    pub(crate) fn start(what: &'static str, watch: Option<Arc<Watch>>) -> Progress {
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
                let seen = watch.as_ref().map(|watch| watch.look()).unwrap_or_default();
                let line = shown(what, &seen, start.elapsed());
                eprint!("{ERASE}{spinner} {line} (Ctrl-C stops it)");
                let _ = std::io::stderr().flush();
            }
            if turn > 0 {
                eprint!("{ERASE}");
            }
        });
        Progress { running: Some((end, thread)) }
    }
}

/// What is known of the work.
fn shown(what: &str, seen: &Seen, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if seen.evaluations == 0 {
        return format!("{what}, {seconds} s");
    }
    let mut out = String::new();
    if let Some(part) = seen.part() {
        let full = (part * BAR as f64) as usize;
        let left = elapsed.as_secs_f64() * (1.0 - part) / part.max(1e-9);
        let (done, rest) = ("#".repeat(full), "-".repeat(BAR - full));
        out =
            format!("[{done}{rest}] {:.0}%, about {} left, ", 100.0 * part, human::duration(left));
    }
    let of = seen.steps.map_or(String::new(), |steps| format!(" of {steps}"));
    let sweep = if seen.is_back { "on the way back at" } else { "at" };
    let Seen { position, evaluations, .. } = seen;
    format!("{out}{sweep} iteration {position}{of}, {evaluations} evaluations, {seconds} s")
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.running.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let at = |seen: &Seen| shown("differentiating", seen, Duration::from_secs(10));
        let mut seen = Seen::default();
        assert_eq!(at(&seen), "differentiating, 10 s");
        seen = Seen { position: 500, evaluations: 520, ..seen };
        assert_eq!(at(&seen), "at iteration 500, 520 evaluations, 10 s");
        seen = Seen { steps: Some(1000), expected: 2000, is_back: true, ..seen };
        seen.evaluations = 1000;
        assert_eq!(
            at(&seen),
            "[##########----------] 50%, about 10.00 s left, on the way back at iteration 500 of 1000, 1000 evaluations, 10 s"
        );
        // More than was expected.
        seen.evaluations = 5000;
        assert!(at(&seen).starts_with("[####################] 100%"));
    }
}
