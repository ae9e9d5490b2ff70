//! Every function has the bits of the interpreter: as it is called, compiled for every processor, and as a body
//! in its caller.
//!
//! `WENGERT_SEED` repeats a run; `WENGERT_POINTS` sets how many random points per function are tried.

use std::time::{SystemTime, UNIX_EPOCH};
use wengert_core::check::Random;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, parse};
use wengert_core::math;
use wengert_core::ops::{Prim, Scalar};
use wengert_math::{inline, portable, rows};

/// What a version is called, and what it computes.
type Version = (&'static str, fn(&[Scalar]) -> f64);

/// A row and its versions.
struct Row {
    prim: Prim,
    versions: [Version; 3],
}

/// Arguments as functions take them.
trait Argument {
    fn of(x: Scalar) -> Self;
}

impl Argument for f64 {
    fn of(x: Scalar) -> f64 {
        let Scalar::F64(x) = x else { panic!("{x} is not a float") };
        x
    }
}

impl Argument for i64 {
    fn of(x: Scalar) -> i64 {
        let Scalar::I64(x) = x else { panic!("{x} is not an integer") };
        x
    }
}

macro_rules! versions {
    ($($how:ident $about:literal $name:ident($($x:ident: $ty:ty),*);)*) => {
        vec![$(Row {
            prim: Prim::from_name(stringify!($name)).expect("a row"),
            versions: [
                ("as called", |x| versions!(@call wengert_math::$name, x, $($ty),*)),
                ("for every processor", |x| versions!(@call portable::$name, x, $($ty),*)),
                ("in its caller", |x| versions!(@call inline::$name, x, $($ty),*)),
            ],
        }),*]
    };
    (@call $f:path, $x:ident, $a:ty) => { $f(<$a>::of($x[0])) };
    (@call $f:path, $x:ident, $a:ty, $b:ty) => { $f(<$a>::of($x[0]), <$b>::of($x[1])) };
    (@call $f:path, $x:ident, $a:ty, $b:ty, $c:ty) => {
        $f(<$a>::of($x[0]), <$b>::of($x[1]), <$c>::of($x[2]))
    };
}

fn all() -> Vec<Row> {
    rows!(versions)
}

/// Each row as a function of the IR.
fn module(rows: &[Row]) -> Module {
    let text = |row: &Row| {
        let letters = row.prim.signature().split('>').next().unwrap();
        let ty = |letter: char| if letter == 'i' { "i64" } else { "f64" };
        let params: Vec<String> =
            letters.chars().enumerate().map(|(k, c)| format!("%x{k}: {}", ty(c))).collect();
        let args: Vec<String> = (0..letters.len()).map(|k| format!("%x{k}")).collect();
        let (name, params, args) = (row.prim.name(), params.join(", "), args.join(", "));
        format!("func @{name}({params}) -> f64 {{ %y = {name} {args}  return %y }}\n")
    };
    parse::module(&rows.iter().map(text).collect::<String>()).unwrap()
}

fn value(interp: &mut Interp, name: &str, x: &[Scalar]) -> Vec<Scalar> {
    let scalar = |v: Val| match v {
        Val::Scalar(y) => y,
        _ => panic!("{name} gives a number"),
    };
    let args = x.iter().copied().map(Val::Scalar).collect();
    interp.call(name, args).unwrap().into_iter().map(scalar).collect()
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, but is `{text}`")))
}

fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let seed = number("WENGERT_SEED").unwrap_or(now);
    println!("WENGERT_SEED={seed}");
    seed
}

/// Any NaN is any NaN: `Scalar` compares so.
fn compare(interp: &mut Interp, row: &Row, x: &[Scalar]) {
    let want = value(interp, row.prim.name(), x)[0];
    for (how, f) in row.versions {
        let got = Scalar::F64(f(x));
        assert!(got == want, "{}, {how}, at {x:?}: {got}, not {want}", row.prim.name());
    }
}

const FLOATS: [f64; 45] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -2.5,
    2.0,
    3.0,
    -3.0,
    10.0,
    -10.0,
    0.1,
    -0.7,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    -f64::NAN,
    f64::MIN_POSITIVE,
    -f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    1e-310,
    f64::MAX,
    f64::MIN,
    1e300,
    -1e300,
    1e-300,
    709.782712893384,
    710.0,
    -745.2,
    -746.0,
    1e6,
    -1e6,
    1e22,
    4503599627370495.5,
    9007199254740993.0,
    std::f64::consts::PI,
    -std::f64::consts::FRAC_PI_4,
    std::f64::consts::SQRT_2,
    f64::EPSILON,
    1.0 - f64::EPSILON,
    37.0,
    -40.0,
];

const INTEGERS: [i64; 16] =
    [0, 1, -1, 2, 3, -2, 4, 5, 7, 30, -30, 1023, -1075, 1 << 53, i64::MAX, i64::MIN];

/// All special values there are for input `k`.
fn special(prim: Prim, k: usize) -> Vec<Scalar> {
    match prim.signature().as_bytes()[k] {
        b'i' => INTEGERS.map(Scalar::I64).to_vec(),
        _ => FLOATS.map(Scalar::F64).to_vec(),
    }
}

/// A random argument: where tests of the row sample, integers and halves, near 1, of any size.
fn random(random: &mut Random, prim: Prim, k: usize) -> Scalar {
    let (lo, hi) = prim.domain(k);
    let x = match random.below(6) {
        0 | 1 => random.float(lo, hi),
        2 => random.float(-80.0, 80.0).round() / 2.0,
        3 => 1.0 + random.float(-0.1, 0.1) * 2f64.powi(-(random.below(50) as i32)),
        4 => random.float(-1.0, 1.0) * 2f64.powi(random.below(80) as i32 - 40),
        _ => f64::from_bits(random.bits()),
    };
    if prim.signature().as_bytes()[k] != b'i' {
        return Scalar::F64(x);
    }
    match random.below(8) {
        0 => Scalar::I64(random.bits() as i64),
        1 => Scalar::I64(random.below(400) as i64 - 200),
        _ => Scalar::I64(random.float(lo, hi) as i64),
    }
}

#[test]
fn every_row_of_floats_is_here() {
    let rows = all();
    for prim in Prim::ALL.iter().copied().filter(|p| p.signature().ends_with(">f")) {
        assert_eq!(rows.iter().filter(|r| r.prim == prim).count(), 1, "{}", prim.name());
    }
}

#[test]
fn special_values() {
    let rows = all();
    let module = module(&rows);
    let mut interp = Interp::new(&module);
    for row in &rows {
        let mut points: Vec<Vec<Scalar>> = vec![Vec::new()];
        for k in 0..row.prim.arity() {
            let next = special(row.prim, k);
            let longer = |p: &Vec<Scalar>| -> Vec<Vec<Scalar>> {
                // Of three inputs, not all of the thousands of triples.
                let some = next.iter().step_by(if k == 2 { 5 } else { 1 });
                some.map(|x| p.iter().copied().chain([*x]).collect()).collect()
            };
            points = points.iter().flat_map(longer).collect();
        }
        points.iter().for_each(|x| compare(&mut interp, row, x));
    }
}

#[test]
fn random_points() {
    let (seed, rows) = (seed(), all());
    let points = number("WENGERT_POINTS").unwrap_or(3000);
    let module = module(&rows);
    let mut interp = Interp::new(&module);
    let mut numbers = Random(seed);
    for row in &rows {
        for _ in 0..points {
            let x: Vec<Scalar> =
                (0..row.prim.arity()).map(|k| random(&mut numbers, row.prim, k)).collect();
            compare(&mut interp, row, &x);
        }
    }
}

/// Parts that programs call are chosen, too; their versions for every processor are compared by themselves.
#[test]
fn parts_for_every_processor() {
    let mut numbers = Random(seed());
    let names = ["reduce_huge", "rem_huge", "hurwitz"];
    let module = Module {
        funcs: names.map(|n| math::called(&format!("math.{n}")).unwrap().clone()).into(),
        ..Module::default()
    };
    let mut interp = Interp::new(&module);
    let mut check = |name: &str, x: &[Scalar], got: &[Scalar]| {
        assert_eq!(value(&mut interp, &format!("math.{name}"), x), got, "{name} at {x:?}");
    };
    for _ in 0..number("WENGERT_POINTS").unwrap_or(3000) {
        let x = numbers.float(-1.0, 1.0) * 2f64.powi(21 + numbers.below(1000) as i32);
        let (r, tail, n) = portable::reduce_huge(x);
        let parts = [Scalar::F64(r), Scalar::F64(tail), Scalar::I64(n)];
        check("reduce_huge", &[Scalar::F64(x)], &parts);

        let (a, b) = (x * 2f64.powi(60), f64::from_bits(1 + numbers.bits() % (1 << 62)).min(1e15));
        let got = Scalar::F64(portable::rem_huge(a, b));
        if a.is_finite() && a != 0.0 {
            check("rem_huge", &[Scalar::F64(a), Scalar::F64(b)], &[got]);
        }

        let (s, a, tail) = (2 + numbers.below(30) as i64, numbers.float(0.01, 60.0), 0.0);
        let (y, low) = portable::hurwitz(s, a, tail, a);
        let x = [Scalar::I64(s), Scalar::F64(a), Scalar::F64(tail), Scalar::F64(a)];
        check("hurwitz", &x, &[Scalar::F64(y), Scalar::F64(low)]);
    }
}

#[test]
fn sine_and_cosine_together() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let mut random = Random(seed);
    let special = [
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        5e-324,
        1e6,
        -1e6,
        1e22,
        f64::MAX,
        std::f64::consts::FRAC_PI_4,
    ];
    let points = (0..20_000).map(|_| {
        [f64::from_bits(random.bits()), random.float(-100.0, 100.0), random.float(-2e6, 2e6)]
    });
    for x in special.into_iter().chain(points.flatten()) {
        let (sine, cosine) = inline::sin_cos(x);
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        assert!(same(sine, wengert_math::sin(x)), "sin({x:e}), seed {seed}");
        assert!(same(cosine, wengert_math::cos(x)), "cos({x:e}), seed {seed}");
    }
}
