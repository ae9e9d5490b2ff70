//! The elementary functions against MPFR: the worst error of each, and where.
//!
//! Every function with a program of its own is compiled to native code, run on many points (denser where
//! such programs go wrong: see [`points`]) and compared with MPFR at 160 bits or more, in double and in
//! single precision. Ends with an error if one is further off than the rule table says.
//!
//!     cargo run --release              1,000,000 points per function
//!     WENGERT_POINTS=20000000 cargo run --release -- exp log
//!
//! Needs a C compiler, make and m4, to build MPFR.

mod points;
mod reference;

use points::Points;
use rug::Float;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use wengert_core::ir::parse;
use wengert_core::math;
use wengert_core::ops::shaped::Elements;
use wengert_core::ops::{Array, Class, Data, Prim, Scalar};
use wengert_runtime::{Arg, Options, Out, Program};

/// Points are made, run and compared so many at a time.
const BATCH: usize = 1 << 14;

/// Functions that MPFR takes long for get one point where others get so many.
fn share(prim: Prim) -> usize {
    match prim {
        Prim::LGamma => 10,
        Prim::PolyGamma => 40,
        Prim::NormInv | Prim::NormCdf | Prim::Erf | Prim::Erfc => 4,
        _ => 1,
    }
}

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let count = std::env::var("WENGERT_POINTS").ok().and_then(|n| n.parse().ok());
    let count: usize = count.unwrap_or(1_000_000);
    let rows: Vec<Prim> = Prim::ALL
        .iter()
        .copied()
        .filter(|p| p.class() != Class::Cast && (math::find(*p).is_some() || *p == Prim::Sqrt))
        .filter(|p| names.is_empty() || names.iter().any(|n| n == p.name()))
        .collect();
    if rows.is_empty() {
        eprintln!("there is no function of that name");
        return ExitCode::FAILURE;
    }
    println!("function      type    points  worst ulp  bound  at");
    let (next, passed) = (AtomicUsize::new(0), AtomicBool::new(true));
    let work = || {
        while let Some(prim) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let double = run(*prim, Size::Double, count / share(*prim));
            let single = run(*prim, Size::Single, count / share(*prim) / 10);
            print!("{double}{single}");
            if !(double.holds() && single.holds()) {
                passed.store(false, Ordering::Relaxed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    if passed.into_inner() {
        return ExitCode::SUCCESS;
    }
    eprintln!("a function is further off than its bound");
    ExitCode::FAILURE
}

/// The two kinds of floats.
#[derive(Clone, Copy, PartialEq)]
enum Size {
    Double,
    Single,
}

impl Size {
    fn name(self) -> &'static str {
        if self == Size::Double { "f64" } else { "f32" }
    }

    /// The least exponent of a unit in the last place.
    fn least(self) -> i32 {
        if self == Size::Double { -1074 } else { -149 }
    }

    fn digits(self) -> i32 {
        if self == Size::Double { 53 } else { 24 }
    }

    /// From two to this power on, there is only infinity.
    fn most(self) -> i32 {
        if self == Size::Double { 1024 } else { 128 }
    }
}

/// The worst point of a function.
struct Worst {
    prim: Prim,
    size: Size,
    points: usize,
    error: f64,
    at: Vec<Scalar>,
    got: f64,
}

impl Worst {
    /// In single precision functions are computed in double precision and rounded.
    fn bound(&self) -> f64 {
        match self.size {
            Size::Single if self.prim.bound() > 0.0 => 0.5001,
            _ => self.prim.bound(),
        }
    }

    fn holds(&self) -> bool {
        self.error <= self.bound()
    }
}

impl std::fmt::Display for Worst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at: Vec<String> = self.at.iter().map(Scalar::to_string).collect();
        let (name, size, points) = (self.prim.name(), self.size.name(), self.points);
        let (error, bound, at) = (self.error, self.bound(), at.join(", "));
        write!(f, "{name:<13} {size} {points:>10} {error:>10.4} {bound:>6}  {at}")?;
        if !self.holds() {
            write!(f, "  gives {:?}: TOO FAR OFF", self.got)?;
        }
        writeln!(f)
    }
}

/// Compares so many points.
fn run(prim: Prim, size: Size, count: usize) -> Worst {
    let program = compiled(prim, size);
    let mut points = Points::new(prim);
    let mut worst = Worst { prim, size, points: 0, error: 0.0, at: Vec::new(), got: 0.0 };
    while worst.points < count {
        let batch: Vec<Vec<Scalar>> =
            (0..BATCH.min(count - worst.points)).map(|_| rounded(points.next(), size)).collect();
        for (x, got) in batch.iter().zip(values(&program, &batch)) {
            let error = reference::value(prim, x, got)
                .map_or(0.0, |want| error(got, &want, size, math::absolute_below(prim, x)));
            if error > worst.error || error.is_nan() {
                (worst.error, worst.at, worst.got) = (error, x.clone(), got);
            }
        }
        worst.points += batch.len();
    }
    worst
}

/// Inputs as numbers of that size.
fn rounded(mut x: Vec<Scalar>, size: Size) -> Vec<Scalar> {
    for x in x.iter_mut().filter(|_| size == Size::Single) {
        if let Scalar::F64(wide) = *x {
            *x = Scalar::F32(wide as f32);
        }
    }
    x
}

/// The function on arrays, element by element, as native code.
fn compiled(prim: Prim, size: Size) -> Program {
    let (inputs, _) = prim.signature().split_once('>').unwrap_or_default();
    let ty = |letter: char| if letter == 'i' { "i64" } else { size.name() };
    let params: Vec<String> =
        inputs.chars().enumerate().map(|(k, c)| format!("%x{k}: [{}]", ty(c))).collect();
    let args: Vec<String> = (0..inputs.len()).map(|k| format!("%x{k}")).collect();
    let (name, params, args) = (prim.name(), params.join(", "), args.join(", "));
    let text =
        format!("func @f({params}) -> [{}] {{ %y = {name} {args}  return %y }}", size.name());
    let module = parse::module(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    Program::compile(&module, &["f"]).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn values(program: &Program, batch: &[Vec<Scalar>]) -> Vec<f64> {
    let column = |k: usize| {
        let elements = batch.iter().map(|x| x[k]);
        let data = match batch[0][k] {
            Scalar::I64(_) => {
                Data::I64(elements.map(|x| if let Scalar::I64(x) = x { x } else { 0 }).collect())
            }
            Scalar::F32(_) => {
                Data::F32(elements.map(|x| if let Scalar::F32(x) = x { x } else { 0.0 }).collect())
            }
            _ => {
                Data::F64(elements.map(|x| if let Scalar::F64(x) = x { x } else { 0.0 }).collect())
            }
        };
        Array { shape: vec![batch.len()], data }
    };
    let columns: Vec<Array> = (0..batch[0].len()).map(column).collect();
    let args: Vec<Arg> = columns.iter().map(Arg::Shaped).collect();
    let (mut out, _) =
        program.call("f", &args, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    match out.remove(0) {
        Out::Array(y) => y,
        Out::Shaped(y) => match y.elements() {
            Elements::F32(y) => y.iter().map(|y| f64::from(*y)).collect(),
            _ => unreachable!("floats"),
        },
        _ => unreachable!("an array"),
    }
}

/// How far a result is from the true one, in units in the last place of the true one (or of `floor`,
/// where that is larger).
fn error(got: f64, want: &Float, size: Size, floor: f64) -> f64 {
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    // Infinity stands for the power of two after the largest number, for what is larger too.
    let most = Float::with_val(want.prec(), 1) << size.most();
    let clamp = |x: &Float| {
        if *x.as_abs() < most {
            x.clone()
        } else if x.is_sign_negative() {
            -most.clone()
        } else {
            most.clone()
        }
    };
    let (got, want) = (clamp(&Float::with_val(want.prec(), got)), clamp(want));
    let larger = want.clone().abs().max(&Float::with_val(53, floor));
    let exponent = larger.get_exp().unwrap_or(size.least()).min(size.most());
    let unit = (exponent - size.digits()).max(size.least());
    ((got - want).abs() >> unit).to_f64()
}
