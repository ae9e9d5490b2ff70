//! Expressions whose values are arrays of floats, and views.

use super::{Kind, Writer};

impl Writer {
    /// An array of this shape: a variable, a view or a new one.
    pub(crate) fn array(&mut self, shape: &[usize], depth: usize) -> String {
        if depth == 0 || self.chance(4) {
            return self.array_leaf(shape);
        }
        let d = depth - 1;
        match self.below(30) {
            0..3 => format!("({} + {})", self.array(shape, d), self.array(shape, d)),
            3..5 => format!("({} - {})", self.array(shape, d), self.array(shape, d)),
            5..7 => format!("({} * {})", self.array(shape, d), self.array(shape, d)),
            7 => format!("({} * {})", self.float(d), self.array(shape, d)),
            8 => format!("({} - {})", self.float(d), self.array(shape, d)),
            9 => format!("({} + {})", self.array(shape, d), self.int(d)),
            10 => {
                let b = self.array(shape, d);
                format!("({} / (1.0 + {b} * {b}))", self.array(shape, d))
            }
            11 => format!("(({}) ** 2)", self.array(shape, d)),
            12 => format!("(-{})", self.array(shape, d)),
            13..16 => {
                let of = self.pick(&["np.tanh", "np.sin", "np.cos", "np.abs", "np.arctan"]);
                format!("{of}({})", self.array(shape, d))
            }
            16 => format!("np.exp(-np.abs({}))", self.array(shape, d)),
            17 => {
                let (a, b) = (self.array(shape, d), self.array(shape, d));
                let other = if self.chance(2) { self.float(d) } else { self.array(shape, d) };
                format!("np.where({a} > {b}, {}, {other})", self.array(shape, d))
            }
            18 => {
                let of = self.pick(&["np.maximum", "np.minimum"]);
                let other = if self.chance(2) { self.float(d) } else { self.array(shape, d) };
                format!("{of}({}, {other})", self.array(shape, d))
            }
            19 => format!("np.clip({}, -1.0, 0.9)", self.array(shape, d)),
            20 if self.chance(2) => {
                format!(
                    "({} if {} else {})",
                    self.array(shape, d),
                    self.truth(d),
                    self.array(shape, d)
                )
            }
            21 => format!("np.copy({})", self.array(shape, d)),
            22 => {
                let kind = Kind::Array(shape.to_vec());
                self.call(&kind, d).unwrap_or_else(|| self.array_leaf(shape))
            }
            _ if shape.len() == 1 => self.vector(shape[0], d),
            _ => self.matrix(shape[0], shape[1], d),
        }
    }

    fn vector(&mut self, n: usize, d: usize) -> String {
        match self.below(15) {
            0 => format!("np.cumsum({})", self.array(&[n], d)),
            1 => format!("np.sort({})", self.array(&[n], d)),
            2 => {
                let m = 2 + self.below(3);
                format!("({} @ {})", self.array(&[n, m], d), self.array(&[m], d))
            }
            3 => {
                let m = 2 + self.below(3);
                format!("np.dot({}, {})", self.array(&[m], d), self.array(&[m, n], d))
            }
            4..6 => {
                let m = 2 + self.below(2);
                let of = self.pick(&["np.sum", "np.mean", "np.max", "np.min"]);
                let (shape, axis) =
                    if self.chance(2) { ([m, n], "0") } else { ([n, m], self.pick(&["1", "-1"])) };
                format!("{of}({}, axis={axis})", self.array(&shape, d))
            }
            6 => {
                let m = 2 + self.below(2);
                format!("({}).sum(axis=0)", self.array(&[m, n], d))
            }
            7 if n >= 4 => {
                let m = 2 + self.below(n - 3);
                format!("np.concatenate([{}, {}])", self.array(&[m], d), self.array(&[n - m], d))
            }
            8 => {
                let wanted = self.var(|v| matches!(v.kind, Kind::Ints(m, _) if m == n));
                let Some(var) = wanted else { return self.array_leaf(&[n]) };
                let Kind::Ints(_, most) = var.kind else { unreachable!() };
                let (name, m) = (var.name, most.max(2));
                format!("({})[{name}]", self.array(&[m], d))
            }
            9 => format!("({})[::-1]", self.array(&[n], d)),
            10 => {
                let more = self.below(3);
                let start = self.below(more + 1);
                let a = self.array(&[n + more], d);
                format!("({a})[{start}:{}]", start + n)
            }
            11 if n == 4 || n == 6 => format!("np.ravel({})", self.array(&[2, n / 2], d)),
            12 => {
                let m = 2 + self.below(2);
                format!(
                    "np.einsum(\"ij,j->i\", {}, {})",
                    self.array(&[n, m], d),
                    self.array(&[m], d)
                )
            }
            13 => {
                let items: Vec<String> = (0..n).map(|_| self.float(d.min(1))).collect();
                // An integer where a float is meant would make an array of integers.
                format!("np.array([1.0 * {}])", items.join(", "))
            }
            _ => format!("np.cumprod(np.tanh({}))", self.array(&[n], d)),
        }
    }

    fn matrix(&mut self, r: usize, c: usize, d: usize) -> String {
        match self.below(12) {
            0 => format!("np.outer({}, {})", self.array(&[r], d), self.array(&[c], d)),
            1 => {
                let op = self.pick(&["*", "+", "-"]);
                format!("(({})[:, None] {op} {})", self.array(&[r], d), self.array(&[c], d))
            }
            2 => {
                let (a, b) = (self.array(&[r], d), self.array(&[c], d));
                format!("(({a})[:, np.newaxis] * ({b})[None, :])")
            }
            3 => {
                let m = 2 + self.below(2);
                format!("({} @ {})", self.array(&[r, m], d), self.array(&[m, c], d))
            }
            4 => {
                let (a, axis) = (self.array(&[r, c], d), self.below(2));
                let of = self.pick(&["np.mean", "np.sum", "np.max"]);
                format!("({a} - {of}({a}, axis={axis}, keepdims=True))")
            }
            5 if r == 2 => {
                let of = self.pick(&["np.stack", "np.vstack"]);
                format!("{of}([{}, {}])", self.array(&[c], d), self.array(&[c], d))
            }
            6 => format!("({}).T", self.array(&[c, r], d)),
            7 => format!("({} + {})", self.array(&[r, c], d), self.array(&[c], d)),
            8 => format!("({}).reshape(({r}, {c}))", self.array(&[r * c], d)),
            9 => format!("np.cumsum({}, axis={})", self.array(&[r, c], d), self.below(2)),
            10 => format!(
                "np.sort({}, axis={})",
                self.array(&[r, c], d),
                self.pick(&["0", "1", "-1"])
            ),
            _ => format!("({} * ({})[:, None])", self.array(&[r, c], d), self.array(&[r], d)),
        }
    }

    pub(crate) fn array_leaf(&mut self, shape: &[usize]) -> String {
        let wanted = Kind::Array(shape.to_vec());
        if !self.chance(5)
            && let Some(v) = self.var(|v| v.kind == wanted)
        {
            return v.name;
        }
        for _ in 0..6 {
            if let Some((text, found)) = self.view()
                && found == shape
            {
                return text;
            }
        }
        self.made_inside(shape)
    }

    /// A new array of this shape, as it stands in a larger expression.
    fn made_inside(&mut self, shape: &[usize]) -> String {
        let made = self.made(shape);
        if made.ends_with(')') && !made.contains(") ") { made } else { format!("({made})") }
    }

    /// A new array of this shape.
    pub(crate) fn made(&mut self, shape: &[usize]) -> String {
        let size = if let [n] = shape {
            self.size(*n)
        } else {
            let (r, c) = (self.size(shape[0]), self.size(shape[1]));
            format!("({r}, {c})")
        };
        match self.below(8) {
            0 => format!("np.zeros({size})"),
            1 => format!("np.ones({size})"),
            2 | 3 => format!("np.full({size}, 1.0 * {})", self.float(1)),
            4 if shape.len() == 1 => format!("np.linspace(-0.5, {}, {size})", self.float(0)),
            5 if shape.len() == 1 => format!("np.arange({size}) * 0.5 * {}", self.float_leaf()),
            6 if shape.len() == 2 && shape[0] == shape[1] => {
                format!("np.eye({}) * {}", self.size(shape[0]), self.float_leaf())
            }
            _ => {
                let same = Kind::Array(shape.to_vec());
                match self.var(|v| v.kind == same) {
                    Some(v) => format!("np.copy({})", v.name),
                    None => format!("np.zeros({size}) + {}", self.float(1)),
                }
            }
        }
    }

    /// A view of an array in scope that can be written through, and its shape.
    pub(crate) fn view(&mut self) -> Option<(String, Vec<usize>)> {
        let (var, shape) = self.any_array()?;
        self.view_of(&var.name, &shape)
    }

    pub(crate) fn view_of(&mut self, name: &str, shape: &[usize]) -> Option<(String, Vec<usize>)> {
        if let [n] = shape {
            let (slice, m) = self.slice(*n);
            return (m >= 2).then(|| (format!("{name}[{slice}]"), vec![m]));
        }
        let (r, c) = (shape[0], shape[1]);
        Some(match self.below(8) {
            0..2 => (format!("{name}[{}]", self.index(r)), vec![c]),
            2 => (format!("{name}[{}, :]", self.index(r)), vec![c]),
            3 => (format!("{name}[:, {}]", self.index(c)), vec![r]),
            4 => (format!("{name}.T"), vec![c, r]),
            5 => {
                let (slice, m) = self.slice(r);
                if m < 2 {
                    return None;
                }
                (format!("{name}[{slice}]"), vec![m, c])
            }
            6 => {
                let ((p, m), (q, n)) = (self.slice(r), self.slice(c));
                if m < 2 || n < 2 {
                    return None;
                }
                (format!("{name}[{p}, {q}]"), vec![m, n])
            }
            _ => {
                let (slice, m) = self.slice(c);
                if m < 2 {
                    return None;
                }
                (format!("{name}[{}, {slice}]", self.index(r)), vec![m])
            }
        })
    }

    /// A slice of an axis, and how many elements it takes.
    pub(crate) fn slice(&mut self, len: usize) -> (String, usize) {
        let n = len as i64;
        let bound = |w: &mut Writer| {
            let at = w.below(2 * len + 3) as i64 - n - 1;
            (!w.chance(3)).then_some(at)
        };
        let step = self.pick(&[1, 1, 1, 1, 2, -1, -2]);
        let (start, stop) = (bound(self), bound(self));
        let clamp = |at: i64, lo: i64, hi: i64| (if at < 0 { at + n } else { at }).clamp(lo, hi);
        let count = if step > 0 {
            let (a, b) = (clamp(start.unwrap_or(0), 0, n), clamp(stop.unwrap_or(n), 0, n));
            (b - a + step - 1).max(0) / step
        } else {
            let a = start.map_or(n - 1, |at| clamp(at, -1, n - 1));
            let b = stop.map_or(-1, |at| clamp(at, -1, n - 1));
            (a - b - step - 1).max(0) / -step
        };
        let show = |at: Option<i64>| at.map_or(String::new(), |k| k.to_string());
        let mut text = format!("{}:{}", show(start), show(stop));
        if step != 1 {
            text += &format!(":{step}");
        }
        (text, count as usize)
    }
}
