//! Functions, of the module and inside others: parameters, decorators, and which names are local.

use std::collections::BTreeSet;

use ruff_python_ast::{self as ast, Expr as Py, Stmt as PyStmt};
use ruff_text_size::Ranged;

use super::constant::folded;
use super::expr::reserved_name;
use super::{Converted, Converter, ident, span, syntax};
use crate::span::{Diagnostic, Span};
use crate::surface::names::Binding;
use crate::surface::tree::{Expr, Function, Name, Param, Stmt};
use crate::surface::unsupported as no;

impl Converter<'_> {
    /// A function of the module, or one inside another.
    pub(super) fn function(&mut self, def: &ast::StmtFunctionDef) -> Converted<Function> {
        let name = ident(&def.name);
        if def.is_async {
            return Err(no::ASYNC.at(name.span));
        }
        for decorator in &def.decorator_list {
            let refused = self.decorator(&decorator.expression, span(decorator.range));
            self.diagnostics.extend(refused);
        }
        if let Some(types) = &def.type_params {
            self.diagnostics.push(no::TYPE_PARAMETERS.at(span(types.range)));
        }
        let params = self.params(&def.parameters);
        let locals = local_names(Some(&def.parameters), &def.body);
        let body = self.inside(locals, |c| c.block(&def.body));
        Ok(Function { name, params, body, span: span(def.range) })
    }

    /// `lambda x: value`, as a function whose body is one `return`.
    pub(super) fn lambda(&mut self, lambda: &ast::ExprLambda) -> Converted<Function> {
        let all = span(lambda.range);
        let parameters = lambda.parameters.as_deref();
        let params = parameters.map_or(Vec::new(), |parameters| self.params(parameters));
        let body = self.inside(local_names(parameters, &[]), |c| {
            c.deeper(lambda.body.range(), |c| c.returned(Some(&lambda.body)))
        })?;
        let body = vec![Stmt { kind: body, span: span(lambda.body.range()) }];
        let name = Name { text: "<lambda>".to_owned(), span: all };
        Ok(Function { name, params, body, span: all })
    }

    /// Runs `convert` where these names are variables too, and no loop is around.
    fn inside<T>(&mut self, locals: BTreeSet<String>, convert: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(locals);
        let loops = std::mem::take(&mut self.loops);
        let result = convert(self);
        self.loops = loops;
        self.scopes.pop();
        result
    }

    /// What is wrong with a decorator.
    fn decorator(&self, decorator: &Py, at: Span) -> Option<Diagnostic> {
        if is_differentiable(decorator) {
            return None;
        }
        let named = if let Py::Call(call) = decorator { &*call.func } else { decorator };
        let path = match named {
            Py::Name(name) => match self.binding(&name.id) {
                Some(Binding::Member(member)) => Some(member.clone()),
                _ => None,
            },
            Py::Attribute(attribute) => self.library_member(attribute).ok().flatten(),
            _ => None,
        };
        let reserved = path.and_then(|path| reserved_name(&path, at));
        Some(reserved.unwrap_or_else(|| no::DECORATOR.at(at)))
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

    /// A default value: numbers, constants of the module above, and arithmetic on them.
    fn default(&mut self, value: &Py) -> Converted<Expr> {
        let refused = || no::DEFAULT.at(span(value.range()));
        let expr = self.expr(value).map_err(|_| refused())?;
        let local = |name: &str| self.scopes.iter().any(|locals| locals.contains(name));
        let named = |name: &str| self.constants.get(name).filter(|_| !local(name));
        folded(&expr, &named).ok_or_else(refused)
    }

    fn param(&mut self, with_default: &ast::ParameterWithDefault) -> Converted<Param> {
        let parameter = &with_default.parameter;
        let default = match with_default.default.as_deref() {
            Some(value) => Some(self.default(value)?),
            None => None,
        };
        Ok(Param {
            name: ident(&parameter.name),
            annotation: parameter.annotation.as_deref().and_then(|a| self.annotation(a)),
            lengths: Vec::new(),
            default,
            span: span(with_default.range),
        })
    }
}

/// The names a function binds: its parameters, and whatever its body assigns, defines or loops over.
fn local_names(parameters: Option<&ast::Parameters>, body: &[PyStmt]) -> BTreeSet<String> {
    let parameters = parameters.into_iter().flat_map(ast::Parameters::iter);
    let mut names: BTreeSet<String> = parameters.map(|p| p.name().id.to_string()).collect();
    let mut blocks = vec![body];
    let mut targets: Vec<&Py> = Vec::new();
    while let Some(block) = blocks.pop() {
        for stmt in block {
            match stmt {
                PyStmt::Assign(assign) => targets.extend(&assign.targets),
                PyStmt::AugAssign(assign) => targets.push(&assign.target),
                PyStmt::AnnAssign(assign) => targets.push(&assign.target),
                PyStmt::FunctionDef(def) => _ = names.insert(def.name.id.to_string()),
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
