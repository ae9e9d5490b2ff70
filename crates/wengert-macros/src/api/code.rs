//! The text of programs, and the calls of them.

use super::{Api, calls, kind};
use crate::expand::{Derivatives, Program};
use crate::types::tuple;
use std::fmt::Write;
use wengert_core::ir::Type;

impl Api<'_> {
    /// The text of a program, and what runs it.
    pub(super) fn code(&mut self, name: &str, program: &Program) {
        let given = program.params.iter().filter(|(ty, _)| *ty != Type::Tape);
        let kinds: Vec<String> = given.map(|(ty, _)| kind(*ty)).collect();
        let results = tuple(program.results.iter().map(|ty| kind(*ty)));
        let mut numbers = 0..;
        let args: Vec<String> = program
            .params
            .iter()
            .map(|(ty, shared)| match (ty, shared) {
                (Type::Tape, _) => "&mut tape".into(),
                (_, true) => format!("&args.{}", numbers.next().unwrap_or(0)),
                (_, false) => format!("args.{}", numbers.next().unwrap_or(0)),
            })
            .collect();
        let (text, entry) = (&program.text, &program.entry);
        let (kinds, args) = (kinds.join(", "), args.join(", "));
        let (generic, given, driver, tape) = match program.driven {
            true => ("<D: __a::Driver>", "<'_, D>", ", driver", "driver.tape()"),
            false => ("", "", "", "__a::Tape::again()"),
        };
        let (fields, parts) = match program.driven {
            true => {
                (format!("<'d, D>(pub(super) ({kinds},), pub(super) &'d mut D)"), "(args, driver)")
            }
            false => (format!("(pub(super) ({kinds},))"), "(args)"),
        };
        write!(
            self.text,
            "mod __{name} {{\nuse ::wengert::__private::{{ahead as __a, functions as __n, math as __m}};\n\
             pub(super) struct Run{fields};\n\
             impl{generic} super::__Work for Run{given} {{\ntype Out = __a::Result<{results}>;\n\
             #[inline(always)]\nfn run(self) -> Self::Out {{\nlet Run{parts} = self;\n\
             let mut tape = {tape};\nlet made = {entry}({args}{driver});\ntape.leave();\nmade\n}}\n}}\n{text}{}}}\n",
            calls::entry(program)
        )
        .unwrap_or_default();
    }

    /// The call of a program with its arguments and others, results named `__r0`, `__r1`.
    pub(super) fn run(&self, name: &str, program: &Program, others: &[String]) -> String {
        let own = (0..self.leaves.len()).map(|k| format!("__x{k}"));
        let args: Vec<String> = own.chain(others.iter().cloned()).collect();
        let results = tuple((0..program.results.len()).map(|k| format!("__r{k}")));
        let args = args.join(", ");
        match program.driven {
            true => format!("let {results} = __fastest(__{name}::Run(({args},), __driver))?;\n"),
            false => format!("let {results} = __fastest(__{name}::Run(({args},)))?;\n"),
        }
    }

    /// The same of reverse mode: in limited memory another program may run.
    pub(super) fn run_back(&self, derivatives: &Derivatives, others: &[String]) -> String {
        let Some(nested) = &derivatives.nested else {
            return self.run("vjp", &derivatives.vjp, others);
        };
        let results = tuple((0..nested.results.len()).map(|k| format!("__r{k}")));
        let [whole, parts] = [("vjp", &derivatives.vjp), ("nested", nested)]
            .map(|(name, program)| self.run(name, program, others));
        format!(
            "let {results} = if D::ALL {{\n{whole}{results}\n}} else {{\n{parts}{results}\n}};\n"
        )
    }
}
