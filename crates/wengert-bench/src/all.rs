//! Everything in one report: all workloads against their adjoints by hand and against their bars, how time grows with
//! the number of iterations, how long compiling takes, and how long starting with what was compiled before.
//!
//! Lines are printed as they are measured, and the file is written again after each, so that an interrupted run
//! leaves what it had.

use crate::bandwidth;
use crate::compile_time;
use crate::measure::{Row, measure};
use crate::start;
use crate::workload::{ALL, Bars, Workload};

/// What to measure.
#[derive(Clone)]
pub struct Plan {
    /// Seconds for each line.
    pub budget: f64,
    /// Ten million iterations too.
    pub long: bool,
    /// Where to write everything, for programs to read.
    pub json: Option<String>,
    /// Workloads of the first table; all where there are none.
    pub chosen: Vec<&'static Workload>,
}

/// A workload with its bar and its traffic.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What was measured.
    pub row: Row,
    /// Bytes moved by a gradient.
    pub moved_bytes: f64,
    /// At most so many times the time by hand.
    pub bars: Bars,
}

impl Entry {
    /// A ratio, its bar and whether that is met, as columns.
    fn against(ratio: Option<f64>, bar: Option<f64>) -> String {
        let verdict = match (ratio, bar) {
            (Some(ratio), Some(bar)) if ratio <= bar => "met",
            (Some(_), Some(_)) => "missed",
            _ => "",
        };
        let shown = |x: Option<f64>| x.map_or("-".into(), |x| format!("{x:.2}"));
        format!("{:>7} {:>5} {:>7}", shown(ratio), shown(bar), verdict)
    }

    /// The part of the memory's bandwidth that the gradient uses.
    fn part(&self, bandwidth: f64) -> f64 {
        self.moved_bytes / self.row.gradient_s / bandwidth
    }

    fn line(&self, bandwidth: f64) -> String {
        let row = &self.row;
        let seconds = |s: Option<f64>| s.map_or("-".into(), |s| format!("{s:.3e}"));
        format!(
            "{:<4} {:>8} {:>10.3e} {:>10.3e} {} {:>10} {} {:>10} {:>9.1} {:>8.1} {:>9.1} {:>9.0}% {:>8}",
            row.workload,
            row.n,
            row.hand_s,
            row.gradient_s,
            Entry::against(Some(row.ratio()), self.bars.jit),
            seconds(row.through_c_s),
            Entry::against(row.ratio_through_c(), Some(self.bars.cc)),
            seconds(row.lanes_s),
            row.tape_bytes_per_iteration,
            row.array_peak_bytes as f64 / 1e6,
            self.moved_bytes / 1e6,
            100.0 * self.part(bandwidth),
            row.shown_error(),
        )
    }

    fn json(&self, bandwidth: f64) -> String {
        let mut object = self.row.json();
        object.pop();
        let bar = self.bars.jit.map_or("null".into(), |bar| bar.to_string());
        object
            + &format!(
                ", \"bar\": {bar}, \"bar_through_c\": {}, \"moved_bytes\": {:e}, \"part_of_bandwidth\": {:.4}}}",
                self.bars.cc,
                self.moved_bytes,
                self.part(bandwidth)
            )
    }
}

fn heading() -> String {
    format!(
        "{:<4} {:>8} {:>10} {:>10} {:>7} {:>5} {:>7} {:>10} {:>7} {:>5} {:>7} {:>10} {:>9} {:>8} {:>9} {:>10} {:>8}",
        "",
        "n",
        "by hand s",
        "Cranelift",
        "ratio",
        "bar",
        "",
        "C",
        "ratio",
        "bar",
        "",
        "in lanes s",
        "tape B/it",
        "MB held",
        "MB moved",
        "bandwidth",
        "error"
    )
}

/// What has been measured so far.
#[derive(Default)]
struct Report {
    bandwidth: f64,
    workloads: Vec<String>,
    growth: Vec<String>,
    compile: Vec<String>,
    start: Vec<String>,
}

impl Report {
    fn json(&self) -> String {
        let list = |items: &[String]| items.join(",\n    ");
        format!(
            "{{\n  \"bandwidth_bytes_per_s\": {:e},\n  \"workloads\": [\n    {}\n  ],\n  \"growth\": [\n    {}\n  ],\n  \"compile\": [\n    {}\n  ],\n  \"start\": [\n    {}\n  ]\n}}\n",
            self.bandwidth,
            list(&self.workloads),
            list(&self.growth),
            list(&self.compile),
            list(&self.start)
        )
    }

    fn save(&self, plan: &Plan) -> Result<(), String> {
        match &plan.json {
            Some(path) => std::fs::write(path, self.json()).map_err(|e| format!("{path}: {e}")),
            None => Ok(()),
        }
    }
}

fn entry(workload: &Workload, budget: f64) -> Result<Entry, String> {
    let n = workload.size();
    let row = measure(workload, n, budget).map_err(|e| e.to_string())?;
    let (derived, _) = workload.compile().map_err(|e| e.to_string())?;
    let moved_bytes = bandwidth::moved(workload, &derived, n)?;
    Ok(Entry { row, moved_bytes, bars: workload.bars })
}

/// Measures and prints everything. Whether all of it ran and agrees with the references.
pub fn run(plan: &Plan) -> Result<bool, String> {
    let mut report = Report::default();
    let mut good = true;
    eprintln!("bandwidth ...");
    report.bandwidth = bandwidth::triad();
    println!("memory moves {:.2} GB/s (triad)\n\n{}", report.bandwidth / 1e9, heading());
    let chosen: Vec<&'static Workload> =
        if plan.chosen.is_empty() { ALL.iter().collect() } else { plan.chosen.clone() };
    for workload in chosen.iter().copied() {
        eprintln!("{}: {} ...", workload.name, workload.about);
        match entry(workload, plan.budget) {
            Ok(entry) => {
                good &= entry.row.error.is_none_or(|(_, good)| good);
                println!("{}", entry.line(report.bandwidth));
                entry.row.on_two_threads().iter().for_each(|line| println!("     {line}"));
                report.workloads.push(entry.json(report.bandwidth));
            }
            Err(e) => {
                eprintln!("{}: {e}", workload.name);
                good = false;
            }
        }
        report.save(plan)?;
    }

    println!("\n{:<4} {:>8} {:>16} {:>14}", "", "n", "gradient ns/it", "by hand ns/it");
    for workload in ALL.iter().filter(|w| ["a", "c", "h"].contains(&w.name)) {
        let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
        for n in &sizes[..if plan.long { 5 } else { 4 }] {
            eprintln!("{} at {n} ...", workload.name);
            let row = measure(workload, *n, plan.budget).map_err(|e| e.to_string())?;
            let per = 1e9 / *n as f64;
            println!(
                "{:<4} {:>8} {:>16.2} {:>14.2}",
                row.workload,
                n,
                row.gradient_s * per,
                row.hand_s * per
            );
            report.growth.push(row.json());
            report.save(plan)?;
        }
    }

    println!("\n{:<32} {:>11} {:>11}", "", "compile s", "run s");
    let mut compiled = |result: Result<Vec<compile_time::Row>, String>| {
        let rows = result.unwrap_or_else(|e| {
            eprintln!("{e}");
            good = false;
            Vec::new()
        });
        for row in rows {
            println!("{:<32} {:>11.3e} {:>11.3e}", row.what, row.compile_s, row.run_s);
            report.compile.push(row.json());
        }
        report.save(plan)
    };
    for length in compile_time::LENGTHS {
        eprintln!("k with {length} statements ...");
        let what = format!("k with {length} statements");
        compiled(told(&what, || compile_time::body(length, plan.budget).map(|row| vec![row])))?;
    }
    eprintln!("l: derivatives of second order ...");
    compiled(told("l", || compile_time::second_order(plan.budget)))?;

    println!("\n{}", start::heading());
    for workload in chosen {
        eprintln!("{}: compiled before ...", workload.name);
        match start::measure(workload) {
            Ok(None) => println!("there is no C compiler"),
            Ok(Some(row)) => {
                println!("{}", row.line());
                report.start.push(row.json());
            }
            Err(e) => {
                eprintln!("{}: {e}", workload.name);
                good = false;
            }
        }
        report.save(plan)?;
    }
    Ok(good)
}

/// What went wrong, if something did: an error, or a panic of the compiler, which is one line of the report
/// like any other.
fn told<T>(what: &str, work: impl FnOnce() -> Result<T, wengert::Error>) -> Result<T, String> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|e| format!("{what}: {e}")),
        Err(_) => Err(format!("{what}: the compiler panicked")),
    }
}
