//! Expressions, and the order in which operands are evaluated.

use super::call::expected;
use super::item::natural;
use super::structs::{owned, shared};
use super::types::Length;
use super::value::{
    How, Leaf, Len, Place, Ty, Val, binary, call, compare, float, int, named, negated, not, truth,
};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{
    BinaryOp, CompareOp, Expr, ExprKind, LogicalOp, Name, Stmt, StmtKind, Target, UnaryOp,
};

/// Operands that have been evaluated, while later ones may still change what they were made of.
#[derive(Default)]
pub(super) struct Pending<'a> {
    /// Each with the number of statements there were when it had been evaluated.
    operands: Vec<(Val<'a>, usize)>,
}

impl<'a> Pending<'a> {
    /// The operands.
    pub(super) fn done(self) -> Vec<Val<'a>> {
        self.operands.into_iter().map(|(val, _)| val).collect()
    }
}

impl<'a> Converter<'a> {
    /// Adds an operand that has just been evaluated. If that took statements, the values of those before it are
    /// kept where they were evaluated.
    pub(super) fn next(&mut self, pending: &mut Pending<'a>, val: Val<'a>) -> Made<()> {
        let now = self.so_far();
        if pending.operands.last().is_some_and(|(_, at)| *at < now) {
            for (val, at) in pending.operands.iter_mut().rev() {
                let (stmts, kept) = {
                    let val = val.clone();
                    self.inside(|c| Ok(c.snapshot(val)))?
                };
                *val = kept;
                if let Some(block) = self.blocks.last_mut() {
                    block.splice(*at..*at, stmts);
                }
            }
        }
        pending.operands.push((val, self.so_far()));
        let now = self.so_far();
        pending.operands.iter_mut().for_each(|(_, at)| *at = now);
        Ok(())
    }

    /// A value that later statements do not change.
    fn snapshot(&mut self, val: Val<'a>) -> Val<'a> {
        match val {
            Val::Leaf(leaf) if leaf.ty.is_scalar() || leaf.how == How::Fresh => {
                let e = self.kept(leaf.e);
                Val::Leaf(Leaf { e, ..leaf })
            }
            Val::Leaf(leaf) if leaf.how == How::Place && leaf.ty.copies() => {
                let leaf = self.taken_over(leaf);
                let e = self.kept(leaf.e);
                Val::Leaf(Leaf { e, ..leaf })
            }
            Val::Tuple(all) => Val::Tuple(all.into_iter().map(|v| self.snapshot(v)).collect()),
            Val::Struct(def, all) => {
                Val::Struct(def, all.into_iter().map(|v| self.snapshot(v)).collect())
            }
            Val::Rows(def, len, all) => {
                Val::Rows(def, len, all.into_iter().map(|v| self.snapshot(v)).collect())
            }
            other => other,
        }
    }

    /// Several expressions in order.
    pub(super) fn all(&mut self, exprs: &[&'a syn::Expr], want: Option<&Ty>) -> Made<Vec<Val<'a>>> {
        let mut pending = Pending::default();
        for e in exprs {
            let val = self.expr(e, want)?;
            self.next(&mut pending, val)?;
        }
        Ok(pending.done())
    }

    /// A number or a truth value.
    pub(super) fn scalar(&mut self, e: &'a syn::Expr, want: Option<&Ty>) -> Made<Leaf> {
        let val = self.expr(e, want)?;
        let at = self.at(e);
        self.as_scalar(val, at)
    }

    pub(super) fn as_scalar(&mut self, val: Val<'a>, at: Span) -> Made<Leaf> {
        match val {
            Val::Leaf(leaf) if leaf.ty.is_scalar() => Ok(leaf),
            Val::Alias(place, ty) => Ok(Leaf::new(place.read(), ty)),
            Val::Never => Ok(Leaf::new(int(0, at), Ty::Never)),
            Val::Closure(_) => Err(Diagnostic::new("type", "a number is needed here")
                .label(at, "this is a closure")
                .help("call it: `f(x)`")),
            other => {
                let error = Diagnostic::new("type", "a number is needed here")
                    .label(at, format!("this is `{}`", other.ty().shown()));
                Err(match other.ty() {
                    Ty::Array(..) => {
                        error.help("take an element, `x[i]`, or go through all of them")
                    }
                    Ty::Tuple(_) => error.help("take an element: `t.0`"),
                    _ => error,
                })
            }
        }
    }

    /// A truth value.
    pub(super) fn condition(&mut self, e: &'a syn::Expr) -> Made<Expr> {
        let leaf = self.scalar(e, Some(&Ty::Bool))?;
        match leaf.ty {
            Ty::Bool | Ty::Never => Ok(leaf.e),
            other => {
                let at = self.at(e);
                Err(expected(&Ty::Bool, &other, at))
            }
        }
    }

    /// An integer.
    pub(super) fn integer(&mut self, e: &'a syn::Expr, want: Option<&Ty>) -> Made<Leaf> {
        let leaf = self.scalar(e, want)?;
        if leaf.ty.is_int() {
            return Ok(leaf);
        }
        let at = self.at(e);
        Err(Diagnostic::new("type", "an integer is needed here")
            .label(at, format!("this is `{}`", leaf.ty.shown()))
            .help("convert it: `x as usize`"))
    }

    /// A value as one of a type; literals take it.
    pub(super) fn fitted(&mut self, val: Val<'a>, ty: &Ty, at: Span) -> Made<Val<'a>> {
        match (val, ty) {
            (Val::Never, _) => Ok(Val::Never),
            (Val::Unit, Ty::Unit) => Ok(Val::Unit),
            (Val::Alias(place, found), ty) if found.join(ty).is_some() => {
                Ok(Val::Alias(place, found))
            }
            (Val::Tuple(all), Ty::Tuple(types)) if all.len() == types.len() => {
                let all = all.into_iter().zip(types).map(|(v, ty)| self.fitted(v, ty, at));
                Ok(Val::Tuple(all.collect::<Made<_>>()?))
            }
            (Val::Struct(def, all), Ty::Struct(wanted)) if def == *wanted => {
                Ok(Val::Struct(def, all))
            }
            (Val::Rows(def, len, all), ty)
                if let Some(Ty::Array(_, joined)) =
                    Val::Rows(def.clone(), len, Vec::new()).ty().join(ty) =>
            {
                let mut fit = |leaf: Leaf| match leaf.ty {
                    Ty::Array(elem, _) => Leaf { ty: Ty::Array(elem, joined), ..leaf },
                    _ => leaf,
                };
                Ok(Val::Rows(def, joined, all).each_column(&mut fit))
            }
            (Val::Leaf(leaf), ty) => self.fitted_leaf(leaf, ty, at).map(Val::Leaf),
            (Val::Closure(_), _) => Err(no::CLOSURE_VALUE.at(at)),
            (val, ty) => Err(expected(ty, &val.ty(), at)),
        }
    }

    pub(super) fn fitted_leaf(&mut self, leaf: Leaf, ty: &Ty, at: Span) -> Made<Leaf> {
        let Some(joined) = leaf.ty.join(ty) else { return Err(expected(ty, &leaf.ty, at)) };
        if leaf.ty == joined {
            return Ok(leaf);
        }
        let closed = joined.scalar().clone();
        self.learn(&leaf.from, &closed);
        let from = if joined.is_open() { leaf.from } else { Vec::new() };
        let e = match (leaf.ty.scalar(), &closed) {
            (Ty::Float, Ty::F32) if leaf.ty.is_scalar() => {
                let span = leaf.e.span;
                call("float32", vec![leaf.e], span)
            }
            _ => leaf.e,
        };
        Ok(Leaf { e, ty: joined, how: leaf.how, from })
    }

    /// A value of a type that is never looked at.
    pub(super) fn stand_in(&mut self, ty: &Ty, at: Span) -> Val<'a> {
        match ty {
            Ty::Tuple(all) => Val::Tuple(all.iter().map(|t| self.stand_in(t, at)).collect()),
            Ty::Struct(def) => {
                let fields = def.fields.iter().map(|f| self.stand_in(&f.ty.ty(), at)).collect();
                Val::Struct(def.clone(), fields)
            }
            Ty::Unit => Val::Unit,
            Ty::Never => Val::Never,
            Ty::Array(elem, len) if let Ty::Struct(def) = &**elem => {
                let types = super::types::RustType::Struct(def.clone());
                let columns: Vec<Leaf> = (types.leaves().into_iter())
                    .map(|ty| Ty::Array(Box::new(ty.ty()), *len))
                    .flat_map(|ty| self.stand_in(&ty, at).leaves())
                    .collect();
                Val::rows(def, *len, &mut columns.into_iter())
            }
            Ty::Array(..) => {
                let mut dims = Vec::new();
                let mut inner = ty;
                while let Ty::Array(elem, len) = inner {
                    dims.push(match len {
                        Len::Fixed(n) => int(*n as i64, at),
                        Len::Param(k) => self.constant_parameter(*k, at),
                        _ => int(1, at),
                    });
                    inner = elem;
                }
                let zero = zero(inner, at);
                Val::of(super::array::filled(dims, zero, at), ty.clone())
            }
            scalar => Val::of(zero(scalar, at), scalar.clone()),
        }
    }

    /// An expression, in statements and what is left of it.
    pub(super) fn expr(&mut self, e: &'a syn::Expr, want: Option<&Ty>) -> Made<Val<'a>> {
        let at = self.at(e);
        self.deeper(at, |c| c.expr_here(e, want, at))
    }

    fn expr_here(&mut self, e: &'a syn::Expr, want: Option<&Ty>, at: Span) -> Made<Val<'a>> {
        use syn::Expr as E;
        let construct = match e {
            E::Lit(lit) => return self.literal(&lit.lit, want, at),
            E::Paren(inner) => return self.expr(&inner.expr, want),
            E::Group(inner) => return self.expr(&inner.expr, want),
            E::Path(path) if path.qself.is_none() => {
                return match path.path.get_ident() {
                    Some(ident) => self.name_value(&ident.to_string(), at),
                    None => self.path_value(&path.path, at),
                };
            }
            E::Unary(unary) => return self.unary(unary, want, at),
            E::Binary(binary) => return self.binary(binary, want, at),
            E::Assign(assign) => return self.assignment(assign, at),
            E::Cast(cast) => return self.cast(cast, at),
            E::Index(index) => return self.index(index, at),
            E::Reference(reference) => return self.reference(reference, want),
            E::Tuple(tuple) if tuple.elems.is_empty() => return Ok(Val::Unit),
            E::Tuple(tuple) => return self.tuple(tuple, want),
            E::Array(array) => {
                let elements: Vec<&syn::Expr> = array.elems.iter().collect();
                return self.array_of(&elements, want, Len::Fixed(elements.len()), at);
            }
            E::Repeat(repeat) => {
                let (count, len) = match self.array_length(&repeat.len)? {
                    Length::Known(n) => (int(n as i64, at), Len::Fixed(n)),
                    Length::Param(k, _) => (self.constant_parameter(k, at), Len::Param(k)),
                };
                return self.repeated(&repeat.expr, count, len, want, at);
            }
            E::Field(field) => return self.field(field, at),
            E::MethodCall(method) => return self.method(method, want, at),
            E::Call(call) => return self.call_expr(call, want, at),
            E::Macro(mac) => return self.mac(&mac.mac, want, at),
            E::If(branch) => return self.if_expr(branch, want, at),
            E::Match(choice) => return self.match_expr(choice, want, at),
            E::Block(block) => {
                return match &block.label {
                    Some(label) => self.labelled_block(label, &block.block, want, at),
                    None => self.block(&block.block, want),
                };
            }
            E::ForLoop(l) => return self.for_loop(l, at),
            E::While(l) => return self.while_loop(l, at),
            E::Loop(l) => return self.endless(l, want, at),
            E::Break(b) => return self.break_(b, at),
            E::Continue(c) => return self.continue_(c, at),
            E::Return(r) => return self.return_(r, at),
            E::Closure(closure) => return self.closure(closure, at),
            E::Let(_) => no::LET_CONDITION,
            E::Range(_) => no::RANGE,
            E::Struct(literal) => return self.struct_literal(literal, at),
            E::Try(_) => no::TRY,
            E::TryBlock(_) => no::TRY,
            E::Async(_) => no::ASYNC,
            E::Await(_) => no::AWAIT,
            E::Unsafe(_) => no::UNSAFE,
            E::Yield(_) => no::YIELD,
            E::Const(_) => no::CONST_BLOCK,
            E::RawAddr(_) => no::POINTER,
            E::Infer(_) => no::UNDERSCORE,
            E::Path(_) => no::QUALIFIED,
            _ => no::OTHER_EXPRESSION,
        };
        Err(construct.at(at))
    }

    fn literal(&mut self, lit: &syn::Lit, want: Option<&Ty>, at: Span) -> Made<Val<'a>> {
        Err(match lit {
            syn::Lit::Bool(b) => return Ok(Val::of(truth(b.value, at), Ty::Bool)),
            syn::Lit::Int(k) => {
                if let "f64" | "f32" = k.suffix() {
                    let x = k.base10_digits().parse().unwrap_or(0.0);
                    return self.float_literal(x, k.suffix(), want, at);
                }
                let kind = super::types::IntKind::from_name(k.suffix());
                if kind.is_none() && !k.suffix().is_empty() {
                    return Err(no::WIDE_INTEGER.at(at));
                }
                let Ok(value) = k.base10_parse::<i64>() else { return Err(no::BIG_INTEGER.at(at)) };
                let ty = match (kind, want) {
                    (None, Some(ty @ Ty::Int(_))) => ty.clone(),
                    _ => Ty::Int(kind),
                };
                return Ok(Val::of(int(value, at), ty));
            }
            syn::Lit::Float(x) => {
                let Ok(value) = x.base10_digits().parse::<f64>() else {
                    return Err(no::OTHER_EXPRESSION.at(at));
                };
                return self.float_literal(value, x.suffix(), want, at);
            }
            syn::Lit::Str(_) | syn::Lit::Char(_) => no::TEXT.at(at),
            syn::Lit::ByteStr(_) | syn::Lit::Byte(_) | syn::Lit::CStr(_) => no::TEXT.at(at),
            _ => no::OTHER_EXPRESSION.at(at),
        })
    }

    fn float_literal(
        &mut self,
        x: f64,
        suffix: &str,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let ty = match (suffix, want) {
            ("f32", _) | ("", Some(Ty::F32)) => Ty::F32,
            ("f64", _) | ("", Some(Ty::F64)) => Ty::F64,
            ("", _) => Ty::Float,
            _ => return Err(no::OTHER_TYPE.at(at)),
        };
        let e = self.float_of(x, ty == Ty::F32, at);
        Ok(Val::of(e, ty))
    }

    fn tuple(&mut self, tuple: &'a syn::ExprTuple, want: Option<&Ty>) -> Made<Val<'a>> {
        let mut pending = Pending::default();
        for (k, e) in tuple.elems.iter().enumerate() {
            let want = match want {
                Some(Ty::Tuple(types)) => types.get(k),
                _ => None,
            };
            let val = self.expr(e, want)?;
            self.next(&mut pending, val)?;
        }
        Ok(Val::Tuple(pending.done()))
    }

    fn unary(&mut self, unary: &'a syn::ExprUnary, want: Option<&Ty>, at: Span) -> Made<Val<'a>> {
        match unary.op {
            syn::UnOp::Deref(_) => Ok(match self.expr(&unary.expr, want)? {
                Val::Leaf(leaf) if leaf.how == How::Ref => {
                    Val::Leaf(Leaf { how: How::Place, ..leaf })
                }
                Val::Alias(place, ty) => Val::of(place.read(), ty),
                val @ (Val::Struct(..) | Val::Rows(..)) => owned(val),
                other => other,
            }),
            syn::UnOp::Neg(_) => {
                if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(k), .. }) = &*unary.expr
                    && k.base10_digits() == "9223372036854775808"
                {
                    return Ok(Val::of(
                        int(i64::MIN, at),
                        Ty::Int(super::types::IntKind::from_name(k.suffix())),
                    ));
                }
                let leaf = self.scalar(&unary.expr, want)?;
                if leaf.ty.is_unsigned() || leaf.ty == Ty::Bool {
                    return Err(super::call::mismatch(
                        format!("`-` cannot be applied to `{}`", leaf.ty.shown()),
                        at,
                        &leaf.ty.shown(),
                    )
                    .help("convert it to a signed integer first: `-(n as i64)`"));
                }
                let e = match leaf.e.kind {
                    ExprKind::Int(k) => int(-k, at),
                    _ => negated(leaf.e, at),
                };
                Ok(Val::Leaf(
                    Leaf { e, how: How::Fresh, ..Leaf::new(int(0, at), leaf.ty) }.from(leaf.from),
                ))
            }
            syn::UnOp::Not(_) => {
                let leaf = self.scalar(&unary.expr, want)?;
                match leaf.ty {
                    Ty::Bool => Ok(Val::of(not(leaf.e, at), Ty::Bool)),
                    Ty::Int(kind) => {
                        let operand = Box::new(leaf.e);
                        let e = Expr {
                            kind: ExprKind::Unary { op: UnaryOp::Invert, operand },
                            span: at,
                        };
                        match kind {
                            Some(k) if k.unsigned() && k.bits() == 64 => Err(no::WIDE_BITS.at(at)),
                            Some(k) => Ok(Val::of(super::cast::wrapped(e, k, at), Ty::Int(kind))),
                            None => Ok(Val::of(e, Ty::Int(None))),
                        }
                    }
                    other => Err(super::call::mismatch(
                        "`!` needs a `bool` or an integer".into(),
                        at,
                        &other.shown(),
                    )),
                }
            }
            _ => Err(no::OTHER_EXPRESSION.at(at)),
        }
    }

    /// A chain of operators, from the first operand on.
    fn binary(&mut self, last: &'a syn::ExprBinary, want: Option<&Ty>, at: Span) -> Made<Val<'a>> {
        if let Some(op) = compound(&last.op) {
            return self.update(&last.left, op, &last.right, at);
        }
        let mut steps = vec![last];
        while let syn::Expr::Binary(left) = &*steps[steps.len() - 1].left
            && compound(&left.op).is_none()
        {
            steps.push(left);
        }
        let first = &*steps[steps.len() - 1].left;
        let want_of = |op: &syn::BinOp| match op {
            syn::BinOp::And(_) | syn::BinOp::Or(_) => Some(Ty::Bool),
            op if comparison(op).is_some() => None,
            _ => want.filter(|ty| ty.is_scalar()).cloned(),
        };
        let first_want = want_of(&steps[steps.len() - 1].op);
        let mut left = self.expr(first, first_want.as_ref())?;
        for step in steps.into_iter().rev() {
            let span = if std::ptr::eq(step, last) { at } else { self.at(step) };
            left = self.operation(left, step, span)?;
        }
        Ok(left)
    }

    fn operation(&mut self, left: Val<'a>, step: &'a syn::ExprBinary, span: Span) -> Made<Val<'a>> {
        let at_left = self.at(&*step.left);
        if let Val::Struct(..) = left {
            return Err(no::STRUCT_OPERATOR.at(span));
        }
        let left = self.as_scalar(left, at_left)?;
        if let syn::BinOp::And(_) | syn::BinOp::Or(_) = step.op {
            return self.logical(left, step, span);
        }
        let mut pending = Pending::default();
        let (ty, from, how) = (left.ty.clone(), left.from.clone(), left.how);
        self.next(&mut pending, Val::Leaf(left))?;
        let shift = matches!(step.op, syn::BinOp::Shl(_) | syn::BinOp::Shr(_));
        let right = self.expr(&step.right, (!shift).then_some(&ty))?;
        let at_right = self.at(&*step.right);
        if let Val::Struct(..) = right {
            return Err(no::STRUCT_OPERATOR.at(span));
        }
        let right = self.as_scalar(right, at_right)?;
        self.next(&mut pending, Val::Leaf(right.clone()))?;
        let mut both = pending.done().into_iter().flat_map(|v| v.leaves());
        let (Some(left), Some(_)) = (both.next(), both.next()) else {
            return Ok(Val::Never);
        };
        let left = Leaf { ty, from, how, ..left };
        self.combined(left, &step.op, right, span)
    }

    /// `a op b`.
    pub(super) fn combined(
        &mut self,
        left: Leaf,
        op: &syn::BinOp,
        right: Leaf,
        span: Span,
    ) -> Made<Val<'a>> {
        use syn::BinOp as B;
        let (left_span, right_span) = (left.e.span, right.e.span);
        if let (B::Shl(_) | B::Shr(_), true, true) = (op, left.ty.is_int(), right.ty.is_int()) {
            return self.shifted(left, op, right, span);
        }
        if left.ty == Ty::Never || right.ty == Ty::Never {
            return Ok(Val::Never);
        }
        let Some(ty) = left.ty.join(&right.ty) else {
            let message =
                format!("`{}` and `{}` cannot be combined", left.ty.shown(), right.ty.shown());
            return Err(Diagnostic::new("type", message)
                .label(left_span, format!("this is `{}`", left.ty.shown()))
                .label(right_span, format!("this is `{}`", right.ty.shown()))
                .help("convert one of them with `as`"));
        };
        let left = self.fitted_leaf(left, &ty, left_span)?;
        let right = self.fitted_leaf(right, &ty, right_span)?;
        let from: Vec<usize> = left.from.iter().chain(&right.from).copied().collect();
        if let Some(op) = comparison(op) {
            return Ok(Val::of(compare(left.e, op, right.e, span), Ty::Bool));
        }
        let e = self.arithmetic(left.e, op, right.e, &ty, span)?;
        Ok(Val::Leaf(Leaf { from, ..Leaf::new(e, ty) }))
    }

    fn arithmetic(&mut self, a: Expr, op: &syn::BinOp, b: Expr, ty: &Ty, span: Span) -> Made<Expr> {
        use syn::BinOp as B;
        let plain = |op| binary(a.clone(), op, b.clone(), span);
        Ok(match (op, ty) {
            (B::BitAnd(_), Ty::Bool | Ty::Int(_)) => plain(BinaryOp::BitAnd),
            (B::BitOr(_), Ty::Bool | Ty::Int(_)) => plain(BinaryOp::BitOr),
            (B::BitXor(_), Ty::Bool | Ty::Int(_)) => plain(BinaryOp::BitXor),
            (_, ty) if !ty.is_number() => {
                let message = format!("`{}` has no such arithmetic", ty.shown());
                return Err(Diagnostic::new("type", message).label(span, "here"));
            }
            (B::Add(_), _) => plain(BinaryOp::Add),
            (B::Mul(_), _) => plain(BinaryOp::Mul),
            (B::Sub(_), ty) if ty.is_unsigned() => {
                let difference = plain(BinaryOp::Sub);
                natural(difference, "the difference of unsigned integers is negative", span)
            }
            (B::Sub(_), _) => plain(BinaryOp::Sub),
            (B::Div(_), ty) if ty.is_float() => match (&a.kind, &b.kind) {
                // Written out, it is meant: infinite or not a number.
                (ExprKind::Float(x), ExprKind::Float(0.0)) => float(x / 0.0, span),
                _ => plain(BinaryOp::Div),
            },
            (B::Rem(_), ty) if ty.is_float() => call("fmod", vec![a, b], span),
            (B::Div(_), ty) if ty.is_unsigned() => plain(BinaryOp::FloorDiv),
            (B::Rem(_), ty) if ty.is_unsigned() => plain(BinaryOp::Rem),
            (B::Div(_), _) => call("rust.quotient", vec![a, b], span),
            (B::Rem(_), _) => call("rust.rest", vec![a, b], span),
            _ => return Err(no::OTHER_EXPRESSION.at(span)),
        })
    }

    fn shifted(&mut self, left: Leaf, op: &syn::BinOp, right: Leaf, span: Span) -> Made<Val<'a>> {
        let left_shift = matches!(op, syn::BinOp::Shl(_));
        let op = if left_shift { BinaryOp::Shl } else { BinaryOp::Shr };
        let e = binary(left.e, op, right.e, span);
        let e = match (&left.ty, left_shift) {
            (Ty::Int(Some(kind)), true) if kind.bits() < 64 => super::cast::wrapped(e, *kind, span),
            _ => e,
        };
        Ok(Val::Leaf(Leaf { from: left.from, ..Leaf::new(e, left.ty) }))
    }

    /// `&&` and `||`.
    fn logical(&mut self, left: Leaf, step: &'a syn::ExprBinary, span: Span) -> Made<Val<'a>> {
        let and = matches!(step.op, syn::BinOp::And(_));
        if left.ty != Ty::Bool {
            return Err(expected(&Ty::Bool, &left.ty, left.e.span));
        }
        let (stmts, right) = self.inside(|c| c.condition(&step.right))?;
        let op = if and { LogicalOp::And } else { LogicalOp::Or };
        if stmts.is_empty() {
            let mut operands = match left.e.kind {
                ExprKind::Logical { op: before, operands } if before == op => operands,
                _ => vec![left.e],
            };
            operands.push(right);
            return Ok(Val::of(Expr { kind: ExprKind::Logical { op, operands }, span }, Ty::Bool));
        }
        // What the right side does is done only where it is looked at.
        let name = Name { text: self.fresh("t"), span };
        self.assign(Target::Name(name.clone()), left.e, span);
        let mut then = stmts;
        let kind = StmtKind::Assign { targets: vec![Target::Name(name.clone())], value: right };
        then.push(Stmt { kind, span });
        let decided = named(&name.text, span);
        let cond = if and { decided.clone() } else { not(decided.clone(), span) };
        self.emit(StmtKind::If { cond, then, otherwise: Vec::new() }, span);
        Ok(Val::of(decided, Ty::Bool))
    }

    /// `&x` and `&mut x`.
    fn reference(&mut self, reference: &'a syn::ExprReference, want: Option<&Ty>) -> Made<Val<'a>> {
        if reference.mutability.is_some() {
            return self.reference_mut(&reference.expr, want);
        }
        Ok(match self.expr(&reference.expr, want)? {
            Val::Leaf(leaf) if leaf.ty.is_array() => Val::Leaf(Leaf { how: How::Ref, ..leaf }),
            Val::Alias(place, ty) => Val::of(place.read(), ty),
            val @ Val::Struct(..) => shared(val),
            val @ Val::Rows(..) => super::rows::referred(val),
            other => other,
        })
    }

    /// `&mut e`.
    pub(super) fn reference_mut(&mut self, e: &'a syn::Expr, want: Option<&Ty>) -> Made<Val<'a>> {
        let inner = strip(e);
        if !is_place(inner) {
            // A reference to something that was just made.
            return Ok(match self.expr(e, want)? {
                Val::Leaf(leaf) if leaf.ty.is_array() => Val::Leaf(Leaf { how: How::Ref, ..leaf }),
                Val::Leaf(leaf) => {
                    let (e, span) = (leaf.e.clone(), leaf.e.span);
                    let name = Name { text: self.fresh("t"), span };
                    self.assign(Target::Name(name.clone()), e, span);
                    Val::Alias(Place::Name(name), leaf.ty)
                }
                val @ (Val::Struct(..) | Val::Rows(..)) => {
                    let at = self.at(e);
                    let held = self.held("t", val, 0, at)?;
                    self.mutable_reference(held, at)?
                }
                other => other,
            });
        }
        if self.peek(inner).is_some_and(|ty| ty.holds_structs()) {
            let at = self.at(inner);
            let (val, _) = self.raw(inner)?;
            return self.mutable_reference(val, at);
        }
        let (place, ty) = self.place(inner)?;
        if ty.is_array() {
            let e = place.read();
            let whole = matches!(place, Place::Name(_));
            let from = if ty.is_open() && whole { self.declared_by(inner) } else { Vec::new() };
            return Ok(Val::Leaf(Leaf { e, ty, how: How::Ref, from }));
        }
        Ok(Val::Alias(place, ty))
    }
}

impl Leaf {
    /// With the variables it takes its type from.
    fn from(self, from: Vec<usize>) -> Leaf {
        Leaf { from, ..self }
    }
}

/// An expression without parentheses around it.
pub(super) fn strip(e: &syn::Expr) -> &syn::Expr {
    match e {
        syn::Expr::Paren(inner) => strip(&inner.expr),
        syn::Expr::Group(inner) => strip(&inner.expr),
        other => other,
    }
}

/// Whether an expression names a place.
pub(super) fn is_place(e: &syn::Expr) -> bool {
    match strip(e) {
        syn::Expr::Path(_) | syn::Expr::Index(_) | syn::Expr::Field(_) => true,
        syn::Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)),
        _ => false,
    }
}

fn zero(ty: &Ty, at: Span) -> Expr {
    match ty {
        Ty::F32 => call("float32", vec![float(0.0, at)], at),
        Ty::Int(_) => int(0, at),
        Ty::Bool => truth(false, at),
        _ => float(0.0, at),
    }
}

fn comparison(op: &syn::BinOp) -> Option<CompareOp> {
    use syn::BinOp as B;
    Some(match op {
        B::Eq(_) => CompareOp::Eq,
        B::Ne(_) => CompareOp::Ne,
        B::Lt(_) => CompareOp::Lt,
        B::Le(_) => CompareOp::Le,
        B::Gt(_) => CompareOp::Gt,
        B::Ge(_) => CompareOp::Ge,
        _ => return None,
    })
}

/// The operation of a compound assignment.
fn compound(op: &syn::BinOp) -> Option<syn::BinOp> {
    use syn::BinOp as B;
    Some(match op {
        B::AddAssign(_) => B::Add(syn::token::Plus::default()),
        B::SubAssign(_) => B::Sub(syn::token::Minus::default()),
        B::MulAssign(_) => B::Mul(syn::token::Star::default()),
        B::DivAssign(_) => B::Div(syn::token::Slash::default()),
        B::RemAssign(_) => B::Rem(syn::token::Percent::default()),
        B::BitAndAssign(_) => B::BitAnd(syn::token::And::default()),
        B::BitOrAssign(_) => B::BitOr(syn::token::Or::default()),
        B::BitXorAssign(_) => B::BitXor(syn::token::Caret::default()),
        B::ShlAssign(_) => B::Shl(syn::token::Shl::default()),
        B::ShrAssign(_) => B::Shr(syn::token::Shr::default()),
        _ => return None,
    })
}
