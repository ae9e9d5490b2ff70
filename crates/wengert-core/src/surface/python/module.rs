//! A module's top level: imports, constants and functions.

use ruff_python_ast::{self as ast, Expr as Py, Stmt as PyStmt};
use ruff_text_size::{Ranged, TextRange};

use super::{Converted, Converter, first_line, span};
use crate::span::{Diagnostic, Span};
use crate::surface::names::{Binding, UnknownLibrary};
use crate::surface::tree::{Constant, Module, Name};
use crate::surface::unsupported as no;

impl Converter<'_> {
    pub(super) fn module(&mut self, body: &[PyStmt]) -> Module {
        // Functions see imports and definitions below them: they run when the module is complete.
        for stmt in body {
            let result = match stmt {
                PyStmt::Import(import) => self.import(import),
                PyStmt::ImportFrom(import) => self.import_from(import),
                PyStmt::FunctionDef(def) => self.define(&def.name.id, span(def.name.range)),
                PyStmt::Assign(assign) => assign.targets.iter().try_for_each(|t| match t {
                    Py::Name(name) => self.define(&name.id, span(name.range)),
                    _ => Err(no::CONSTANT_TARGET.at(span(assign.range))),
                }),
                PyStmt::AnnAssign(assign) => match &*assign.target {
                    Py::Name(name) => self.define(&name.id, span(name.range)),
                    _ => Err(no::CONSTANT_TARGET.at(span(assign.range))),
                },
                _ => Ok(()),
            };
            self.keep(result);
        }
        let mut module = Module::default();
        for stmt in body {
            match stmt {
                PyStmt::FunctionDef(def) => {
                    let function = self.function(def);
                    module.functions.extend(self.keep(function));
                }
                PyStmt::Assign(ast::StmtAssign { targets, value, range, .. }) => {
                    for name in targets.iter().filter_map(Py::as_name_expr) {
                        let constant = self.constant(name, value, *range);
                        module.constants.extend(self.keep(constant));
                    }
                }
                PyStmt::AnnAssign(ast::StmtAnnAssign { target, value, range, .. }) => {
                    if let (Py::Name(name), Some(value)) = (&**target, value) {
                        let constant = self.constant(name, value, *range);
                        module.constants.extend(self.keep(constant));
                    }
                }
                PyStmt::Import(_) | PyStmt::ImportFrom(_) | PyStmt::Pass(_) => {}
                PyStmt::Expr(expr) if expr.value.is_string_literal_expr() => {}
                PyStmt::If(branch)
                    if is_main_guard(&branch.test) && branch.elif_else_clauses.is_empty() => {}
                PyStmt::ClassDef(class) => {
                    self.diagnostics.push(no::CLASS.at(span(class.name.range)));
                }
                other => self
                    .diagnostics
                    .push(no::MODULE_STATEMENT.at(first_line(self.source, other.range()))),
            }
        }
        module
    }

    /// Binds a function or constant of the module's top level.
    fn define(&mut self, name: &str, at: Span) -> Converted<()> {
        self.definitions.insert(name.to_owned());
        self.bind(name, at, None)
    }

    /// Binds an imported name.
    fn imported(&mut self, name: &str, at: Span) -> Converted<()> {
        let binding = self.imports.get(name).cloned();
        self.bind(name, at, binding)
    }

    /// Binds a name once; the same import twice is harmless.
    fn bind(&mut self, name: &str, at: Span, to: Option<Binding>) -> Converted<()> {
        match self.bound.insert(name.to_owned(), (at, to.clone())) {
            Some((first, before)) if before.is_none() || before != to => {
                Err(Diagnostic::new("duplicate-definition", format!("`{name}` is defined twice"))
                    .label(at, "defined again here")
                    .label(first, "first defined here")
                    .help("remove one of them, or give it another name"))
            }
            _ => Ok(()),
        }
    }

    fn import(&mut self, import: &ast::StmtImport) -> Converted<()> {
        for alias in &import.names {
            let asname = alias.asname.as_ref().map(|name| name.id.as_str());
            match self.imports.library(&alias.name.id, asname) {
                Ok(bound) => self.imported(&bound, span(alias.range))?,
                Err(error) => {
                    let root = alias.name.id.split('.').next().unwrap_or_default();
                    self.foreign(asname.unwrap_or(root), error, span(alias.range));
                }
            }
        }
        Ok(())
    }

    fn import_from(&mut self, import: &ast::StmtImportFrom) -> Converted<()> {
        let name = import.module.as_ref().map_or("", |path| path.id.as_str());
        let path = &(".".repeat(import.level as usize) + name);
        if path == "__future__" {
            return Ok(());
        }
        for alias in &import.names {
            if alias.name.id == "*" {
                return Err(no::IMPORT_STAR.at(span(import.range)));
            }
            let asname = alias.asname.as_ref().map(|name| name.id.as_str());
            match self.imports.member(path, &alias.name.id, asname) {
                Ok(bound) => self.imported(&bound, span(alias.range))?,
                Err(error) => {
                    self.foreign(asname.unwrap_or(&alias.name.id), error, span(import.range));
                }
            }
        }
        Ok(())
    }

    /// Notes a name imported from elsewhere.
    fn foreign(&mut self, name: &str, error: UnknownLibrary, at: Span) {
        let error = Diagnostic::new("unsupported-import", error.to_string())
            .label(at, "imported here")
            .help("import from `math`, `numpy`, `scipy.special` or `wengert`; copy other functions here");
        self.foreign.insert(name.to_owned(), error);
    }

    fn constant(
        &mut self,
        name: &ast::ExprName,
        value: &Py,
        range: TextRange,
    ) -> Converted<Constant> {
        let value = self.expr(value)?;
        self.constants.insert(name.id.to_string(), value.clone());
        Ok(Constant {
            name: Name { text: name.id.to_string(), span: span(name.range) },
            value,
            span: span(range),
        })
    }
}

/// Whether this is `__name__ == "__main__"`: the part of a file that runs only as a script.
fn is_main_guard(test: &Py) -> bool {
    let Py::Compare(compare) = test else { return false };
    let (Py::Name(name), [ast::CmpOp::Eq], [Py::StringLiteral(text)]) =
        (&*compare.left, &*compare.ops, &*compare.comparators)
    else {
        return false;
    };
    name.id == "__name__" && text.value.to_str() == "__main__"
}
