//! Expressions, and what the names in them stand for.

use std::sync::Arc;

use ruff_python_ast::{self as ast, Expr as Py};
use ruff_text_size::Ranged;

use super::{Converted, Converter, ident, span, syntax};
use crate::span::{Diagnostic, Span};
use crate::surface::names::{Binding, Library, python_builtin, reserved};
use crate::surface::tree::{
    BinaryOp, Callee, CompareOp, Expr, ExprKind, Index, Keyword, LogicalOp, Name, UnaryOp,
};
use crate::surface::unsupported as no;

impl Converter<'_> {
    pub(super) fn exprs(&mut self, exprs: &[Py]) -> Converted<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn boxed(&mut self, expr: &Py) -> Converted<Box<Expr>> {
        self.expr(expr).map(Box::new)
    }

    pub(super) fn expr(&mut self, expr: &Py) -> Converted<Expr> {
        let kind = self.deeper(expr.range(), |c| c.expr_kind(expr))?;
        Ok(Expr { kind, span: span(expr.range()) })
    }

    fn expr_kind(&mut self, expr: &Py) -> Converted<ExprKind> {
        let construct = match expr {
            Py::NumberLiteral(number) => {
                return integer_or_float(&number.value, span(number.range));
            }
            Py::BooleanLiteral(literal) => return Ok(ExprKind::Bool(literal.value)),
            Py::Name(name) => return self.name(&name.id, span(name.range)),
            Py::Attribute(attribute) => return self.attribute(attribute),
            Py::UnaryOp(unary) => return self.unary(unary),
            Py::BinOp(binary) => {
                return match binary_op(binary.op) {
                    Some(op) => self.binary(binary, op),
                    None => self.matmul(binary),
                };
            }
            Py::Compare(compare) => return self.compare(compare),
            Py::BoolOp(logical) => return self.logical(logical),
            Py::If(choice) => return self.conditional(choice),
            Py::Call(call) => return self.call(call),
            Py::Subscript(subscript) => return self.index(subscript),
            Py::Tuple(tuple) => return self.exprs(&tuple.elts).map(ExprKind::Tuple),
            Py::List(list) => return self.exprs(&list.elts).map(ExprKind::List),
            Py::Lambda(lambda) => {
                return self.lambda(lambda).map(|function| ExprKind::Lambda(Arc::new(function)));
            }
            Py::StringLiteral(text) => return Ok(ExprKind::Text(text.value.to_str().to_owned())),
            Py::NoneLiteral(_) => return Ok(ExprKind::None),
            Py::ListComp(_) | Py::SetComp(_) | Py::DictComp(_) => no::COMPREHENSION,
            Py::Generator(_) => no::GENERATOR,
            Py::Yield(_) | Py::YieldFrom(_) => no::YIELD,
            Py::Await(_) => no::AWAIT,
            Py::Named(_) => no::WALRUS,
            Py::Dict(_) => no::DICT,
            Py::Set(_) => no::SET,
            Py::FString(_) | Py::TString(_) => no::FORMATTED_STRING,
            Py::BytesLiteral(_) => no::BYTES,
            Py::EllipsisLiteral(_) => no::ELLIPSIS,
            Py::Slice(_) => no::SLICE,
            Py::Starred(_) => no::STARRED,
            Py::IpyEscapeCommand(_) => no::NOTEBOOK_COMMAND,
        };
        Err(construct.at(span(expr.range())))
    }

    fn logical(&mut self, logical: &ast::ExprBoolOp) -> Converted<ExprKind> {
        let op = match logical.op {
            ast::BoolOp::And => LogicalOp::And,
            ast::BoolOp::Or => LogicalOp::Or,
        };
        Ok(ExprKind::Logical { op, operands: self.exprs(&logical.values)? })
    }

    fn conditional(&mut self, choice: &ast::ExprIf) -> Converted<ExprKind> {
        let cond = self.boxed(&choice.test)?;
        let then = self.boxed(&choice.body)?;
        Ok(ExprKind::Conditional { cond, then, otherwise: self.boxed(&choice.orelse)? })
    }

    fn call(&mut self, call: &ast::ExprCall) -> Converted<ExprKind> {
        let callee = self.callee(call)?;
        let (args, keywords) = self.arguments(&call.arguments)?;
        Ok(ExprKind::Call { callee, args, keywords })
    }

    fn index(&mut self, subscript: &ast::ExprSubscript) -> Converted<ExprKind> {
        let base = self.boxed(&subscript.value)?;
        Ok(ExprKind::Index { base, indices: self.indices(&subscript.slice)? })
    }

    /// What a bare name stands for.
    fn name(&self, name: &str, at: Span) -> Converted<ExprKind> {
        match self.binding(name) {
            Some(Binding::Member(member)) => available(member, at).map(ExprKind::Builtin),
            Some(Binding::Library(library)) => Err(library_as_value(*library, at)),
            None if self.is_defined(name) => Ok(ExprKind::Name(name.to_owned())),
            None => match self.foreign.get(name) {
                Some(error) => Err(error.clone().label(at, "used here")),
                None => Ok(match python_builtin(name) {
                    Some(builtin) => ExprKind::Builtin(builtin),
                    None => ExprKind::Name(name.to_owned()),
                }),
            },
        }
    }

    /// Whether a name is a variable here, or a function or constant of the module.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.scopes.iter().any(|locals| locals.contains(name)) || self.definitions.contains(name)
    }

    /// What a name was imported as, unless something nearer has the same name.
    pub(super) fn binding(&self, name: &str) -> Option<&Binding> {
        if self.is_defined(name) { None } else { self.imports.get(name) }
    }

    pub(super) fn callee(&mut self, call: &ast::ExprCall) -> Converted<Callee> {
        let at = span(call.func.range());
        match &*call.func {
            Py::Name(name) => Ok(match self.name(&name.id, at)? {
                ExprKind::Builtin(text) => Callee::Builtin(Name { text, span: at }),
                _ => Callee::Function(Name { text: name.id.to_string(), span: at }),
            }),
            Py::Attribute(attribute) => Ok(match self.library_member(attribute)? {
                Some(text) => Callee::Builtin(Name { text: available(&text, at)?, span: at }),
                None => {
                    let base = self.attribute_base(attribute)?;
                    Callee::Method { base, name: ident(&attribute.attr) }
                }
            }),
            _ => Err(no::CALL_EXPRESSION.at(at)),
        }
    }

    fn attribute(&mut self, attribute: &ast::ExprAttribute) -> Converted<ExprKind> {
        if let Some(member) = self.library_member(attribute)? {
            return available(&member, span(attribute.range)).map(ExprKind::Builtin);
        }
        let base = self.attribute_base(attribute)?;
        Ok(ExprKind::Attribute { base, name: ident(&attribute.attr) })
    }

    /// The value an attribute is of, which is not a library's function or type.
    fn attribute_base(&mut self, attribute: &ast::ExprAttribute) -> Converted<Box<Expr>> {
        let base = self.boxed(&attribute.value)?;
        match base.kind {
            ExprKind::Builtin(_) => Err(no::SUBMODULE.at(span(attribute.range))),
            _ => Ok(base),
        }
    }

    /// The canonical name behind `np.sin` or `np.linalg.norm`; none for an attribute of a value.
    pub(super) fn library_member(
        &self,
        attribute: &ast::ExprAttribute,
    ) -> Converted<Option<String>> {
        let mut path = vec![attribute.attr.id.as_str()];
        let mut base = &*attribute.value;
        while let Py::Attribute(outer) = base {
            path.push(&outer.attr.id);
            base = &outer.value;
        }
        let Py::Name(root) = base else { return Ok(None) };
        let mut library = match self.binding(&root.id) {
            Some(Binding::Library(library)) => *library,
            None if !self.is_defined(&root.id) && !self.foreign.contains_key(root.id.as_str()) => {
                return not_imported(root).map_or(Ok(None), Err);
            }
            _ => return Ok(None),
        };
        for part in path.iter().skip(1).rev() {
            match library.inner(part) {
                Some(inner) => library = inner,
                None => return Err(no::SUBMODULE.at(span(attribute.range))),
            }
        }
        match library.inner(path[0]) {
            Some(inner) => Err(library_as_value(inner, span(attribute.range))),
            None => Ok(Some(library.canonical(path[0]))),
        }
    }

    pub(super) fn arguments(
        &mut self,
        arguments: &ast::Arguments,
    ) -> Converted<(Vec<Expr>, Vec<Keyword>)> {
        let args = self.exprs(&arguments.args)?;
        let mut keywords: Vec<Keyword> = Vec::new();
        for keyword in &arguments.keywords {
            let Some(name) = &keyword.arg else {
                return Err(no::DOUBLE_STARRED.at(span(keyword.range)));
            };
            if let Some(first) = keywords.iter().find(|k| k.name.text == name.id.as_str()) {
                let message = format!("the argument `{}` is given twice", name.id);
                return Err(syntax(message, span(name.range), "again here")
                    .label(first.name.span, "first here")
                    .help("remove one of them"));
            }
            keywords.push(Keyword { name: ident(name), value: self.expr(&keyword.value)? });
        }
        Ok((args, keywords))
    }

    /// What stands between `[` and `]`.
    pub(super) fn indices(&mut self, slice: &Py) -> Converted<Vec<Index>> {
        let indices = match slice {
            Py::Tuple(tuple) if tuple.elts.is_empty() => {
                return Err(no::EMPTY_INDEX.at(span(tuple.range)));
            }
            Py::Tuple(tuple) => {
                tuple.elts.iter().map(|index| self.one_index(index)).collect::<Converted<_>>()?
            }
            index => vec![self.one_index(index)?],
        };
        let rests = indices.iter().filter(|index| matches!(index, Index::Rest(_)));
        match rests.map(Index::span).nth(1) {
            Some(second) => Err(no::SECOND_REST.at(second)),
            None => Ok(indices),
        }
    }

    fn one_index(&mut self, index: &Py) -> Converted<Index> {
        let at = span(index.range());
        match index {
            Py::Slice(slice) => {
                let mut part =
                    |part: &Option<Box<Py>>| part.as_deref().map(|e| self.expr(e)).transpose();
                let (start, stop) = (part(&slice.lower)?, part(&slice.upper)?);
                Ok(Index::Slice { start, stop, step: part(&slice.step)?, span: at })
            }
            Py::NoneLiteral(_) => Ok(Index::NewAxis(at)),
            Py::EllipsisLiteral(_) => Ok(Index::Rest(at)),
            index => Ok(match self.expr(index)? {
                Expr { kind: ExprKind::Builtin(name), .. } if name == "newaxis" => {
                    Index::NewAxis(at)
                }
                place => Index::At(place),
            }),
        }
    }

    fn unary(&mut self, unary: &ast::ExprUnaryOp) -> Converted<ExprKind> {
        let op = match unary.op {
            ast::UnaryOp::USub => UnaryOp::Neg,
            ast::UnaryOp::UAdd => UnaryOp::Plus,
            ast::UnaryOp::Not => UnaryOp::Not,
            ast::UnaryOp::Invert => UnaryOp::Invert,
        };
        // The least integer is written as the negation of a number one too large.
        if let (UnaryOp::Neg, Py::NumberLiteral(number)) = (op, &*unary.operand)
            && let ast::Number::Int(value) = &number.value
            && value.as_u64() == Some(i64::MIN.unsigned_abs())
        {
            return Ok(ExprKind::Int(i64::MIN));
        }
        Ok(ExprKind::Unary { op, operand: self.boxed(&unary.operand)? })
    }

    fn matmul(&mut self, binary: &ast::ExprBinOp) -> Converted<ExprKind> {
        let callee = Callee::Builtin(Name { text: "matmul".to_owned(), span: span(binary.range) });
        let args = vec![self.expr(&binary.left)?, self.expr(&binary.right)?];
        Ok(ExprKind::Call { callee, args, keywords: Vec::new() })
    }

    /// The operators of a chain, gathered from the last to the first down the left operands.
    fn binary(&mut self, last: &ast::ExprBinOp, op: BinaryOp) -> Converted<ExprKind> {
        let mut steps = vec![(op, &*last.right)];
        let mut first = &*last.left;
        while let Py::BinOp(left) = first
            && let Some(op) = binary_op(left.op)
        {
            steps.push((op, &*left.right));
            first = &left.left;
        }
        let first = self.boxed(first)?;
        let rest = steps.into_iter().rev().map(|(op, right)| Ok((op, self.expr(right)?)));
        Ok(ExprKind::Binary { first, rest: rest.collect::<Converted<_>>()? })
    }

    fn compare(&mut self, compare: &ast::ExprCompare) -> Converted<ExprKind> {
        let first = self.boxed(&compare.left)?;
        let mut rest = Vec::with_capacity(compare.ops.len());
        for (op, right) in compare.ops.iter().zip(&compare.comparators) {
            let op = match op {
                ast::CmpOp::Eq => CompareOp::Eq,
                ast::CmpOp::NotEq => CompareOp::Ne,
                ast::CmpOp::Lt => CompareOp::Lt,
                ast::CmpOp::LtE => CompareOp::Le,
                ast::CmpOp::Gt => CompareOp::Gt,
                ast::CmpOp::GtE => CompareOp::Ge,
                ast::CmpOp::Is | ast::CmpOp::IsNot => {
                    return Err(no::IDENTITY.at(span(compare.range)));
                }
                ast::CmpOp::In | ast::CmpOp::NotIn => {
                    return Err(no::MEMBERSHIP.at(span(compare.range)));
                }
            };
            rest.push((op, self.expr(right)?));
        }
        Ok(ExprKind::Compare { first, rest })
    }
}

fn integer_or_float(number: &ast::Number, at: Span) -> Converted<ExprKind> {
    match number {
        ast::Number::Int(value) => {
            value.as_i64().map(ExprKind::Int).ok_or_else(|| no::BIG_INTEGER.at(at))
        }
        ast::Number::Float(value) => Ok(ExprKind::Float(*value)),
        ast::Number::Complex { .. } => Err(no::COMPLEX.at(at)),
    }
}

/// The operation; `@` is a call.
pub(super) fn binary_op(op: ast::Operator) -> Option<BinaryOp> {
    Some(match op {
        ast::Operator::Add => BinaryOp::Add,
        ast::Operator::Sub => BinaryOp::Sub,
        ast::Operator::Mult => BinaryOp::Mul,
        ast::Operator::Div => BinaryOp::Div,
        ast::Operator::FloorDiv => BinaryOp::FloorDiv,
        ast::Operator::Mod => BinaryOp::Rem,
        ast::Operator::Pow => BinaryOp::Pow,
        ast::Operator::LShift => BinaryOp::Shl,
        ast::Operator::RShift => BinaryOp::Shr,
        ast::Operator::BitOr => BinaryOp::BitOr,
        ast::Operator::BitXor => BinaryOp::BitXor,
        ast::Operator::BitAnd => BinaryOp::BitAnd,
        ast::Operator::MatMult => return None,
    })
}

/// The error for a library used without its import.
fn not_imported(name: &ast::ExprName) -> Option<Diagnostic> {
    let import = match name.id.as_str() {
        "np" => "import numpy as np",
        "numpy" => "import numpy",
        "math" => "import math",
        "wengert" => "import wengert",
        "scipy" => "import scipy.special",
        _ => return None,
    };
    let error = Diagnostic::new("unknown-name", format!("`{}` is not imported", name.id))
        .label(span(name.range), "unknown name")
        .help(format!("add `{import}` at the top of the file"));
    Some(error)
}

/// The error for a name that a coming release brings.
pub(super) fn reserved_name(path: &str, at: Span) -> Option<Diagnostic> {
    let help = reserved(path)?;
    let message = format!("`{}` is reserved for a coming release", path.trim_end_matches('.'));
    Some(Diagnostic::new("reserved", message).label(at, "not available yet").help(help))
}

/// A member of a library, by its canonical name, unless it is reserved.
fn available(member: &str, at: Span) -> Converted<String> {
    reserved_name(member, at).map_or_else(|| Ok(member.to_owned()), Err)
}

fn library_as_value(library: Library, at: Span) -> Diagnostic {
    let path = library.path();
    if let Some(error) = reserved_name(&format!("{path}."), at) {
        return error;
    }
    Diagnostic::new("unsupported-syntax", format!("`{path}` is a module, not a value"))
        .label(at, "used as a value")
        .help(format!("name one of its functions, as in `{path}.name`"))
}
