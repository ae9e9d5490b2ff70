//! Loops over everything one can loop over, and the ways out of them.

use super::{Kind, Var, Writer, fixed, free};

/// Most iterations of nested loops together.
const MOST: usize = 80;

impl Writer {
    pub(crate) fn looping(&mut self) {
        if self.loops == 3 || self.iterations * 3 > MOST {
            return self.branchless();
        }
        let (vars, callables) = (self.scope.len(), self.callables.len());
        match self.below(10) {
            0..4 => self.over_range(),
            4..6 => self.over_items(),
            6..8 => self.over_pairs(),
            _ => self.bounded_while(),
        }
        self.forget(vars, callables);
    }

    fn branchless(&mut self) {
        let Some(v) = self.var(|v| v.kind == Kind::Float && !v.fixed) else { return };
        let value = self.bounded(2);
        self.line(format!("{} = {value}", v.name));
    }

    /// The body of a loop, with the ways out.
    fn inside(&mut self, times: usize) {
        let before = self.iterations;
        self.loops += 1;
        self.iterations *= times.max(1);
        let (vars, callables) = (self.scope.len(), self.callables.len());
        self.indent += 1;
        let start = self.lines.len();
        for _ in 0..1 + self.below(4) {
            if self.chance(7) {
                self.leave();
            }
            self.statement();
        }
        if self.chance(8) {
            self.leave();
        }
        if self.lines.len() == start {
            self.line("pass");
        }
        self.indent -= 1;
        self.forget(vars, callables);
        self.loops -= 1;
        self.iterations = before;
    }

    fn leave(&mut self) {
        match self.below(6) {
            0..2 => {
                let cond = self.truth(2);
                self.line(format!("if {cond}:"));
                self.line("    break");
            }
            2..4 => {
                let cond = self.truth(2);
                self.line(format!("if {cond}:"));
                self.line("    continue");
            }
            4 => self.early_return(),
            _ => {
                let (cond, other) = (self.truth(1), self.truth(1));
                self.line(format!("if {cond}:"));
                self.block(1);
                self.line("    break");
                self.line(format!("elif {other}:"));
                self.line("    continue");
            }
        }
    }

    fn over_range(&mut self) {
        let name = self.fresh("i");
        let n = match self.any_array() {
            Some((_, shape)) => self.pick(&shape),
            None => 2 + self.below(4),
        };
        let (len, n) = (n, n as i64);
        let size = self.size(len);
        let (text, lo, hi, times) = match self.below(8) {
            0..3 => (size, 0, n - 1, len),
            3 => (format!("1, {size}"), 1, n - 1, len - 1),
            4 => (format!("{size} - 1, -1, -1"), 0, n - 1, len),
            5 => (format!("0, {size}, 2"), 0, n - 1, len),
            6 => (format!("{size} - 2, -1, -1"), 0, (n - 2).max(0), len),
            _ => {
                let k = self.int(1);
                (format!("({k}) % {}", len + 1), 0, n - 1, len)
            }
        };
        let reversed = self.chance(8);
        let text =
            if reversed { format!("reversed(range({text}))") } else { format!("range({text})") };
        self.line(format!("for {name} in {text}:"));
        self.scope.push(Var { range: Some((lo, hi)), ..fixed(&name, Kind::Int) });
        self.inside(times);
    }

    fn over_items(&mut self) {
        let name = self.fresh("e");
        if self.chance(4) {
            let list = self.var(|v| matches!(v.kind, Kind::List(_) | Kind::Tuple(_)));
            if let Some(v) = list {
                self.line(format!("for {name} in {}:", v.name));
                self.scope.push(free(&name, Kind::Float));
                return self.inside(3);
            }
        }
        let Some((v, shape)) = self.any_array() else { return self.over_range() };
        let of = match self.below(4) {
            0 => format!("reversed({})", v.name),
            _ => v.name,
        };
        if self.chance(2) {
            let i = self.fresh("i");
            let start = self.below(3) as i64;
            let text = if start == 0 {
                format!("enumerate({of})")
            } else {
                format!("enumerate({of}, {start})")
            };
            self.line(format!("for {i}, {name} in {text}:"));
            let range = Some((start, start + shape[0] as i64 - 1));
            self.scope.push(Var { range, ..fixed(&i, Kind::Int) });
        } else {
            self.line(format!("for {name} in {of}:"));
        }
        self.item(&name, &shape, v.frozen);
        self.inside(shape[0]);
    }

    fn item(&mut self, name: &str, shape: &[usize], frozen: bool) {
        match shape {
            [_] => self.scope.push(free(name, Kind::Float)),
            _ => self.scope.push(Var { frozen, ..fixed(name, Kind::Array(shape[1..].to_vec())) }),
        }
    }

    fn over_pairs(&mut self) {
        let (Some((v, a)), Some((w, b))) = (self.any_array(), self.any_array()) else {
            return self.over_range();
        };
        let (p, q) = (self.fresh("e"), self.fresh("e"));
        let times = a[0].min(b[0]);
        match self.below(3) {
            0 => self.line(format!("for {p}, {q} in zip({}, {}):", v.name, w.name)),
            1 => {
                let i = self.fresh("i");
                self.line(format!(
                    "for {i}, ({p}, {q}) in enumerate(zip({}, {})):",
                    v.name, w.name
                ));
                self.scope.push(Var { range: Some((0, times as i64 - 1)), ..fixed(&i, Kind::Int) });
            }
            _ => {
                let i = self.fresh("i");
                self.line(format!("for {p}, {i}, {q} in zip({}, range(9), {}):", v.name, w.name));
                self.scope.push(Var { range: Some((0, times as i64 - 1)), ..fixed(&i, Kind::Int) });
            }
        }
        self.item(&p, &a, v.frozen);
        self.item(&q, &b, w.frozen);
        self.inside(times);
    }

    /// A `while` loop that ends by what it computes, at the latest when a counter says so.
    fn bounded_while(&mut self) {
        let k = self.fresh("c");
        let most = 2 + self.below(6);
        self.line(format!("{k} = 0"));
        let cond = self.truth(2);
        let limit = if self.chance(2) { format!("{k} < {most}") } else { format!("{k} != {most}") };
        match self.below(3) {
            0 => {
                self.line("while True:");
                self.line(format!("    {k} += 1"));
                self.line(format!("    if {k} > {most} or {cond}:"));
                self.line("        break");
            }
            1 => {
                self.line(format!("while {cond} and {limit}:"));
                self.line(format!("    {k} += 1"));
            }
            _ => {
                self.line(format!("while {limit} and {cond}:"));
                self.line(format!("    {k} += 1"));
            }
        }
        self.scope.push(fixed(&k, Kind::Int));
        self.inside(most);
    }
}
