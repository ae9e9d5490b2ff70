//! Expressions whose values are numbers: floats, integers, truth values.

use super::{Callable, Kind, Writer};

impl Writer {
    /// A float. Its size is bounded where those of the variables are.
    pub(crate) fn float(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance(6) {
            return self.float_leaf();
        }
        let d = depth - 1;
        match self.below(30) {
            0..4 => format!("({} + {})", self.float(d), self.float(d)),
            4..6 => format!("({} - {})", self.float(d), self.float(d)),
            6..9 => format!("({} * {})", self.float(d), self.float(d)),
            9 => {
                let b = self.float(d);
                format!("({} / (1.5 + {b} * {b}))", self.float(d))
            }
            10 => format!("({} / {})", self.float(d), self.pick(&["2", "3.0", "-4", "1.5"])),
            11 => format!("({} ** {})", self.atom(d), self.pick(&["2", "3", "2.0"])),
            12 => format!("((abs({}) + 0.1) ** 1.5)", self.float(d)),
            13..16 => self.of_one(d),
            16 => format!("(-{})", self.atom(d)),
            17 => format!("{}({}, {})", self.pick(&["min", "max"]), self.float(d), self.float(d)),
            18 => format!("max({}, {}, {})", self.float(d), self.float(d), self.float(d)),
            19 => format!("({} * {})", self.int(d), self.float(d)),
            20 => format!("({} + {})", self.float(d), self.int(d)),
            21 => format!("({} / {})", self.int(d), self.pick(&["4", "7.0", "-3"])),
            22..24 => format!("({} if {} else {})", self.float(d), self.truth(d), self.float(d)),
            24 => match self.below(5) {
                0 => format!("({} % 1.75)", self.float(d)),
                1 => format!("({} // 0.7)", self.float(d)),
                2 => format!("float({})", self.int(d)),
                3 => format!("float({})", self.truth(d)),
                _ => format!("np.where({}, {}, {})", self.truth(d), self.float(d), self.float(d)),
            },
            25..28 => self.reduced(d),
            _ => self.call(&Kind::Float, d).unwrap_or_else(|| self.of_one(d)),
        }
    }

    fn atom(&mut self, depth: usize) -> String {
        format!("({})", self.float(depth))
    }

    fn of_one(&mut self, d: usize) -> String {
        let a = self.float(d);
        match self.below(16) {
            0 => format!("math.tanh({a})"),
            1 => format!("np.sin({a})"),
            2 => format!("math.cos({a})"),
            3 => format!("math.exp(-abs({a}))"),
            4 => format!("np.sqrt({a} * {a} + 0.5)"),
            5 => format!("math.atan2({a}, 1.0 + abs({}))", self.float(d)),
            6 => format!("np.log1p({a} ** 2)"),
            7 => format!("math.erf({a})"),
            8 => format!("np.arctan({a})"),
            9 => format!("math.hypot({a}, 1.0)"),
            10 => format!("np.clip({a}, -1.0, 1)"),
            11 => format!("np.maximum({a}, {})", self.float(d)),
            12 => format!("math.expm1(np.tanh({a}))"),
            13 => format!("math.copysign(0.5, {a})"),
            14 => format!("abs({a})"),
            _ => format!("np.minimum({a}, 0.4)"),
        }
    }

    fn reduced(&mut self, d: usize) -> String {
        let Some((_, shape)) = self.any_array() else { return self.float_leaf() };
        let shape = if shape.len() == 2 && self.chance(2) { shape[1..].to_vec() } else { shape };
        let a = self.array(&shape, d);
        let vector = shape.len() == 1;
        match self.below(13) {
            0 => format!("np.sum({a})"),
            1 => format!("np.mean({a})"),
            2 => format!("np.max({a})"),
            3 => format!("np.min({a})"),
            4 if self.chance(2) => format!("np.prod(np.tanh({a}))"),
            5 if vector => format!("np.dot({a}, {})", self.array(&shape, d)),
            6 if vector => format!("({a} @ {})", self.array(&shape, d)),
            7 => format!("np.linalg.norm({a} + 3.0)"),
            8 if vector => format!("sum({a})"),
            9 => format!("({a}).sum()"),
            10 => format!("({a}).max()"),
            11 if !vector => format!("np.einsum(\"ij,ij->\", {a}, {})", self.array(&shape, d)),
            12 if vector => format!("({a})[{}]", self.index(shape[0])),
            _ => format!("np.sum({a} * {})", self.array(&shape, d)),
        }
    }

    pub(crate) fn float_leaf(&mut self) -> String {
        for _ in 0..4 {
            let found = match self.below(10) {
                0..4 => self.var(|v| v.kind == Kind::Float).map(|v| v.name),
                4..8 => self.element(),
                8 => self.var(|v| matches!(v.kind, Kind::Tuple(_))).map(|v| {
                    format!("{}[{}]", v.name, if v.name.len() % 2 == 0 { "0" } else { "-1" })
                }),
                _ => {
                    let x = self.number(2.0);
                    Some(if x < 0.0 { format!("({x:?})") } else { format!("{x:?}") })
                }
            };
            if let Some(text) = found {
                return text;
            }
        }
        self.pick(&["0.5", "1.25", "(-0.75)", "2", "0.1", "np.pi"]).into()
    }

    /// An element of an array or a list.
    fn element(&mut self) -> Option<String> {
        let var = self.var(|v| matches!(v.kind, Kind::Array(_) | Kind::List(_)))?;
        Some(match &var.kind {
            Kind::Array(shape) if shape.len() == 2 => {
                let (i, j) = (self.index(shape[0]), self.index(shape[1]));
                if self.chance(4) {
                    format!("{}[{i}][{j}]", var.name)
                } else {
                    format!("{}[{i}, {j}]", var.name)
                }
            }
            Kind::Array(shape) => format!("{}[{}]", var.name, self.index(shape[0])),
            Kind::List(n) => format!("{}[{}]", var.name, self.index(*n)),
            _ => return None,
        })
    }

    /// An index of an axis with this many elements.
    pub(crate) fn index(&mut self, len: usize) -> String {
        let n = len as i64;
        for _ in 0..3 {
            match self.below(8) {
                0 => return self.below(len).to_string(),
                1 => return format!("-{}", 1 + self.below(len)),
                2 => return format!("{} - 1", self.size(len)),
                3 => {
                    let var = self.var(|v| matches!(v.kind, Kind::Ints(_, most) if most <= len));
                    let Some(var) = var else { continue };
                    let Kind::Ints(count, _) = var.kind else { continue };
                    return format!("{}[{}]", var.name, self.below(count));
                }
                4 => return format!("{} % {}", self.int_factor(1), self.size(len)),
                _ => {
                    let Some(var) = self.var(|v| v.range.is_some()) else { continue };
                    let (lo, hi) = var.range.unwrap_or_default();
                    let shift = self.below(5) as i64 - 2;
                    if lo + shift >= -n && hi + shift < n {
                        return match shift {
                            0 => var.name,
                            s if s > 0 => format!("{} + {s}", var.name),
                            s => format!("{} - {}", var.name, -s),
                        };
                    }
                    // Counted from the other end.
                    if lo >= 0 && hi < n {
                        return format!("-1 - {}", var.name);
                    }
                    return format!("{} % {}", var.name, self.size(len));
                }
            }
        }
        format!("{} % {len}", self.int_factor(1))
    }

    /// An expression for a length, which is known: `4`, `len(x)`, `n`.
    pub(crate) fn size(&mut self, n: usize) -> String {
        let k = n as i64;
        match self.below(4) {
            0 => {
                let named = self.var(|v| v.range == Some((k, k)));
                named.map_or(n.to_string(), |v| v.name)
            }
            1 | 2 => {
                let found = self.var(|v| match &v.kind {
                    Kind::Array(shape) => shape[0] == n,
                    Kind::List(m) | Kind::Ints(m, _) => *m == n,
                    _ => false,
                });
                match found {
                    Some(v) if matches!(v.kind, Kind::Array(_)) && self.chance(3) => {
                        format!("{}.shape[0]", v.name)
                    }
                    Some(v) => format!("len({})", v.name),
                    None => n.to_string(),
                }
            }
            _ => n.to_string(),
        }
    }

    /// An integer as it stands before `%`.
    fn int_factor(&mut self, depth: usize) -> String {
        format!("({})", self.int(depth))
    }

    /// An integer, less than a million in size.
    pub(crate) fn int(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance(4) {
            return self.int_leaf();
        }
        let d = depth - 1;
        match self.below(20) {
            0..3 => format!("({} + {})", self.int(d), self.int(d)),
            3..5 => format!("({} - {})", self.int(d), self.int(d)),
            5 => format!("({} * {})", self.int_leaf(), self.int_leaf()),
            6..8 => format!("({} // {})", self.int_factor(d), self.pick(&["2", "3", "(-2)"])),
            8..10 => format!("({} % {})", self.int_factor(d), self.pick(&["2", "5", "(-3)", "7"])),
            10 => {
                let op = self.pick(&["&", "|", "^"]);
                format!("({} {op} {})", self.int(d), self.int(d))
            }
            11 => format!("({} << {})", self.int(d), self.below(3)),
            12 => format!("({} >> {})", self.int(d), self.below(3)),
            13 => format!("(~{})", self.int_factor(d)),
            14 => format!("({} ** 2)", self.int_leaf()),
            15 => format!("(2 ** ({} % 5))", self.int_factor(d)),
            16 => format!("{}({}, {})", self.pick(&["min", "max"]), self.int(d), self.int(d)),
            17 => format!("({} if {} else {})", self.int(d), self.truth(d), self.int(d)),
            18 => match self.below(6) {
                0 => format!("int({} * 2)", self.bounded(d)),
                1 => format!("math.floor({} * 3)", self.bounded(d)),
                2 => format!("round({} * 3)", self.bounded(d)),
                3 => self.call(&Kind::Int, d).unwrap_or_else(|| self.int_leaf()),
                _ => format!("abs({})", self.int(d)),
            },
            _ => match self.any_array() {
                Some((_, shape)) if self.chance(2) => {
                    format!("{}({})", self.pick(&["np.argmax", "np.argmin"]), self.array(&shape, d))
                }
                _ => format!("(-{})", self.int_factor(d)),
            },
        }
    }

    fn int_leaf(&mut self) -> String {
        match self.below(6) {
            0..3 => {
                if let Some(v) = self.var(|v| v.kind == Kind::Int) {
                    return v.name;
                }
            }
            3 => {
                if let Some((v, _)) = self.any_array() {
                    let size = self.pick(&["len(@)", "@.shape[-1]", "@.size", "@.ndim"]);
                    return size.replace('@', &v.name);
                }
            }
            4 => {
                if let Some(v) = self.var(|v| matches!(v.kind, Kind::Ints(..))) {
                    let Kind::Ints(n, _) = v.kind else { unreachable!() };
                    return format!("{}[{}]", v.name, self.index(n));
                }
            }
            _ => {}
        }
        self.below(6).to_string()
    }

    /// True or false.
    pub(crate) fn truth(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        if depth > 0 {
            match self.below(12) {
                0 | 1 => {
                    let word = self.pick(&["and", "or"]);
                    return format!("({} {word} {})", self.truth(d), self.truth(d));
                }
                2 => return format!("(not {})", self.truth(d)),
                3 => {
                    let (a, b, c) = (self.float(d), self.float(d), self.float(d));
                    let (p, q) = (self.pick(&["<", "<="]), self.pick(&["<", ">", "<="]));
                    return format!("({a} {p} {b} {q} {c})");
                }
                4 => {
                    if let Some((_, shape)) = self.any_array() {
                        let (a, b) = (self.array(&shape, d), self.float(d));
                        let which = self.pick(&["np.any", "np.all"]);
                        return format!("{which}({a} > {b})");
                    }
                }
                _ => {}
            }
        }
        match self.below(8) {
            0 => {
                if let Some(v) = self.var(|v| v.kind == Kind::Bool) {
                    return v.name;
                }
                self.pick(&["True", "False"]).into()
            }
            1..4 => {
                let op = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {op} {})", self.int(d), self.int(d))
            }
            4 => format!("({} % 2 == {})", self.int_factor(d), self.below(2)),
            _ => {
                let op = self.pick(&["<", "<=", ">", ">="]);
                format!("({} {op} {})", self.float(d), self.float(d))
            }
        }
    }

    /// A float of size 3 at most, whatever the variables are.
    pub(crate) fn bounded(&mut self, depth: usize) -> String {
        let e = self.float(depth);
        match self.below(7) {
            0 | 1 => format!("math.tanh({e})"),
            2 => format!("np.sin({e})"),
            3 => format!("np.clip({e}, -2.0, 2.0)"),
            4 => format!("max(min({e}, 1.5), -2.5)"),
            5 => format!("({e}) / (1.0 + abs({e}))"),
            _ => format!("np.tanh({e} * 0.5)"),
        }
    }

    /// A call of a function in scope that gives one value of this kind.
    pub(crate) fn call(&mut self, kind: &Kind, depth: usize) -> Option<String> {
        let fits = |c: &&Callable| c.results.first() == Some(kind);
        let all: Vec<Callable> = self.callables.iter().filter(fits).cloned().collect();
        if all.is_empty() || self.loops > 2 {
            return None;
        }
        let callable = self.pick(&all);
        let args = self.arguments(&callable, depth)?;
        let item = if callable.results.len() > 1 { "[0]" } else { "" };
        Some(format!("{}({args}){item}", callable.name))
    }

    /// Arguments for a function: by position, the last ones now and then by name or not at all.
    pub(crate) fn arguments(&mut self, callable: &Callable, depth: usize) -> Option<String> {
        let depth = depth.min(1);
        let mut args = Vec::new();
        let mut named = false;
        for (name, kind, has_default) in &callable.params {
            if *has_default && self.chance(2) {
                named = true;
                continue;
            }
            let value = match kind {
                Kind::Float => self.float(depth),
                Kind::Int => self.below(4).to_string(),
                Kind::Bool => self.truth(depth),
                Kind::Array(shape) if callable.writes => {
                    let shape = shape.clone();
                    let var = self.var(|v| !v.frozen && v.kind == Kind::Array(shape.clone()))?;
                    // One array is not given twice to a function that writes.
                    if args.contains(&var.name) {
                        return None;
                    }
                    var.name
                }
                Kind::Array(shape) => self.array(shape, depth),
                _ => return None,
            };
            args.push(if named || (*has_default && self.chance(2)) {
                named = true;
                format!("{name}={value}")
            } else {
                value
            });
        }
        Some(args.join(", "))
    }
}
