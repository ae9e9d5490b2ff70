//! Free passes change no bit: random array programs, with every pass on, off, alone and left out.

use std::fmt::Write;
use wengert_core::check::{Random, bits};
use wengert_core::fault::Fault;
use wengert_core::generate::same_fault;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, parse, verify};
use wengert_core::ops::Array;
use wengert_core::transform::elementwise;
use wengert_core::transform::pipeline::{self, Passes, finish_with};

/// What a value of a random program is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    /// Vectors of one length, and of another.
    Long,
    Short,
    /// As many rows as a short vector has elements, as many columns as a long one.
    Matrix,
    Ints,
    Bools,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Kind::Float => "f64",
            Kind::Long | Kind::Short => "[f64]",
            Kind::Matrix => "[[f64]]",
            Kind::Ints => "[i64]",
            Kind::Bools => "[bool]",
        }
    }
}

/// A value in sight: its name, kind, the block it belongs to, whether it is still there.
#[derive(Clone)]
struct Known {
    name: String,
    kind: Kind,
    depth: usize,
    there: bool,
}

struct Generator {
    random: Random,
    text: String,
    known: Vec<Known>,
    names: usize,
    depth: usize,
}

impl Generator {
    fn pick(&mut self, kind: Kind) -> Option<usize> {
        self.pick_where(|k| k.kind == kind)
    }

    fn pick_where(&mut self, wanted: impl Fn(&Known) -> bool) -> Option<usize> {
        let all: Vec<usize> = (0..self.known.len())
            .filter(|k| self.known[*k].there && wanted(&self.known[*k]))
            .collect();
        if all.is_empty() { None } else { Some(all[self.random.below(all.len() as u64) as usize]) }
    }

    /// An array of this kind that the block may take over; it is gone afterwards.
    fn take(&mut self, kind: Kind) -> String {
        let depth = self.depth;
        match self.pick_where(|k| k.kind == kind && k.depth == depth) {
            Some(k) if self.known.len() > 4 => {
                self.known[k].there = false;
                self.known[k].name.clone()
            }
            _ => {
                let x = self.any(kind);
                let copy = self.emit(kind, &format!("copy {x}"));
                if let Some(last) = self.known.last_mut() {
                    last.there = false;
                }
                copy
            }
        }
    }

    fn any(&mut self, kind: Kind) -> String {
        match self.pick(kind) {
            Some(k) => self.known[k].name.clone(),
            None => self.make(kind),
        }
    }

    fn float(&mut self) -> String {
        match self.random.below(3) {
            0 => format!("{:?}", self.random.float(-2.0, 2.0)),
            _ => self.any(Kind::Float),
        }
    }

    fn make(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Ints => {
                let x = self.any(Kind::Long);
                self.emit(kind, &format!("ftoi {x}"))
            }
            Kind::Bools => {
                let (x, y) = (self.any(Kind::Long), self.any(Kind::Long));
                self.emit(kind, &format!("lt {x}, {y}"))
            }
            Kind::Float => {
                let x = self.any(Kind::Long);
                self.emit(kind, &format!("sum {x}"))
            }
            // Whatever was there has been taken over: the parameters stay.
            Kind::Long => self.emit(kind, "copy %x"),
            Kind::Short => self.emit(kind, "copy %u"),
            Kind::Matrix => self.emit(kind, "copy %m"),
        }
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn emit(&mut self, kind: Kind, code: &str) -> String {
        let name = self.fresh();
        let _ = writeln!(self.text, "{name} = {code}");
        self.known.push(Known { name: name.clone(), kind, depth: self.depth, there: true });
        name
    }

    /// An integer that is no array.
    fn int(&mut self, code: &str) -> String {
        let name = self.fresh();
        let _ = writeln!(self.text, "{name} = {code}");
        name
    }

    fn array_kind(&mut self) -> Kind {
        [Kind::Long, Kind::Long, Kind::Matrix, Kind::Short][self.random.below(4) as usize]
    }

    fn statement(&mut self) {
        let kind = self.array_kind();
        match self.random.below(26) {
            0..=8 => {
                let op = ["add", "sub", "mul", "min", "max", "div"][self.random.below(6) as usize];
                let x = self.any(kind);
                let y = if self.random.below(4) == 0 { self.float() } else { self.any(kind) };
                self.emit(kind, &format!("{op} {x}, {y}"));
            }
            9 => {
                let op = ["neg", "abs", "tanh"][self.random.below(3) as usize];
                let x = self.any(kind);
                self.emit(kind, &format!("{op} {x}"));
            }
            10 => {
                let (x, y, z) = (self.any(kind), self.any(kind), self.any(kind));
                self.emit(kind, &format!("fma {x}, {y}, {z}"));
            }
            11 => {
                let (c, x, y) = (self.any(Kind::Bools), self.any(Kind::Long), self.any(Kind::Long));
                self.emit(Kind::Long, &format!("select {c}, {x}, {y}"));
            }
            12 => {
                let op = ["iadd", "imul", "idiv", "wadd"][self.random.below(4) as usize];
                let (x, y) = (self.any(Kind::Ints), self.any(Kind::Ints));
                // Division by zero is likely enough as it is.
                let y = if op == "idiv" && self.random.below(2) == 0 { "3".into() } else { y };
                let z = self.emit(Kind::Ints, &format!("{op} {x}, {y}"));
                self.emit(Kind::Long, &format!("itof {z}"));
            }
            13 => {
                let x = self.any(kind);
                self.emit(Kind::Float, &format!("sum {x}"));
            }
            14 => {
                let (x, y) = (self.any(kind), self.any(kind));
                self.emit(Kind::Float, &format!("dot {x}, {y}"));
            }
            15 => {
                let (x, v) = (self.any(kind), self.float());
                let n = self.int(&format!("len {x}"));
                if kind == Kind::Matrix {
                    let m = self.int(&format!("dim[1] {x}"));
                    self.emit(kind, &format!("fill {n}, {m}, {v}"));
                } else {
                    self.emit(kind, &format!("fill {n}, {v}"));
                }
            }
            16 => {
                let x = self.any(kind);
                self.emit(kind, &format!("copy {x}"));
            }
            17 => {
                // Rarely out of range.
                let (x, v, i) = (self.take(kind), self.float(), self.random.below(100) % 33 % 4);
                let i = if i == 3 { "%k".into() } else { i.to_string() };
                let at = if kind == Kind::Matrix { format!("0, {i}") } else { i };
                self.emit(kind, &format!("store {x}, {at}, {v}"));
            }
            18 => {
                let x = self.any(Kind::Long);
                let n = self.int(&format!("len {x}"));
                let last = self.int(&format!("wsub {n}, 1"));
                self.emit(Kind::Long, &format!("slice {x}, {last}, {n}, -1"));
            }
            19 => {
                let c = self.take(Kind::Matrix);
                let (y, x) = (self.any(Kind::Short), self.any(Kind::Long));
                self.emit(Kind::Matrix, &format!("gemm {c}, {y}, {x}"));
            }
            20 => {
                let c = self.take(Kind::Short);
                let (a, x) = (self.any(Kind::Matrix), self.any(Kind::Long));
                self.emit(Kind::Short, &format!("gemm {c}, {a}, {x}"));
            }
            21 if self.depth < 3 => self.branch(),
            22 | 23 => {
                if self.random.below(3) == 0 {
                    self.elements_with_exit();
                }
                (0..=self.random.below(3)).for_each(|_| self.elements());
            }
            _ if self.depth < 3 => self.looping(),
            _ => {}
        }
    }

    /// A loop over the elements of vectors.
    fn elements(&mut self) {
        let target = self.take(Kind::Long);
        let (x, y) = (self.any(Kind::Long), self.any(Kind::Long));
        let n = self.int("len %x");
        let [p, q, i, a, b, c, p2, q2, o, r, s] = [(); 11].map(|()| self.fresh());
        let from = if self.random.below(3) == 0 { &p } else { &y };
        let at = if self.random.below(4) == 0 { &o } else { &i };
        let op = ["add", "mul", "sub"][self.random.below(3) as usize];
        let _ = writeln!(
            self.text,
            "{r}, {s} = for {i} in 0..{n} carry ({p} = {target}, {q} = 0.5) {{
               {o} = wsub 4, {i}
               {a} = load {x}, {i}
               {b} = load {from}, {at}
               {c} = {op} {a}, {b}
               {p2} = store {p}, {i}, {c}
               {q2} = add {q}, {c}
               yield {p2}, {q2}
             }}"
        );
        self.add(vec![r, s], &[Kind::Long, Kind::Float]);
    }

    /// A loop over the elements of a vector with one inside of it that may leave early, with that vector or
    /// with another.
    fn elements_with_exit(&mut self) {
        let target = self.take(Kind::Long);
        let (x, y) = (self.any(Kind::Long), self.any(Kind::Long));
        let n = self.int("len %x");
        let [p, q, i, j, a, b, c, d, p2, r] = [(); 10].map(|()| self.fresh());
        let left = [&q, &q, &d][self.random.below(3) as usize];
        let least = self.random.float(-1.0, 2.0);
        let _ = writeln!(
            self.text,
            "{r} = for {i} in 0..{n} carry ({p} = {target}) {{
               {p2} = for {j} in 0..%n carry ({q} = {p}) {{
                 {a} = load {x}, {i}
                 {b} = gt {a}, {least:?}
                 {d} = fill {n}, {a}
                 exit_if {b} {{ yield {left} }}
                 {c} = load {y}, {i}
                 {q}.0 = store {q}, {i}, {c}
                 yield {q}.0
               }}
               yield {p2}
             }}"
        );
        self.add(vec![r], &[Kind::Long]);
    }

    fn nested(&mut self, kinds: &[Kind], exit: bool) -> String {
        let outer = std::mem::take(&mut self.text);
        let mark = self.known.len();
        self.depth += 1;
        let some = 1 + self.random.below(6);
        (0..some).for_each(|_| self.statement());
        if exit {
            let x = self.any(Kind::Float);
            let c = self.int(&format!("gt {x}, 40.0"));
            let before: Vec<bool> = self.known.iter().map(|k| k.there).collect();
            // Leaving takes versions over that going on still has.
            let mut body = std::mem::take(&mut self.text);
            let leave = self.yields(kinds);
            let inner = std::mem::take(&mut self.text);
            self.known.truncate(before.len());
            self.known.iter_mut().zip(&before).for_each(|(k, there)| k.there = *there);
            let _ = writeln!(body, "exit_if {c} {{\n{inner}{leave}}}");
            self.text = body;
            self.statement();
        }
        let end = self.yields(kinds);
        self.depth -= 1;
        self.known.truncate(mark);
        let body = std::mem::replace(&mut self.text, outer);
        body + &end
    }

    fn yields(&mut self, kinds: &[Kind]) -> String {
        let values: Vec<String> = kinds
            .iter()
            .map(|k| if *k == Kind::Float { self.any(Kind::Float) } else { self.take(*k) })
            .collect();
        format!("yield {}\n", values.join(", "))
    }

    fn kinds(&mut self) -> Vec<Kind> {
        let some = 1 + self.random.below(3);
        (0..some)
            .map(|_| if self.random.below(4) == 0 { Kind::Float } else { self.array_kind() })
            .collect()
    }

    fn branch(&mut self) {
        let x = self.any(Kind::Float);
        let c = self.int(&format!("gt {x}, 0.0"));
        let kinds = self.kinds();
        let then = self.nested(&kinds, false);
        let otherwise = self.nested(&kinds, false);
        let names: Vec<String> = kinds.iter().map(|_| self.fresh()).collect();
        let list = names.join(", ");
        let _ = writeln!(self.text, "{list} = if {c} {{\n{then}}} else {{\n{otherwise}}}");
        self.add(names, &kinds);
    }

    fn add(&mut self, names: Vec<String>, kinds: &[Kind]) {
        for (name, kind) in names.into_iter().zip(kinds) {
            self.known.push(Known { name, kind: *kind, depth: self.depth, there: true });
        }
    }

    fn looping(&mut self) {
        let kinds = self.kinds();
        let params: Vec<String> = kinds.iter().map(|_| self.fresh()).collect();
        let inits: Vec<String> = kinds
            .iter()
            .map(|k| if *k == Kind::Float { self.float() } else { self.take(*k) })
            .collect();
        let carries: Vec<String> =
            params.iter().zip(&inits).map(|(p, i)| format!("{p} = {i}")).collect();
        let mark = self.known.len();
        self.depth += 1;
        self.add(params, &kinds);
        self.depth -= 1;
        let exit = self.random.below(3) == 0;
        let body = self.nested(&kinds, exit);
        self.known.truncate(mark);
        let names: Vec<String> = kinds.iter().map(|_| self.fresh()).collect();
        let i = self.fresh();
        let (list, carries) = (names.join(", "), carries.join(", "));
        let _ = writeln!(self.text, "{list} = for {i} in 0..%n carry ({carries}) {{\n{body}}}");
        self.add(names, &kinds);
    }
}

fn program(seed: u64) -> String {
    let mut known = Vec::new();
    let params = [
        ("x", Kind::Long),
        ("y", Kind::Long),
        ("u", Kind::Short),
        ("m", Kind::Matrix),
        ("s", Kind::Float),
    ];
    for (name, kind) in params {
        // Depth: the parameters stay the caller's, but for `y`.
        let depth = if name == "y" { 0 } else { usize::MAX };
        known.push(Known { name: format!("%{name}"), kind, depth, there: true });
    }
    let text = String::new();
    let mut g = Generator { random: Random(seed), text, known, names: 0, depth: 0 };
    let some = 4 + g.random.below(12);
    (0..some).for_each(|_| g.statement());
    let kinds: Vec<Kind> =
        (0..3).map(|_| g.array_kind()).chain([Kind::Float, Kind::Float]).collect();
    let results = g.yields(&kinds).replace("yield", "return");
    let types: Vec<&str> = kinds.iter().map(|k| k.text()).collect();
    let params: Vec<String> =
        params.iter().map(|(name, kind)| format!("%{name}: {}", kind.text())).collect();
    format!(
        "func @f({}, %k: i64, %n: i64) -> ({}) {{\n{}{results}}}\n",
        params.join(", "),
        types.join(", "),
        g.text
    )
}

fn run(module: &Module, seed: u64, fit: bool) -> Result<Vec<u64>, Fault> {
    let mut random = Random(seed);
    let mut floats = |n: usize| (0..n).map(|_| random.float(-2.0, 2.0)).collect::<Vec<f64>>();
    let args = vec![
        Val::array(floats(5)),
        Val::array(floats(if fit { 5 } else { 4 })),
        Val::array(floats(3)),
        Val::shaped(Array::new(vec![3, 5], floats(15))),
        Val::f64(0.75),
        Val::i64(if fit { 1 } else { 7 }),
        Val::i64(seed as i64 % 4),
    ];
    Interp::new(module).call("f", args).map(|values| bits(&values))
}

/// Every pass, none, each alone, all but each.
fn choices() -> Vec<Passes> {
    let mut choices = vec![Passes::ALL, Passes::NONE];
    for (base, on) in [(Passes::ALL, false), (Passes::NONE, true)] {
        choices.extend([
            Passes { elementwise: on, ..base },
            Passes { fuse: on, ..base },
            Passes { copies: on, ..base },
            Passes { reuse: on, ..base },
            Passes { tiles: on, ..base },
            Passes { parts: on, ..base },
            Passes { deferred: on, ..base },
            Passes { hoist: on, ..base },
            Passes { branches: on, ..base },
            Passes { registers: on, ..base },
            Passes { order: on, ..base },
        ]);
    }
    choices
}

/// The fixed pipeline gives the same bits before it fuses products, and the same errors after.
fn same_in_fixed_pipeline(seed: u64, module: &Module, expected: &[Result<Vec<u64>, Fault>; 2]) {
    let mut expected = expected.clone();
    for (stage, func) in pipeline::stages(module, "f").unwrap() {
        let after = Module::of(func);
        verify::module(&after).unwrap_or_else(|e| panic!("seed {seed}, {stage}: {e}\n{after}"));
        for (fit, expected) in [true, false].into_iter().zip(&mut expected) {
            let found = run(&after, seed, fit);
            let same = match (&*expected, &found) {
                (Ok(a), Ok(b)) => stage == "fma" || a == b,
                (Err(a), Err(b)) => same_fault(a, b),
                _ => false,
            };
            assert!(same, "seed {seed}, {stage}: {found:?}, not {expected:?}\n{module}\n{after}");
            if stage == "fma" {
                // What comes behind it keeps what this gives.
                *expected = found;
            }
        }
    }
}

#[test]
fn passes_change_no_bit_of_random_programs() {
    let mut faults = 0;
    // What the passes did, to see that the programs give them something to do.
    let mut found = [("conform[", 0), ("refill ", 0), ("gemm[t,n] ", 0), ("conform[slice]", 0)];
    let mut loops = [0, 0];
    for seed in 0..400 {
        let text = program(seed);
        let module = parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        verify::module(&module).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let expected = [true, false].map(|fit| run(&module, seed, fit));
        faults += expected.iter().filter(|r| r.is_err()).count();
        same_in_fixed_pipeline(seed, &module, &expected);
        for passes in choices() {
            let after = finish_with(&module, &passes);
            verify::module(&after)
                .unwrap_or_else(|e| panic!("seed {seed}, {passes:?}: {e}\n{text}\n{after}"));
            if passes == Passes::ALL {
                let after = after.to_string();
                found.iter_mut().for_each(|(text, n)| *n += after.matches(*text).count());
                loops[0] += after.matches("= for ").count();
            } else if passes == (Passes { fuse: false, ..Passes::ALL }) {
                loops[1] += after.to_string().matches("= for ").count();
            }
            if passes.elementwise {
                let func = &after.funcs[0];
                func.body.walk(&mut |i| assert!(!elementwise::is_elementwise(func, i), "{after}"));
            }
            for (fit, expected) in [true, false].into_iter().zip(&expected) {
                let found = run(&after, seed, fit);
                assert_eq!(found, *expected, "seed {seed}, {passes:?}\n{text}\n{after}");
            }
        }
    }
    println!("{found:?}, {loops:?} loops with and without fusion, {faults} faults");
    assert!(found.iter().all(|(_, n)| *n > 20), "{found:?}");
    assert!(loops[0] + 20 < loops[1], "{loops:?}");
    assert!(faults > 50, "only {faults} faults: the programs do not test them");
}
