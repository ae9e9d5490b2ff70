//! All entries of a sparse derivative from a few runs.
//!
//! [`from_columns`], [`from_rows`] and [`hessian`] take any way to run in a direction: a closure from the
//! seed to the result. [`jacobian`] and [`hessian_of`] are the whole way for a function with its derivative
//! programs: the pattern at this point, its colouring, the runs. A [`Plan`] keeps the first two for further points; it
//! holds there as long as the program takes the same path ([`Plan::disagreement`] looks).
//!
//! ```
//! use wengert_core::structure::{Pattern, colouring, compressed};
//!
//! // Hessian-vector products of a function whose Hessian has 2 on the diagonal and -1 beside it.
//! let hvp = |v: &[f64]| -> Result<Vec<f64>, ()> {
//!     let at = |i: usize| v.get(i).copied().unwrap_or(0.0);
//!     Ok((0..9).map(|i| 2.0 * at(i) - at(i + 1) - at(i.wrapping_sub(1))).collect())
//! };
//! let pattern = Pattern::banded(9, 1, 1);
//! let colours = colouring::star(&pattern).unwrap();
//! assert_eq!(colours.colours(), 3);
//! let h = compressed::hessian(&pattern, &colours, hvp)?;
//! assert_eq!((h.get(4, 4), h.get(4, 5), h.get(4, 6)), (2.0, -1.0, 0.0));
//! # Ok::<(), ()>(())
//! ```

use super::colouring::{self, Colouring, Direction};
use super::pattern::Pattern;
use super::sparsity::Sparsity;
use super::traced::{count, shaped};
use crate::check::{Derived, Engine, Random, floats};
use crate::fault::Fault;
use crate::interp::Val;
use crate::ir::{Module, verify};
use crate::span::Diagnostic;
use crate::transform::derivative;

/// A sparse matrix: a pattern with a number at every place.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    /// Where the entries are.
    pub pattern: Pattern,
    /// The entries, in the order of [`Pattern::places`].
    pub values: Vec<f64>,
}

impl Sparse {
    /// An entry; 0 where the pattern has none.
    pub fn get(&self, row: usize, col: usize) -> f64 {
        self.pattern.position(row, col).map_or(0.0, |at| self.values[at])
    }

    /// Every row with all its zeros.
    pub fn to_dense(&self) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; self.pattern.cols()]; self.pattern.rows()];
        for ((i, j), v) in self.pattern.places().zip(&self.values) {
            rows[i][j] = *v;
        }
        rows
    }

    /// The product with a vector; its missing elements count as zeros.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.pattern.rows()];
        for ((i, j), v) in self.pattern.places().zip(&self.values) {
            y[i] += v * x.get(j).copied().unwrap_or(0.0);
        }
        y
    }
}

/// One result per colour.
fn results<E>(
    colouring: &Colouring,
    mut run: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
) -> Result<Vec<Vec<f64>>, E> {
    (0..colouring.colours()).map(|c| run(&colouring.seed(c))).collect()
}

/// An element of the result of a colour. One that is missing is not a number: it is not passed over.
fn read(results: &[Vec<f64>], colour: Option<usize>, at: usize) -> f64 {
    colour.and_then(|c| results.get(c)?.get(at)).copied().unwrap_or(f64::NAN)
}

/// A Jacobian from forward runs: `run` takes a direction of the inputs to the derivative of the results
/// along it. The colouring is one of columns.
pub fn from_columns<E>(
    pattern: &Pattern,
    colouring: &Colouring,
    run: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
) -> Result<Sparse, E> {
    let results = results(colouring, run)?;
    let values = pattern.places().map(|(i, j)| read(&results, colouring.of(j), i)).collect();
    Ok(Sparse { pattern: pattern.clone(), values })
}

/// A Jacobian from reverse runs: `run` takes adjoints of the results to adjoints of the inputs. The
/// colouring is one of rows.
pub fn from_rows<E>(
    pattern: &Pattern,
    colouring: &Colouring,
    run: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
) -> Result<Sparse, E> {
    let results = results(colouring, run)?;
    let values = pattern.places().map(|(i, j)| read(&results, colouring.of(i), j)).collect();
    Ok(Sparse { pattern: pattern.clone(), values })
}

/// A Hessian from its products with vectors. The colouring is a star colouring of the pattern. Entries
/// are read, not solved for: each is one element of one product. (A column colouring is one as well.)
pub fn hessian<E>(
    pattern: &Pattern,
    colouring: &Colouring,
    run: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
) -> Result<Sparse, E> {
    let results = results(colouring, run)?;
    // How often each colour stands in the row at hand: where once, the entry can be read there.
    let mut times = vec![0usize; colouring.colours()];
    let mut alone = Vec::with_capacity(pattern.count());
    for i in 0..pattern.rows() {
        let colours = || pattern.row(i).iter().filter_map(|j| colouring.of(*j as usize));
        colours().for_each(|c| times[c] += 1);
        for j in pattern.row(i) {
            alone.push(colouring.of(*j as usize).is_some_and(|c| times[c] == 1));
        }
        colours().for_each(|c| times[c] = 0);
    }
    // The upper triangle decides, so that the result is symmetric to the bit.
    let value = |(i, j): (usize, usize)| {
        let (i, j) = (i.min(j), i.max(j));
        let here = pattern.position(i, j).is_some_and(|at| alone[at]);
        let (at, seed) = if here { (i, j) } else { (j, i) };
        read(&results, colouring.of(seed), at)
    };
    Ok(Sparse { pattern: pattern.clone(), values: pattern.places().map(value).collect() })
}

/// The products of a function's Hessian with vectors: forward mode over reverse mode.
#[derive(Clone, Debug)]
pub struct Products {
    module: Module,
    name: String,
    inputs: usize,
}

impl Products {
    /// Differentiates twice.
    pub fn of(derived: &Derived) -> Result<Products, Diagnostic> {
        let gradient = format!("{}.vjp", derived.func.name);
        let once = derivative::vjp_of(&derived.primal, &derived.func.name, &derived.wrt)?;
        let module = derivative::jvp_of(&once, &gradient, &derived.wrt, 1)?;
        verify::module(&module)?;
        Ok(Products { module, name: format!("{gradient}.jvp"), inputs: derived.wrt.len() })
    }

    /// The product with a direction: one value per parameter differentiated by, as the direction has. The
    /// Hessian is that of the sum of the float results, each times its value in `weights`.
    pub fn along(
        &self,
        engine: &mut dyn Engine,
        args: &[Val],
        weights: &[Val],
        direction: &[Val],
    ) -> Result<Vec<Val>, Fault> {
        let all = [args, weights, direction].concat();
        let mut results = engine.call(&self.module, &self.name, &all)?;
        Ok(results.split_off(results.len().saturating_sub(self.inputs)))
    }
}

/// The Hessian of a function at a point, by as few runs as its pattern there allows: over every float of
/// the parameters in `derived.wrt`, of the sum of the float results, each times its value in `weights`.
pub fn hessian_of(
    derived: &Derived,
    engine: &mut dyn Engine,
    args: &[Val],
    weights: &[Val],
) -> Result<Sparse, Diagnostic> {
    let products = Products::of(derived)?;
    let sparsity = Sparsity::of(&derived.func).within(&derived.primal);
    let run = |along: &[Val]| products.along(engine, args, weights, along);
    hessian_with(&sparsity, &derived.wrt, args, run).map_err(|fault| fault.diagnostic())
}

/// The same from any way to compute products: `run` takes a direction of the parameters in `wrt` to the
/// product with it, both with one value per parameter.
pub fn hessian_with(
    sparsity: &Sparsity<'_>,
    wrt: &[usize],
    args: &[Val],
    mut run: impl FnMut(&[Val]) -> Result<Vec<Val>, Fault>,
) -> Result<Sparse, Fault> {
    let pattern = sparsity.hessian(wrt, args)?;
    let colouring = colouring::star(&pattern).unwrap_or_else(|| colouring::columns(&pattern));
    let inputs: Vec<Val> = wrt.iter().filter_map(|k| args.get(*k).cloned()).collect();
    hessian(&pattern, &colouring, |seed| Ok(floats(&run(&shaped(&inputs, seed))?)))
}

/// The pattern of a Jacobian and the runs that give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pattern: Pattern,
    direction: Direction,
}

impl Plan {
    /// The plan of a function at a point.
    pub fn of(derived: &Derived, args: &[Val]) -> Result<Plan, Fault> {
        let sparsity = Sparsity::of(&derived.func).within(&derived.primal);
        Ok(Plan::new(sparsity.jacobian(&derived.wrt, args)?))
    }

    /// The plan of a pattern: the direction with fewer runs.
    pub fn new(pattern: Pattern) -> Plan {
        Plan { direction: Direction::of(&pattern), pattern }
    }

    /// The plan of a pattern with a direction and colouring chosen by hand.
    pub fn with(pattern: Pattern, direction: Direction) -> Plan {
        Plan { pattern, direction }
    }

    /// Where the entries are.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Which runs give them.
    pub fn direction(&self) -> &Direction {
        &self.direction
    }

    /// How many runs that takes.
    pub fn runs(&self) -> usize {
        self.direction.runs()
    }

    /// How far a Jacobian made by this plan is from the derivative along one random direction, relative to
    /// its size: of the order of rounding where the plan holds at this point.
    pub fn disagreement(
        &self,
        jacobian: &Sparse,
        derived: &Derived,
        engine: &mut dyn Engine,
        args: &[Val],
        seed: u64,
    ) -> Result<f64, Fault> {
        let mut random = Random(seed);
        let direction: Vec<f64> =
            (0..self.pattern.cols()).map(|_| random.float(-1.0, 1.0)).collect();
        let along = forward(derived, engine, args, &direction)?;
        let product = jacobian.times(&direction);
        if along.len() != product.len() {
            return Ok(f64::INFINITY);
        }
        let size = along.iter().chain(&product).fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let errors = along.iter().zip(&product).map(|(a, b)| (a - b).abs() / size);
        Ok(errors.fold(0.0, |m, e| if e <= m { m } else { e }))
    }
}

/// The Jacobian of a function at a point, by as few runs as its pattern there allows: a row for every float
/// of the results, a column for every float of the parameters in `derived.wrt`.
pub fn jacobian(derived: &Derived, engine: &mut dyn Engine, args: &[Val]) -> Result<Sparse, Fault> {
    jacobian_by(&Plan::of(derived, args)?, derived, engine, args)
}

/// The same by a plan made before, at a point where the program takes the same path.
pub fn jacobian_by(
    plan: &Plan,
    derived: &Derived,
    engine: &mut dyn Engine,
    args: &[Val],
) -> Result<Sparse, Fault> {
    match &plan.direction {
        Direction::Forward(colouring) => {
            from_columns(&plan.pattern, colouring, |seed| forward(derived, engine, args, seed))
        }
        Direction::Reverse(colouring) => {
            let results = derived.value(engine, args)?;
            from_rows(&plan.pattern, colouring, |seed| {
                let (_, adjoints) = derived.vjp(engine, args, &shaped(&results, seed))?;
                Ok(floats(&adjoints))
            })
        }
    }
}

/// The same column by column, without a pattern: one forward run per column. Gives the rows.
pub fn dense_jacobian(
    derived: &Derived,
    engine: &mut dyn Engine,
    args: &[Val],
) -> Result<Vec<Vec<f64>>, Fault> {
    let inputs = derived.wrt.iter().filter_map(|k| args.get(*k));
    let n: usize = inputs.filter_map(count).sum();
    let rows = floats(&derived.value(engine, args)?).len();
    let mut matrix = vec![vec![0.0; n]; rows];
    for j in 0..n {
        let mut seed = vec![0.0; n];
        seed[j] = 1.0;
        let column = forward(derived, engine, args, &seed)?;
        for (row, value) in matrix.iter_mut().zip(column) {
            row[j] = value;
        }
    }
    Ok(matrix)
}

/// The derivative of the float results along a direction of the inputs.
fn forward(
    derived: &Derived,
    engine: &mut dyn Engine,
    args: &[Val],
    direction: &[f64],
) -> Result<Vec<f64>, Fault> {
    let inputs: Vec<Val> = derived.wrt.iter().filter_map(|k| args.get(*k).cloned()).collect();
    let (_, tangents) = derived.jvp(engine, args, &shaped(&inputs, direction))?;
    Ok(floats(&tangents))
}
