//! Fixed points: found by iterating on plain numbers, differentiated as what they are, not as the way to them.
//!
//! Where `x = f(x, p)`, derivatives obey `dx = f_x dx + f_p dp`: one system with the matrix `I - f_x`, which comes of one
//! recording of `f` at the point.

use super::Tape;
use super::error::Error;
use super::outside::Outside;
use super::region::{constants, only_inputs, plain};
use super::solve::{Factors, NoFactors};
use super::var::Var;
use std::panic::Location;

impl Tape {
    /// The point that `x = f(x, params)` comes to when it is iterated from `x0`, with its derivatives by the parameters; by `x0` there are
    /// none.
    ///
    /// It is there when no number changes by more than `tolerance`, relative to the largest one if that is more than 1. When it
    /// is not there after `max_iterations` that is an error that says how far it was, and so is a point that the iteration does not pull
    /// towards.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let a = tape.var(2.0);
    /// // Heron's rule for the root of 2.
    /// let heron = |x: &[_], a: &[_]| vec![(x[0] + a[0] / x[0]) * 0.5];
    /// let root = tape.fixed_point(heron, &[1.0], &[a], 1e-14, 50)?[0];
    /// assert!((root.value() - 2f64.sqrt()).abs() < 1e-14);
    /// assert!((root.backward()?.wrt(a)? - 0.5 / 2f64.sqrt()).abs() < 1e-14);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn fixed_point(
        &self,
        f: impl Fn(&[Var], &[Var]) -> Vec<Var> + 'static,
        x0: &[f64],
        params: &[Var],
        tolerance: f64,
        max_iterations: usize,
    ) -> Result<Vec<Var>, Error> {
        let (x0, at) = (x0.to_vec(), Location::caller());
        self.call(Fixed { f, x0, tolerance, max_iterations, at }, params)
    }
}

struct Fixed<F> {
    f: F,
    x0: Vec<f64>,
    tolerance: f64,
    max_iterations: usize,
    at: &'static Location<'static>,
}

/// The largest number.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    // NaN stays.
    numbers.fold(0.0, |most: f64, x| if x.abs() <= most { most } else { x.abs() })
}

impl<F: Fn(&[Var], &[Var]) -> Vec<Var>> Fixed<F> {
    fn not_converged(&self, why: String) -> Error {
        Error::NotConverged(format!("{}: {why}", self.at))
    }

    fn counted(&self, given: usize) -> Result<(), Error> {
        let (what, wanted) = ("numbers of the next point", self.x0.len());
        if given == wanted {
            return Ok(());
        }
        Err(Error::Outside { at: self.at, what, wanted, given })
    }

    /// Records one iteration at the point, and takes the system apart.
    fn linear(&self, x: &[f64], params: &[f64]) -> Result<Linear, Error> {
        let tape = Tape::new();
        let (x, p) = (tape.var_vec(x), tape.var_vec(params));
        let y = (self.f)(&x, &p);
        only_inputs(&tape, &y, self.at)?;
        self.counted(y.len())?;
        let n = x.len();
        let seeds: Vec<[(Var, f64); 1]> = y.iter().map(|y| [(*y, 1.0)]).collect();
        let seeds: Vec<&[(Var, f64)]> = seeds.iter().map(|seed| &seed[..]).collect();
        let mut slopes = Vec::with_capacity(n * n);
        for row in tape.reverse_many(&seeds)? {
            slopes.extend(row.wrt_all(&x)?);
        }
        if !pulls(n, slopes.clone()) {
            let why = "the iteration does not pull towards its fixed point: the spectral radius of its derivative there is not below 1, and the point has no derivative; damp the iteration, or write it the other way round";
            return Err(self.not_converged(why.into()));
        }
        let mut matrix = slopes;
        for (at, entry) in matrix.iter_mut().enumerate() {
            *entry = if at % (n + 1) == 0 { 1.0 - *entry } else { -*entry };
        }
        let factors = Factors::new(n, matrix).map_err(|why| {
            let why = match why {
                NoFactors::Singular(_) => "the fixed point is not the only one near by: 1 is an eigenvalue of the iteration's derivative there, and the point has no derivative; let parameters decide which one is meant",
                NoFactors::NotFinite(_) => "the derivative of the iteration at its fixed point is NaN or infinite; look at what it computes there",
            };
            Error::Singular { at: self.at, why: why.into() }
        })?;
        Ok(Linear { tape, p, y, factors })
    }
}

/// An iteration at its point.
struct Linear {
    tape: Tape,
    p: Vec<Var>,
    y: Vec<Var>,
    /// Of the identity less the derivative by the point.
    factors: Factors,
}

/// Whether powers of a matrix become less than any number: one of them has a norm below 1.
fn pulls(n: usize, mut power: Vec<f64>) -> bool {
    // By squaring: 2^40 is where rounding has the last word.
    for _ in 0..40 {
        let norm = largest(power.chunks(n.max(1)).map(|row| row.iter().map(|x| x.abs()).sum()));
        if norm < 1.0 {
            return true;
        }
        if !norm.is_finite() {
            break;
        }
        let entry = |at: usize| (0..n).map(|k| power[at / n * n + k] * power[k * n + at % n]).sum();
        power = (0..n * n).map(entry).collect();
    }
    n == 0
}

impl<F: Fn(&[Var], &[Var]) -> Vec<Var>> Outside for Fixed<F> {
    fn value(&self, params: &[f64]) -> Result<Vec<f64>, Error> {
        let (p, mut x) = (constants(params), self.x0.clone());
        let mut change = f64::INFINITY;
        for k in 0..self.max_iterations {
            let next = plain(&(self.f)(&constants(&x), &p), self.at)?;
            self.counted(next.len())?;
            change = largest(next.iter().zip(&x).map(|(a, b)| a - b));
            if !change.is_finite() {
                let why = format!(
                    "the fixed point was not found: iteration {k} came to NaN or infinity; begin nearer to it, or damp the iteration"
                );
                return Err(self.not_converged(why));
            }
            x = next;
            if change <= self.tolerance * largest(x.iter().copied()).max(1.0) {
                return Ok(x);
            }
        }
        let (most, tolerance) = (self.max_iterations, self.tolerance);
        Err(self.not_converged(format!(
            "the fixed point was not found in {most} iterations: the last one changed a number by {change:e}, and {tolerance:e} was allowed; allow more of either, begin nearer to it, or damp the iteration"
        )))
    }

    fn vjp(&self, params: &[f64], x: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
        let linear = self.linear(x, params)?;
        let mut weights = dx.to_vec();
        linear.factors.solve_transposed(&mut weights);
        let seeds: Vec<(Var, f64)> = linear.y.into_iter().zip(weights).collect();
        linear.tape.reverse(&seeds)?.wrt_all(&linear.p)
    }

    fn jvp(&self, params: &[f64], x: &[f64], dp: &[f64]) -> Result<Vec<f64>, Error> {
        let linear = self.linear(x, params)?;
        let direction: Vec<(Var, f64)> = linear.p.into_iter().zip(dp.iter().copied()).collect();
        let mut dx = linear.tape.forward(&direction, &linear.y)?;
        linear.factors.solve(&mut dx);
        Ok(dx)
    }
}
