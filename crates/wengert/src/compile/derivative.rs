//! Derivatives of functions: gradients, tangents, adjoints, and their check.

use crate::compile::args::{Arg, Args, Wrt};
use crate::compile::bind;
use crate::compile::error::{Error, ErrorKind};
use crate::compile::executable::{Engines, Executable};
use crate::compile::function::{Call, Function, Task};
use crate::compile::options::{Mode, Stats};
use crate::value::Value;
use std::sync::Arc;
use wengert_core::check::{self, CheckError, Derived, GradReport, Report};
use wengert_core::interp::Val;
use wengert_core::ir::{Module, Type};
use wengert_core::ops::shaped::shown;
use wengert_core::span::Diagnostic;
use wengert_core::surface::tree;

/// The result of [`Function::value_and_grad`].
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// What the function returned.
    pub value: f64,
    /// The derivative by each parameter, in the order asked for.
    pub grad: Vec<(String, Value)>,
    /// What it took.
    pub stats: Stats,
}

impl Gradient {
    /// The derivative by a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.grad.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }
}

/// The result of [`Function::jvp`].
#[derive(Clone, Debug, PartialEq)]
pub struct Tangents {
    /// What the function returned.
    pub values: Vec<Value>,
    /// The tangent of each float result, in order.
    pub tangents: Vec<Value>,
    /// What it took.
    pub stats: Stats,
}

/// The result of [`Function::vjp`].
#[derive(Clone, Debug, PartialEq)]
pub struct Adjoints {
    /// What the function returned.
    pub values: Vec<Value>,
    /// The adjoint of each parameter asked for.
    pub adjoints: Vec<(String, Value)>,
    /// What it took.
    pub stats: Stats,
}

impl Function {
    /// Runs it and differentiates its one result by parameters.
    ///
    /// ```
    /// use wengert::{Function, Wrt};
    ///
    /// let text = "
    /// def energy(x, k):
    ///     e = 0.0
    ///     for i in range(len(x)):
    ///         e += 0.5 * k * x[i] * x[i]
    ///     return e
    /// ";
    /// let energy = Function::from_source(text, "energy")?;
    /// let g = energy.value_and_grad((vec![1.0, 2.0], 3.0), Wrt::All)?;
    /// assert_eq!(g.value, 7.5);
    /// assert_eq!(g.get("x"), Some(&[3.0, 6.0].into()));
    /// assert_eq!(g.get("k"), Some(&2.5.into()));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn value_and_grad(
        &self,
        args: impl Into<Args>,
        wrt: impl Into<Wrt>,
    ) -> Result<Gradient, Error> {
        let call = self.prepare(args.into())?;
        let by = self.by(&call, wrt.into())?;
        self.one_float(&call)?;
        let program = self.gradient_program(&call, &by)?;
        let mut stats = Stats { compile_seconds: call.elapsed(), ..Stats::default() };
        let values: Vec<&Value> = call.values.iter().collect();
        let (value, grad) = self.differentiate(&call, &program, &values, &by, &mut stats)?;
        let names = by.iter().map(|k| self.tree().params[*k].name.text.clone());
        let value = value.as_f64().unwrap_or_else(|| unreachable!("its type has been checked"));
        Ok(Gradient { value, grad: names.zip(grad).collect(), stats })
    }

    /// Runs it with tangents: derivatives of all results along one direction.
    ///
    /// Tangents are given as arguments are; a parameter without one stays fixed.
    ///
    /// ```
    /// let f = wengert::Function::from_source("def f(x, y):\n    return x * y, x + y\n", "f")?;
    /// let t = f.jvp([3.0, 5.0], [("x", 1.0)])?;
    /// assert_eq!(t.tangents, [5.0.into(), 1.0.into()]);
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn jvp(&self, args: impl Into<Args>, tangents: impl Into<Args>) -> Result<Tangents, Error> {
        let call = self.prepare(args.into())?;
        let (by, directions) = self.directions(&call, tangents.into())?;
        let args: Vec<Value> = call.values.iter().cloned().chain(directions).collect();
        let program = self.program(&call, Task::Forward(by))?;
        let mut stats = Stats { compile_seconds: call.elapsed(), ..Stats::default() };
        let mut values = self.run(&program, &args, &mut stats)?;
        let tangents = values.split_off(call.func().results.len());
        Ok(Tangents { values, tangents, stats })
    }

    /// Runs it and pulls adjoints of its float results back to parameters.
    ///
    /// ```
    /// let f = wengert::Function::from_source("def f(x, y):\n    return x * y, x + y\n", "f")?;
    /// let a = f.vjp([3.0, 5.0], [1.0, 10.0], ["x", "y"])?;
    /// assert_eq!(a.adjoints, [("x".into(), 15.0.into()), ("y".into(), 13.0.into())]);
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn vjp(
        &self,
        args: impl Into<Args>,
        adjoints: impl Into<Args>,
        wrt: impl Into<Wrt>,
    ) -> Result<Adjoints, Error> {
        let call = self.prepare(args.into())?;
        let by = self.by(&call, wrt.into())?;
        let adjoints = self.seeds(&call, adjoints.into())?;
        let args: Vec<Value> = call.values.iter().chain(&adjoints).cloned().collect();
        let program = self.program(&call, Task::Reverse(by.clone()))?;
        let mut stats = Stats { compile_seconds: call.elapsed(), ..Stats::default() };
        let mut values = match self.run(&program, &args, &mut stats) {
            Ok(values) => values,
            Err(fault) => {
                // An adjoint of the wrong length may have caused it; the values tell.
                let program = self.program(&call, Task::Value)?;
                let values = self.run(&program, &call.values, &mut stats)?;
                self.lengths(&values, &adjoints)?;
                return Err(fault);
            }
        };
        self.lengths(&values, &adjoints)?;
        let adjoints = values.split_off(call.func().results.len());
        let names = by.iter().map(|k| self.tree().params[*k].name.text.clone());
        Ok(Adjoints { values, adjoints: names.zip(adjoints).collect(), stats })
    }

    /// Compares forward mode with finite differences and reverse mode with forward mode, along random
    /// directions.
    ///
    /// ```
    /// use wengert::{Function, Wrt};
    ///
    /// let f = Function::from_source("def f(x, y):\n    return x * y + x\n", "f")?;
    /// let report = f.check([3.0, 5.0], Wrt::All, 4)?;
    /// assert!(report.passes(), "{report}");
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn check(
        &self,
        args: impl Into<Args>,
        wrt: impl Into<Wrt>,
        directions: usize,
    ) -> Result<Report, Error> {
        let call = self.prepare(args.into())?;
        let by = self.by(&call, wrt.into())?;
        let wrong = |e| self.error(ErrorKind::Source, e);
        let derived = Derived::of(&call.module, self.name(), by).map_err(wrong)?;
        let entries = [
            (&derived.primal, self.name().to_string()),
            (&derived.forward, format!("{}.jvp", self.name())),
            (&derived.reverse, format!("{}.vjp", self.name())),
        ];
        let executables = entries
            .map(|(module, entry)| Executable::new(module.clone(), entry, self.options.backend));
        let executables = executables
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| self.error(ErrorKind::Backend, e))?;
        let mut engines = Engines { executables, options: &self.options };
        let args: Vec<Val> = call.values.iter().map(Value::to_val).collect();
        check::derivatives(&derived, &mut engines, &args, directions, 0)
            .map_err(|fault| self.fault(fault))
    }

    /// Checks derivatives of orders 1 to `order` (at most 3) by all float arguments: every combination of modes
    /// against finite differences of the order below and against each other. In the interpreter, so at a
    /// point where the function is quick.
    ///
    /// ```
    /// use wengert::Function;
    ///
    /// let f = Function::from_source("def f(x, y):\n    return x * y * y\n", "f")?;
    /// let report = f.check_grads([3.0, 5.0], 2)?;
    /// assert!(report.passes(), "{report}");
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn check_grads(&self, args: impl Into<Args>, order: usize) -> Result<GradReport, Error> {
        if self.options.memory.is_some() {
            let what = "reverse mode of reverse mode keeps everything that its loops record";
            let error =
                Diagnostic::new("memory-budget", what).help("leave the limit of memory out");
            return Err(self.error(ErrorKind::Arguments, error));
        }
        let call = self.prepare(args.into())?;
        let args: Vec<Val> = call.values.iter().map(Value::to_val).collect();
        let module = Module::clone(&call.module);
        check::check_grads(&module, self.name(), &args, order).map_err(|e| match e {
            CheckError::Refused(diagnostic) => self.error(ErrorKind::Source, diagnostic),
            CheckError::Fault(fault) => self.fault(fault),
            CheckError::Order(_) => {
                self.error(ErrorKind::Source, Diagnostic::new("order", e.to_string()))
            }
        })
    }

    /// The program of a gradient, in the mode the options say.
    pub(crate) fn gradient_program(
        &self,
        call: &Call,
        by: &[usize],
    ) -> Result<Arc<Executable>, Error> {
        let by = by.to_vec();
        self.program(
            call,
            match self.options.mode {
                Mode::Reverse => Task::Reverse(by),
                Mode::Forward => Task::Forward(by),
            },
        )
    }

    /// Runs that program: the value, and its derivative by each parameter.
    pub(crate) fn differentiate(
        &self,
        call: &Call,
        program: &Executable,
        values: &[&Value],
        by: &[usize],
        stats: &mut Stats,
    ) -> Result<(Value, Vec<Value>), Error> {
        match self.options.mode {
            Mode::Reverse => self.reverse(call, program, values, stats),
            Mode::Forward => self.forward(program, values, by, stats),
        }
    }

    /// The gradient by one sweep back.
    fn reverse(
        &self,
        call: &Call,
        program: &Executable,
        values: &[&Value],
        stats: &mut Stats,
    ) -> Result<(Value, Vec<Value>), Error> {
        let one = one(call);
        let args = [values, &[&one]].concat();
        let mut values = self.run(program, &args, stats)?;
        let grad = values.split_off(1);
        Ok((values.remove(0), grad))
    }

    /// The gradient by one run per component.
    fn forward(
        &self,
        program: &Executable,
        values: &[&Value],
        by: &[usize],
        stats: &mut Stats,
    ) -> Result<(Value, Vec<Value>), Error> {
        let mut tangents: Vec<Value> = by.iter().map(|k| values[*k].filled(0.0)).collect();
        let (mut value, mut grad) = (None, tangents.clone());
        for (slot, partials) in grad.iter_mut().enumerate() {
            for component in 0..partials.len() {
                tangents[slot].set(component, 1.0);
                let args: Vec<&Value> = values.iter().copied().chain(&tangents).collect();
                let results = self.run(program, &args, stats)?;
                tangents[slot].set(component, 0.0);
                let [y, tangent] = &results[..] else { unreachable!("one result and its tangent") };
                partials.set(component, tangent.as_f64().unwrap_or(f64::NAN));
                value.get_or_insert_with(|| y.clone());
            }
        }
        let value = match value {
            Some(value) => value,
            // Nothing but empty arrays to differentiate by.
            None => {
                let args: Vec<&Value> = values.iter().copied().chain(&tangents).collect();
                self.run(program, &args, stats)?.remove(0)
            }
        };
        Ok((value, grad))
    }

    /// A gradient is of one float.
    pub(crate) fn one_float(&self, call: &Call) -> Result<(), Error> {
        match call.func().results[..] {
            [Type::F64 | Type::F32] => Ok(()),
            _ => Err(self.error(ErrorKind::Source, no_gradient(self.tree(), &call.func().results))),
        }
    }

    /// Directions given as arguments are: the parameters they are for, and one value for each.
    pub(crate) fn directions(
        &self,
        call: &Call,
        given: Args,
    ) -> Result<(Vec<usize>, Vec<Value>), Error> {
        let refused = |e| self.error(ErrorKind::Arguments, e);
        let given = bind::given(self.tree(), given).map_err(refused)?;
        let names = self.parameters().zip(&given).filter(|(_, t)| t.is_some());
        let by = self.by(call, Wrt::Names(names.map(|(n, _)| n.to_string()).collect()))?;
        let given = given.into_iter().enumerate().filter_map(|(k, t)| Some((k, t?)));
        let directions = given.map(|(k, t)| self.direction(k, &call.values[k], t));
        let directions = directions.collect::<Result<_, _>>()?;
        Ok((by, directions))
    }

    /// A tangent as the program wants it.
    fn direction(&self, k: usize, value: &Value, tangent: Value) -> Result<Value, Error> {
        let error = match tangent.as_type(value.ty()) {
            Some(tangent) if tangent.shape() == value.shape() => return Ok(tangent),
            Some(tangent) => {
                let name = &self.tree().params[k].name;
                let (has, given) = sizes(value, &tangent);
                let message = format!("`{}` has {has}, but its tangent has {given}", name.text);
                Diagnostic::new("argument-length", message)
                    .label(name.span, "this parameter")
                    .help("a tangent has the shape of its parameter")
            }
            None => bind::wrong_type(self.tree(), k, &tangent, value.ty()),
        };
        Err(self.error(ErrorKind::Arguments, error))
    }

    /// The adjoints given for the float results, as the program wants them.
    fn seeds(&self, call: &Call, adjoints: Args) -> Result<Vec<Value>, Error> {
        let refused = |code, message| {
            let error = Diagnostic::new(code, message)
                .label(self.tree().name.span, "one adjoint for each float it returns");
            self.error(ErrorKind::Arguments, error)
        };
        let types = call.func().results.iter().filter(|t| t.is_float());
        let (wanted, given) = (types.clone().count(), adjoints.0.len());
        if wanted != given {
            let results = if wanted == 1 { "float result" } else { "float results" };
            let are = if given == 1 { "adjoint is" } else { "adjoints are" };
            let message =
                format!("`{}` has {wanted} {results}, but {given} {are} given", self.name());
            return Err(refused("argument-count", message));
        }
        let fit = |(k, (arg, ty)): (usize, (Arg, &Type))| {
            arg.value.as_type(*ty).ok_or_else(|| {
                let wanted = if ty.is_array() { "an array" } else { "a number" };
                let given = match (&arg.value, ty.is_array()) {
                    (Value::Array(x), true) => format!("one of shape {}", shown(x.shape())),
                    (value, _) => value.kind().to_string(),
                };
                let shaped = if ty.rank() > 1 {
                    format!(" of {} dimensions", ty.rank())
                } else {
                    String::new()
                };
                let message =
                    format!("adjoint {} must be {wanted}{shaped}, but {given} is given", k + 1);
                refused("argument-type", message)
            })
        };
        adjoints.0.into_iter().zip(types).enumerate().map(fit).collect()
    }

    /// Arrays among the adjoints are as long as the results they belong to.
    fn lengths(&self, values: &[Value], adjoints: &[Value]) -> Result<(), Error> {
        let floats = values.iter().filter(|v| v.is_float());
        for (k, (value, adjoint)) in floats.zip(adjoints).enumerate() {
            if value.shape() != adjoint.shape() {
                let (has, given) = sizes(value, adjoint);
                let message = format!("result {} has {has}, but its adjoint has {given}", k + 1);
                let error = Diagnostic::new("argument-length", message)
                    .label(self.tree().name.span, "in this function")
                    .help("an adjoint has the shape of its result");
                return Err(self.error(ErrorKind::Arguments, error));
            }
        }
        Ok(())
    }

    pub(crate) fn by(&self, call: &Call, wrt: Wrt) -> Result<Vec<usize>, Error> {
        bind::by(self.tree(), call.func(), &wrt).map_err(|e| self.error(ErrorKind::Arguments, e))
    }
}

/// The adjoint of a function's one result.
pub(crate) fn one(call: &Call) -> Value {
    if call.func().results == [Type::F32] { Value::Single(1.0) } else { Value::Float(1.0) }
}

/// The sizes of two arrays as a message has them: lengths of vectors, shapes of others.
fn sizes(a: &Value, b: &Value) -> (String, String) {
    match (a.shape(), b.shape()) {
        ([n], [m]) => (format!("{n} elements"), m.to_string()),
        (a, b) => (format!("shape {}", shown(a)), shown(b)),
    }
}

/// Why there is no gradient.
fn no_gradient(function: &tree::Function, results: &[Type]) -> Diagnostic {
    let returned = match results {
        [] => "nothing".to_string(),
        [Type::Array(..)] => "an array".to_string(),
        [Type::Bool] => "a bool".to_string(),
        [_] => "an integer".to_string(),
        several => format!("{} values", several.len()),
    };
    let message =
        format!("a gradient is of one float, but `{}` returns {returned}", function.name.text);
    Diagnostic::new("not-a-scalar", message).label(function.name.span, "this function").help(
        match results {
            [Type::Array(..)] => {
                "return one number, such as the sum of the elements; or use `vjp` or `jacobian` (`--seed` or `--jacobian`)"
            }
            [_] => "return a float, as in `float(n)`",
            _ => {
                "return one number; or use `vjp` with an adjoint for each result (`--seed`), or `jacobian` (`--jacobian`)"
            }
        },
    )
}
