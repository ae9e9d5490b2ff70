//! Derivatives inside derivatives: what belongs to one level is never taken for what belongs to another. And variables that stand
//! for each other: each use adds to the same adjoint.

use wengert::tape::{Dual, Error, Scalar, Tape, Var, derivative};

/// The derivative by a tape of its own, as a variable of the tapes below.
fn d(f: impl FnOnce(Var) -> Var, x: Var) -> Var {
    let tape = Tape::new();
    let x = tape.var(x);
    f(x).backward_var().and_then(|d| d.wrt(x)).unwrap()
}

/// The derivative as a number.
fn slope(f: impl FnOnce(Var) -> Var, x: f64) -> f64 {
    let tape = Tape::new();
    let x = tape.var(x);
    f(x).backward().and_then(|d| d.wrt(x)).unwrap()
}

#[test]
fn the_inner_derivative_does_not_see_the_outer_variable() {
    // Siskind and Pearlmutter: d/dx (x d/dy (x + y)) at 1 is 1. Confused, it is 2.
    let one = Dual::constant(1.0);
    assert_eq!(derivative(|x| x * derivative(|y| Dual::constant(x) + y, one), 1.0), 1.0);
    assert_eq!(slope(|x| x * d(|y| x + y, Var::from(1.0)), 1.0), 1.0);
    // d/dx (x d/dy (x y)) at 3 is 6.
    assert_eq!(
        derivative(|x| x * derivative(|y| Dual::constant(x) * y, Dual::constant(2.0)), 3.0),
        6.0
    );
    assert_eq!(slope(|x| x * d(|y| x * y, Var::from(2.0)), 3.0), 6.0);
    // Where the inner point is the outer variable: d/dx (x d/dy (x y^2) at x) = d/dx (2 x^3).
    assert_eq!(derivative(|x| x * derivative(|y| Dual::constant(x) * y * y, x), 3.0), 54.0);
    assert_eq!(slope(|x| x * d(|y| x * y * y, x), 3.0), 54.0);
}

#[test]
fn levels_of_the_same_name_are_apart() {
    // d/dx of d/dx x^3 at x, times x: d/dx 3 x^3.
    assert_eq!(derivative(|x| derivative(|x| x * x * x, x) * x, 2.0), 36.0);
    assert_eq!(slope(|x| d(|x| x * x * x, x) * x, 2.0), 36.0);
    // Three levels, of which the innermost function uses all: d/dx d/dy d/dz x y z.
    let three = derivative(
        |x| {
            let inner = |y| {
                let x = Dual::constant(Dual::constant(x));
                derivative(|z| x * Dual::constant(y) * z, Dual::constant(Dual::constant(7.0)))
            };
            derivative(inner, Dual::constant(5.0))
        },
        3.0,
    );
    assert_eq!(three, 1.0);
    let three = slope(|x| d(|y| d(|z| x * y * z, Var::from(7.0)), Var::from(5.0)), 3.0);
    assert_eq!(three, 1.0);
}

#[test]
fn a_level_that_is_not_used_gives_zero() {
    assert_eq!(derivative(|_| derivative(|y| y * y, Dual::constant(3.0)), 1.0), 0.0);
    assert_eq!(slope(|_| d(|y| y * y, Var::from(3.0)), 1.0), 0.0);
    assert_eq!(slope(|x| d(|_| x * x, Var::from(3.0)), 1.0), 0.0);
}

/// A function at every level.
trait Map {
    fn at<T: Scalar>(&self, x: T) -> T;
}

struct Cube;

impl Map for Cube {
    fn at<T: Scalar>(&self, x: T) -> T {
        x * x * x
    }
}

/// The derivative by `u` at 0 of the shift by `u` of a function: its derivative.
struct Shifted<G>(G);

impl<G: Map> Map for Shifted<G> {
    fn at<T: Scalar>(&self, x: T) -> T {
        derivative(|u| self.0.at(Dual::constant(x) + u), T::of(0.0))
    }
}

#[test]
fn the_derivative_of_a_curried_function_is_applied_twice() {
    // Manzyuk and others: with s(u)(g)(x) = g(x + u), the derivative of s at 0 applied twice gives the second derivative of g.
    // Confused, it gives 0.
    assert_eq!(Shifted(Cube).at(2.0), 12.0);
    assert_eq!(Shifted(Shifted(Cube)).at(2.0), 12.0);
    assert_eq!(Shifted(Shifted(Shifted(Cube))).at(2.0), 6.0);

    fn shifted(g: &dyn Fn(Var) -> Var) -> impl Fn(Var) -> Var + '_ {
        move |x| d(|u| g(x + u), Var::from(0.0))
    }
    let cube = |x: Var| x * x * x;
    let once = shifted(&cube);
    let twice = shifted(&once);
    let thrice = shifted(&twice);
    let at = Var::from(2.0);
    assert_eq!((once(at).value(), twice(at).value(), thrice(at).value()), (12.0, 12.0, 6.0));
    // And differentiated once more, by the point.
    assert_eq!(slope(&twice, 2.0), 6.0);
}

#[test]
fn a_function_that_is_returned_keeps_its_level() {
    // d/dx of the function y -> x y, applied afterwards.
    let partial = |y: f64| derivative(|x| x * Dual::constant(y), 2.0);
    assert_eq!(partial(5.0), 5.0);
    // A tape that has ended took its variables along: an error, and no wrong number.
    let leaked = {
        let tape = Tape::new();
        tape.var(2.0)
    };
    let tape = Tape::new();
    let y = tape.var(3.0) * leaked;
    assert_eq!(y.value(), 6.0);
    assert!(matches!(y.backward(), Err(Error::Misuse(_))));
}

#[test]
fn interleaved_tapes_keep_to_themselves() -> Result<(), Error> {
    let (outer, inner) = (Tape::new(), Tape::new());
    let (x, y) = (outer.var(2.0), inner.var(5.0));
    let z = x * y;
    let w = x * x;
    assert_eq!(z.backward()?.wrt(y)?, 2.0);
    // What the inner tape knows of x is a number; its derivative is that of the slope.
    let dz = z.backward_var()?.wrt(y)?;
    assert_eq!(dz.backward()?.wrt(x)?, 1.0);
    assert_eq!(w.backward()?.wrt(x)?, 4.0);
    Ok(())
}

#[test]
fn duals_over_tapes_and_tapes_over_duals_agree() {
    let f = |x: Dual<Var, 1>| x.sin() * x;
    let mixed = slope(|x| derivative(f, x), 0.7);
    let dual = derivative(|x| derivative(|x| x.sin() * x, x), 0.7);
    let tapes = slope(|x| d(|x| x.sin() * x, x), 0.7);
    assert!((mixed - dual).abs() < 1e-15 && (mixed - tapes).abs() < 1e-15);
}

#[test]
fn what_is_used_twice_counts_twice() {
    assert_eq!(slope(|x| x + x, 3.0), 2.0);
    assert_eq!(slope(|x| x - x, 3.0), 0.0);
    assert_eq!(slope(|x| x * x, 3.0), 6.0);
    assert_eq!(slope(|x| x / x, 3.0), 0.0);
    assert_eq!(slope(|x| x.mul_add(x, x), 3.0), 7.0);
    assert_eq!(slope(|x| x.hypot(x), 3.0), 2f64.sqrt());
    assert!((slope(|x| x.powf(x), 3.0) - 27.0 * (1.0 + 3f64.ln())).abs() < 1e-13);
}

#[test]
fn a_copy_is_the_same_variable() {
    let copied = |x: Var| {
        let y = x;
        x * y
    };
    assert_eq!(slope(copied, 3.0), 6.0);
    assert_eq!(slope(|x| x, 3.0), 1.0);
    let stored = |x: Var| {
        let all = [x, x, x];
        all.iter().product::<Var>() + all.iter().sum::<Var>()
    };
    assert_eq!(slope(stored, 2.0), 15.0);
}

#[test]
fn a_variable_that_is_assigned_again_keeps_its_past() -> Result<(), Error> {
    let again = |mut x: Var| {
        let before = x;
        x = x * x;
        x += before;
        x *= x;
        x - before
    };
    // (x^2 + x)^2 - x at 2.
    assert_eq!(slope(again, 2.0), 2.0 * 6.0 * 5.0 - 1.0);
    let minus_itself = |mut x: Var| {
        let y = x;
        x -= y;
        x
    };
    assert_eq!(slope(minus_itself, 2.0), 0.0);
    // Two that change places.
    let tape = Tape::new();
    let (x, y) = (tape.var(2.0), tape.var(5.0));
    let (mut a, mut b) = (x, y);
    std::mem::swap(&mut a, &mut b);
    a *= b;
    let found = (a - b).backward()?;
    assert_eq!((found.wrt(x)?, found.wrt(y)?), (4.0, 2.0));
    Ok(())
}

#[test]
fn seeds_and_sweeps_add_up_where_they_should() -> Result<(), Error> {
    let tape = Tape::new();
    let x = tape.var(3.0);
    let y = x * x;
    // The same result twice, and a result that is an input of another.
    assert_eq!(tape.reverse(&[(y, 1.0), (y, 2.0)])?.wrt(x)?, 18.0);
    assert_eq!(tape.reverse(&[(y, 1.0), (x, 2.0)])?.wrt(x)?, 8.0);
    // A second sweep begins anew, also in the memory of the first.
    let mut adjoints = tape.reverse(&[(y, 1.0)])?;
    tape.reverse_into(&[(y, 1.0)], &mut adjoints)?;
    assert_eq!(adjoints.wrt(x)?, 6.0);
    // Two inputs of the same value are two.
    let twin = tape.var(3.0);
    let found = (x * twin).backward()?;
    assert_eq!((found.wrt(x)?, found.wrt(twin)?), (3.0, 3.0));
    Ok(())
}
