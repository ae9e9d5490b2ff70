//! A function and its gradient as C text, for programs that do not have wengert.

use crate::compile::args::{Args, Wrt};
use crate::compile::error::{Error, ErrorKind};
use crate::compile::executable::not_compiled;
use crate::compile::function::Function;
use crate::compile::shapes;
use crate::value::Value;
use wengert_core::ir::{Module, verify};
use wengert_core::span::Span;
use wengert_core::transform::vjp;
use wengert_runtime::cc::standalone::{self, Input, Library, Origin, Output, identifier};

/// The result of [`Function::emit_c`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// The name of each file, and its text: `NAME.c`, `NAME.h`, `NAME_main.c` and `NAME.f90`.
    pub files: Vec<(String, String)>,
    /// How the library and the example are compiled and run.
    pub command: String,
}

impl Function {
    /// The function and its gradient, by one sweep back, as C: a library, its header, a program that calls it with
    /// these arguments, and a Fortran module. They need a C compiler and its library, and give the numbers of
    /// [`Function::value_and_grad`] to the bit. Arguments may be left out, as in [`Function::show`]: only their
    /// kinds, the numbers of their dimensions, and which of these are 1 matter to the library.
    ///
    /// ```
    /// use wengert::{Function, Wrt};
    ///
    /// let square = Function::from_source("def square(x):\n    return x * x\n", "square")?;
    /// let emitted = square.emit_c([("x", 3.0)], Wrt::All)?;
    /// let (name, header) = &emitted.files[1];
    /// assert_eq!(name, "square.h");
    /// assert!(header.contains("int square_grad(double x, double *value, double *x_grad);"));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn emit_c(&self, args: impl Into<Args>, wrt: impl Into<Wrt>) -> Result<Emitted, Error> {
        let call = self.prepared(self.stand_ins(args.into())?)?;
        let by = self.by(&call, wrt.into())?;
        self.one_float(&call)?;
        let wrong = |e| self.error(ErrorKind::Source, e);
        let primal: &Module = &call.module;
        let reverse = vjp::in_module(primal, self.name(), &by).map_err(wrong)?;
        verify::module(&reverse).map_err(wrong)?;

        let name = identifier(self.name());
        let parameters: Vec<&str> = self.parameters().collect();
        let argument = |(name, kind): (&&str, &wengert_core::lower::Arg)| Input::Argument {
            name: name.to_string(),
            units: kind.units.into(),
        };
        let inputs: Vec<Input> = parameters.iter().zip(call.kinds()).map(argument).collect();
        let value = Output::Result("value".into());
        let partials = by.iter().map(|k| Output::Like(format!("{}_grad", parameters[*k]), *k));
        let entry = format!("{}.vjp", self.name());
        let functions = vec![
            standalone::Function {
                name: format!("{name}_value"),
                about: format!("The value of `{}`.", self.name()),
                module: primal,
                entry: self.name(),
                inputs: inputs.clone(),
                outputs: vec![value.clone()],
            },
            standalone::Function {
                name: format!("{name}_grad"),
                about: format!(
                    "The value of `{}` and its gradient, which has the shapes of the parameters.",
                    self.name()
                ),
                module: &reverse,
                entry: &entry,
                inputs: inputs.into_iter().chain([Input::One]).collect(),
                outputs: std::iter::once(value).chain(partials).collect(),
            },
        ];
        let text = self.source().text();
        let array_at = |span: Span| shapes::array_at(text, span).map(String::from);
        let origin = Origin { name: self.source().name(), text, array_at: &array_at };
        let library = Library { name: name.clone(), origin, functions };
        let source =
            library.source().map_err(|e| self.error(ErrorKind::Backend, not_compiled(e)))?;
        let args: Vec<_> = call.values.iter().map(Value::to_arg).collect();
        let files = vec![
            (format!("{name}.c"), source),
            (format!("{name}.h"), library.header()),
            (format!("{name}_main.c"), library.example(1, &args)),
            (format!("{name}.f90"), library.fortran()),
        ];
        Ok(Emitted { files, command: library.command() })
    }
}
