//! Sparse Jacobians and Hessians: few runs, and only the entries that can be other than zero.

use crate::array::Array;
use crate::compile::args::{Args, Wrt};
use crate::compile::dense::{floats, shaped};
use crate::compile::error::Error;
use crate::compile::function::{Call, Function};
use crate::compile::options::Stats;
use crate::value::Value;
use wengert_core::interp::Val;
use wengert_core::structure::{Direction, Plan, Sparse, Sparsity, colouring, compressed};

/// A sparse matrix. Entries are in order of rows, within a row in order of columns (CSR).
///
/// ```
/// let f = wengert::Function::from_source("def f(x, y, z):\n    return x * y, z\n", "f")?;
/// let j = f.sparse_jacobian([2.0, 3.0, 4.0], wengert::Wrt::All)?.matrix;
/// assert_eq!(j.shape(), (2, 3));
/// assert_eq!(j.triplets().collect::<Vec<_>>(), [(0, 0, 3.0), (0, 1, 2.0), (1, 2, 1.0)]);
/// assert_eq!(j.row_starts(), [0, 2, 3]);
/// assert_eq!(j.to_dense(), [[3.0, 2.0, 0.0], [0.0, 0.0, 1.0]].into());
/// # Ok::<(), wengert::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    cols: usize,
    row_starts: Vec<usize>,
    col_indices: Vec<usize>,
    values: Vec<f64>,
}

impl SparseMatrix {
    fn new(sparse: Sparse) -> SparseMatrix {
        let pattern = &sparse.pattern;
        let mut row_starts = vec![0];
        let mut col_indices = Vec::with_capacity(pattern.count());
        for i in 0..pattern.rows() {
            col_indices.extend(pattern.row(i).iter().map(|j| *j as usize));
            row_starts.push(col_indices.len());
        }
        SparseMatrix { cols: pattern.cols(), row_starts, col_indices, values: sparse.values }
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.row_starts.len() - 1, self.cols)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Where each row starts among the entries, and one past the last of them.
    pub fn row_starts(&self) -> &[usize] {
        &self.row_starts
    }

    /// The column of each entry.
    pub fn cols(&self) -> &[usize] {
        &self.col_indices
    }

    /// The row of each entry.
    pub fn rows(&self) -> Vec<usize> {
        self.triplets().map(|(i, _, _)| i).collect()
    }

    /// The entries.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Row, column and value of each entry (COO).
    pub fn triplets(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let rows = self.row_starts.windows(2).enumerate();
        rows.flat_map(move |(i, w)| {
            (w[0]..w[1]).map(move |k| (i, self.col_indices[k], self.values[k]))
        })
    }

    /// An entry; 0 where there is none.
    ///
    /// # Panics
    /// Where the row is outside.
    pub fn get(&self, row: usize, col: usize) -> f64 {
        let span = self.row_starts[row]..self.row_starts[row + 1];
        let found = self.col_indices[span.clone()].binary_search(&col);
        found.map_or(0.0, |k| self.values[span.start + k])
    }

    /// With all its zeros.
    pub fn to_dense(&self) -> Array {
        let (rows, cols) = self.shape();
        let mut dense = vec![0.0; rows * cols];
        for (i, j, x) in self.triplets() {
            dense[i * cols + j] = x;
        }
        Array::new([rows, cols], dense).unwrap_or_else(|e| unreachable!("as many elements: {e}"))
    }
}

/// The result of [`Function::sparse_jacobian`] and [`Function::sparse_hessian`].
#[derive(Clone, Debug, PartialEq)]
pub struct SparseDerivative {
    /// What the function returned.
    pub values: Vec<Value>,
    /// The derivative.
    pub matrix: SparseMatrix,
    /// How many runs gave it.
    pub runs: usize,
    /// What it took.
    pub stats: Stats,
}

impl Function {
    /// The Jacobian with only the entries that can be other than zero, in as few runs as its pattern
    /// allows. Rows are the numbers of the float results, one result after the other; columns those of
    /// the parameters, in the order asked for.
    ///
    /// The pattern is found by running the program in the interpreter at this point, and is that of
    /// the path it takes there.
    ///
    /// ```
    /// use wengert::Function;
    ///
    /// let text = "
    /// import numpy as np
    ///
    /// def step(u, k):
    ///     v = np.copy(u)
    ///     for i in range(1, len(u) - 1):
    ///         v[i] = u[i] + k * (u[i - 1] - 2 * u[i] + u[i + 1])
    ///     return v
    /// ";
    /// let step = Function::from_source(text, "step")?;
    /// let j = step.sparse_jacobian((vec![1.0; 1000], 0.25), "u")?;
    /// // Three runs for a thousand columns.
    /// assert_eq!((j.matrix.shape(), j.runs), ((1000, 1000), 3));
    /// assert_eq!((j.matrix.get(7, 6), j.matrix.get(7, 7)), (0.25, 0.5));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn sparse_jacobian(
        &self,
        args: impl Into<Args>,
        wrt: impl Into<Wrt>,
    ) -> Result<SparseDerivative, Error> {
        let call = self.prepare(args.into())?;
        let by = self.by(&call, wrt.into())?;
        let mut stats = Stats::default();
        let values = self.results(&call, &mut stats)?;
        let sparsity = self.sparsity(&call);
        let args: Vec<Val> = call.values.iter().map(Value::to_val).collect();
        let pattern = sparsity.jacobian(&by, &args).map_err(|fault| self.fault(fault))?;
        let plan = Plan::new(pattern);
        let sparse = match plan.direction() {
            Direction::Forward(colours) => {
                let inputs: Vec<Value> = by.iter().map(|k| call.values[*k].clone()).collect();
                compressed::from_columns(plan.pattern(), colours, |seed| {
                    self.pushed(&call, &by, &shaped(&inputs, seed), &mut stats)
                })?
            }
            Direction::Reverse(colours) => {
                let outputs: Vec<Value> = values.iter().filter(|v| v.is_float()).cloned().collect();
                compressed::from_rows(plan.pattern(), colours, |seed| {
                    self.pulled(&call, &by, &shaped(&outputs, seed), &mut stats)
                })?
            }
        };
        Ok(SparseDerivative { values, matrix: SparseMatrix::new(sparse), runs: plan.runs(), stats })
    }

    /// The Hessian of its one result with only the entries that can be other than zero, in as few runs
    /// as its pattern allows. Rows and columns are the numbers of the parameters, in the order asked for.
    ///
    /// ```
    /// use wengert::Function;
    ///
    /// let text = "
    /// def chain(x):
    ///     e = 0.0
    ///     for i in range(len(x) - 1):
    ///         e += (x[i + 1] - x[i]) ** 2
    ///     return e
    /// ";
    /// let h = Function::from_source(text, "chain")?.sparse_hessian([vec![0.5; 100]], "x")?;
    /// assert_eq!((h.matrix.len(), h.runs), (298, 3));
    /// assert_eq!((h.matrix.get(5, 5), h.matrix.get(5, 6)), (4.0, -2.0));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn sparse_hessian(
        &self,
        args: impl Into<Args>,
        wrt: impl Into<Wrt>,
    ) -> Result<SparseDerivative, Error> {
        let call = self.prepare(args.into())?;
        let by = self.by(&call, wrt.into())?;
        self.one_float(&call)?;
        let mut stats = Stats::default();
        let values = self.results(&call, &mut stats)?;
        let args: Vec<Val> = call.values.iter().map(Value::to_val).collect();
        let pattern = self.sparsity(&call).hessian(&by, &args);
        let pattern = pattern.map_err(|fault| self.fault(fault))?;
        let colours = colouring::star(&pattern).unwrap_or_else(|| colouring::columns(&pattern));
        let inputs: Vec<Value> = by.iter().map(|k| call.values[*k].clone()).collect();
        let sparse = compressed::hessian(&pattern, &colours, |seed| {
            let direction = shaped(&inputs, seed);
            let (_, _, product) = self.product(&call, &by, &by, &direction, &mut stats)?;
            Ok::<_, Error>(floats(&product))
        })?;
        let matrix = SparseMatrix::new(sparse);
        Ok(SparseDerivative { values, matrix, runs: colours.colours(), stats })
    }

    fn sparsity<'c>(&self, call: &'c Call) -> Sparsity<'c> {
        let mut sparsity = Sparsity::of(call.func()).within(&call.module);
        sparsity.max_iterations = self.options.max_iterations;
        sparsity
    }
}
