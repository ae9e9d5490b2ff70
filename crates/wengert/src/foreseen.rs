//! What the loops of a gradient would take in limited memory, in numbers and in words.

use std::fmt::{self, Write};
use wengert_checkpoint::{Forecast, Measured, Precision};
use wengert_core::quantity::{duration, size};

/// What a loop takes on the way back, as far as that is known before it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreseen {
    /// The line where it begins, counted from 1.
    pub line: usize,
    /// How many iterations it has, where that is known.
    pub steps: Option<u64>,
    /// What iterations take; nothing of a loop that has none.
    pub measured: Option<Measured>,
}

impl Foreseen {
    /// What the loop takes in so many bytes: nothing where its end is not known, or where they do not hold a state and the record of
    /// one iteration.
    pub fn forecast(&self, memory: u64) -> Option<Forecast> {
        self.measured?.forecast(self.steps?, memory)
    }

    /// What keeping everything takes, in bytes.
    pub fn everything(&self) -> Option<u64> {
        let measured = self.measured?;
        let records = measured.record_bytes.saturating_mul(self.steps?);
        Some(records.saturating_add(measured.least_bytes()))
    }

    /// The sizes of memory that are looked at: all that can be of use, then of one that is given what is less of twice as much, itself and
    /// half of it; without one, a tenth, a hundredth and a thousandth of everything.
    pub fn sizes(&self, memory: Option<u64>) -> Vec<u64> {
        let everything = self.everything().unwrap_or(u64::MAX);
        let some = match memory {
            Some(memory) => vec![memory.saturating_mul(2), memory, memory / 2],
            None => vec![everything / 10, everything / 100, everything / 1000],
        };
        let less = some.into_iter().filter(|memory| *memory < everything);
        std::iter::once(everything).chain(less).collect()
    }

    /// All of this in words, where states are to be kept in some precision.
    pub fn words(&self, memory: Option<u64>, precision: Precision) -> String {
        let mut out = format!("the loop of line {}", self.line);
        let Some(measured) = self.measured else { return out + ": no iterations\n" };
        match self.steps {
            Some(1) => out += ": 1 iteration",
            Some(steps) => _ = write!(out, ": {steps} iterations"),
            None => out += ": nobody knows how many iterations",
        }
        let (mut state, record) = (size(measured.state_bytes), size(measured.record_bytes));
        if measured.is_short() {
            let _ = write!(state, " as {precision} ({} exactly)", size(measured.whole_bytes));
        } else if precision != Precision::Exact {
            let _ = write!(state, " ({precision} would spare nothing)");
        }
        let _ = writeln!(out, "; a state takes {state}, the record of an iteration {record}");
        let Some(steps) = self.steps else {
            out += "  what it takes is known when it has ended; states are stored on the way, and some given up for others\n";
            return out;
        };
        for (k, memory) in self.sizes(memory).into_iter().enumerate() {
            let room = match k {
                0 => format!("everything, {}", size(memory)),
                _ => format!("in {}", size(memory)),
            };
            let takes = match self.forecast(memory) {
                Some(forecast) => takes(&forecast, steps),
                None => {
                    "too little: it does not hold a state and the record of an iteration".into()
                }
            };
            let _ = writeln!(out, "  {room:<22} {takes}");
        }
        if measured.is_of_no_use(steps) {
            out += "  keeping states spares nothing here: one takes as much as all records\n";
        }
        out
    }
}

fn takes(forecast: &Forecast, steps: u64) -> String {
    let each = forecast.evaluations as f64 / steps.max(1) as f64;
    let (peak, seconds) = (size(forecast.peak_bytes), duration(forecast.time as f64 / 1e9));
    format!("{each:.2} evaluations of each, at most {peak}, about {seconds}")
}

/// What the loops of a function of `#[differentiable]` take on the way back, found out by running a few iterations of each. It prints
/// as `wengert plan` does.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The loops that are not inside others, in the order in which they run.
    pub loops: Vec<Foreseen>,
    /// The bytes for each of them, where that was said.
    pub memory: Option<u64>,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = Precision::Exact;
        let words = self.loops.iter().map(|of| of.words(self.memory, precision));
        match self.loops.is_empty() {
            true => f.write_str("no loop has to be reversed: there is nothing to be kept\n"),
            false => f.write_str(&words.collect::<Vec<_>>().join("\n")),
        }
    }
}
