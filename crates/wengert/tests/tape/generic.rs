//! Code that knows nothing of derivatives, written for any number, run with variables of a tape.

use nalgebra::{
    DMatrix, DVector, Matrix2, Matrix3, RealField, Rotation3, SMatrix, Vector2, Vector3,
};
use ndarray::{Array1, Array2, array};
use num_complex::Complex;
use num_traits::{
    AsPrimitive, Euclid, Float, FloatConst, FromPrimitive, Inv, MulAdd, Num, One, Pow, Signed,
    ToPrimitive, Zero,
};
use wengert::tape::{Dual, Error, Jet, Tape, Var, grad, value_and_grad};

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a:e} and {b:e}");
}

/// The gradient by central differences.
fn differences(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    let slope = |k: usize| {
        let h = 1e-6 * x[k].abs().max(1.0);
        let at = |step: f64| {
            let mut x = x.to_vec();
            x[k] += step;
            f(&x)
        };
        (at(h) - at(-h)) / (2.0 * h)
    };
    (0..x.len()).map(slope).collect()
}

/// A matrix that is well conditioned, and no more.
fn matrix(n: usize) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |i, j| {
        ((3 * i + 5 * j + 1) as f64).sin() + if i == j { 3.0 } else { 0.0 }
    })
}

#[test]
fn a_linear_solve_has_the_gradient_of_a_linear_solve() -> Result<(), Error> {
    for n in [1, 2, 5, 12] {
        let a = matrix(n);
        let b = DVector::from_fn(n, |i, _| (i as f64 + 0.5).cos());
        let g = DVector::from_fn(n, |i, _| (2.0 * i as f64).sin() + 0.3);
        let tape = Tape::new();
        let (av, bv) = (a.map(|x| tape.var(x)), b.map(|x| tape.var(x)));
        let x = av.clone().lu().solve(&bv).expect("it is regular");
        let loss = x.dot(&g.map(Var::from));
        let d = loss.backward()?;

        // By hand: of b it is the transposed solve, of A minus that times the solution.
        let x = a.clone().lu().solve(&b).expect("it is regular");
        let adjoint = a.transpose().lu().solve(&g).expect("it is regular");
        close(loss.value(), x.dot(&g), 1e-13);
        for i in 0..n {
            close(d.wrt(bv[i])?, adjoint[i], 1e-12);
            for j in 0..n {
                close(d.wrt(av[(i, j)])?, -adjoint[i] * x[j], 1e-12);
            }
        }
    }
    Ok(())
}

#[test]
fn factorisations_of_matrices_have_gradients() -> Result<(), Error> {
    let a = matrix(4);
    let a = &a * a.transpose();
    let inverse = a.clone().try_inverse().expect("it is regular");
    let tape = Tape::new();
    let v = a.map(|x| tape.var(x));

    // The logarithm of the determinant, by Cholesky: only the lower half is read.
    let l = v.clone().cholesky().expect("it is positive definite").unpack();
    let log_det = (0..4).map(|k| l[(k, k)].ln() * 2.0).sum::<Var>();
    let d = log_det.backward()?;
    for i in 0..4 {
        close(d.wrt(v[(i, i)])?, inverse[(i, i)], 1e-11);
        for j in 0..i {
            close(d.wrt(v[(i, j)])?, 2.0 * inverse[(i, j)], 1e-11);
        }
    }
    // The determinant, by LU; the sum of the inverse, by Gauss; the trace of a QR product.
    let (det, sum) = (v.determinant(), v.clone().try_inverse().expect("it is regular").sum());
    let qr = v.clone().qr();
    let trace = (qr.q() * qr.r()).trace();
    let (d_det, d_sum, d_trace) = (det.backward()?, sum.backward()?, trace.backward()?);
    let ones = DVector::from_element(4, 1.0);
    let (left, right) = (inverse.transpose() * &ones, &inverse * &ones);
    for i in 0..4 {
        for j in 0..4 {
            close(d_det.wrt(v[(i, j)])?, det.value() * inverse[(j, i)], 1e-10);
            close(d_sum.wrt(v[(i, j)])?, -left[i] * right[j], 1e-10);
            close(d_trace.wrt(v[(i, j)])?, if i == j { 1.0 } else { 0.0 }, 1e-10);
        }
    }
    // An eigenvalue: the product of its vector with itself.
    let eigen = v.clone().symmetric_eigen();
    let k = eigen.eigenvalues.map(|x| x.value()).imax();
    let d = eigen.eigenvalues[k].backward()?;
    let w = a.symmetric_eigen();
    let w = w.eigenvectors.column(w.eigenvalues.imax()).into_owned();
    for i in 0..4 {
        close(d.wrt(v[(i, i)])?, w[i] * w[i], 1e-8);
        for j in 0..i {
            close(d.wrt(v[(i, j)])? + d.wrt(v[(j, i)])?, 2.0 * w[i] * w[j], 1e-8);
        }
    }
    Ok(())
}

#[test]
fn small_matrices_vectors_and_rotations() -> Result<(), Error> {
    let tape = Tape::new();
    let m = Matrix3::new(2.0, 1.0, 0.5, -1.0, 3.0, 0.25, 0.0, 1.0, 4.0);
    let v = m.map(|x| tape.var(x));
    let d = v.determinant().backward()?;
    let cofactors = m.try_inverse().expect("it is regular").transpose() * m.determinant();
    for k in 0..9 {
        close(d.wrt(v[k])?, cofactors[k], 1e-13);
    }
    let x = Vector3::new(1.0, -2.0, 2.0).map(|x| tape.var(x));
    let d = x.norm().backward()?;
    close(d.wrt(x[1])?, -2.0 / 3.0, 1e-15);
    // A point that turns moves across.
    let angle = tape.var(0.6);
    let turned = Rotation3::from_axis_angle(&Vector3::z_axis(), angle)
        * Vector3::new(1.0, 0.0, 0.0).cast::<Var>();
    close(turned.x.backward()?.wrt(angle)?, -0.6f64.sin(), 1e-15);
    close(turned.y.backward()?.wrt(angle)?, 0.6f64.cos(), 1e-15);
    // The same with duals and jets as elements.
    let angle = Dual::<f64, 1>::variable(0.6, 0);
    let turned =
        Rotation3::from_axis_angle(&Vector3::z_axis(), angle) * Vector3::<Dual<f64, 1>>::x();
    close(turned.y.tangents()[0], 0.6f64.cos(), 1e-15);
    let angle = Jet::<f64, 2>::variable(0.6);
    let turned =
        Rotation3::from_axis_angle(&Vector3::z_axis(), angle) * Vector3::<Jet<f64, 2>>::x();
    close(turned.y.derivative(2), -0.6f64.sin(), 1e-15);
    Ok(())
}

/// What a Kalman filter takes the observations to be worth: their negative log likelihood, where position and velocity
/// drift and the position is seen. Parameters: logarithms of both noises, damping.
fn likelihood<T: RealField + Copy>(parameters: [T; 3], seen: &[f64]) -> T {
    let number = |x: f64| nalgebra::convert::<f64, T>(x);
    let [process, measured, damping] = parameters;
    let step = number(0.1);
    let moves = Matrix2::new(T::one(), step, T::zero(), T::one() - damping * step);
    let noise = Matrix2::from_diagonal(&Vector2::new(step * step, step)) * process.exp();
    let sees = SMatrix::<T, 1, 2>::new(T::one(), T::zero());
    let (mut x, mut p) = (Vector2::zeros(), Matrix2::identity());
    let mut total = T::zero();
    for z in seen {
        x = moves * x;
        p = moves * p * moves.transpose() + noise;
        let surprise = number(*z) - (sees * x)[0];
        let spread = (sees * p * sees.transpose())[0] + measured.exp();
        let gain = p * sees.transpose() / spread;
        total += (spread.ln() + surprise * surprise / spread) * number(0.5);
        x += gain * surprise;
        p = (Matrix2::identity() - gain * sees) * p;
    }
    total
}

#[test]
fn a_kalman_filter_has_the_gradient_of_its_likelihood() -> Result<(), Error> {
    let seen: Vec<f64> =
        (0..60).map(|k| (0.13 * k as f64).sin() + 0.1 * (7.7 * k as f64).cos()).collect();
    let at = [-1.2, -2.5, 0.3];
    let (value, d) = value_and_grad(|x| likelihood([x[0], x[1], x[2]], &seen), &at)?;
    let plain = |x: &[f64]| likelihood([x[0], x[1], x[2]], &seen);
    close(value, plain(&at), 1e-13);
    let forward = likelihood(Dual::variables(at), &seen);
    for (k, wanted) in differences(plain, &at).iter().enumerate() {
        close(d[k], *wanted, 1e-7);
        close(d[k], forward.tangents()[k], 1e-12);
    }
    Ok(())
}

/// Four evaluations per step, of any system.
fn runge_kutta<T: Float>(
    f: impl Fn(&[T]) -> Vec<T>,
    mut x: Vec<T>,
    step: T,
    steps: usize,
) -> Vec<T> {
    let two = T::one() + T::one();
    let moved =
        |x: &[T], d: &[T], h: T| -> Vec<T> { x.iter().zip(d).map(|(x, d)| *x + *d * h).collect() };
    for _ in 0..steps {
        let a = f(&x);
        let b = f(&moved(&x, &a, step / two));
        let c = f(&moved(&x, &b, step / two));
        let d = f(&moved(&x, &c, step));
        for k in 0..x.len() {
            x[k] = x[k] + (a[k] + two * (b[k] + c[k]) + d[k]) * step / T::from(6.0).unwrap();
        }
    }
    x
}

/// Prey after a while: growth, catch, efficiency, death, and both at the beginning.
fn prey<T: Float>(p: &[T]) -> T {
    let f = |x: &[T]| vec![p[0] * x[0] - p[1] * x[0] * x[1], p[2] * x[0] * x[1] - p[3] * x[1]];
    runge_kutta(f, vec![p[4], p[5]], T::from(0.02).unwrap(), 200)[0]
}

#[test]
fn an_integrator_for_any_float_runs_with_variables() -> Result<(), Error> {
    let at = [1.1, 0.4, 0.1, 0.4, 8.0, 2.0];
    let tape = Tape::new();
    let x = tape.vars(at);
    let y = prey(&x);
    // Sums and products only: the value is the same to the bit.
    assert_eq!(y.value().to_bits(), prey(&at).to_bits());
    assert_eq!(tape.stats().conversions, 0);
    let d = y.backward()?.wrt_all(&x)?;
    let forward = prey(&Dual::variables(at));
    for (k, wanted) in differences(prey, &at).iter().enumerate() {
        close(d[k], *wanted, 1e-7);
        close(d[k], forward.tangents()[k], 1e-12);
    }
    Ok(())
}

#[test]
fn a_network_of_arrays_learns() -> Result<(), Error> {
    // Two layers for "one or the other".
    let inputs = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let wanted = array![0.0, 1.0, 1.0, 0.0];
    let loss = |w: &[Var]| -> Var {
        let (first, rest) = w.split_at(8);
        let (bias, last) = rest.split_at(4);
        let first = Array2::from_shape_vec((2, 4), first.to_vec()).unwrap();
        let bias = Array1::from(bias.to_vec());
        let last = Array1::from(last.to_vec());
        let hidden = (inputs.mapv(Var::from).dot(&first) + &bias).mapv(Var::tanh);
        let out = hidden.dot(&last);
        let off = out - &wanted;
        (&off * &off).sum() / 4.0
    };
    let mut w: Vec<f64> = (0..16).map(|k| (2.3 * k as f64 + 0.4).sin()).collect();
    let (before, d) = value_and_grad(loss, &w)?;
    for (k, wanted) in
        differences(|w| loss(&w.iter().map(Var::from).collect::<Vec<_>>()).value(), &w)
            .iter()
            .enumerate()
    {
        close(d[k], *wanted, 1e-8);
    }
    let tape = Tape::new();
    for _ in 0..400 {
        let x = tape.var_vec(&w);
        let d = loss(&x).backward()?.wrt_all(&x)?;
        w.iter_mut().zip(d).for_each(|(w, d)| *w -= 0.5 * d);
        tape.clear()?;
    }
    let after = value_and_grad(loss, &w)?.0;
    assert!(after < 0.01 && before > 0.1, "{before} {after}");
    Ok(())
}

#[test]
fn arrays_take_variables_on_either_side() -> Result<(), Error> {
    let tape = Tape::new();
    let x = tape.var(3.0);
    let a = array![1.0, 2.0].mapv(Var::from);
    let sum = |a: Array1<Var>| a.sum().value();
    assert_eq!((sum(&a * x), sum(x * &a), sum(x * a.clone())), (9.0, 9.0, 9.0));
    assert_eq!((sum(&a - x), sum(x - &a), sum(&a + 1.0)), (-3.0, 3.0, 5.0));
    assert_eq!((sum(&a / x), sum(x / &a)), (1.0, 4.5));
    let y = (x / &a + &a * x).sum();
    assert_eq!(y.backward()?.wrt(x)?, 4.5);
    let mut b = a.clone();
    b *= x;
    b += &a;
    assert_eq!(b.sum().backward()?.wrt(x)?, 3.0);
    assert_eq!(a.mapv(|a| a * x).mean().map(Var::value), Some(4.5));
    Ok(())
}

#[test]
fn complex_numbers_of_another_crate() -> Result<(), Error> {
    // The real and imaginary parts of an analytic function obey Cauchy and Riemann.
    let tape = Tape::new();
    let (a, b) = tape.vars([0.7, -0.4]).into();
    let z = Complex::new(a, b);
    let w =
        (z.exp() * z.sqrt() + z.powi(3).ln()).tan() / Complex::new(Var::from(2.0), a * 0.0 + 1.0);
    let (re, im) = (w.re.backward()?, w.im.backward()?);
    close(re.wrt(a)?, im.wrt(b)?, 1e-13);
    close(re.wrt(b)?, -im.wrt(a)?, 1e-13);
    Ok(())
}

const SPECIAL: [f64; 24] = [
    0.0,
    -0.0,
    0.3,
    -0.3,
    0.5,
    -0.5,
    0.49999999999999994,
    -0.49999999999999994,
    1.0,
    -1.0,
    1.5,
    -1.5,
    2.5,
    -2.5,
    3.7,
    4503599627370497.0,
    4503599627370495.5,
    -9007199254740993.0,
    1e300,
    5e-324,
    f64::MIN_POSITIVE,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn same(found: f64, wanted: f64, what: &str) {
    let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
    assert!(same, "{what}: {found:e} and not {wanted:e}");
}

/// What is exact has the values of the standard library.
fn like_std<
    T: Float + Signed + Euclid + MulAdd<Output = T> + Pow<i32, Output = T> + Inv<Output = T>,
>(
    lift: impl Fn(f64) -> T,
    value: impl Fn(T) -> f64,
) {
    for x in SPECIAL {
        let v = lift(x);
        let check = |found: T, wanted: f64, what: &str| {
            same(value(found), wanted, &format!("{what} of {x:e}"))
        };
        check(Float::round(v), x.round(), "round");
        check(Float::trunc(v), x.trunc(), "trunc");
        check(Float::floor(v), x.floor(), "floor");
        check(Float::ceil(v), x.ceil(), "ceil");
        check(Float::fract(v), x.fract(), "fract");
        check(Float::signum(v), x.signum(), "signum");
        check(Signed::signum(&v), x.signum(), "signum");
        check(Float::abs(v), x.abs(), "abs");
        check(Float::recip(v), x.recip(), "recip");
        check(v.inv(), 1.0 / x, "inv");
        check(Float::sqrt(v), x.sqrt(), "sqrt");
        check(Float::to_degrees(v), x.to_degrees(), "to_degrees");
        check(Float::to_radians(v), x.to_radians(), "to_radians");
        assert_eq!(Float::classify(v), x.classify());
        let asked =
            (v.is_nan(), v.is_infinite(), v.is_finite(), v.is_normal(), Float::is_subnormal(v));
        assert_eq!(
            asked,
            (x.is_nan(), x.is_infinite(), x.is_finite(), x.is_normal(), x.is_subnormal())
        );
        assert_eq!(
            (Float::is_sign_positive(v), v.is_negative()),
            (x.is_sign_positive(), x.is_sign_negative())
        );
        if x.is_finite() {
            assert_eq!(Float::integer_decode(v), Float::integer_decode(x));
        }
        for y in SPECIAL {
            let w = lift(y);
            let check = |found: T, wanted: f64, what: &str| {
                same(value(found), wanted, &format!("{what} of {x:e}, {y:e}"))
            };
            check(v + w, x + y, "sum");
            check(v / w, x / y, "quotient");
            check(v % w, x % y, "remainder");
            check(Float::copysign(v, w), x.copysign(y), "copysign");
            check(Float::mul_add(v, w, v), x.mul_add(y, x), "mul_add");
            check(Euclid::rem_euclid(&v, &w), x.rem_euclid(y), "rem_euclid");
            check(Euclid::div_euclid(&v, &w), x.div_euclid(y), "div_euclid");
            check(Float::abs_sub(v, w), if x <= y { 0.0 } else { x - y }, "abs_sub");
            // Which of two zeros is the greater is left open.
            if x != y {
                check(Float::max(v, w), x.max(y), "max");
                check(Float::min(v, w), x.min(y), "min");
            }
            assert_eq!(v.partial_cmp(&w), x.partial_cmp(&y));
        }
    }
}

#[test]
fn what_is_exact_is_as_in_the_standard_library() {
    let tape = Tape::new();
    like_std(|x| tape.var(x), Var::value);
    like_std(Var::from, Var::value);
    like_std(|x| Dual::<f64, 2>::variable(x, 1), Dual::value);
    like_std(Jet::<f64, 2>::variable, Jet::value);
}

#[test]
fn what_is_constant_in_pieces_has_no_derivative() -> Result<(), Error> {
    let f = |x: &[Var]| {
        Float::round(x[0]) + Float::signum(x[0]) + Float::trunc(x[0]) + Float::floor(x[0])
    };
    for x in [0.3, 2.5, -1.5, -0.0] {
        assert_eq!(grad(f, &[x])?, [0.0]);
        assert_eq!(grad(|x| Float::fract(x[0]), &[x])?, [1.0]);
        // Rounded or not, it is a part of the recording, which can be computed anew.
        let tape = Tape::new();
        let v = tape.var(x);
        let y = Float::round(v * 2.0);
        assert_eq!(tape.replay(&[(v, 1.25)], &[y])?, [3.0]);
    }
    assert_eq!(grad(|x| Float::abs_sub(x[0], x[1]), &[3.0, 1.0])?, [1.0, -1.0]);
    assert_eq!(grad(|x| Float::max(x[0], Var::from(f64::NAN)), &[3.0])?, [1.0]);
    assert_eq!(grad(|x| Euclid::rem_euclid(&x[0], &x[1]), &[-7.0, 3.0])?, [1.0, 3.0]);
    Ok(())
}

#[test]
fn conversions_are_counted() -> Result<(), Error> {
    let tape = Tape::new();
    let x = tape.var(3.75);
    let count = || tape.stats().conversions;
    assert_eq!((x.to_f64(), count()), (Some(3.75), 1));
    assert_eq!((x.to_i32(), count()), (Some(3), 2));
    assert_eq!((f64::from(x), count()), (3.75, 3));
    let lost: Var = num_traits::NumCast::from(x).unwrap();
    assert_eq!((lost.is_constant(), count()), (true, 4));
    let index: usize = x.as_();
    assert_eq!((index, count()), (3, 5));
    assert_eq!((Float::integer_decode(x).2, count()), (1, 6));
    assert_eq!((nalgebra::try_convert::<Var, f64>(x), count()), (Some(3.75), 7));
    // What is below a dual counts, constants do not, nor does looking at a value.
    assert_eq!((Dual::<Var, 1>::constant(x).to_f64(), count()), (Some(3.75), 8));
    let c: Var = num_traits::NumCast::from(2.5).unwrap();
    assert_eq!(
        (c.to_f64(), Var::from_i32(-2).map(Var::value), x.value(), count()),
        (Some(2.5), Some(-2.0), 3.75, 8)
    );
    // Through a conversion no derivative passes.
    assert_eq!((x * f64::from(x)).backward()?.wrt(x)?, 3.75);
    Ok(())
}

#[test]
fn constants_and_texts() {
    assert_eq!(Var::from_str_radix("2.5", 10).map(Var::value).ok(), Some(2.5));
    assert!(Var::from_str_radix("two", 10).is_err());
    assert_eq!(
        (Var::zero().value(), Var::one().value(), Var::PI().value()),
        (0.0, 1.0, std::f64::consts::PI)
    );
    assert_eq!(<Var as Float>::epsilon().value(), f64::EPSILON);
    assert!(<Var as Float>::nan().is_nan() && <Var as Float>::neg_zero().is_sign_negative());
    assert_eq!(<Var as num_traits::Bounded>::max_value().value(), f64::MAX);
    let v: Var = 7u8.as_();
    assert_eq!(v.value(), 7.0);
    assert_eq!(Pow::pow(Var::from(3.0), 2).value(), 9.0);
}
