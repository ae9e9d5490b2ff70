//! Recordings for people: tables, graphs, and what is doubtful about them.

use super::error::Error;
use super::nodes::{BYTES, Node, Op};
use super::recorder::{CONSTANT, Recording};
use super::var::Var;
use super::{Misuse, MisuseKind, Tape, sweep};
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::ops::{Bound, RangeBounds};
use std::panic::Location;
use std::time::{Duration, Instant};

type Place = &'static Location<'static>;

/// An entry of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number.
    pub index: usize,
    /// What it does: `input`, `constant`, the name of a row of the rule table, `sum` for known partials, `call`.
    pub operation: &'static str,
    /// The entries it reads.
    pub inputs: Vec<usize>,
    /// Its value.
    pub value: f64,
    /// Partials that are kept, one per input: of preaccumulated and fused entries.
    pub partials: Vec<f64>,
    /// Where it was recorded, on a [tape with lines](Tape::with_lines).
    pub line: Option<&'static Location<'static>>,
}

/// Entries as a table: see [`Tape::table`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// One row per entry.
    pub rows: Vec<Row>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs = |row: &Row| {
            let all = row.inputs.iter().enumerate().map(|(k, at)| match row.partials.get(k) {
                Some(slope) => format!("{slope:.6e} %{at}"),
                None => format!("%{at}"),
            });
            all.collect::<Vec<String>>().join(", ")
        };
        let mut cells = vec![["entry", "operation", "inputs", "value", "line"].map(String::from)];
        for row in &self.rows {
            let line = row.line.map_or(String::new(), Location::to_string);
            let value = format!("{:?}", row.value);
            cells.push([format!("%{}", row.index), row.operation.into(), inputs(row), value, line]);
        }
        let width = |k: usize| cells.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2, 3].map(width);
        for (number, row) in cells.iter().enumerate() {
            let mut text = String::new();
            for (cell, width) in row.iter().zip(widths) {
                write!(text, "{cell:<width$}  ")?;
            }
            text.push_str(&row[4]);
            if number > 0 {
                writeln!(f)?;
            }
            f.write_str(text.trim_end())?;
        }
        Ok(())
    }
}

/// What is doubtful about a recording: see [`Tape::audit`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// The first entry that is not a number though what it reads is, or that is infinite though what it reads is not.
    pub first_not_finite: Option<Row>,
    /// Inputs that no output depends on, by their entries.
    pub unused_inputs: Vec<usize>,
    /// Inputs that outputs depend on, but by which all derivatives are 0.
    pub zero_gradients: Vec<usize>,
    /// Inputs by which a derivative is infinite or not a number.
    pub gradients_not_finite: Vec<usize>,
    /// How many values were converted to `f64`: no derivative passes there.
    pub conversions: u64,
}

impl Audit {
    /// Whether there is nothing doubtful.
    pub fn is_clean(&self) -> bool {
        *self == Audit::default()
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut found = Vec::new();
        if let Some(row) = &self.first_not_finite {
            let inputs: Vec<String> = row.inputs.iter().map(|at| format!("%{at}")).collect();
            let line = row.line.map_or(String::new(), |line| format!(", at {line}"));
            let Row { index, operation, value, .. } = row;
            found.push(format!("%{index} = {operation} {} is {value}{line}", inputs.join(", ")));
        }
        let mut list = |inputs: &[usize], is: &str, are: &str| {
            let names: Vec<String> = inputs.iter().take(8).map(|at| format!("%{at}")).collect();
            let more = if inputs.len() > 8 {
                format!(" and {} more", inputs.len() - 8)
            } else {
                String::new()
            };
            match inputs.len() {
                0 => {}
                1 => found.push(format!("input {} {is}", names[0])),
                _ => found.push(format!("inputs {}{more} {are}", names.join(", "))),
            }
        };
        list(&self.unused_inputs, "is not used", "are not used");
        let zero = "the gradient 0, though outputs depend on";
        list(&self.zero_gradients, &format!("has {zero} it"), &format!("have {zero} them"));
        let wild = "a gradient that is infinite or not a number";
        list(&self.gradients_not_finite, &format!("has {wild}"), &format!("have {wild}"));
        match self.conversions {
            0 => {}
            1 => found.push("a value was converted to `f64`: no derivative passes there".into()),
            n => found
                .push(format!("{n} values were converted to `f64`: no derivative passes there")),
        }
        match &found[..] {
            [] => f.write_str("nothing doubtful"),
            found => f.write_str(&found.join("\n")),
        }
    }
}

/// What one line of the source has recorded: see [`Tape::lines`].
#[derive(Clone, Debug, PartialEq)]
pub struct LineCost {
    /// The line.
    pub line: &'static Location<'static>,
    /// Entries that it has recorded.
    pub entries: usize,
    /// Bytes that they take.
    pub bytes: usize,
    /// What the reverse sweep spends on them.
    pub time: Duration,
}

/// Lines with what they cost, the dearest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// One for each line that has recorded something.
    pub lines: Vec<LineCost>,
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>10} {:>12} {:>12}  line", "entries", "bytes", "reverse")?;
        for one in &self.lines {
            let micros = format!("{:.1} us", one.time.as_secs_f64() * 1e6);
            write!(f, "\n{:>10} {:>12} {micros:>12}  {}", one.entries, one.bytes, one.line)?;
        }
        Ok(())
    }
}

/// The most entries that are drawn.
const DRAWN: usize = 500;

impl Tape {
    /// Entries as a table: index, operation, inputs, value, and the source line on a [tape with lines](Tape::with_lines).
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(2.0);
    /// let y = (x * x).sqrt();
    /// let table = tape.table(..).to_string();
    /// assert_eq!(table.lines().nth(2), Some("%1     mul        %0, %0  4.0"), "{table}");
    /// # assert_eq!(y.value(), 2.0);
    /// ```
    pub fn table(&self, range: impl RangeBounds<usize>) -> Table {
        let rows = self.swept(|recording| {
            let first = match range.start_bound() {
                Bound::Included(first) => *first,
                Bound::Excluded(before) => before.saturating_add(1),
                Bound::Unbounded => 0,
            };
            let end = match range.end_bound() {
                Bound::Included(last) => last.saturating_add(1),
                Bound::Excluded(end) => *end,
                Bound::Unbounded => usize::MAX,
            };
            (first..end.min(recording.nodes.len())).filter_map(|at| recording.row(at)).collect()
        });
        Table { rows: rows.unwrap_or_default() }
    }

    /// The recording as a graph in the language of Graphviz, for tapes of up to 500 entries. Constants stand
    /// where they are used.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(2.0);
    /// let y = 3.0 * x.sin();
    /// let graph = tape.graphviz()?;
    /// assert!(graph.starts_with("digraph tape {") && graph.contains("sin"));
    /// # assert!(y.value() > 0.0);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    pub fn graphviz(&self) -> Result<String, Error> {
        self.swept(|recording| {
            let len = recording.nodes.len();
            if len > DRAWN {
                let what = format!("a tape of {len} entries is too large to be drawn, which can be done up to {DRAWN}: draw a smaller one, or look at `table`");
                return Err(Error::Inspection(what));
            }
            Ok(recording.graph())
        })?
    }

    /// Looks for what makes gradients wrong or useless: the first value that is infinite or not a number, with its line on a [tape with
    /// lines](Tape::with_lines), inputs that outputs do not depend on, gradients that are 0, infinite or not numbers,
    /// conversions to `f64`.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::with_lines();
    /// let [x, rate] = tape.vars([-1.0, 0.5]);
    /// let y = x.sqrt() + 1.0;
    /// let audit = tape.audit(&[y])?;
    /// assert_eq!(audit.first_not_finite.as_ref().unwrap().operation, "sqrt");
    /// assert_eq!(audit.unused_inputs, [1]);
    /// # assert!(rate.value() > 0.0);
    /// println!("{audit}");
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn audit(&self, outputs: &[Var]) -> Result<Audit, Error> {
        let at = Location::caller();
        outputs.iter().try_for_each(|y| y.checked(at).map(|_| ()))?;
        self.swept(|recording| {
            let outputs: Vec<Var> =
                outputs.iter().copied().filter(|y| y.tag() != CONSTANT).collect();
            if !outputs.iter().all(|y| recording.owns(*y)) {
                return Err(Error::Misuse(Misuse { kind: MisuseKind::OtherTape, at }));
            }
            recording.audited(&outputs)
        })?
    }

    /// What every source line has recorded, in entries and bytes, and what the reverse sweep spends on it, the dearest
    /// first; nothing on a tape without [lines](Tape::with_lines).
    ///
    /// The time is measured: the entries of a line are swept by themselves, from the last to the first, and the clock is read before
    /// and after. A sweep over all lines together may be faster, where it finds more in its caches.
    pub fn lines(&self) -> Result<Lines, Error> {
        self.swept(|recording| {
            let Some(places) = &recording.places else { return Ok(Lines::default()) };
            let mut by_line: HashMap<(&str, u32), (Place, Vec<usize>)> = HashMap::new();
            for (at, line) in places.iter().enumerate() {
                let entries = by_line.entry((line.file(), line.line()));
                entries.or_insert_with(|| (line, Vec::new())).1.push(at);
            }
            let mut adjoints = vec![[1.0]; places.len()];
            let mut lines = Vec::with_capacity(by_line.len());
            for (line, entries) in by_line.into_values() {
                let bytes = entries.iter().map(|at| recording.bytes_of(recording.nodes.get(*at)));
                let bytes = bytes.sum();
                let begun = Instant::now();
                for at in entries.iter().rev() {
                    sweep::reverse(recording, at + 1, *at, &mut adjoints)?;
                }
                let time = begun.elapsed();
                lines.push(LineCost { line, entries: entries.len(), bytes, time });
            }
            lines
                .sort_by_key(|one| (std::cmp::Reverse(one.time), one.line.file(), one.line.line()));
            Ok(Lines { lines })
        })?
    }
}

impl Recording {
    /// The entries that one reads, with the partials that are kept.
    fn reads(&self, at: usize, node: Node) -> (Vec<usize>, Vec<f64>) {
        let (a, b) = (node.a as usize, node.b as usize);
        let places = |inputs: &[u32]| inputs.iter().map(|at| *at as usize).collect();
        match node.op {
            Op::Row(row) => (places(&self.nodes.inputs(at, node)[..row.arity()]), Vec::new()),
            Op::Sum => self.terms[a..][..b].iter().map(|(at, d)| (*at as usize, *d)).unzip(),
            Op::Single => {
                let terms = self.singles[a..][..b].iter();
                terms.map(|(at, d)| (*at as usize, f64::from(*d))).unzip()
            }
            Op::Called => (places(&self.calls[a].inputs), Vec::new()),
            Op::Input | Op::Constant | Op::Third => Default::default(),
        }
    }

    /// An entry; the third input of one is part of it.
    fn row(&self, at: usize) -> Option<Row> {
        let node = self.nodes.get(at);
        let operation = match node.op {
            Op::Input => "input",
            Op::Constant => "constant",
            Op::Row(row) => row.name(),
            Op::Sum | Op::Single => "sum",
            Op::Called => "call",
            Op::Third => return None,
        };
        let (inputs, partials) = self.reads(at, node);
        let line = self.places.as_ref().map(|places| places[at]);
        Some(Row { index: at, operation, inputs, value: node.value, partials, line })
    }

    /// What an entry takes.
    fn bytes_of(&self, node: Node) -> usize {
        let terms = match node.op {
            Op::Sum => node.b as usize * size_of::<(u32, f64)>(),
            Op::Single => node.b as usize * size_of::<(u32, f32)>(),
            _ => 0,
        };
        BYTES + size_of::<Place>() + terms
    }

    fn graph(&self) -> String {
        let mut text = String::from(
            "digraph tape {\n  rankdir=BT\n  node [shape=box, style=rounded, fontname=Helvetica]\n",
        );
        for row in (0..self.nodes.len()).filter_map(|at| self.row(at)) {
            let Row { index, operation, value, .. } = &row;
            let value = shortened(*value);
            let line = row.line.map_or(String::new(), |line| {
                let file = line.file().rsplit('/').next().unwrap_or_default();
                format!("\\n{file}:{}", line.line())
            });
            if *operation == "constant" {
                continue;
            }
            let look = if *operation == "input" {
                ", style=\"rounded,filled\", fillcolor=lightblue"
            } else {
                ""
            };
            text += &format!("  e{index} [label=\"%{index} {operation}\\n{value}{line}\"{look}]\n");
            for (k, input) in row.inputs.iter().enumerate() {
                let of = self.nodes.get(*input);
                if of.op == Op::Constant {
                    let c = shortened(of.value);
                    text += &format!("  c{index}_{k} [label=\"{c}\", shape=plaintext]\n");
                    text += &format!("  c{index}_{k} -> e{index}\n");
                } else {
                    text += &format!("  e{input} -> e{index}\n");
                }
            }
        }
        text + "}\n"
    }

    fn audited(&self, outputs: &[Var]) -> Result<Audit, Error> {
        let mut audit = Audit { conversions: self.conversions, ..Audit::default() };
        let is_bad = |at: usize| {
            let node = self.nodes.get(at);
            let (inputs, _) = self.reads(at, node);
            let read = inputs.iter().map(|at| self.nodes.value(*at as u32));
            let (mut nan, mut infinite) = (false, false);
            for x in read {
                (nan, infinite) = (nan || x.is_nan(), infinite || x.is_infinite());
            }
            node.value.is_nan() && !nan || node.value.is_infinite() && !infinite && !nan
        };
        let wild = |at: &usize| !self.nodes.value(*at as u32).is_finite();
        let first = (0..self.nodes.len()).filter(wild).find(|at| is_bad(*at));
        audit.first_not_finite = first.and_then(|at| self.row(at));
        let mut used = vec![false; self.nodes.len()];
        outputs.iter().for_each(|y| used[y.index() as usize] = true);
        let mut adjoints = vec![[0.0]; self.nodes.len()];
        for (k, y) in outputs.iter().enumerate() {
            // Weights of no pattern, so that derivatives do not cancel.
            adjoints[y.index() as usize][0] += 1.0 + (0.618 * (k as f64 + 1.0)).fract();
        }
        sweep::reverse(self, self.nodes.len(), 0, &mut adjoints)?;
        for (at, node) in self.nodes.iter().rev() {
            if used[at] {
                self.reads(at, node).0.into_iter().for_each(|at| used[at] = true);
            }
        }
        for (at, _) in self.nodes.iter().filter(|(_, node)| node.op == Op::Input) {
            let d = adjoints[at][0];
            match used[at] {
                false => audit.unused_inputs.push(at),
                true if d == 0.0 => audit.zero_gradients.push(at),
                true if !d.is_finite() => audit.gradients_not_finite.push(at),
                true => {}
            }
        }
        Ok(audit)
    }
}

/// A number that fits a box.
fn shortened(x: f64) -> String {
    let full = format!("{x:?}");
    match x.abs() {
        _ if full.len() <= 8 => full,
        1e-3..1e6 => format!("{x:.5}"),
        _ => format!("{x:.4e}"),
    }
}
