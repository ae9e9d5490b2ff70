//! A program at each stage of its way through the compiler, as text.

use crate::compile::args::{Args, Wrt};
use crate::compile::bind;
use crate::compile::error::{Error, ErrorKind};
use crate::compile::function::Function;
use crate::compile::outline;
use crate::compile::saved;
use crate::value::Value;
use wengert_core::ir::{Elem, verify};
use wengert_core::lower;
use wengert_core::surface::tree::DeclaredType;
use wengert_core::transform::vjp::report;
use wengert_core::transform::{jvp, pipeline, vjp};
use wengert_runtime::{cc, disassemble};

/// A stage of the compiler, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The surface tree: what the user wrote, library names resolved.
    Surface,
    /// The IR, as lowered.
    Ssa,
    /// The versions of arrays: what overwrites them, and what is saved because of it.
    Functional,
    /// The IR after a pass of the fixed pipeline, by its name (see [`Stage::all`]).
    After(&'static str),
    /// The IR after the fixed pipeline: what is differentiated.
    Pipeline,
    /// Forward mode.
    Jvp,
    /// Reverse mode: the recording and the reversing program.
    Vjp,
    /// What reverse mode saves, and what it computes again.
    Remat,
    /// The reverse mode after a pass that changes no bit, by its name.
    Free(&'static str),
    /// The reverse mode after the passes that let arrays share storage.
    Lifetime,
    /// Native code of the reverse mode.
    Native,
    /// The reverse mode in C, as the C compiler gets it.
    C,
}

impl Stage {
    /// The name of every stage, in order, with a line about each.
    pub fn all() -> Vec<(&'static str, &'static str)> {
        let mut all = vec![
            ("surface", "what was written, library names resolved"),
            ("ssa", "the IR as lowered"),
            ("functional", "versions of arrays: what overwrites them, what is saved because of it"),
        ];
        all.extend(pipeline::names());
        all.extend([
            ("pipeline", "the IR after all of these: what is differentiated"),
            ("jvp", "forward mode"),
            ("vjp", "reverse mode: the recording and the reversing program"),
            ("remat", "what reverse mode saves per iteration, and what it computes again"),
        ]);
        all.extend(pipeline::free_names());
        all.extend([
            ("lifetime", "reverse mode with arrays that share storage"),
            ("native", "native code of the reverse mode"),
            ("c", "the reverse mode in C, as the C compiler gets it"),
        ]);
        all
    }

    /// The stage of that name.
    ///
    /// ```
    /// use wengert::Stage;
    ///
    /// assert_eq!(Stage::named("unroll"), Some(Stage::After("unroll")));
    /// assert!(Stage::all().iter().all(|(name, _)| Stage::named(name).is_some()));
    /// assert_eq!(Stage::named("unrolled"), None);
    /// ```
    pub fn named(name: &str) -> Option<Stage> {
        Some(match name {
            "surface" => Stage::Surface,
            "ssa" => Stage::Ssa,
            "functional" => Stage::Functional,
            "pipeline" => Stage::Pipeline,
            "jvp" => Stage::Jvp,
            "vjp" => Stage::Vjp,
            "remat" => Stage::Remat,
            "lifetime" => Stage::Lifetime,
            "native" => Stage::Native,
            "c" => Stage::C,
            _ => {
                let find = |passes: Vec<(&'static str, _)>| {
                    passes.into_iter().map(|(pass, _)| pass).find(|pass| *pass == name)
                };
                let free = || find(pipeline::free_names()).map(Stage::Free);
                find(pipeline::names()).map(Stage::After).or_else(free)?
            }
        })
    }
}

impl Function {
    /// The program at a stage, as text. Arguments may be left out: only their kinds matter, and a
    /// parameter without one is what its annotation or default says, or else a float.
    ///
    /// ```
    /// use wengert::{Function, Stage, Wrt};
    ///
    /// let square = Function::from_source("def square(x):\n    return x * x\n", "square")?;
    /// let text = square.show(Stage::Pipeline, (), Wrt::All)?;
    /// assert!(text.contains("mul %x"), "{text}");
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn show(
        &self,
        stage: Stage,
        args: impl Into<Args>,
        wrt: impl Into<Wrt>,
    ) -> Result<String, Error> {
        let tree = self.tree();
        if stage == Stage::Surface {
            return Ok(outline::function(tree));
        }
        let values = self.stand_ins(args.into())?;
        let refused = |e| self.error(ErrorKind::Arguments, e);
        let kinds: Vec<lower::Arg> = values.iter().map(Value::described).collect();
        if stage == Stage::Ssa {
            return Ok(self.lower(&kinds)?.to_string());
        }
        if let Stage::After(pass) = stage {
            let stages = pipeline::stages(&self.lower(&kinds)?, self.name())
                .map_err(|e| self.error(ErrorKind::Source, e))?;
            let found = stages.into_iter().find(|(name, _)| *name == pass);
            return Ok(found.map_or(String::new(), |(_, func)| func.to_string()));
        }
        let module = self.specialise(&kinds)?;
        if stage == Stage::Pipeline {
            return Ok(module.to_string());
        }
        let func = &module.funcs[0];
        let by = bind::by(tree, func, &wrt.into()).map_err(refused)?;
        let wrong = |e| self.error(ErrorKind::Source, e);
        if matches!(stage, Stage::Functional | Stage::Remat) {
            let report = report::of(func, &by).map_err(wrong)?;
            let text = self.source();
            return Ok(match stage {
                Stage::Functional => saved::versions(&report, self.name(), text),
                _ => saved::records(&report, self.name(), text),
            });
        }
        let module = match stage {
            Stage::Jvp => jvp::in_module(&module, self.name(), &by, 1).map_err(wrong)?,
            _ => vjp::in_module(&module, self.name(), &by).map_err(wrong)?,
        };
        verify::module(&module).map_err(wrong)?;
        let last_shared = Stage::Free("reuse");
        let stage = if stage == Stage::Lifetime { last_shared } else { stage };
        if let Stage::Free(pass) = stage {
            let stages = pipeline::finish_stages(&module, &pipeline::Passes::ALL);
            let found = stages.into_iter().find(|(name, _)| *name == pass);
            return Ok(found.map_or(String::new(), |(_, module)| module.to_string()));
        }
        let entry = format!("{}.vjp", func.name);
        let text = match stage {
            Stage::Native => disassemble(&module, &[&entry]),
            Stage::C => cc::text(&module, &[&entry]),
            _ => return Ok(module.to_string()),
        };
        text.map_err(|e| {
            self.error(ErrorKind::Backend, crate::compile::executable::not_compiled(e))
        })
    }

    /// One value per parameter: what is given, and otherwise something of the kind that its default or annotation
    /// says, or else a float.
    pub(crate) fn stand_ins(&self, args: Args) -> Result<Vec<Value>, Error> {
        let tree = self.tree();
        let refused = |e| self.error(ErrorKind::Arguments, e);
        let given = bind::given(tree, args).map_err(refused)?;
        let mut values: Vec<Value> = tree
            .params
            .iter()
            .zip(given)
            .map(|(param, given)| {
                let default = || param.default.as_ref().and_then(bind::literal);
                let declared = || match param.annotation?.ty {
                    DeclaredType::I64 => Some(Value::Int(1)),
                    DeclaredType::Bool => Some(Value::Bool(true)),
                    DeclaredType::Array(elem) | DeclaredType::List(elem) => Some(match elem {
                        Some(Elem::F32) => Vec::<f32>::new().into(),
                        Some(Elem::I64) => Vec::<i64>::new().into(),
                        Some(Elem::Bool) => Vec::<bool>::new().into(),
                        Some(Elem::F64) | None => Vec::<f64>::new().into(),
                    }),
                    DeclaredType::F32 => Some(Value::Single(1.0)),
                    DeclaredType::F64 => None,
                };
                given.or_else(default).or_else(declared).unwrap_or(Value::Float(1.0))
            })
            .collect();
        bind::declared(tree, &mut values).map_err(refused)?;
        Ok(values)
    }
}
