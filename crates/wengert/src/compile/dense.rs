//! Whole derivatives: Jacobians, Hessians, and products with Hessians.

use crate::array::Array;
use crate::compile::args::{Args, Wrt};
use crate::compile::derivative::one;
use crate::compile::error::{Error, ErrorKind};
use crate::compile::executable::Executable;
use crate::compile::function::{Call, Function, Task};
use crate::compile::options::{Mode, Stats};
use crate::value::Value;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use wengert_core::ir::MAX_RANK;
use wengert_core::span::Diagnostic;

/// The result of [`Function::jacobian`].
#[derive(Clone, Debug, PartialEq)]
pub struct Jacobian {
    /// What the function returned.
    pub values: Vec<Value>,
    /// The derivative of each float result by each parameter asked for.
    pub blocks: Vec<JacobianBlock>,
    /// Which way it was computed.
    pub mode: Mode,
    /// What it took.
    pub stats: Stats,
}

/// The derivative of one result by one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct JacobianBlock {
    /// The result, counted from 0 among all results.
    pub result: usize,
    /// The parameter.
    pub parameter: String,
    /// The axes of the result, then those of the parameter; a number where both are numbers.
    pub derivative: Value,
}

impl Jacobian {
    /// The derivative of a result, counted from 0, by a parameter.
    pub fn get(&self, result: usize, parameter: &str) -> Option<&Value> {
        let found = self.blocks.iter().find(|b| b.result == result && b.parameter == parameter);
        found.map(|block| &block.derivative)
    }
}

/// The result of [`Function::hessian`].
#[derive(Clone, Debug, PartialEq)]
pub struct Hessian {
    /// What the function returned.
    pub value: f64,
    /// The gradient there.
    pub grad: Vec<(String, Value)>,
    /// The second derivative by each pair of parameters asked for: the axes of the first, then those of
    /// the second; a number where both are numbers.
    pub blocks: Vec<((String, String), Value)>,
    /// What it took.
    pub stats: Stats,
}

impl Hessian {
    /// The second derivative by two parameters.
    pub fn get(&self, a: &str, b: &str) -> Option<&Value> {
        self.blocks.iter().find(|((p, q), _)| p == a && q == b).map(|(_, value)| value)
    }
}

/// The result of [`Function::hvp`].
#[derive(Clone, Debug, PartialEq)]
pub struct HessianProduct {
    /// What the function returned.
    pub value: f64,
    /// The gradient there.
    pub grad: Vec<(String, Value)>,
    /// How the gradient changes along the direction: the Hessian times the direction.
    pub product: Vec<(String, Value)>,
    /// What it took.
    pub stats: Stats,
}

impl HessianProduct {
    /// The product for a parameter.
    pub fn get(&self, parameter: &str) -> Option<&Value> {
        self.product.iter().find(|(name, _)| name == parameter).map(|(_, value)| value)
    }
}

impl Function {
    /// The Hessian of its one result times a direction, by forward mode over reverse mode: one run,
    /// whatever the number of parameters.
    ///
    /// The direction is given as arguments are; a parameter without one stays fixed. The product has a
    /// value for each parameter in `wrt`.
    ///
    /// ```
    /// let f = wengert::Function::from_source("def f(x, y):\n    return x * x * y\n", "f")?;
    /// // The Hessian at (3, 5) is [[10, 6], [6, 0]].
    /// let h = f.hvp([3.0, 5.0], [1.0, 10.0], ["x", "y"])?;
    /// assert_eq!(h.get("x"), Some(&70.0.into()));
    /// assert_eq!(h.get("y"), Some(&6.0.into()));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn hvp(
        &self,
        args: impl Into<Args>,
        direction: impl Into<Args>,
        wrt: impl Into<Wrt>,
    ) -> Result<HessianProduct, Error> {
        let call = self.prepare(args.into())?;
        let by = self.by(&call, wrt.into())?;
        let (along, direction) = self.directions(&call, direction.into())?;
        self.one_float(&call)?;
        let mut stats = Stats::default();
        let (value, grad, product) = self.product(&call, &by, &along, &direction, &mut stats)?;
        let (grad, product) = (self.named(&by, grad), self.named(&by, product));
        Ok(HessianProduct { value, grad, product, stats })
    }

    /// The derivative of every float result by every parameter asked for, in whichever mode takes fewer
    /// runs: forward takes one per number of the parameters, reverse one per number of the results.
    ///
    /// ```
    /// let text = "
    /// def f(x, k):
    ///     y = np.zeros(3)
    ///     for i in range(3):
    ///         y[i] = k * x[i] * x[i]
    ///     return y
    /// ";
    /// let f = wengert::Function::from_source(format!("import numpy as np\n{text}"), "f")?;
    /// let j = f.jacobian((vec![1.0, 2.0, 3.0], 10.0), ["x", "k"])?;
    /// let by_x = [[20.0, 0.0, 0.0], [0.0, 40.0, 0.0], [0.0, 0.0, 60.0]];
    /// assert_eq!(j.get(0, "x"), Some(&by_x.into()));
    /// assert_eq!(j.get(0, "k"), Some(&[1.0, 4.0, 9.0].into()));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn jacobian(&self, args: impl Into<Args>, wrt: impl Into<Wrt>) -> Result<Jacobian, Error> {
        self.whole_jacobian(args.into(), wrt.into(), None)
    }

    /// The same in a mode of your choice.
    pub fn jacobian_in(
        &self,
        mode: Mode,
        args: impl Into<Args>,
        wrt: impl Into<Wrt>,
    ) -> Result<Jacobian, Error> {
        self.whole_jacobian(args.into(), wrt.into(), Some(mode))
    }

    fn whole_jacobian(&self, args: Args, wrt: Wrt, mode: Option<Mode>) -> Result<Jacobian, Error> {
        let call = self.prepare(args)?;
        let by = self.by(&call, wrt)?;
        let mut stats = Stats::default();
        let values = self.results(&call, &mut stats)?;
        let inputs: Vec<Value> = by.iter().map(|k| call.values[*k].clone()).collect();
        let outputs: Vec<Value> = values.iter().filter(|v| v.is_float()).cloned().collect();
        let (cols, rows) = (Spans::of(&inputs), Spans::of(&outputs));
        let mode = mode.unwrap_or(match cols.total <= rows.total {
            true => Mode::Forward,
            false => Mode::Reverse,
        });
        let mut matrix = Matrix::new(rows.total, cols.total);
        match mode {
            Mode::Forward => {
                for col in 0..cols.total {
                    let seed = unit(&inputs, col);
                    matrix.set_column(col, &self.pushed(&call, &by, &seed, &mut stats)?);
                }
            }
            Mode::Reverse => {
                for row in 0..rows.total {
                    let seed = unit(&outputs, row);
                    matrix.set_row(row, &self.pulled(&call, &by, &seed, &mut stats)?);
                }
            }
        }
        let floats = values.iter().enumerate().filter(|(_, v)| v.is_float());
        let mut blocks = Vec::new();
        for ((result, y), rows) in floats.zip(&rows.each) {
            for ((k, x), cols) in by.iter().zip(&inputs).zip(&cols.each) {
                let derivative = self.block(&matrix, (y, rows.clone()), (x, cols.clone()))?;
                blocks.push(JacobianBlock { result, parameter: self.parameter(*k), derivative });
            }
        }
        Ok(Jacobian { values, blocks, mode, stats })
    }

    /// The second derivatives of its one result, by every pair of parameters asked for: one run of
    /// [`Function::hvp`] per number of the parameters. Symmetric to the bit.
    ///
    /// ```
    /// let f = wengert::Function::from_source("def f(x, y):\n    return x * x * y\n", "f")?;
    /// let h = f.hessian([3.0, 5.0], ["x", "y"])?;
    /// assert_eq!(h.get("x", "x"), Some(&10.0.into()));
    /// assert_eq!(h.get("x", "y"), Some(&6.0.into()));
    /// assert_eq!(h.get("y", "x"), Some(&6.0.into()));
    /// assert_eq!(h.get("y", "y"), Some(&0.0.into()));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn hessian(&self, args: impl Into<Args>, wrt: impl Into<Wrt>) -> Result<Hessian, Error> {
        let call = self.prepare(args.into())?;
        let by = self.by(&call, wrt.into())?;
        self.one_float(&call)?;
        let mut stats = Stats::default();
        let inputs: Vec<Value> = by.iter().map(|k| call.values[*k].clone()).collect();
        let spans = Spans::of(&inputs);
        let mut matrix = Matrix::new(spans.total, spans.total);
        let mut first = None;
        for col in 0..spans.total {
            let seed = unit(&inputs, col);
            let (value, grad, product) = self.product(&call, &by, &by, &seed, &mut stats)?;
            matrix.set_column(col, &floats(&product));
            first.get_or_insert((value, grad));
        }
        let (value, grad) = match first {
            Some(first) => first,
            // Nothing but empty arrays to differentiate by.
            None => {
                let (value, grad, _) = self.product(&call, &by, &by, &inputs, &mut stats)?;
                (value, grad)
            }
        };
        matrix.mirror();
        let mut blocks = Vec::new();
        for ((p, a), rows) in by.iter().zip(&inputs).zip(&spans.each) {
            for ((q, b), cols) in by.iter().zip(&inputs).zip(&spans.each) {
                let derivative = self.block(&matrix, (a, rows.clone()), (b, cols.clone()))?;
                blocks.push(((self.parameter(*p), self.parameter(*q)), derivative));
            }
        }
        Ok(Hessian { value, grad: self.named(&by, grad), blocks, stats })
    }

    /// The value, the gradient, and its derivative along a direction.
    pub(crate) fn product(
        &self,
        call: &Call,
        by: &[usize],
        along: &[usize],
        direction: &[Value],
        stats: &mut Stats,
    ) -> Result<(f64, Vec<Value>, Vec<Value>), Error> {
        let program = self.made(call, Task::Products(by.to_vec(), along.to_vec()), stats)?;
        let mut args = call.values.clone();
        args.push(one(call));
        args.extend(direction.iter().cloned());
        let mut results = self.run(&program, &args, stats)?;
        // y, x_bar.., dy, dx_bar..
        let product = results.split_off(results.len() - by.len());
        let grad = results.drain(1..=by.len()).collect();
        let value = results[0].as_f64().unwrap_or(f64::NAN);
        Ok((value, grad, product))
    }

    /// What it returns.
    pub(crate) fn results(&self, call: &Call, stats: &mut Stats) -> Result<Vec<Value>, Error> {
        let program = self.made(call, Task::Value, stats)?;
        self.run(&program, &call.values, stats)
    }

    /// The tangents of the float results along a direction, one after the other.
    pub(crate) fn pushed(
        &self,
        call: &Call,
        by: &[usize],
        direction: &[Value],
        stats: &mut Stats,
    ) -> Result<Vec<f64>, Error> {
        let program = self.made(call, Task::Forward(by.to_vec()), stats)?;
        let args: Vec<Value> = call.values.iter().chain(direction).cloned().collect();
        let results = self.run(&program, &args, stats)?;
        Ok(floats(&results[call.func().results.len()..]))
    }

    /// The adjoints of the parameters for adjoints of the float results, one after the other.
    pub(crate) fn pulled(
        &self,
        call: &Call,
        by: &[usize],
        adjoints: &[Value],
        stats: &mut Stats,
    ) -> Result<Vec<f64>, Error> {
        let program = self.made(call, Task::Reverse(by.to_vec()), stats)?;
        let args: Vec<Value> = call.values.iter().chain(adjoints).cloned().collect();
        let results = self.run(&program, &args, stats)?;
        Ok(floats(&results[call.func().results.len()..]))
    }

    /// A program, and the time it took to make it.
    fn made(&self, call: &Call, task: Task, stats: &mut Stats) -> Result<Arc<Executable>, Error> {
        let started = Instant::now();
        let program = self.program(call, task)?;
        // The first one has been under way since the arguments came.
        let first = stats.compile_seconds == 0.0;
        let seconds = started.elapsed().as_secs_f64();
        stats.compile_seconds += if first { call.elapsed() } else { seconds };
        Ok(program)
    }

    pub(crate) fn parameter(&self, k: usize) -> String {
        self.tree().params[k].name.text.clone()
    }

    pub(crate) fn named(&self, by: &[usize], values: Vec<Value>) -> Vec<(String, Value)> {
        by.iter().map(|k| self.parameter(*k)).zip(values).collect()
    }

    /// A part of a matrix, shaped like the two values it belongs to.
    fn block(
        &self,
        matrix: &Matrix,
        (y, rows): (&Value, Range<usize>),
        (x, cols): (&Value, Range<usize>),
    ) -> Result<Value, Error> {
        let elements: Vec<f64> =
            rows.flat_map(|i| matrix.row(i)[cols.clone()].iter().copied()).collect();
        let shape = [y.shape(), x.shape()].concat();
        if shape.is_empty() {
            return Ok(Value::Float(elements[0]));
        }
        let rank = shape.len();
        Array::new(shape, elements).map(Value::Array).map_err(|_| {
            let message =
                format!("this derivative would have {rank} dimensions, more than {MAX_RANK}");
            let error = Diagnostic::new("too-many-dimensions", message)
                .label(self.tree().name.span, "of this function")
                .help("use `jvp` or `vjp`, or the sparse derivatives, which are matrices");
            self.error(ErrorKind::Arguments, error)
        })
    }
}

/// Where the numbers of each of some values are when they stand one after the other.
struct Spans {
    each: Vec<Range<usize>>,
    total: usize,
}

impl Spans {
    fn of(values: &[Value]) -> Spans {
        let mut total = 0;
        let each = values.iter().map(|v| {
            total += v.len();
            total - v.len()..total
        });
        Spans { each: each.collect(), total }
    }
}

/// Values of these shapes with a 1 at one place, counted over all of them, and zeros elsewhere.
fn unit(like: &[Value], at: usize) -> Vec<Value> {
    let total: usize = like.iter().map(Value::len).sum();
    let mut numbers = vec![0.0; total];
    numbers[at] = 1.0;
    shaped(like, &numbers)
}

/// Values of these shapes with these numbers.
pub(crate) fn shaped(like: &[Value], numbers: &[f64]) -> Vec<Value> {
    let mut rest = numbers.iter().copied();
    like.iter().map(|v| v.with_floats(rest.by_ref().take(v.len()).collect::<Vec<_>>())).collect()
}

/// The floats of some values, in order.
pub(crate) fn floats(values: &[Value]) -> Vec<f64> {
    values.iter().flat_map(Value::floats).collect()
}

/// A matrix, row by row.
struct Matrix {
    cols: usize,
    elements: Vec<f64>,
}

impl Matrix {
    fn new(rows: usize, cols: usize) -> Matrix {
        Matrix { cols, elements: vec![0.0; rows * cols] }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.elements[i * self.cols..][..self.cols]
    }

    fn set_row(&mut self, i: usize, row: &[f64]) {
        self.elements[i * self.cols..][..self.cols].copy_from_slice(row);
    }

    fn set_column(&mut self, j: usize, column: &[f64]) {
        for (i, x) in column.iter().enumerate() {
            self.elements[i * self.cols + j] = *x;
        }
    }

    /// Copies what is above the diagonal of a square matrix to below it.
    fn mirror(&mut self) {
        for i in 0..self.cols {
            for j in 0..i {
                self.elements[i * self.cols + j] = self.elements[j * self.cols + i];
            }
        }
    }
}
