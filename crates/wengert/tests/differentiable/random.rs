//! Random Rust functions: what people write, statement by statement, with types that fit.
//!
//! Every function is `fn fK(x: f64, y: f64, v: &[f64], w: &mut [f64], n: usize) -> f64`. Indices are taken modulo lengths, values are
//! kept small, and loops end, so none of them fails.

use std::fmt::Write;

/// Small numbers in no order.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A float between -2 and 2.
    pub(crate) fn float(&mut self) -> f64 {
        (self.below(4001) as f64 - 2000.0) / 1000.0
    }
}

/// What stands beside the functions.
pub(crate) const BESIDE: &str = "\
#[derive(Clone, Copy)]
pub struct Point { a: f64, b: f64, k: usize }
impl Point {
    fn turn(&mut self, by: f64) { let a = self.a; self.a = self.b * by.cos(); self.b = (a - by).sin(); }
    fn size(&self) -> f64 { self.a * self.a + 0.5 * self.b * self.k as f64 }
}
";

/// The function with a number; it may call those before it.
pub(crate) fn function(random: &mut Random, number: usize, before: usize) -> String {
    let mut writer = Writer {
        random,
        text: String::new(),
        depth: 1,
        loops: 0,
        floats: vec!["x".into(), "y".into()],
        changed: Vec::new(),
        whole: vec!["n".into()],
        arrays: vec!["v".into()],
        written: vec!["w".into()],
        points: Vec::new(),
        names: 0,
        callees: (before..number).collect(),
    };
    writer.line("let mut s = x;");
    writer.changed.push("s".into());
    let statements = 2 + writer.random.below(4);
    for _ in 0..statements {
        writer.statement();
    }
    let result = writer.float(2);
    writer.line(&format!("s + {result}"));
    format!(
        "pub fn f{number}(x: f64, y: f64, v: &[f64], w: &mut [f64], n: usize) -> f64 {{\n{}}}\n",
        writer.text
    )
}

/// A function being written, and what can be named where it has come to.
struct Writer<'a> {
    random: &'a mut Random,
    text: String,
    depth: usize,
    loops: usize,
    floats: Vec<String>,
    /// Floats that can be assigned to.
    changed: Vec<String>,
    /// Integers.
    whole: Vec<String>,
    /// Arrays that are read only, and others.
    arrays: Vec<String>,
    written: Vec<String>,
    /// Structs that can be changed.
    points: Vec<String>,
    names: usize,
    callees: Vec<usize>,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth));
    }

    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        // Names come again, and hide what they were.
        if self.random.chance(15) {
            format!("{letter}0")
        } else {
            format!("{letter}{}", self.names)
        }
    }

    fn one_of(&mut self, all: &[String]) -> String {
        all[self.random.below(all.len())].clone()
    }

    fn any_array(&mut self) -> String {
        let all = [self.arrays.clone(), self.written.clone()].concat();
        self.one_of(&all)
    }

    fn index(&mut self, array: &str) -> String {
        let whole = self.whole.clone();
        let k = self.one_of(&whole);
        match self.random.below(3) {
            0 => format!("{} % {array}.len()", self.random.below(5)),
            1 => format!("{k} % {array}.len()"),
            _ => format!("({k} + {}) % {array}.len()", 1 + self.random.below(3)),
        }
    }

    fn element(&mut self, array: &str) -> String {
        let index = self.index(array);
        format!("{array}[{index}]")
    }

    fn atom(&mut self) -> String {
        match self.random.below(10) {
            0 => format!("{:?}_f64", self.random.float()),
            1 | 2 => {
                let array = self.any_array();
                self.element(&array)
            }
            3 => {
                let whole = self.whole.clone();
                format!("({} as f64)", self.one_of(&whole))
            }
            4 if !self.points.is_empty() => {
                let points = self.points.clone();
                let p = self.one_of(&points);
                ["a", "b"].map(|f| format!("{p}.{f}"))[self.random.below(2)].clone()
            }
            _ => {
                let all = [self.floats.clone(), self.changed.clone()].concat();
                self.one_of(&all)
            }
        }
    }

    /// A float expression.
    fn float(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(20) {
            return self.atom();
        }
        let a = self.float(depth - 1);
        match self.random.below(16) {
            0..=2 => format!("({a} + {})", self.float(depth - 1)),
            3 | 4 => format!("({a} - {})", self.float(depth - 1)),
            5..=7 => format!("({a}).tanh() * ({})", self.float(depth - 1)),
            8 => format!("{a} / (1.5 + ({}).abs())", self.float(depth - 1)),
            9 => format!("({a}).{}()", ["sin", "cos", "tanh", "abs"][self.random.below(4)]),
            10 => format!("(({a}).tanh() - 0.5).exp()"),
            11 => format!("(1.0 + ({a}).powi(2)).sqrt().ln()"),
            12 => {
                let method = ["max", "min", "hypot"][self.random.below(3)];
                format!("({a}).{method}({})", self.float(depth - 1))
            }
            13 => {
                let (cond, other) = (self.condition(), self.float(depth - 1));
                format!("(if {cond} {{ {a} }} else {{ {other} }})")
            }
            14 => format!("-({a})"),
            _ => {
                let array = self.any_array();
                let of = ["p * 0.25", "p.sin() - 0.5", "p.tanh() * p"][self.random.below(3)];
                format!("{array}.iter().map(|p| {of}).sum::<f64>()")
            }
        }
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.float(1), self.float(1));
        let (whole, k) = (self.whole.clone(), self.random.below(4));
        let i = self.one_of(&whole);
        match self.random.below(4) {
            0 => format!("{i} % 2 == {}", k % 2),
            1 => format!("({a}) < ({b}) || {i} > {k}"),
            2 => format!("({a}) >= 0.1 && ({b}) < 1.7"),
            _ => format!("({a}) > ({b})"),
        }
    }

    /// A block in braces, whose names end with it.
    fn block(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        let kept = (
            self.floats.clone(),
            self.changed.clone(),
            self.whole.clone(),
            self.arrays.clone(),
            self.written.clone(),
            self.points.clone(),
        );
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        (self.floats, self.changed, self.whole, self.arrays, self.written, self.points) = kept;
        self.line("}");
    }

    fn several(&mut self, most: usize) {
        for _ in 0..=self.random.below(most) {
            self.statement();
        }
    }

    /// The same with something a loop may do: go on or end early.
    fn body(&mut self) {
        self.several(2);
        if self.random.chance(20) {
            let (cond, word) = (self.condition(), ["continue", "break"][self.random.below(2)]);
            self.line(&format!("if {cond} {{ {word}; }}"));
            self.statement();
        }
    }

    fn hidden(&mut self, name: &str) {
        for all in [
            &mut self.floats,
            &mut self.changed,
            &mut self.whole,
            &mut self.arrays,
            &mut self.written,
            &mut self.points,
        ] {
            all.retain(|known| known != name);
        }
    }

    fn statement(&mut self) {
        let deep = self.depth > 3 || self.loops > 1;
        match self.random.below(if deep { 9 } else { 18 }) {
            0 => {
                let (value, name) = (self.float(2), self.name("a"));
                self.line(&format!("let {name} = {value};"));
                self.hidden(&name);
                self.floats.push(name);
            }
            1 => {
                let (value, name) = (self.float(2), self.name("m"));
                self.line(&format!("let mut {name} = {value};"));
                self.hidden(&name);
                self.changed.push(name);
            }
            2 | 3 => {
                let (changed, value) = (self.changed.clone(), self.float(2));
                let name = self.one_of(&changed);
                match self.random.below(4) {
                    0 => self.line(&format!("{name} = {value};")),
                    1 => self.line(&format!("{name} += {value};")),
                    2 => self.line(&format!("{name} -= 0.5 * ({value});")),
                    _ => self.line(&format!("{name} *= ({value}).cos();")),
                }
            }
            4 | 5 => {
                let (written, value) = (self.written.clone(), self.float(2));
                let array = self.one_of(&written);
                let (index, mark) = (self.index(&array), ["=", "+=", "-="][self.random.below(3)]);
                self.line(&format!("let at = {index};"));
                self.line(&format!("{array}[at] {mark} {value};"));
            }
            6 => {
                let parts = [self.float(1), self.float(1), self.float(1)];
                let name = self.name("u");
                match self.random.below(2) {
                    0 => self.line(&format!("let mut {name} = [{}];", parts.join(", "))),
                    _ => self.line(&format!("let mut {name} = vec![{}; n + 2];", parts[0])),
                }
                self.hidden(&name);
                self.written.push(name);
            }
            7 => {
                let (a, b) = (self.float(1), self.float(1));
                let (name, k) = (self.name("p"), self.random.below(4));
                self.line(&format!("let mut {name} = Point {{ a: {a}, b: {b}, k: {k} }};"));
                self.hidden(&name);
                self.points.push(name);
            }
            8 if !self.points.is_empty() => {
                let (points, value) = (self.points.clone(), self.float(1));
                let p = self.one_of(&points);
                match self.random.below(3) {
                    0 => self.line(&format!("{p}.a = {value};")),
                    1 => self.line(&format!("{p}.turn({value});")),
                    _ => self.line(&format!("s += {p}.size().tanh();")),
                }
            }
            8 | 9 => {
                let cond = self.condition();
                self.block(&format!("if {cond}"), |w| w.several(2));
                if self.random.chance(60) {
                    self.text.truncate(self.text.trim_end().len());
                    self.text.push_str(" else\n");
                    self.block("", Writer::statement);
                }
            }
            10 => {
                let (i, way) = (self.name("i"), self.random.below(3));
                let range = ["0..n", "(0..n).rev()", "(0..3).step_by(2)"][way];
                self.looping(&format!("for {i} in {range}"), |w| w.whole.push(i.clone()));
            }
            11 => {
                let (array, e, k) = (self.any_array(), self.name("e"), self.name("k"));
                let head = format!("for ({k}, &{e}) in {array}.to_vec().iter().enumerate()");
                // A copy, because the body may write to it.
                self.looping(&head, |w| {
                    w.floats.push(e.clone());
                    w.whole.push(k.clone());
                });
            }
            12 => {
                let written = self.written.clone();
                let (array, e) = (self.one_of(&written), self.name("e"));
                let by = ["x", "y"][self.random.below(2)];
                self.line(&format!(
                    "for {e} in {array}.iter_mut() {{ *{e} = (*{e} * {by}).sin() + 0.1; }}"
                ));
            }
            13 => {
                let (c, bound) = (self.name("c"), self.float(1));
                self.line(&format!("let mut {c} = 0;"));
                self.looping(&format!("while {c} < n && s < 3.0 + ({bound}).abs()"), |w| {
                    w.line(&format!("{c} += 1;"));
                });
            }
            14 => {
                let (z, c, value) = (self.name("z"), self.name("c"), self.float(2));
                self.line(&format!("let mut {c} = 0;"));
                self.line(&format!("let {z} = loop {{"));
                self.line(&format!("    {c} += 1;"));
                self.line(&format!("    s = 0.5 * s + {value};"));
                self.line(&format!("    if {c} > n || s > 2.0 {{ break s - 1.0; }}"));
                self.line("};");
                self.hidden(&z);
                self.floats.push(z);
            }
            15 => {
                let (arms, z) = ([self.float(1), self.float(1), self.float(1)], self.name("z"));
                let [a, b, c] = arms;
                self.line(&format!(
                    "let {z} = match n % 4 {{ 0 => {a}, 1 | 2 => {b}, _ => {c} }};"
                ));
                self.hidden(&z);
                self.floats.push(z);
            }
            16 => {
                let (g, value) = (self.name("g"), self.float(1));
                let (a, b, z) = (self.float(1), self.float(1), self.name("z"));
                let less = self.random.float().abs();
                self.line(&format!("let {g} = |t: f64, r: f64| t.tanh() * r - {less:?};"));
                self.line(&format!("let ({z}, q) = ({g}({a}, {b}), {value});"));
                self.line("s += q * 0.5;");
                self.hidden(&z);
                self.floats.push(z);
            }
            _ => match self.callees.first().copied().filter(|_| self.loops == 0) {
                Some(k) => {
                    let (a, b) = (self.float(1), self.float(1));
                    self.line(&format!("s += f{k}({a}, {b}, v, w, n % 2);"));
                }
                // From inside a loop it is refused where `w` is written afterwards.
                None if self.depth > 1 => self.line("s *= 0.9;"),
                None => {
                    let (cond, value) = (self.condition(), self.float(1));
                    self.line(&format!("if {cond} && s > 1.5 {{ return {value}; }}"));
                }
            },
        }
    }

    fn looping(&mut self, head: &str, first: impl FnOnce(&mut Self)) {
        self.loops += 1;
        self.block(head, |w| {
            first(w);
            w.body();
        });
        self.loops -= 1;
    }
}
