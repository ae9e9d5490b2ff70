//! Dual numbers and jets: every row of the table against the tape, differences and each other; levels that must not be
//! confused; variables that stand for each other.

use num_traits::ToPrimitive;
use wengert::tape::{
    Dual, Error, Jet, Scalar, Tape, Var, derivative, derivatives, grad, hessian, hvp, jvp, taylor,
    third,
};
use wengert_core::ops::{Class, Prim};

/// Every function of a type, by its row.
macro_rules! rows {
    ($type:ty) => {{
        let all: Vec<(Prim, fn([$type; 3]) -> $type)> = vec![
            (Prim::Add, |[a, b, _]| a + b),
            (Prim::Sub, |[a, b, _]| a - b),
            (Prim::Mul, |[a, b, _]| a * b),
            (Prim::Div, |[a, b, _]| a / b),
            (Prim::Rem, |[a, b, _]| a % b),
            (Prim::Neg, |[a, _, _]| -a),
            (Prim::Fma, |[a, b, c]| a.mul_add(b, c)),
            (Prim::Clamp, |[a, b, c]| a.clamp(b, c)),
            (Prim::PowI, |[a, b, _]| a.powi(b.to_i32().unwrap())),
            (Prim::PolyGamma, |[a, b, _]| b.polygamma(a.to_u32().unwrap())),
            (Prim::Abs, |[a, _, _]| a.abs()),
            (Prim::Sqrt, |[a, _, _]| a.sqrt()),
            (Prim::Cbrt, |[a, _, _]| a.cbrt()),
            (Prim::Exp, |[a, _, _]| a.exp()),
            (Prim::Exp2, |[a, _, _]| a.exp2()),
            (Prim::Expm1, |[a, _, _]| a.exp_m1()),
            (Prim::Log, |[a, _, _]| a.ln()),
            (Prim::Log2, |[a, _, _]| a.log2()),
            (Prim::Log10, |[a, _, _]| a.log10()),
            (Prim::Log1p, |[a, _, _]| a.ln_1p()),
            (Prim::Sin, |[a, _, _]| a.sin()),
            (Prim::Cos, |[a, _, _]| a.cos()),
            (Prim::Tan, |[a, _, _]| a.tan()),
            (Prim::Asin, |[a, _, _]| a.asin()),
            (Prim::Acos, |[a, _, _]| a.acos()),
            (Prim::Atan, |[a, _, _]| a.atan()),
            (Prim::Sinh, |[a, _, _]| a.sinh()),
            (Prim::Cosh, |[a, _, _]| a.cosh()),
            (Prim::Tanh, |[a, _, _]| a.tanh()),
            (Prim::Asinh, |[a, _, _]| a.asinh()),
            (Prim::Acosh, |[a, _, _]| a.acosh()),
            (Prim::Atanh, |[a, _, _]| a.atanh()),
            (Prim::Floor, |[a, _, _]| a.floor()),
            (Prim::Ceil, |[a, _, _]| a.ceil()),
            (Prim::Round, |[a, _, _]| a.round_ties_even()),
            (Prim::Trunc, |[a, _, _]| a.trunc()),
            (Prim::Sign, |[a, _, _]| a.sign()),
            (Prim::Relu, |[a, _, _]| a.relu()),
            (Prim::Sigmoid, |[a, _, _]| a.sigmoid()),
            (Prim::Softplus, |[a, _, _]| a.softplus()),
            (Prim::Erf, |[a, _, _]| a.erf()),
            (Prim::Erfc, |[a, _, _]| a.erfc()),
            (Prim::NormCdf, |[a, _, _]| a.norm_cdf()),
            (Prim::NormInv, |[a, _, _]| a.norm_inv()),
            (Prim::LGamma, |[a, _, _]| a.ln_gamma()),
            (Prim::StopGradient, |[a, _, _]| a.stop_gradient()),
            (Prim::Flush, |[a, _, _]| a.flush()),
            (Prim::Atan2, |[a, b, _]| a.atan2(b)),
            (Prim::Hypot, |[a, b, _]| a.hypot(b)),
            (Prim::Pow, |[a, b, _]| a.powf(b)),
            (Prim::Min, |[a, b, _]| a.min(b)),
            (Prim::Max, |[a, b, _]| a.max(b)),
            (Prim::CopySign, |[a, b, _]| a.copysign(b)),
            (Prim::LogAddExp, |[a, b, _]| a.logaddexp(b)),
            (Prim::XLogY, |[a, b, _]| a.xlogy(b)),
        ];
        all
    }};
}

/// Points of a row's domain, not on a grid.
fn points(row: Prim) -> Vec<[f64; 3]> {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64 ^ (row as u64) << 17;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let signature = row.signature().as_bytes();
    let point = |_| {
        std::array::from_fn(|k| {
            if k >= row.arity() {
                return 0.0;
            }
            let (low, high) = row.domain(k);
            let x = low + (high - low) * random();
            match (signature[k], row) {
                (b'i', Prim::PolyGamma) => (x as i32 % 3) as f64,
                (b'i', _) => x.round(),
                _ => x,
            }
        })
    };
    (0..8).map(point).collect()
}

/// By how many inputs a row is differentiated.
fn directions(row: Prim) -> impl Iterator<Item = usize> {
    (0..row.arity()).filter(move |k| row.signature().as_bytes()[*k] != b'i')
}

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64, what: std::fmt::Arguments<'_>) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {a:e} and {b:e}");
}

#[test]
fn every_row_with_a_derivative_is_a_method() {
    let rows = rows!(Dual<f64, 3>);
    for row in Prim::ALL.iter().filter(|row| matches!(row.class(), Class::Linear | Class::Smooth)) {
        assert!(rows.iter().any(|(found, _)| found == row), "{} is no method", row.name());
    }
}

#[test]
fn duals_agree_with_the_tape_and_with_differences() {
    let on_tape = rows!(Var);
    for ((row, dual), (_, var)) in rows!(Dual<f64, 3>).into_iter().zip(&on_tape) {
        for x in points(row) {
            let mut inputs = x.map(Dual::constant);
            for k in directions(row) {
                inputs[k] = Dual::variable(x[k], k);
            }
            let y = dual(inputs);
            let tape = Tape::new();
            let vars = x.map(|x| tape.var(x));
            let recorded = var(vars);
            assert_eq!(y.value().to_bits(), recorded.value().to_bits(), "{} at {x:?}", row.name());
            for k in directions(row) {
                let d = y.tangents()[k];
                let swept = tape.forward(&[(vars[k], 1.0)], &[recorded]).unwrap()[0];
                close(d, swept, 1e-15, format_args!("{} by {k} at {x:?}", row.name()));
                if row.class() == Class::Zero {
                    assert_eq!(d, 0.0);
                    continue;
                }
                let h = 1e-6 * x[k].abs().max(0.1);
                let at = |x_k: f64| {
                    let mut x = x;
                    x[k] = x_k;
                    var(x.map(Var::constant)).value()
                };
                let difference = (at(x[k] + h) - at(x[k] - h)) / (2.0 * h);
                close(d, difference, 1e-6, format_args!("{} by {k} at {x:?}", row.name()));
            }
        }
    }
}

/// Numbers that are nested so that they know as many derivatives as there are levels.
trait Levels: Scalar {
    /// A point on a line through it, whose derivative is `d` at every level.
    fn on_line(x: f64, d: f64) -> Self;
    /// The derivative by every level.
    fn top(self) -> f64;
}

impl Levels for f64 {
    fn on_line(x: f64, _: f64) -> f64 {
        x
    }
    fn top(self) -> f64 {
        self
    }
}

impl<T: Levels> Levels for Dual<T, 1> {
    fn on_line(x: f64, d: f64) -> Self {
        Dual::new(T::on_line(x, d), [T::of(d)])
    }
    fn top(self) -> f64 {
        self.tangents()[0].top()
    }
}

type D1 = Dual<f64, 1>;
type D2 = Dual<D1, 1>;
type D3 = Dual<D2, 1>;
type D4 = Dual<D3, 1>;
type D5 = Dual<D4, 1>;
type D6 = Dual<D5, 1>;

/// Along a line through points of every row's domain, derivatives of one order by jets and by nested duals.
macro_rules! jets_against_nested_duals {
    ($($name:ident $order:literal $nested:ty;)*) => {$(
        #[test]
        fn $name() {
            for ((row, jet), (_, nested)) in rows!(Jet<f64, 6>).into_iter().zip(rows!($nested)) {
                for x in points(row) {
                    let slope = |k: usize| match row.signature().as_bytes()[k] {
                        b'i' => 0.0,
                        _ => [0.5, -0.25, 0.75][k],
                    };
                    let slopes: [f64; 3] = std::array::from_fn(|k| if k < row.arity() { slope(k) } else { 0.0 });
                    let y = jet(std::array::from_fn(|k| Jet::line(x[k], slopes[k])));
                    let z = nested(std::array::from_fn(|k| <$nested>::on_line(x[k], slopes[k])));
                    let what = format_args!("{} at {x:?}, order {}", row.name(), $order);
                    close(y.derivative($order), z.top(), 1e-10, what);
                }
            }
        }
    )*};
}
jets_against_nested_duals! {
    jets_have_first_derivatives 1 D1;
    jets_have_second_derivatives 2 D2;
    jets_have_third_derivatives 3 D3;
    jets_have_fourth_derivatives 4 D4;
    jets_have_sixth_derivatives 6 D6;
}

#[test]
fn jets_have_closed_forms() {
    let near = |found: Vec<f64>, wanted: &[f64]| {
        assert_eq!(found.len(), wanted.len());
        for (k, (a, b)) in found.iter().zip(wanted).enumerate() {
            close(*a, *b, 1e-13, format_args!("order {k}"));
        }
    };
    let x: f64 = 0.3;
    near(derivatives::<6>(|x| x.exp(), x), &[x.exp(); 7]);
    let (s, c) = x.sin_cos();
    near(derivatives::<6>(|x| x.sin(), x), &[s, c, -s, -c, s, c, -s]);
    near(taylor::<6>(|x| x.tan(), 0.0), &[0.0, 1.0, 0.0, 1.0 / 3.0, 0.0, 2.0 / 15.0, 0.0]);
    near(taylor::<5>(|x| (1.0 - x).recip(), 0.0), &[1.0; 6]);
    let p =
        |k: i32| (0..k).map(|j| 2.5 - f64::from(j)).product::<f64>() * x.powf(2.5 - f64::from(k));
    near(derivatives::<5>(|x| x.powf(2.5), x), &[p(0), p(1), p(2), p(3), p(4), p(5)]);
    near(derivatives::<4>(|x| x.powi(3), x), &[x * x * x, 3.0 * x * x, 6.0 * x, 6.0, 0.0]);
    let gamma: Vec<f64> = (0..6).map(|n| Var::from(2.5).polygamma(n).value()).collect();
    near(derivatives::<6>(|x| x.ln_gamma(), 2.5)[1..].to_vec(), &gamma);
    // x^x at 1: 1, 1, 2, 3, 8, 10, 54.
    near(derivatives::<6>(|x| x.powf(x), 1.0), &[1.0, 1.0, 2.0, 3.0, 8.0, 10.0, 54.0]);
}

#[test]
fn high_orders_take_no_exponential_time() {
    // The logistic function is odd about 1/2: every even coefficient beyond 0 is 0.
    let c = taylor::<60>(|x| x.sigmoid(), 0.0);
    assert!((2..=60).step_by(2).all(|k| c[k].abs() < 1e-15), "{c:?}");
    // Its series converges within pi: neighbours differ by pi squared.
    close(c[57] / c[59], -std::f64::consts::PI.powi(2), 1e-9, format_args!("ratio"));
    let c = taylor::<60>(|x| x.logaddexp(-x) + x.asinh() + x.erf() * x.atan2(x + 2.0), 0.5);
    assert!(c.iter().all(|c| c.is_finite()));
}

#[test]
fn a_series_is_the_function_near_where_it_was_made() {
    let f = |x: Jet<f64, 20>| (x.sin() * x).exp() / (x * x + 1.0);
    let series = f(Jet::variable(0.4));
    let at = f(Jet::constant(0.5)).value();
    close(series.at(0.1), at, 1e-14, format_args!("series"));
}

#[test]
fn constants_stop_infinite_slopes() {
    let y = Dual::<f64, 1>::variable(-2.0, 0).powf(2.0);
    assert_eq!((y.value(), y.tangents()[0]), (4.0, -4.0));
    assert_eq!(derivatives::<3>(|x| x.powf(2.0), -2.0), [4.0, -4.0, 2.0, 0.0]);
    let y = Dual::<f64, 1>::variable(1.0, 0) + Dual::constant(0.0).sqrt();
    assert_eq!(y.tangents(), &[1.0]);
    assert_eq!(derivatives::<2>(|x| x + Jet::constant(0.0).sqrt(), 1.0), [1.0, 1.0, 0.0]);
}

#[test]
fn powers_at_zero_have_all_derivatives() {
    assert_eq!(derivatives::<4>(|x| x.powi(3), 0.0), [0.0, 0.0, 0.0, 6.0, 0.0]);
    assert_eq!(derivatives::<4>(|x| x.powf(3.0), 0.0), [0.0, 0.0, 0.0, 6.0, 0.0]);
    assert_eq!(derivatives::<3>(|x| x * x, 0.0), [0.0, 0.0, 2.0, 0.0]);
    let x = D3::on_line(0.0, 1.0);
    assert_eq!((x.powi(3).top(), x.powf(3.0).top(), (x * x * x).top()), (6.0, 6.0, 6.0));
}

fn rosenbrock<T: Scalar>(x: &[T]) -> T {
    let mut sum = T::of(0.0);
    for pair in x.windows(2) {
        sum +=
            (pair[1] - pair[0] * pair[0]).powi(2) * T::of(100.0) + (T::of(1.0) - pair[0]).powi(2);
    }
    sum
}

#[test]
fn a_hessian_times_a_direction_by_duals_over_variables() -> Result<(), Error> {
    let at = [0.7, -0.3, 1.1, 0.2];
    let along = [0.5, 1.0, -2.0, 0.25];
    let tape = Tape::new();
    let vars = tape.vars(at);
    let x: Vec<_> = vars.iter().zip(along).map(|(x, d)| Dual::new(*x, [d.into()])).collect();
    let y = rosenbrock(&x);
    let found = y.tangents()[0].backward()?.wrt_all(&vars)?;
    let gradient = y.value().backward()?.wrt_all(&vars)?;
    let wanted = hvp(rosenbrock, &at, &along)?;
    for k in 0..4 {
        close(found[k], wanted[k], 1e-13, format_args!("product {k}"));
        close(gradient[k], grad(rosenbrock, &at)?[k], 1e-13, format_args!("gradient {k}"));
    }
    // All of the Hessian, in four directions at once.
    let x: [Dual<Dual<f64, 4>, 4>; 4] = Dual::variables(Dual::variables(at));
    let y = rosenbrock(&x);
    let h = hessian(rosenbrock, &at)?;
    for (i, row) in h.iter().enumerate() {
        for (j, wanted) in row.iter().enumerate() {
            close(y.tangents()[i].tangents()[j], *wanted, 1e-13, format_args!("{i} {j}"));
        }
    }
    Ok(())
}

#[test]
fn jets_over_variables_have_gradients() -> Result<(), Error> {
    fn motion<T: Scalar>(rate: T) -> T {
        let t = Jet::<T, 4>::variable(T::of(0.3));
        ((t * Jet::constant(rate)).sin() / (t + 1.0)).tanh().derivative(4)
    }
    let tape = Tape::new();
    let rate = tape.var(1.7);
    let d = motion(rate).backward()?.wrt(rate)?;
    close(d, derivative(motion, 1.7), 1e-12, format_args!("by a dual"));
    let difference = (motion(1.7 + 1e-6) - motion(1.7 - 1e-6)) / 2e-6;
    close(d, difference, 1e-6, format_args!("by differences"));
    Ok(())
}

/// The price of a call option: spot, strike, rate, volatility, time.
fn call<T: Scalar>(x: &[T]) -> T {
    let [s, k, r, v, t] = *x else { unreachable!() };
    let w = v * t.sqrt();
    let d = ((s / k).ln() + (r + v * v * 0.5) * t) / w;
    s * d.norm_cdf() - k * (-r * t).exp() * (d - w).norm_cdf()
}

#[test]
fn greeks_to_third_order_in_five_ways() -> Result<(), Error> {
    let x = [100.0, 105.0, 0.02, 0.25, 0.75];
    let by_tape = third(call, &x)?;
    let speed =
        derivatives::<3>(|s| call(&[s, x[1].into(), x[2].into(), x[3].into(), x[4].into()]), x[0]);
    close(speed[3], by_tape[0][0][0], 1e-12, format_args!("speed by a jet"));
    let [s, k, r, v, t]: [Dual<Dual<D1, 1>, 1>; 5] = x.map(Scalar::of);
    let s = s + D3::on_line(0.0, 1.0);
    close(call(&[s, k, r, v, t]).top(), by_tape[0][0][0], 1e-12, format_args!("speed by duals"));
    // Zomma: twice by spot, once by volatility, with a tape below a jet.
    let tape = Tape::new();
    let v = tape.var(x[3]);
    let lift = |x: f64| Jet::constant(Var::from(x));
    let y = call(&[
        Jet::<_, 2>::variable(x[0].into()),
        lift(x[1]),
        lift(x[2]),
        Jet::constant(v),
        lift(x[4]),
    ]);
    let zomma = y.derivative(2).backward()?.wrt(v)?;
    close(zomma, by_tape[0][0][3], 1e-12, format_args!("zomma"));
    // Delta in closed form.
    let w = x[3] * x[4].sqrt();
    let d = ((x[0] / x[1]).ln() + (x[2] + x[3] * x[3] * 0.5) * x[4]) / w;
    close(speed[1], d.norm_cdf(), 1e-13, format_args!("delta"));
    close(speed[1], grad(call, &x)?[0], 1e-13, format_args!("delta by the tape"));
    Ok(())
}

#[test]
fn a_direction_of_another_length_is_an_error() {
    let wrong = jvp(|x| x.to_vec(), &[1.0, 2.0], &[1.0]);
    assert!(matches!(wrong, Err(Error::Count { wanted: 2, given: 1, .. })));
}

#[test]
#[should_panic(expected = "direction 2 of a dual number that has 2")]
fn a_direction_that_there_is_not_panics() {
    let _ = Dual::<f64, 2>::variable(1.0, 2);
}
