//! Statements: assignments of every kind, branches, and how a function ends.

use super::{Kind, Var, Writer, free};

impl Writer {
    /// Statements, as many as the budget allows.
    pub(crate) fn body(&mut self) {
        self.starting_values();
        while self.budget > 0 {
            self.statement();
        }
    }

    /// A float and an array to work with.
    fn starting_values(&mut self) {
        if self.vars(|v| v.kind == Kind::Float && !v.fixed).is_empty() || self.chance(2) {
            let name = self.fresh("s");
            // An integer that becomes a float.
            let value = self.pick(&["0.0", "0", "1.0", "0.25", "1"]);
            self.line(format!("{name} = {value}"));
            self.scope.push(free(&name, Kind::Float));
        }
        if self.chance(3) {
            let name = self.fresh("k");
            self.line(format!("{name} = {}", self.names % 4));
            self.scope.push(free(&name, Kind::Int));
        }
        let none = self.vars(|v| matches!(v.kind, Kind::Array(_))).is_empty();
        if none && self.chance(2) || self.chance(4) {
            self.new_array();
        }
    }

    /// A block of a few statements, with what it defines forgotten after it.
    pub(crate) fn block(&mut self, most: usize) {
        let (vars, callables) = (self.scope.len(), self.callables.len());
        self.indent += 1;
        let start = self.lines.len();
        for _ in 0..1 + self.below(most) {
            self.statement();
        }
        if self.lines.len() == start {
            self.line("pass");
        }
        self.indent -= 1;
        self.forget(vars, callables);
    }

    /// One statement, with what it needs before it.
    pub(crate) fn statement(&mut self) {
        self.budget -= 1;
        if self.fails && self.chance(12) {
            self.failure();
            return;
        }
        match self.below(40) {
            0..5 => self.set_float(),
            5..7 => self.set_int(),
            7 => self.set_truth(),
            8..11 => self.new_array(),
            11..15 => self.set_element(),
            15..18 => self.set_slice(),
            18 => self.update_array(),
            19..21 => self.rebind_array(),
            21..23 => self.share(),
            23..25 => self.tuples(),
            25 => self.lists(),
            26..30 => self.branch(),
            30..35 => self.looping(),
            35 => self.assertion(),
            36 => self.inner_function(),
            37..39 => self.call_statement(),
            _ => match self.below(3) {
                0 => self.line("pass"),
                1 => self.early_return(),
                _ => self.integers(),
            },
        }
    }

    fn set_float(&mut self) {
        let depth = 1 + self.below(3);
        let old = self.var(|v| v.kind == Kind::Float && !v.fixed);
        match old {
            Some(v) if self.chance(2) => {
                let value = self.bounded(depth);
                match self.below(6) {
                    0 => self.line(format!("{} += 0.5 * {value}", v.name)),
                    1 => self.line(format!("{} -= {value}", v.name)),
                    2 => self.line(format!("{} *= 0.9", v.name)),
                    3 => self.line(format!("{} /= 1.0 + abs({value})", v.name)),
                    _ => self.line(format!("{} = {value}", v.name)),
                }
            }
            _ => {
                let value = self.bounded(depth);
                let name = self.fresh("t");
                if self.chance(8) {
                    let other = self.fresh("t");
                    self.line(format!("{name} = {other} = {value}"));
                    self.scope.push(free(&other, Kind::Float));
                } else {
                    self.line(format!("{name} = {value}"));
                }
                self.scope.push(free(&name, Kind::Float));
            }
        }
    }

    fn set_int(&mut self) {
        let old = self.var(|v| v.kind == Kind::Int && !v.fixed);
        match old {
            Some(v) if self.chance(2) => match self.below(6) {
                0 | 1 => self.line(format!("{} += {}", v.name, self.names % 3 + 1)),
                2 => self.line(format!("{} //= 2", v.name)),
                3 => self.line(format!("{} %= 5", v.name)),
                4 => self.line(format!("{} ^= {}", v.name, self.names % 8)),
                _ => {
                    let value = self.int(2);
                    self.line(format!("{} = ({value}) % 11", v.name));
                }
            },
            _ => {
                let value = self.int(2);
                let name = self.fresh("k");
                self.line(format!("{name} = ({value}) % 13"));
                self.scope.push(free(&name, Kind::Int));
            }
        }
    }

    fn set_truth(&mut self) {
        let value = self.truth(2);
        let name = match self.var(|v| v.kind == Kind::Bool) {
            Some(v) if self.chance(2) => v.name,
            _ => {
                let name = self.fresh("p");
                self.scope.push(free(&name, Kind::Bool));
                name
            }
        };
        self.line(format!("{name} = {value}"));
    }

    /// A vector of integers.
    fn integers(&mut self) {
        let (n, most) = (2 + self.below(3), 2 + self.below(3));
        let name = self.fresh("idx");
        if self.chance(2) {
            let items: Vec<String> = (0..n).map(|_| self.below(most).to_string()).collect();
            self.line(format!("{name} = np.array([{}])", items.join(", ")));
        } else {
            let size = self.size(n);
            self.line(format!("{name} = np.arange({size}) % {most}"));
        }
        self.scope.push(Var { fixed: true, ..free(&name, Kind::Ints(n, most)) });
    }

    fn some_shape(&mut self) -> Vec<usize> {
        match self.any_array() {
            Some((_, shape)) if !self.chance(3) => shape,
            _ if self.chance(3) => vec![2 + self.below(2), 2 + self.below(3)],
            _ => vec![2 + self.below(4)],
        }
    }

    fn new_array(&mut self) {
        let name = self.fresh("a");
        let shape = self.some_shape();
        let value = if self.chance(2) {
            self.made(&shape)
        } else {
            let value = self.array(&shape, 2);
            if self.loops > 0 { self.small(&value) } else { format!("np.tanh({value})") }
        };
        self.line(format!("{name} = {value}"));
        self.scope.push(free(&name, Kind::Array(shape)));
    }

    /// A new array with bounded elements.
    fn small(&mut self, array: &str) -> String {
        match self.below(3) {
            0 => format!("np.clip({array}, -1.5, 1.5)"),
            1 => format!("np.sin({array})"),
            _ => format!("np.tanh({array})"),
        }
    }

    /// An array in scope that may be written.
    fn written(&mut self) -> Option<(String, Vec<usize>)> {
        let v = self.var(|v| matches!(v.kind, Kind::Array(_)) && !v.frozen)?;
        let Kind::Array(shape) = v.kind else { return None };
        Some((v.name, shape))
    }

    fn set_element(&mut self) {
        let list = self.chance(4).then(|| self.var(|v| matches!(v.kind, Kind::List(_)))).flatten();
        let target = if let Some(v) = list {
            let Kind::List(n) = v.kind else { unreachable!() };
            format!("{}[{}]", v.name, self.index(n))
        } else {
            let Some((name, shape)) = self.written() else { return self.new_array() };
            let indices: Vec<String> = shape.iter().map(|n| self.index(*n)).collect();
            if indices.len() == 2 && self.chance(5) {
                format!("{name}[{}][{}]", indices[0], indices[1])
            } else {
                format!("{name}[{}]", indices.join(", "))
            }
        };
        let value = self.bounded(2);
        match self.below(6) {
            0 => self.line(format!("{target} += {value}")),
            1 => self.line(format!("{target} *= 0.5")),
            2 => self.line(format!("{target} -= 0.25 * {value}")),
            _ => self.line(format!("{target} = {value}")),
        }
    }

    fn set_slice(&mut self) {
        let Some((name, shape)) = self.written() else { return self.new_array() };
        let (target, part) = match self.below(6) {
            0 => (format!("{name}[:]"), shape),
            1 if shape.len() == 2 => (format!("{name}[...]"), shape),
            2 => {
                let value = self.pick(&["0.25", "-0.5", "0.0"]);
                let at = self.array(&shape, 1);
                let change = self.pick(&["=", "=", "*=", "+="]);
                return self.line(format!("{name}[{at} > {value}] {change} 0.75"));
            }
            _ => match self.view_of(&name, &shape) {
                // A transpose is no target of an assignment.
                Some((text, part)) if text.ends_with(']') => (text, part),
                _ => (format!("{name}[:]"), shape),
            },
        };
        let value = match self.below(4) {
            0 => self.bounded(2),
            1 if part.len() == 2 => {
                let row = self.array(&part[1..], 1);
                self.small(&row)
            }
            _ => {
                let value = self.array(&part, 2);
                if self.chance(3) { value } else { self.small(&value) }
            }
        };
        match self.below(5) {
            0 => self.line(format!("{target} += 0.5 * {value}")),
            1 => self.line(format!("{target} *= 0.8")),
            _ => self.line(format!("{target} = {value}")),
        }
    }

    fn update_array(&mut self) {
        let Some((name, shape)) = self.written() else { return self.new_array() };
        match self.below(4) {
            0 => self.line(format!("{name} *= {}", ["0.5", "-0.9", "np.cos(0.3)"][self.names % 3])),
            1 => {
                let value = self.bounded(1);
                self.line(format!("{name} += {value}"));
            }
            _ => {
                let value = self.array(&shape, 2);
                let value = self.small(&value);
                self.line(format!("{name} {} {value}", ["+=", "-=", "*="][self.names % 3]));
            }
        }
    }

    /// Another array by a name that has one.
    fn rebind_array(&mut self) {
        let Some((v, shape)) = self.any_array() else { return self.new_array() };
        if v.fixed {
            return self.new_array();
        }
        let value = self.array(&shape, 2);
        let value = self.small(&value);
        self.line(format!("{} = {value}", v.name));
        // It is an array of its own now, unless that depends on the path.
        if self.indent == 1 {
            self.scope.iter_mut().filter(|w| w.name == v.name).for_each(|w| w.frozen = false);
        }
    }

    /// A second name, a view, or one of two arrays.
    fn share(&mut self) {
        let Some((v, shape)) = self.any_array() else { return self.new_array() };
        let name = self.fresh("w");
        match self.below(6) {
            0 => {
                self.line(format!("{name} = {}", v.name));
                self.scope.push(Var { name, fixed: false, range: None, ..v });
            }
            1 if self.chance(2) => {
                let kind = Kind::Array(shape);
                let Some(other) = self.var(|w| w.kind == kind) else { return };
                let cond = self.truth(1);
                let choice = format!("{} if {cond} else {}", v.name, other.name);
                if self.chance(2) {
                    self.line(format!("{name} = np.copy({choice})"));
                    self.scope.push(free(&name, kind));
                } else {
                    self.line(format!("{name} = {choice}"));
                    for w in &mut self.scope {
                        w.frozen |= w.name == v.name || w.name == other.name;
                    }
                    self.scope.push(Var { frozen: true, ..free(&name, kind) });
                }
            }
            2 if shape.len() == 2 => {
                // A view of a view.
                let Some((text, inner)) = self.view_of(&v.name, &shape) else { return };
                let (text, inner) = self.view_of(&text, &inner).unwrap_or((text, inner));
                self.line(format!("{name} = {text}"));
                self.scope.push(Var { frozen: v.frozen, ..free(&name, Kind::Array(inner)) });
            }
            _ => {
                let Some((text, inner)) = self.view_of(&v.name, &shape) else { return };
                self.line(format!("{name} = {text}"));
                self.scope.push(Var { frozen: v.frozen, ..free(&name, Kind::Array(inner)) });
            }
        }
    }

    /// Tuples: swaps, several targets, values that are tuples.
    fn tuples(&mut self) {
        match self.below(6) {
            0 => {
                let Some((v, shape)) = self.any_array() else { return };
                let kind = Kind::Array(shape);
                let other = self.var(|w| w.kind == kind && w.name != v.name && !w.fixed);
                let Some(other) = other.filter(|w| !v.fixed && w.frozen == v.frozen) else {
                    return;
                };
                self.line(format!("{}, {} = {}, {}", v.name, other.name, other.name, v.name));
            }
            1 => {
                let Some(v) = self.var(|v| v.kind == Kind::Float && !v.fixed) else { return };
                let Some(w) = self.var(|w| w.kind == Kind::Float && !w.fixed) else { return };
                if v.name == w.name {
                    return;
                }
                let value = self.bounded(1);
                self.line(format!("{}, {} = {}, {value}", v.name, w.name, w.name));
            }
            2 => {
                let name = self.fresh("pair");
                let (a, b) = (self.bounded(1), self.bounded(1));
                self.line(format!("{name} = ({a}, {b})"));
                self.scope.push(free(&name, Kind::Tuple(2)));
            }
            3 => {
                let Some(v) = self.var(|v| matches!(v.kind, Kind::Tuple(_))) else { return };
                let (a, b) = (self.fresh("t"), self.fresh("t"));
                self.line(format!("{a}, {b} = {}", v.name));
                self.scope.push(free(&a, Kind::Float));
                self.scope.push(free(&b, Kind::Float));
            }
            4 => {
                // Elements of one array change places.
                let Some((name, shape)) = self.written() else { return };
                if shape.len() == 2 {
                    return;
                }
                let (i, j) = (self.index(shape[0]), self.index(shape[0]));
                self.line(format!("{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]"));
            }
            _ => {
                let (a, k) = (self.fresh("t"), self.fresh("k"));
                let (x, n) = (self.bounded(2), self.int(1));
                self.line(format!("{a}, {k} = {x}, ({n}) % 6"));
                self.scope.push(free(&a, Kind::Float));
                self.scope.push(free(&k, Kind::Int));
            }
        }
    }

    fn lists(&mut self) {
        let name = self.fresh("q");
        let n = 2 + self.below(3);
        if self.chance(2) {
            let size = self.size(n);
            self.line(format!("{name} = [0.0] * {size}"));
        } else {
            let items: Vec<String> = (0..n).map(|_| self.bounded(1)).collect();
            self.line(format!("{name} = [{}]", items.join(", ")));
        }
        self.scope.push(Var { fixed: true, ..free(&name, Kind::List(n)) });
    }

    fn branch(&mut self) {
        let cond = self.truth(2);
        self.line(format!("if {cond}:"));
        self.block(3);
        while self.chance(3) {
            let cond = self.truth(1);
            self.line(format!("elif {cond}:"));
            self.block(2);
        }
        if self.chance(2) {
            self.line("else:");
            self.block(3);
        }
        // A name set on every path.
        if self.chance(5) {
            let name = self.fresh("t");
            let (cond, a, b) = (self.truth(1), self.bounded(1), self.bounded(1));
            self.line(format!("if {cond}:"));
            self.line(format!("    {name} = {a}"));
            self.line("else:");
            self.line(format!("    {name} = {b}"));
            self.scope.push(free(&name, Kind::Float));
        }
    }

    fn assertion(&mut self) {
        let a = self.float(1);
        match self.below(3) {
            0 => self.line(format!("assert {a} ** 2 >= 0, \"a square\"")),
            1 => self.line(format!("assert -1.0 <= math.tanh({a}) <= 1.0")),
            _ => {
                let cond = self.truth(1);
                self.line(format!("assert {cond} or not {cond}"));
            }
        }
    }

    /// A statement that fails, whatever the path to it.
    pub(crate) fn failure(&mut self) {
        self.fails = false;
        match (self.below(4), self.any_array()) {
            (0, Some((v, _))) => {
                let name = self.fresh("t");
                self.line(format!("{name} = {}[len({}) + {}]", v.name, v.name, self.names % 2));
            }
            (1, Some((v, shape))) if !v.frozen => {
                let rest = if shape.len() == 2 { ", 0" } else { "" };
                self.line(format!("{}[-1 - len({}){rest}] = 0.5", v.name, v.name));
            }
            (2, _) => {
                let (name, k) = (self.fresh("k"), self.int(1));
                let op = self.pick(&["//", "%"]);
                // NumPy's own integers only warn.
                self.line(format!("{name} = 7 {op} (int({k}) * 0)"));
                self.scope.push(free(&name, Kind::Int));
            }
            _ => {
                let a = self.float(1);
                self.line(format!("assert ({a}) ** 2 < 0, \"never\""));
            }
        }
    }

    /// A return on some paths.
    pub(crate) fn early_return(&mut self) {
        if self.results.is_empty() {
            return;
        }
        let cond = self.truth(2);
        self.line(format!("if {cond}:"));
        self.indent += 1;
        self.finish();
        self.indent -= 1;
    }

    /// The return of what the function returns.
    pub(crate) fn finish(&mut self) {
        let kinds = self.results.clone();
        if kinds.is_empty() {
            if self.chance(3) {
                self.line("return");
            }
            return;
        }
        let values: Vec<String> = kinds.iter().map(|kind| self.of_kind(kind)).collect();
        self.line(format!("return {}", values.join(", ")));
    }

    fn of_kind(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Int => self.int(1),
            Kind::Bool => self.truth(1),
            Kind::Array(shape) => {
                let depth = self.below(3);
                self.array(shape, depth)
            }
            _ => {
                // What happened should be seen: all floats and arrays matter.
                let mut terms = vec![self.float(1)];
                for v in self.vars(|_| true) {
                    match v.kind {
                        Kind::Float if v.name != "SCALE" && self.chance(2) => terms.push(v.name),
                        Kind::Array(_) if !self.chance(3) => {
                            terms.push(format!("np.sum({} * 1.5)", v.name));
                        }
                        _ => {}
                    }
                }
                terms.join(" + ")
            }
        }
    }
}
