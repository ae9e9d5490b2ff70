//! Helper functions, inner ones, and their calls.

use super::{Callable, Kind, Var, Writer, fixed, free};

impl Writer {
    /// A function of the file.
    pub(crate) fn helper(&mut self) {
        let before = self.scope.len();
        let callables = self.callables.len();
        let callable = match self.below(8) {
            0 => self.recursive(),
            1 => self.writer(),
            2 => self.viewer(),
            3 => self.applier(),
            _ => self.ordinary(),
        };
        self.scope.truncate(before);
        self.callables.truncate(callables);
        self.callables.extend(callable);
    }

    fn ordinary(&mut self) -> Option<Callable> {
        let name = self.fresh("g");
        let mut params = Vec::new();
        let mut texts = Vec::new();
        for k in 0..1 + self.below(3) {
            let p = ["a", "b", "c"][k].to_string();
            let kind = match self.below(6) {
                0..3 => Kind::Float,
                3 => Kind::Int,
                4 => Kind::Array(vec![2 + self.below(3)]),
                _ => Kind::Array(vec![2, 2 + self.below(2)]),
            };
            let rest = params.iter().any(|(_, _, default)| *default);
            let default = (rest || self.chance(3)) && matches!(kind, Kind::Float | Kind::Int);
            if rest && !default {
                break;
            }
            texts.push(match (&kind, default) {
                (Kind::Int, false) => format!("{p}: int"),
                (Kind::Int, true) => format!("{p}: int = 2"),
                (_, true) => format!("{p}=0.5"),
                _ => p.clone(),
            });
            let range = (kind == Kind::Int).then_some((0, 3));
            self.scope.push(Var { range, fixed: range.is_some(), ..free(&p, kind.clone()) });
            params.push((p, kind, default));
        }
        let results = self.result_kinds();
        self.define(&name, &texts.join(", "), results.clone(), 2);
        // What it is given may be an expression, so what it writes must not matter.
        Some(Callable { name, params, results, writes: true })
    }

    /// Writes the head and the body of a function.
    fn define(&mut self, name: &str, params: &str, results: Vec<Kind>, budget: usize) {
        let outer = std::mem::replace(&mut self.results, results);
        let (left, loops) = (self.budget, self.loops);
        // Functions are called in loops.
        self.loops = 1;
        let iterations = std::mem::replace(&mut self.iterations, 8);
        self.line(format!("def {name}({params}):"));
        self.indent += 1;
        self.budget = 1 + self.below(2 + 2 * budget) as i64;
        self.body();
        self.finish();
        self.indent -= 1;
        (self.budget, self.loops, self.iterations) = (left, loops, iterations);
        self.results = outer;
    }

    /// A function that writes the array it is given and returns nothing.
    fn writer(&mut self) -> Option<Callable> {
        let name = self.fresh("put");
        let n = 2 + self.below(3);
        self.scope.push(free("z", Kind::Array(vec![n])));
        self.scope.push(free("b", Kind::Float));
        self.line(format!("def {name}(z, b=1.5):"));
        self.indent += 1;
        let i = self.fresh("i");
        let size = self.size(n);
        match self.below(3) {
            0 => {
                self.line(format!("for {i} in range({size}):"));
                self.line(format!("    z[{i}] = math.tanh(z[{i} - 1] * b + {i})"));
            }
            1 => {
                self.line("if b > 0.3:");
                self.line("    z[1:] *= 0.5");
                self.line("    return");
                self.line("z[0] = np.sin(b)");
            }
            _ => self.line("z += np.tanh(b) * z[::-1]"),
        }
        self.indent -= 1;
        let params =
            vec![("z".into(), Kind::Array(vec![n]), false), ("b".into(), Kind::Float, true)];
        Some(Callable { name, params, results: Vec::new(), writes: true })
    }

    /// A function that returns a view of what it is given.
    fn viewer(&mut self) -> Option<Callable> {
        let name = self.fresh("part");
        let n = 3 + self.below(3);
        self.line(format!("def {name}(z):"));
        let (text, m) = loop {
            let (slice, m) = self.slice(n);
            if m >= 2 {
                break (slice, m);
            }
        };
        if self.chance(3) {
            self.line("    z[0] *= 0.5");
        }
        self.line(format!("    return z[{text}]"));
        let params = vec![("z".into(), Kind::Array(vec![n]), false)];
        Some(Callable { name, params, results: vec![Kind::Array(vec![m])], writes: true })
    }

    /// A function that calls another it is given. It is called at once: functions are no values.
    fn applier(&mut self) -> Option<Callable> {
        let (name, given) = (self.fresh("twice"), self.fresh("g"));
        self.line(format!("def {name}(f, v):"));
        self.line("    return f(f(v) * 0.5)");
        self.line(format!("def {given}(a, b=0.5):"));
        let factor = self.pick(&["a", "b", "0.5"]);
        self.line(format!("    return {name}(lambda v: math.sin(v * {factor} + b), a)"));
        let params = vec![("a".into(), Kind::Float, false), ("b".into(), Kind::Float, true)];
        Some(Callable { name: given, params, results: vec![Kind::Float], writes: false })
    }

    /// A function that calls itself a few times.
    fn recursive(&mut self) -> Option<Callable> {
        let name = self.fresh("r");
        self.scope.push(free("a", Kind::Float));
        self.scope.push(Var { range: Some((0, 3)), ..fixed("m", Kind::Int) });
        self.line(format!("def {name}(a, m: int):"));
        self.indent += 1;
        let end = self.bounded(1);
        let step = self.bounded(1);
        let (op, tail) = (self.pick(&["+", "*", "-"]), self.bounded(1));
        match self.below(3) {
            0 => {
                self.line("if m <= 0:");
                self.line(format!("    return {end}"));
                self.line(format!("return {name}({step}, m - 1) {op} {tail}"));
            }
            1 => self.line(format!(
                "return {end} if m <= 0 else ({tail}) * {name}({step}, m - 2) {op} 0.5"
            )),
            _ => {
                self.line("if m <= 0:");
                self.line(format!("    return {end}"));
                let t = self.fresh("t");
                self.line(format!("{t} = {name}({step}, m // 2)"));
                self.line(format!("return {t} {op} 0.5 * {name}({tail}, m - 2)"));
            }
        }
        self.indent -= 1;
        let params = vec![("a".into(), Kind::Float, false), ("m".into(), Kind::Int, false)];
        Some(Callable { name, params, results: vec![Kind::Float], writes: false })
    }

    /// A function inside the one being written: it sees the variables around it.
    pub(crate) fn inner_function(&mut self) {
        if self.indent > 2 {
            return;
        }
        let (name, z) = (self.fresh("h"), self.fresh("z"));
        let before = self.scope.len();
        let array = self.any_array().filter(|_| self.names.is_multiple_of(3));
        let kind = array.map_or(Kind::Float, |(_, shape)| Kind::Array(shape));
        self.scope.push(fixed(&z, kind.clone()));
        let calls = std::mem::take(&mut self.callables);
        let value = match &kind {
            Kind::Array(shape) => format!("np.sum({z} * {})", self.array(shape, 1)),
            _ => format!("{z} * {}", self.float(2)),
        };
        if self.chance(2) {
            self.line(format!("{name} = lambda {z}: np.tanh({value})"));
        } else {
            self.line(format!("def {name}({z}):"));
            self.line(format!("    return math.tanh({value})"));
        }
        self.callables = calls;
        self.scope.truncate(before);
        let params = vec![(z, kind, false)];
        self.callables.push(Callable { name, params, results: vec![Kind::Float], writes: false });
    }

    /// A call for what it writes, or whose results are taken apart.
    pub(crate) fn call_statement(&mut self) {
        if self.callables.is_empty() || self.loops > 2 {
            return self.inner_function();
        }
        let all = self.callables.clone();
        let callable = self.pick(&all);
        let Some(args) = self.arguments(&callable, 1) else { return };
        let call = format!("{}({args})", callable.name);
        if callable.results.is_empty() {
            return self.line(call);
        }
        let names: Vec<String> = callable
            .results
            .iter()
            .map(|kind| {
                self.fresh(match kind {
                    Kind::Int => "k",
                    Kind::Bool => "p",
                    Kind::Array(_) => "a",
                    _ => "t",
                })
            })
            .collect();
        self.line(format!("{} = {call}", names.join(", ")));
        for (name, kind) in names.iter().zip(&callable.results) {
            match kind {
                // It is of any size.
                Kind::Float => {
                    self.line(format!("{name} = math.tanh({name})"));
                    self.scope.push(free(name, Kind::Float));
                }
                Kind::Int => {
                    self.line(format!("{name} %= 9"));
                    self.scope.push(free(name, Kind::Int));
                }
                Kind::Array(_) if self.chance(2) => {
                    self.line(format!("{name} = np.tanh({name})"));
                    self.scope.push(free(name, kind.clone()));
                }
                _ => self.scope.push(free(name, kind.clone())),
            }
        }
    }
}
