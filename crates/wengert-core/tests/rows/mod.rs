//! The rows of the rule table with their references: what `tests/data/rows.txt` says, what the programs
//! give, and how the two are compared.

use wengert_core::check::{self, Derived, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::{Func, parse};
use wengert_core::math;
use wengert_core::ops::{Prim, Scalar};

/// A row at a point: what it computes there, and its derivatives by its float inputs.
#[derive(Clone, Debug)]
pub(crate) struct Computed {
    pub(crate) value: Scalar,
    pub(crate) first: Vec<f64>,
    /// By the first input twice, by the first and second, and so on: `pairs` has the order.
    pub(crate) second: Vec<f64>,
}

/// One line of the data file.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) prim: Prim,
    pub(crate) inputs: Vec<Scalar>,
    /// Correctly rounded. Rows without a derivative have none here.
    pub(crate) want: Computed,
}

/// Input letters and the output letter of a row.
fn letters(prim: Prim) -> (Vec<char>, char) {
    let (inputs, output) = prim.signature().split_once('>').unwrap();
    (inputs.chars().collect(), output.chars().next().unwrap())
}

/// Whether a row takes or gives floats, so that it must be in the data file.
pub(crate) fn has_floats(prim: Prim) -> bool {
    prim.signature().contains(['f', 'd', 's', '*'])
}

/// The numbers of the float inputs.
pub(crate) fn floats(prim: Prim) -> Vec<usize> {
    let (inputs, _) = letters(prim);
    (0..inputs.len()).filter(|k| matches!(inputs[*k], 'f' | 'd' | 's' | '*')).collect()
}

/// Pairs of float inputs, as positions in `floats`.
pub(crate) fn pairs(count: usize) -> Vec<(usize, usize)> {
    (0..count).flat_map(|j| (j..count).map(move |k| (j, k))).collect()
}

pub(crate) fn references() -> Vec<Reference> {
    let lines = include_str!("../data/rows.txt").lines().filter(|l| !l.starts_with('#'));
    let parsed = lines.map(|line| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let prim = Prim::from_name(fields[0]).unwrap_or_else(|| panic!("no row `{}`", fields[0]));
        let (inputs, output) = letters(prim);
        let words = fields[1].split(' ').zip(&inputs);
        let numbers = |k: usize| -> Vec<f64> {
            let words = fields.get(k).into_iter().flat_map(|f| f.split(' '));
            words.map(|w| w.parse().unwrap()).collect()
        };
        Reference {
            prim,
            inputs: words.map(|(word, letter)| scalar(word, *letter)).collect(),
            want: Computed {
                value: scalar(fields[2], output),
                first: numbers(3),
                second: numbers(4),
            },
        }
    });
    parsed.collect()
}

fn scalar(word: &str, letter: char) -> Scalar {
    match letter {
        'i' => Scalar::I64(word.parse().unwrap()),
        'b' => Scalar::Bool(word == "true"),
        's' => Scalar::F32(float(word) as f32),
        _ => Scalar::F64(float(word)),
    }
}

/// A float in decimals or, as Python writes it, in hexadecimal.
fn float(word: &str) -> f64 {
    let (sign, size) = match word.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, word),
    };
    let Some(hex) = size.strip_prefix("0x") else { return word.parse().unwrap() };
    let (digits, exponent) = hex.split_once('p').unwrap();
    let (whole, fraction) = digits.split_once('.').unwrap();
    let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap() as f64;
    let exponent = exponent.parse::<i32>().unwrap() - 4 * fraction.len() as i32;
    // In two steps: the power alone may be out of range.
    sign * mantissa * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

/// A row applied to its parameters; `size` is the type of its floats.
pub(crate) fn program(prim: Prim, size: &str) -> Func {
    let (inputs, output) = letters(prim);
    let ty = |letter: char| match letter {
        'i' => "i64",
        'b' => "bool",
        'd' => "f64",
        's' => "f32",
        _ => size,
    };
    let params: Vec<String> =
        inputs.iter().enumerate().map(|(k, c)| format!("%x{k}: {}", ty(*c))).collect();
    let args: Vec<String> = (0..inputs.len()).map(|k| format!("%x{k}")).collect();
    let (name, params, args) = (prim.name(), params.join(", "), args.join(", "));
    let text = format!("func @f({params}) -> {} {{ %y = {name} {args}  return %y }}", ty(output));
    parse::module(&text).unwrap_or_else(|e| panic!("{text}: {e}")).funcs.remove(0)
}

/// A row and its derivative programs, by one input at a time.
pub(crate) struct Programs {
    wrt: Vec<usize>,
    first: Vec<Derived>,
    second: Vec<Derived>,
}

impl Programs {
    pub(crate) fn new(prim: Prim, size: &str) -> Programs {
        Programs::bent(prim, size, |_, forward| forward)
    }

    /// The same, with the forward programs changed (given by position among the float inputs) before
    /// they are differentiated again.
    pub(crate) fn bent(prim: Prim, size: &str, bend: impl Fn(usize, Func) -> Func) -> Programs {
        let func = program(prim, size);
        let wrt: Vec<usize> = floats(prim);
        let mut first: Vec<Derived> =
            wrt.iter().map(|k| Derived::new(func.clone(), vec![*k]).unwrap()).collect();
        for (k, derived) in first.iter_mut().enumerate() {
            let forward = derived.forward.funcs.remove(0);
            derived.forward.funcs.push(bend(k, forward));
        }
        let again = |(j, k): (usize, usize)| {
            Derived::new(first[j].forward.funcs[0].clone(), vec![wrt[k]]).unwrap()
        };
        let second = if func.results[0].is_float() {
            pairs(wrt.len()).into_iter().map(again).collect()
        } else {
            Vec::new()
        };
        Programs { wrt, first, second }
    }

    /// The value alone; also of rows without a float input.
    pub(crate) fn value(prim: Prim, size: &str, inputs: &[Scalar]) -> Scalar {
        use wengert_core::{interp::Interp, ir::Module};
        let module = Module::of(program(prim, size));
        let args = inputs.iter().copied().map(Val::Scalar).collect();
        match Interp::new(&module).call("f", args).unwrap()[0] {
            Val::Scalar(y) => y,
            _ => unreachable!("a scalar row"),
        }
    }

    /// Value and derivatives by forward mode, the second ones by forward mode of that.
    pub(crate) fn forward(&self, inputs: &[Scalar]) -> Computed {
        let mut engine = Interpreter::default();
        let args: Vec<Val> = inputs.iter().copied().map(Val::Scalar).collect();
        let like = |k: usize| one(inputs[self.wrt[k]]);
        let mut value = None;
        let mut first = Vec::new();
        for (k, derived) in self.first.iter().enumerate() {
            let (y, dy) = derived.jvp(&mut engine, &args, &[like(k)]).unwrap();
            value.get_or_insert(y[0].clone());
            first.extend(check::floats(&dy).last());
        }
        let mut second = Vec::new();
        for ((j, k), derived) in pairs(self.wrt.len()).into_iter().zip(&self.second) {
            let args: Vec<Val> = args.iter().cloned().chain([like(j)]).collect();
            let (_, tangents) = derived.jvp(&mut engine, &args, &[like(k)]).unwrap();
            second.extend(check::floats(&tangents).last());
        }
        let Some(Val::Scalar(value)) = value else { unreachable!("a scalar row") };
        Computed { value, first, second }
    }

    /// First derivatives by reverse mode, the second ones by reverse mode of forward mode.
    pub(crate) fn reverse(&self, inputs: &[Scalar], value: Scalar) -> Computed {
        let mut engine = Interpreter::default();
        let args: Vec<Val> = inputs.iter().copied().map(Val::Scalar).collect();
        let mut first = Vec::new();
        for derived in &self.first {
            let (_, x) = derived.vjp(&mut engine, &args, &[one(value)]).unwrap();
            first.extend(check::floats(&x));
        }
        let mut second = Vec::new();
        for ((j, _), derived) in pairs(self.wrt.len()).into_iter().zip(&self.second) {
            let args: Vec<Val> = args.iter().cloned().chain([one(inputs[self.wrt[j]])]).collect();
            let adjoints = [Val::Scalar(Scalar::float(value.elem(), 0.0)), one(value)];
            let (_, x) = derived.vjp(&mut engine, &args, &adjoints).unwrap();
            second.extend(check::floats(&x));
        }
        Computed { value, first, second }
    }
}

/// 1, of the same type.
fn one(like: Scalar) -> Val {
    Val::Scalar(Scalar::float(like.elem(), 1.0))
}

/// A number as a double.
pub(crate) fn wide(x: Scalar) -> f64 {
    match x {
        Scalar::F64(x) => x,
        Scalar::F32(x) => f64::from(x),
        Scalar::I64(n) => n as f64,
        Scalar::Bool(b) => f64::from(b),
    }
}

/// The distance between a number and the next larger one.
pub(crate) fn ulp(x: f64) -> f64 {
    let x = x.abs();
    if x >= f64::MAX { 2f64.powi(971) } else { f64::from_bits(x.to_bits() + 1) - x }
}

/// Judges a value by the row's bound: what is rounded once must be the number in the file.
pub(crate) fn value_error(reference: &Reference, got: Scalar) -> Option<String> {
    let (prim, want) = (reference.prim, reference.want.value);
    let (g, w) = (wide(got), wide(want));
    let room = match prim.bound() {
        0.0..=0.5 => 0.0,
        bound => bound * ulp(w.abs().max(math::absolute_below(prim, &reference.inputs))),
    };
    let exact = matches!(want, Scalar::I64(_) | Scalar::Bool(_));
    let close = if exact { got == want } else { g == w || (g - w).abs() <= room };
    (!close || got.elem() != want.elem())
        .then(|| format!("{} at {:?}: value {got}, not {want}", prim.name(), reference.inputs))
}

/// How exact derivatives of each order must be, of their size.
#[derive(Clone, Copy)]
pub(crate) struct Tolerance(pub(crate) f64, pub(crate) f64);

/// Judges derivatives: the first that is wrong.
pub(crate) fn derivative_error(
    reference: &Reference,
    got: &Computed,
    tolerance: Tolerance,
) -> Option<String> {
    let wants = [&reference.want.first, &reference.want.second];
    let gots = [&got.first, &got.second];
    for (order, tolerance) in [(1, tolerance.0), (2, tolerance.1)] {
        let (want, got) = (wants[order - 1], gots[order - 1]);
        assert_eq!(want.len(), got.len(), "{}", reference.prim.name());
        for (k, (w, g)) in want.iter().zip(got).enumerate() {
            let size = w.abs().max(floor(reference, order));
            if !(g == w || (g - w).abs() <= tolerance * size) {
                let (name, x) = (reference.prim.name(), &reference.inputs);
                return Some(format!(
                    "{name} at {x:?}: derivative {k} of order {order} {g}, not {w}"
                ));
            }
        }
    }
    None
}

/// A row, the order of a derivative, and the size below which the derivative's error is absolute, by
/// the inputs and the value.
type Exception = (Prim, usize, fn(&[f64], f64) -> f64, &'static str);

/// Derivatives that are sums which cancel: near a zero, or where a function is flat, their errors are
/// those of the terms. Everything else is held to its own size.
pub(crate) const EXCEPTIONS: &[Exception] = &[
    (Prim::Tanh, 1, |_, _| 1.0, "1 - y^2 where y is near 1"),
    (Prim::Tanh, 2, |_, _| 1.0, "1 - y^2 where y is near 1"),
    (Prim::Asin, 2, |_, _| 1.0, "the slope of (1 - x)(1 + x) near its top at 0"),
    (Prim::Acos, 2, |_, _| 1.0, "the slope of (1 - x)(1 + x) near its top at 0"),
    (Prim::Atanh, 2, |_, _| 1.0, "the slope of (1 - x)(1 + x) near its top at 0"),
    (
        Prim::Atan2,
        2,
        |x, _| (x[0] * x[0] + x[1] * x[1]).recip(),
        "zero along the axes and diagonals",
    ),
    (Prim::Hypot, 2, |_, y| y.recip(), "1/y - a^2/y^3 where b is small"),
    (Prim::Sigmoid, 2, |_, _| 0.25, "zero at 0"),
    (Prim::LGamma, 1, |x, _| if x[0] < 0.0 { 1.0 } else { 1.0 / 16.0 }, "the zeros of digamma"),
];

/// The size below which a derivative's error is absolute.
pub(crate) fn floor(reference: &Reference, order: usize) -> f64 {
    let x: Vec<f64> = reference.inputs.iter().copied().map(wide).collect();
    let found = EXCEPTIONS.iter().find(|(p, o, ..)| (*p, *o) == (reference.prim, order));
    found.map_or(0.0, |(_, _, size, _)| size(&x, wide(reference.want.value)))
}
