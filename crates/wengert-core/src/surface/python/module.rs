//! A module's top level: imports, constants, functions and their parameters.

use std::collections::BTreeSet;

use ruff_python_ast::{self as ast, Expr as Py, Stmt as PyStmt};
use ruff_text_size::{Ranged, TextRange};

use super::{Converted, Converter, first_line, ident, span, syntax};
use crate::span::{Diagnostic, Span};
use crate::surface::names::{Binding, UnknownLibrary};
use crate::surface::tree::{Annotation, Constant, DeclaredType, Function, Module, Name, Param};
use crate::surface::unsupported as no;

impl Converter<'_> {
    pub(super) fn module(&mut self, body: &[PyStmt]) -> Module {
        // Functions see imports and definitions below them: they run when the module is complete.
        for stmt in body {
            let result = match stmt {
                PyStmt::Import(import) => self.import(import),
                PyStmt::ImportFrom(import) => self.import_from(import),
                PyStmt::FunctionDef(def) => self.define(&def.name.id, span(def.name.range)),
                PyStmt::Assign(assign) => match assign.targets.as_slice() {
                    [Py::Name(name)] => self.define(&name.id, span(name.range)),
                    _ => Err(no::CONSTANT_TARGET.at(span(assign.range))),
                },
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
                    if let [Py::Name(name)] = targets.as_slice() {
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
            let bound = self
                .imports
                .library(&alias.name.id, asname)
                .map_err(|error| unknown_library(error, span(alias.range)))?;
            self.imported(&bound, span(alias.range))?;
        }
        Ok(())
    }

    fn import_from(&mut self, import: &ast::StmtImportFrom) -> Converted<()> {
        let path = match &import.module {
            Some(path) if import.level == 0 => path.id.as_str(),
            path => {
                let name = path.as_ref().map_or("", |path| path.id.as_str());
                let path = ".".repeat(import.level as usize) + name;
                return Err(unknown_library(UnknownLibrary(path), span(import.range)));
            }
        };
        if path == "__future__" {
            return Ok(());
        }
        for alias in &import.names {
            if alias.name.id == "*" {
                return Err(no::IMPORT_STAR.at(span(import.range)));
            }
            let asname = alias.asname.as_ref().map(|name| name.id.as_str());
            let bound = self
                .imports
                .member(path, &alias.name.id, asname)
                .map_err(|error| unknown_library(error, span(import.range)))?;
            self.imported(&bound, span(alias.range))?;
        }
        Ok(())
    }

    fn constant(
        &mut self,
        name: &ast::ExprName,
        value: &Py,
        range: TextRange,
    ) -> Converted<Constant> {
        self.locals.clear();
        let value = self.expr(value)?;
        Ok(Constant {
            name: Name { text: name.id.to_string(), span: span(name.range) },
            value,
            span: span(range),
        })
    }

    fn function(&mut self, def: &ast::StmtFunctionDef) -> Converted<Function> {
        let name = ident(&def.name);
        if def.is_async {
            return Err(no::ASYNC.at(name.span));
        }
        for decorator in &def.decorator_list {
            if !is_differentiable(&decorator.expression) {
                self.diagnostics.push(no::DECORATOR.at(span(decorator.range)));
            }
        }
        if let Some(types) = &def.type_params {
            self.diagnostics.push(no::TYPE_PARAMETERS.at(span(types.range)));
        }
        self.locals = local_names(&def.parameters, &def.body);
        let params = self.params(&def.parameters);
        let body = self.block(&def.body);
        Ok(Function { name, params, body, span: span(def.range) })
    }

    fn params(&mut self, parameters: &ast::Parameters) -> Vec<Param> {
        let refused = [
            (parameters.vararg.as_ref().map(|p| p.range), no::VARARGS),
            (parameters.kwonlyargs.first().map(|p| p.range), no::KEYWORD_ONLY),
            (parameters.kwarg.as_ref().map(|p| p.range), no::KWARGS),
        ];
        for (range, construct) in refused {
            self.diagnostics.extend(range.map(|range| construct.at(span(range))));
        }
        let mut params: Vec<Param> = Vec::new();
        for with_default in parameters.posonlyargs.iter().chain(&parameters.args) {
            let param = self.param(with_default);
            let Some(param) = self.keep(param) else { continue };
            if let Some(first) = params.iter().find(|p| p.name.text == param.name.text) {
                let message = format!("two parameters are called `{}`", param.name.text);
                self.diagnostics.push(
                    syntax(message, param.name.span, "again here")
                        .label(first.name.span, "first here")
                        .help("give one of them another name"),
                );
            }
            params.push(param);
        }
        params
    }

    fn param(&mut self, with_default: &ast::ParameterWithDefault) -> Converted<Param> {
        let parameter = &with_default.parameter;
        let default = match with_default.default.as_deref() {
            Some(value) if is_literal(value) => Some(self.expr(value)?),
            Some(value) => return Err(no::DEFAULT.at(span(value.range()))),
            None => None,
        };
        Ok(Param {
            name: ident(&parameter.name),
            annotation: parameter.annotation.as_deref().and_then(|a| self.annotation(a)),
            default,
            span: span(with_default.range),
        })
    }

    /// The declared type, where it is one of ours. Python does nothing with an annotation, so one
    /// that says something else is not an error.
    fn annotation(&self, annotation: &Py) -> Option<Annotation> {
        let name = match annotation {
            Py::Name(name) => match self.imports.get(&name.id) {
                Some(Binding::Member(member)) => member.as_str(),
                _ => name.id.as_str(),
            },
            Py::Attribute(attribute) => match &*attribute.value {
                Py::Name(base) => match self.imports.get(&base.id) {
                    Some(Binding::Library(library)) => library.canonical(&attribute.attr.id),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        let ty = match name {
            "float" => DeclaredType::F64,
            "float32" => DeclaredType::F32,
            "int" => DeclaredType::I64,
            "bool" => DeclaredType::Bool,
            "ndarray" => DeclaredType::Array(None),
            _ => return None,
        };
        Some(Annotation { ty, span: span(annotation.range()) })
    }
}

/// The names a function binds: its parameters, and whatever its body assigns or loops over.
fn local_names(parameters: &ast::Parameters, body: &[PyStmt]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = parameters.iter().map(|p| p.name().id.to_string()).collect();
    let mut blocks = vec![body];
    let mut targets: Vec<&Py> = Vec::new();
    while let Some(block) = blocks.pop() {
        for stmt in block {
            match stmt {
                PyStmt::Assign(assign) => targets.extend(&assign.targets),
                PyStmt::AugAssign(assign) => targets.push(&assign.target),
                PyStmt::AnnAssign(assign) => targets.push(&assign.target),
                PyStmt::For(stmt) => {
                    targets.push(&stmt.target);
                    blocks.extend([&stmt.body[..], &stmt.orelse[..]]);
                }
                PyStmt::While(stmt) => blocks.extend([&stmt.body[..], &stmt.orelse[..]]),
                PyStmt::If(stmt) => {
                    blocks.push(&stmt.body);
                    blocks.extend(stmt.elif_else_clauses.iter().map(|clause| &clause.body[..]));
                }
                _ => {}
            }
        }
    }
    while let Some(target) = targets.pop() {
        match target {
            Py::Name(name) => _ = names.insert(name.id.to_string()),
            Py::Tuple(tuple) => targets.extend(&tuple.elts),
            Py::List(list) => targets.extend(&list.elts),
            Py::Starred(starred) => targets.push(&starred.value),
            _ => {}
        }
    }
    names
}

/// Whether a decorator is ours: `differentiable`, `wengert.differentiable`, or a call of one.
fn is_differentiable(decorator: &Py) -> bool {
    match decorator {
        Py::Name(name) => name.id == "differentiable",
        Py::Attribute(attribute) => attribute.attr.id == "differentiable",
        Py::Call(call) => !call.func.is_call_expr() && is_differentiable(&call.func),
        _ => false,
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

/// Whether this is a number or a bool, possibly with a sign.
fn is_literal(value: &Py) -> bool {
    match value {
        Py::NumberLiteral(_) | Py::BooleanLiteral(_) => true,
        Py::UnaryOp(unary) => {
            matches!(unary.op, ast::UnaryOp::USub | ast::UnaryOp::UAdd)
                && unary.operand.is_number_literal_expr()
        }
        _ => false,
    }
}

fn unknown_library(error: UnknownLibrary, at: Span) -> Diagnostic {
    Diagnostic::new("unsupported-import", error.to_string())
        .label(at, "imported here")
        .help("import from `math`, `numpy`, `numpy.linalg` or `wengert`; copy other functions here")
}
