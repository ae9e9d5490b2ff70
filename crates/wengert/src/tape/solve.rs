//! Systems of linear equations as one call: the factorisation is kept, and the way back is one transposed solve with it.

use super::Tape;
use super::error::Error;
use super::outside::Outside;
use super::var::Var;
use std::cell::RefCell;
use std::panic::Location;
use wengert_checkpoint::Fingerprint;

impl Tape {
    /// Solves `a x = b` for a matrix of `n` rows and columns, row by row in `a`. `b` holds `n` numbers, or `n` rows of several right-hand
    /// sides; what comes back is laid out like it. A matrix that is singular, as far as can be seen in rounded numbers, is an error.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let a = tape.vars([2.0, 1.0, 1.0, 3.0]);
    /// let b = tape.vars([3.0, 5.0]);
    /// let x = tape.solve(2, &a, &b)?;
    /// assert!((x[0].value() - 0.8).abs() < 1e-15 && (x[1].value() - 1.4).abs() < 1e-15);
    /// // The derivative of x[0] by b is the first row of the inverse matrix.
    /// let d = x[0].backward()?.wrt_all(&b)?;
    /// assert!((d[0] - 0.6).abs() < 1e-15 && (d[1] + 0.2).abs() < 1e-15);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn solve(&self, n: usize, a: &[Var], b: &[Var]) -> Result<Vec<Var>, Error> {
        let at = Location::caller();
        let wanted = n.saturating_mul(n);
        if a.len() != wanted {
            let what = "entries of a matrix";
            return Err(Error::Count { what, wanted, given: a.len() });
        }
        if n == 0 || !b.len().is_multiple_of(n) {
            let what = "numbers on the right-hand side, or a multiple";
            match b.len() {
                0 if n == 0 => return Ok(Vec::new()),
                given => return Err(Error::Count { what, wanted: n, given }),
            }
        }
        let inputs: Vec<Var> = a.iter().chain(b).copied().collect();
        self.call(Solve { n, kept: RefCell::default(), at }, &inputs)
    }
}

/// One system, and the factors of its matrix.
struct Solve {
    n: usize,
    /// With what they are the factors of.
    kept: RefCell<Option<(u64, Factors)>>,
    at: &'static Location<'static>,
}

impl Solve {
    /// The factors of a matrix: those that are kept, or new ones.
    fn with<R>(&self, a: &[f64], look: impl FnOnce(&Factors) -> R) -> Result<R, Error> {
        let mut print = Fingerprint::new();
        print.floats(a);
        let print = print.finish();
        let mut kept = self.kept.borrow_mut();
        let factors = match kept.take().filter(|(of, _)| *of == print) {
            Some((_, factors)) => factors,
            None => Factors::new(self.n, a.to_vec())
                .map_err(|why| Error::Singular { at: self.at, why: why.to_string() })?,
        };
        Ok(look(&kept.insert((print, factors)).1))
    }

    /// Solves for all right-hand sides.
    fn columns(&self, b: &[f64], mut one: impl FnMut(&mut [f64])) -> Vec<f64> {
        let (n, count) = (self.n, b.len() / self.n);
        let mut x = vec![0.0; b.len()];
        let mut column = vec![0.0; n];
        for k in 0..count {
            (0..n).for_each(|i| column[i] = b[i * count + k]);
            one(&mut column);
            (0..n).for_each(|i| x[i * count + k] = column[i]);
        }
        x
    }
}

impl Outside for Solve {
    fn value(&self, inputs: &[f64]) -> Result<Vec<f64>, Error> {
        let (a, b) = inputs.split_at(self.n * self.n);
        self.with(a, |factors| self.columns(b, |x| factors.solve(x)))
    }

    fn vjp(&self, inputs: &[f64], x: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
        let (a, _) = inputs.split_at(self.n * self.n);
        let db = self.with(a, |factors| self.columns(dx, |d| factors.solve_transposed(d)))?;
        let (n, count) = (self.n, x.len() / self.n);
        let mut all = Vec::with_capacity(inputs.len());
        for i in 0..n {
            for j in 0..n {
                let term = |k: usize| db[i * count + k] * x[j * count + k];
                all.push(-(0..count).map(term).sum::<f64>());
            }
        }
        all.extend(db);
        Ok(all)
    }

    fn jvp(&self, inputs: &[f64], x: &[f64], d: &[f64]) -> Result<Vec<f64>, Error> {
        let (a, _) = inputs.split_at(self.n * self.n);
        let (da, db) = d.split_at(self.n * self.n);
        let (n, count) = (self.n, x.len() / self.n);
        let mut right = db.to_vec();
        for i in 0..n {
            for k in 0..count {
                let term = |j: usize| da[i * n + j] * x[j * count + k];
                right[i * count + k] -= (0..n).map(term).sum::<f64>();
            }
        }
        self.with(a, |factors| self.columns(&right, |d| factors.solve(d)))
    }
}

/// Why a matrix has no factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoFactors {
    #[error(
        "the matrix is singular: column {0} is zero, or a combination of those before it as far as rounding shows; look for rows or columns that say the same"
    )]
    Singular(usize),
    #[error(
        "the matrix holds NaN or infinity, or comes to them in column {0}; look at what its entries are computed of"
    )]
    NotFinite(usize),
}

/// A matrix as a product of a lower and an upper triangle, with its rows in another order.
pub(super) struct Factors {
    n: usize,
    /// Both triangles, row by row; the diagonal of the lower one is 1.
    both: Vec<f64>,
    /// Where each row stood.
    rows: Vec<usize>,
}

impl Factors {
    /// Elimination, always by the largest pivot of a column.
    pub(super) fn new(n: usize, mut a: Vec<f64>) -> Result<Factors, NoFactors> {
        let mut rows: Vec<usize> = (0..n).collect();
        // How large numbers were that each entry is a difference of: one that is no more than their rounding is none.
        let mut sizes: Vec<f64> = a.iter().map(|x| x.abs()).collect();
        for k in 0..n {
            let mut pivot = k;
            // Those above the diagonal too: they stay as they are now.
            if (0..n).any(|i| !a[i * n + k].is_finite()) {
                return Err(NoFactors::NotFinite(k));
            }
            for i in k..n {
                if a[i * n + k].abs() > a[pivot * n + k].abs() {
                    pivot = i;
                }
            }
            if a[pivot * n + k].abs() <= n as f64 * f64::EPSILON * sizes[pivot * n + k]
                && (k > 0 || a[pivot * n + k] == 0.0)
            {
                return Err(NoFactors::Singular(k));
            }
            if pivot != k {
                rows.swap(k, pivot);
                (0..n).for_each(|j| {
                    a.swap(k * n + j, pivot * n + j);
                    sizes.swap(k * n + j, pivot * n + j);
                });
            }
            for i in k + 1..n {
                let factor = a[i * n + k] / a[k * n + k];
                a[i * n + k] = factor;
                if factor == 0.0 {
                    continue;
                }
                for j in k + 1..n {
                    let part = factor * a[k * n + j];
                    a[i * n + j] -= part;
                    sizes[i * n + j] += part.abs();
                }
            }
        }
        Ok(Factors { n, both: a, rows })
    }

    /// What times the matrix is `b`.
    pub(super) fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        let mut x: Vec<f64> = self.rows.iter().map(|row| b[*row]).collect();
        for i in 0..n {
            let known: f64 = (0..i).map(|j| self.both[i * n + j] * x[j]).sum();
            x[i] -= known;
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| self.both[i * n + j] * x[j]).sum();
            x[i] = (x[i] - known) / self.both[i * n + i];
        }
        b.copy_from_slice(&x);
    }

    /// What times the transposed matrix is `b`.
    pub(super) fn solve_transposed(&self, b: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            let known: f64 = (0..i).map(|j| self.both[j * n + i] * b[j]).sum();
            b[i] = (b[i] - known) / self.both[i * n + i];
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| self.both[j * n + i] * b[j]).sum();
            b[i] -= known;
        }
        let x = b.to_vec();
        self.rows.iter().zip(x).for_each(|(row, x)| b[*row] = x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look like chance.
    fn noise(seed: &mut u64) -> f64 {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    #[test]
    fn solutions_solve() {
        let mut seed = 1;
        for n in 1..30 {
            let a: Vec<f64> = (0..n * n).map(|_| noise(&mut seed)).collect();
            let b: Vec<f64> = (0..n).map(|_| noise(&mut seed)).collect();
            let factors = Factors::new(n, a.clone()).unwrap();
            let (mut x, mut y) = (b.clone(), b.clone());
            factors.solve(&mut x);
            factors.solve_transposed(&mut y);
            for i in 0..n {
                let there: f64 = (0..n).map(|j| a[i * n + j] * x[j]).sum();
                let back: f64 = (0..n).map(|j| a[j * n + i] * y[j]).sum();
                assert!((there - b[i]).abs() + (back - b[i]).abs() < 1e-10, "{n}");
            }
        }
    }

    #[test]
    fn scales_are_not_taken_for_singular() {
        for a in [[1.0, 1e20, 0.0, 1.0], [1e-300, 0.0, 0.0, 1e300], [0.0, 1e-9, 1e-9, 0.0]] {
            assert!(Factors::new(2, a.to_vec()).is_ok(), "{a:?}");
        }
        for a in [[0.1, 0.2, 0.3, 0.6], [0.0; 4], [1.0, 1.0, 1.0, 1.0 + 1e-16]] {
            assert!(matches!(Factors::new(2, a.to_vec()), Err(NoFactors::Singular(_))), "{a:?}");
        }
        assert!(matches!(Factors::new(1, vec![f64::NAN]), Err(NoFactors::NotFinite(0))));
    }
}
