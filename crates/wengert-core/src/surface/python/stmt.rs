//! Statements.

use std::sync::Arc;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{self as ast, Expr as Py, Stmt as PyStmt};
use ruff_text_size::{Ranged, TextRange};

use super::expr::binary_op;
use super::{Converted, Converter, first_line, span, syntax};
use crate::span::Span;
use crate::surface::tree::{Block, Callee, Expr, ExprKind, Index, Name, Stmt, StmtKind, Target};
use crate::surface::unsupported::{self as no, Construct};

impl Converter<'_> {
    pub(super) fn block(&mut self, stmts: &[PyStmt]) -> Block {
        let mut block = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            let converted = self.deeper(stmt.range(), |c| c.stmt(stmt));
            if let Some(Some(kind)) = self.keep(converted) {
                block.push(Stmt { kind, span: span(stmt.range()) });
            }
        }
        block
    }

    fn loop_body(&mut self, stmts: &[PyStmt]) -> Block {
        self.loops += 1;
        let body = self.block(stmts);
        self.loops -= 1;
        body
    }

    /// Converts one statement; a string in the place of a statement is nothing.
    fn stmt(&mut self, stmt: &PyStmt) -> Converted<Option<StmtKind>> {
        let all = span(stmt.range());
        let kind = match stmt {
            PyStmt::Assign(assign) => self.assign(assign),
            PyStmt::AugAssign(assign) => self.aug_assign(assign),
            PyStmt::AnnAssign(assign) => self.ann_assign(assign),
            PyStmt::For(stmt) => self.for_loop(stmt),
            PyStmt::While(stmt) => self.while_loop(stmt),
            PyStmt::If(stmt) => self.branch(&stmt.test, &stmt.body, &stmt.elif_else_clauses),
            PyStmt::Break(_) => self.in_loop(all, "break", StmtKind::Break),
            PyStmt::Continue(_) => self.in_loop(all, "continue", StmtKind::Continue),
            PyStmt::Return(stmt) => self.returned(stmt.value.as_deref()),
            PyStmt::Assert(stmt) => self.assert(stmt),
            PyStmt::Pass(_) => Ok(StmtKind::Pass),
            PyStmt::Expr(stmt) if stmt.value.is_string_literal_expr() => return Ok(None),
            PyStmt::Expr(stmt) => self.unused(&stmt.value),
            PyStmt::FunctionDef(def) => {
                self.function(def).map(|function| StmtKind::Define(Arc::new(function)))
            }
            PyStmt::ClassDef(class) => Err(no::CLASS.at(span(class.name.range))),
            PyStmt::With(with) if with.is_async => self.refuse(stmt, no::ASYNC),
            PyStmt::With(_) => self.refuse(stmt, no::WITH),
            PyStmt::Match(_) => self.refuse(stmt, no::MATCH),
            PyStmt::Try(_) => self.refuse(stmt, no::TRY),
            PyStmt::Raise(_) => self.refuse(stmt, no::RAISE),
            PyStmt::Delete(_) => self.refuse(stmt, no::DELETE),
            PyStmt::Global(_) => self.refuse(stmt, no::GLOBAL),
            PyStmt::Nonlocal(_) => self.refuse(stmt, no::NONLOCAL),
            PyStmt::Import(_) | PyStmt::ImportFrom(_) => self.refuse(stmt, no::INNER_IMPORT),
            PyStmt::TypeAlias(_) => self.refuse(stmt, no::TYPE_ALIAS),
            PyStmt::IpyEscapeCommand(_) => self.refuse(stmt, no::NOTEBOOK_COMMAND),
        };
        kind.map(Some)
    }

    fn refuse(&self, stmt: &PyStmt, construct: Construct) -> Converted<StmtKind> {
        Err(construct.at(first_line(self.source, stmt.range())))
    }

    /// An expression in the place of a statement: a call, for what it does.
    fn unused(&mut self, value: &Py) -> Converted<StmtKind> {
        let at = span(value.range());
        match value {
            Py::Call(_) => self.expr(value).map(StmtKind::Call),
            Py::EllipsisLiteral(_) => Err(no::ELLIPSIS_STATEMENT.at(at)),
            // What cannot be converted at all says so itself.
            _ => self.expr(value).and_then(|_| Err(no::UNUSED_VALUE.at(at))),
        }
    }

    fn while_loop(&mut self, stmt: &ast::StmtWhile) -> Converted<StmtKind> {
        let cond = self.expr(&stmt.test);
        let body = self.loop_body(&stmt.body);
        self.no_else(&stmt.body, &stmt.orelse, no::WHILE_ELSE);
        Ok(StmtKind::While { cond: cond?, body })
    }

    fn assert(&mut self, stmt: &ast::StmtAssert) -> Converted<StmtKind> {
        let message = match stmt.msg.as_deref() {
            None => None,
            Some(Py::StringLiteral(text)) => Some(text.value.to_str().to_owned()),
            Some(other) => return Err(no::ASSERT_MESSAGE.at(span(other.range()))),
        };
        Ok(StmtKind::Assert { cond: self.expr(&stmt.test)?, message })
    }

    fn in_loop(&self, at: Span, word: &str, kind: StmtKind) -> Converted<StmtKind> {
        if self.loops == 0 {
            return Err(syntax(format!("`{word}` outside of a loop"), at, "no loop around this")
                .help("use `return` to leave a function"));
        }
        Ok(kind)
    }

    /// Reports the `else` of a loop.
    fn no_else(&mut self, body: &[PyStmt], orelse: &[PyStmt], construct: Construct) {
        let (Some(last), Some(first)) = (body.last(), orelse.first()) else { return };
        let between = self.tokens.after(last.end()).iter();
        let keyword =
            between.take_while(|t| t.start() < first.start()).find(|t| t.kind() == TokenKind::Else);
        let range = keyword.map_or(first.range(), |token| token.range());
        self.diagnostics.push(construct.at(span(range)));
    }

    fn assign(&mut self, assign: &ast::StmtAssign) -> Converted<StmtKind> {
        let targets = assign.targets.iter().map(|t| self.target(t)).collect::<Converted<_>>()?;
        Ok(StmtKind::Assign { targets, value: self.expr(&assign.value)? })
    }

    /// Python does nothing with the annotation of a variable, and nothing at all without a value.
    fn ann_assign(&mut self, assign: &ast::StmtAnnAssign) -> Converted<StmtKind> {
        let Some(value) = &assign.value else { return Ok(StmtKind::Pass) };
        let targets = vec![self.target(&assign.target)?];
        Ok(StmtKind::Assign { targets, value: self.expr(value)? })
    }

    fn aug_assign(&mut self, assign: &ast::StmtAugAssign) -> Converted<StmtKind> {
        let Some(op) = binary_op(assign.op) else { return self.aug_matmul(assign) };
        let target = self.target(&assign.target)?;
        if let Target::Tuple { span, .. } = target {
            return Err(no::OTHER_TARGET.at(span));
        }
        Ok(StmtKind::AugAssign { target, op, value: self.expr(&assign.value)? })
    }

    /// `a @= b` writes into the array that `a` is: `a[...] = a @ b`.
    fn aug_matmul(&mut self, assign: &ast::StmtAugAssign) -> Converted<StmtKind> {
        let Py::Name(name) = &*assign.target else {
            return Err(no::AUGMENTED_MATMUL.at(span(assign.range)));
        };
        let (at, all) = (span(name.range), span(assign.range));
        let array = Expr { kind: ExprKind::Name(name.id.to_string()), span: at };
        let callee = Callee::Builtin(Name { text: "matmul".to_owned(), span: all });
        let args = vec![array.clone(), self.expr(&assign.value)?];
        let kind = ExprKind::Call { callee, args, keywords: Vec::new() };
        let target = Target::Element { base: array, indices: vec![Index::Rest(at)], span: at };
        Ok(StmtKind::Assign { targets: vec![target], value: Expr { kind, span: all } })
    }

    fn target(&mut self, target: &Py) -> Converted<Target> {
        let all = span(target.range());
        match target {
            Py::Name(name) => Ok(Target::Name(Name { text: name.id.to_string(), span: all })),
            Py::Tuple(ast::ExprTuple { elts, .. }) | Py::List(ast::ExprList { elts, .. }) => {
                let elements = self.deeper(target.range(), |c| {
                    elts.iter().map(|element| c.target(element)).collect()
                })?;
                Ok(Target::Tuple { elements, span: all })
            }
            Py::Subscript(subscript) => {
                let base = self.expr(&subscript.value)?;
                Ok(Target::Element { base, indices: self.indices(&subscript.slice)?, span: all })
            }
            Py::Starred(_) => Err(no::STARRED_TARGET.at(all)),
            Py::Attribute(_) => Err(no::ATTRIBUTE_TARGET.at(all)),
            _ => Err(no::OTHER_TARGET.at(all)),
        }
    }

    fn for_loop(&mut self, stmt: &ast::StmtFor) -> Converted<StmtKind> {
        if stmt.is_async {
            return Err(no::ASYNC.at(first_line(self.source, stmt.range)));
        }
        let header = self.target(&stmt.target).and_then(|t| Ok((t, self.iter(&stmt.iter)?)));
        let body = self.loop_body(&stmt.body);
        self.no_else(&stmt.body, &stmt.orelse, no::FOR_ELSE);
        let (target, iter) = header?;
        Ok(StmtKind::For { target, iter: Box::new(iter), body })
    }

    fn branch(
        &mut self,
        test: &Py,
        body: &[PyStmt],
        clauses: &[ast::ElifElseClause],
    ) -> Converted<StmtKind> {
        let cond = self.expr(test);
        let then = self.block(body);
        let otherwise = self.otherwise(clauses);
        Ok(StmtKind::If { cond: cond?, then, otherwise })
    }

    /// The `elif` and `else` clauses of an `if`.
    fn otherwise(&mut self, clauses: &[ast::ElifElseClause]) -> Block {
        let ([clause, rest @ ..], Some(last)) = (clauses, clauses.last()) else {
            return Vec::new();
        };
        let Some(test) = &clause.test else { return self.block(&clause.body) };
        let range = TextRange::new(clause.range.start(), last.range.end());
        let inner = self.deeper(range, |c| c.branch(test, &clause.body, rest));
        let kind = self.keep(inner);
        kind.map(|kind| Stmt { kind, span: span(range) }).into_iter().collect()
    }

    pub(super) fn returned(&mut self, value: Option<&Py>) -> Converted<StmtKind> {
        let values = match value {
            None | Some(Py::NoneLiteral(_)) => Vec::new(),
            Some(Py::Tuple(tuple)) if tuple.elts.len() != 1 => self.exprs(&tuple.elts)?,
            Some(value) => vec![self.expr(value)?],
        };
        Ok(StmtKind::Return { values })
    }
}
