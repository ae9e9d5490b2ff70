//! Programs to be called many times: arguments of the same kinds, read where they lie.
//!
//! [`Function::call`] and its kin take arguments by name, look for the program that fits them, and convert what does not. Whoever
//! calls again and again, as another language does, asks for the program once, and passes one borrowed value per parameter.

use crate::compile::args::{Arg, Args, Wrt};
use crate::compile::borrowed::Borrowed;
use crate::compile::derivative::one;
use crate::compile::error::Error;
use crate::compile::executable::Executable;
use crate::compile::function::{Function, Task};
use crate::compile::options::{Options, Stats};
use crate::value::Value;
use std::sync::Arc;
use wengert_core::ir::Type;
use wengert_core::lower;
use wengert_runtime as runtime;

/// A function, or its gradient, compiled for arguments of given kinds.
///
/// ```
/// use wengert::{Borrowed, Function, Options};
///
/// let f = Function::from_source("def f(x, k):\n    return k * x[0]\n", "f")?;
/// let (shape, x, options) = ([2], [3.0, 4.0], Options::default());
/// let args = [Borrowed::F64(&shape, &x), Borrowed::Int(2)];
/// let gradient = f.specialised_gradient(&args, "x", &options)?;
/// assert!(gradient.fits(&args) && !gradient.fits(&args[1..]));
/// let (results, _) = gradient.run(&args, &options)?;
/// assert_eq!(results, [6.0.into(), [2.0, 0.0].into()]);
/// # Ok::<(), wengert::Error>(())
/// ```
#[derive(Debug)]
pub struct Specialised {
    function: Function,
    /// The arguments as they were given.
    given: Vec<lower::Arg>,
    /// What the program takes.
    types: Vec<Type>,
    program: Arc<Executable>,
    /// What follows the arguments.
    seed: Option<Value>,
    by: Vec<usize>,
}

impl Function {
    /// The function compiled for arguments of these kinds, one for each parameter.
    pub fn specialised(
        &self,
        args: &[Borrowed<'_>],
        options: &Options,
    ) -> Result<Specialised, Error> {
        self.specialised_for(args, None, options)
    }

    /// Its value and gradient by these parameters, in reverse mode, compiled for arguments of these kinds, one for each
    /// parameter.
    pub fn specialised_gradient(
        &self,
        args: &[Borrowed<'_>],
        wrt: impl Into<Wrt>,
        options: &Options,
    ) -> Result<Specialised, Error> {
        self.specialised_for(args, Some(wrt.into()), options)
    }

    /// The parameters that there are derivatives by for arguments of these kinds, one for each parameter.
    ///
    /// ```
    /// use wengert::{Borrowed, Function};
    ///
    /// let f = Function::from_source("def f(x, k, n):\n    return x[n] * k\n", "f")?;
    /// let args = [Borrowed::F64(&[1], &[3.0]), Borrowed::Int(2), Borrowed::Int(0)];
    /// assert_eq!(f.floats(&args)?, ["x", "k"]);
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn floats(&self, args: &[Borrowed<'_>]) -> Result<Vec<String>, Error> {
        let values = args.iter().map(|arg| Arg { name: None, value: arg.to_value() });
        let call = self.prepare(Args(values.collect()))?;
        let types = call.func().param_types();
        let floats = self.parameters().zip(types).filter(|(_, ty)| ty.is_float());
        Ok(floats.map(|(name, _)| name.to_string()).collect())
    }

    /// The types of what it returns for arguments of these kinds, one for each parameter, in the words of the IR: found by compiling
    /// alone, nothing is run.
    ///
    /// ```
    /// use wengert::{Borrowed, Function};
    ///
    /// let f = Function::from_source("def f(x, k):\n    return k * x, x[0] > k\n", "f")?;
    /// let args = [Borrowed::F64(&[2], &[3.0, 4.0]), Borrowed::Float(2.0)];
    /// assert_eq!(f.result_types(&args)?, ["[f64]", "bool"]);
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn result_types(&self, args: &[Borrowed<'_>]) -> Result<Vec<String>, Error> {
        let values = args.iter().map(|arg| Arg { name: None, value: arg.to_value() });
        let call = self.prepare(Args(values.collect()))?;
        Ok(call.func().results.iter().map(Type::to_string).collect())
    }

    fn specialised_for(
        &self,
        args: &[Borrowed<'_>],
        wrt: Option<Wrt>,
        options: &Options,
    ) -> Result<Specialised, Error> {
        let function = self.clone().with_options(options.clone());
        let values = args.iter().map(|arg| Arg { name: None, value: arg.to_value() });
        let call = function.prepare(Args(values.collect()))?;
        let (task, by, seed) = match wrt {
            None => (Task::Value, Vec::new(), None),
            Some(wrt) => {
                let by = function.by(&call, wrt)?;
                function.one_float(&call)?;
                (Task::Reverse(by.clone()), by, Some(one(&call)))
            }
        };
        let program = function.program(&call, task)?;
        let given = args.iter().map(Borrowed::described).collect();
        let types = call.func().param_types();
        Ok(Specialised { function, given, types, program, seed, by })
    }
}

impl Specialised {
    /// Whether arguments are of the kinds it was compiled for.
    pub fn fits(&self, args: &[Borrowed<'_>]) -> bool {
        args.len() == self.given.len()
            && args.iter().zip(&self.given).all(|(arg, given)| arg.described() == *given)
    }

    /// The parameters that a gradient is by, in the order of its entries.
    pub fn by(&self) -> &[usize] {
        &self.by
    }

    /// Runs it: what the function returns, then the derivative by each parameter. The backend is the one it was compiled for, whatever
    /// the options say.
    pub fn run(
        &self,
        args: &[Borrowed<'_>],
        options: &Options,
    ) -> Result<(Vec<Value>, Stats), Error> {
        // Those that the program takes as another kind than they are given as.
        let mut converted: Vec<Value> = Vec::new();
        let is_as_given = |(arg, ty): (&Borrowed<'_>, &Type)| arg.ty() == *ty;
        if !(args.len() == self.types.len() && args.iter().zip(&self.types).all(is_as_given)) {
            let values = args.iter().map(|arg| Arg { name: None, value: arg.to_value() });
            converted = self.function.prepare(Args(values.collect()))?.values;
        }
        let mut given: Vec<runtime::Arg<'_>> = Vec::with_capacity(self.types.len() + 1);
        match converted.is_empty() {
            true => given.extend(args.iter().map(|arg| arg.to_arg())),
            false => given.extend(converted.iter().map(Value::to_arg)),
        }
        given.extend(self.seed.iter().map(Value::to_arg));
        let mut stats = Stats::default();
        let values = self.function.run_borrowed(&self.program, &given, options, &mut stats)?;
        Ok((values, stats))
    }
}
