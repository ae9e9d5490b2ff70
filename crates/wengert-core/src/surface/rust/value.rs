//! What expressions are in the walk: their types, and the expressions of the tree they become.

use super::structs::RustStruct;
use super::types::IntKind;
use crate::span::Span;
use crate::surface::tree::{BinaryOp, Callee, Expr, ExprKind, Index, Name, Target};
use std::rc::Rc;
use std::sync::Arc;

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    F64,
    F32,
    /// A float literal that has met no other type yet.
    Float,
    /// An integer; a literal that has met no other type yet has no kind.
    Int(Option<IntKind>),
    Bool,
    /// Several values of a type.
    Array(Box<Ty>, Len),
    Tuple(Vec<Ty>),
    Struct(Arc<RustStruct>),
    Unit,
    /// Nothing comes of it: the program goes on elsewhere.
    Never,
}

/// How long an array is, and what that makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Len {
    Slice,
    Vec,
    Fixed(usize),
    /// As long as a constant parameter of the function says, the one of this number.
    Param(usize),
    /// Along an axis of an array of crate `ndarray`.
    Axis,
}

impl Ty {
    pub(super) fn is_float(&self) -> bool {
        matches!(self, Ty::F64 | Ty::F32 | Ty::Float)
    }

    pub(super) fn is_int(&self) -> bool {
        matches!(self, Ty::Int(_))
    }

    pub(super) fn is_number(&self) -> bool {
        self.is_float() || self.is_int()
    }

    pub(super) fn is_scalar(&self) -> bool {
        self.is_number() || *self == Ty::Bool
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self, Ty::Array(..))
    }

    pub(super) fn is_unsigned(&self) -> bool {
        matches!(self, Ty::Int(Some(kind)) if kind.unsigned())
    }

    /// Whether more may be found out about it.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Ty::Float | Ty::Int(None) => true,
            Ty::Array(elem, _) => elem.is_open(),
            Ty::Tuple(all) => all.iter().any(Ty::is_open),
            _ => false,
        }
    }

    /// Whether it is a struct, or an array of structs.
    pub(super) fn holds_structs(&self) -> bool {
        match self {
            Ty::Array(elem, _) => elem.holds_structs(),
            ty => matches!(ty, Ty::Struct(_)),
        }
    }

    /// The elements of an array.
    pub(super) fn element(&self) -> Option<&Ty> {
        match self {
            Ty::Array(elem, _) => Some(elem),
            _ => None,
        }
    }

    /// An array of crate `ndarray` with so many axes.
    pub(super) fn nd(item: Ty, rank: usize) -> Ty {
        (0..rank).fold(item, |inner, _| Ty::Array(Box::new(inner), Len::Axis))
    }

    /// How many axes an array of crate `ndarray` has; 0 for anything else.
    pub(super) fn axes(&self) -> usize {
        match self {
            Ty::Array(elem, Len::Axis) => 1 + elem.axes(),
            _ => 0,
        }
    }

    /// The numbers of an array, or the number.
    pub(super) fn scalar(&self) -> &Ty {
        match self {
            Ty::Array(elem, _) => elem.scalar(),
            other => other,
        }
    }

    /// Whether a value of it is copied, not moved.
    pub(super) fn copies(&self) -> bool {
        matches!(self, Ty::Array(elem, Len::Fixed(_) | Len::Param(_)) if elem.is_scalar() || elem.copies())
    }

    /// The type both are of.
    pub(super) fn join(&self, other: &Ty) -> Option<Ty> {
        Some(match (self, other) {
            (Ty::Never, ty) | (ty, Ty::Never) => ty.clone(),
            (Ty::Float, ty @ (Ty::F64 | Ty::F32)) | (ty @ (Ty::F64 | Ty::F32), Ty::Float) => {
                ty.clone()
            }
            (Ty::Int(None), ty @ Ty::Int(_)) | (ty @ Ty::Int(_), Ty::Int(None)) => ty.clone(),
            (Ty::Array(a, m), Ty::Array(b, n)) => {
                let len = match (m, n) {
                    (Len::Fixed(m), Len::Fixed(n)) if m != n => return None,
                    (Len::Param(m), Len::Param(n)) if m != n => return None,
                    (Len::Fixed(_), Len::Param(_)) | (Len::Param(_), Len::Fixed(_)) => return None,
                    (Len::Slice, _) | (_, Len::Slice) => Len::Slice,
                    (m, _) => *m,
                };
                Ty::Array(Box::new(a.join(b)?), len)
            }
            (Ty::Tuple(a), Ty::Tuple(b)) if a.len() == b.len() => {
                let joined = a.iter().zip(b).map(|(a, b)| a.join(b));
                Ty::Tuple(joined.collect::<Option<_>>()?)
            }
            (a, b) if a == b => a.clone(),
            _ => return None,
        })
    }

    /// The type as it is written.
    pub(super) fn shown(&self) -> String {
        match self {
            Ty::F64 => "f64".into(),
            Ty::F32 => "f32".into(),
            Ty::Float => "{float}".into(),
            Ty::Int(Some(kind)) => kind.name().into(),
            Ty::Int(None) => "{integer}".into(),
            Ty::Bool => "bool".into(),
            Ty::Array(_, Len::Axis) => format!("Array{}<{}>", self.axes(), self.scalar().shown()),
            Ty::Array(elem, Len::Slice) => format!("[{}]", elem.shown()),
            Ty::Array(elem, Len::Vec) => format!("Vec<{}>", elem.shown()),
            Ty::Array(elem, Len::Fixed(n)) => format!("[{}; {n}]", elem.shown()),
            Ty::Array(elem, Len::Param(_)) => format!("[{}; _]", elem.shown()),
            Ty::Tuple(all) => {
                let all: Vec<String> = all.iter().map(Ty::shown).collect();
                format!("({})", all.join(", "))
            }
            Ty::Struct(def) => def.name.clone(),
            Ty::Unit => "()".into(),
            Ty::Never => "!".into(),
        }
    }
}

/// Where an array comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It was just made.
    Fresh,
    /// It is the content of a variable or of an element: taking it copies or moves it.
    Place,
    /// It is behind a reference.
    Ref,
}

/// A number or an array: an expression of the tree.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) e: Expr,
    pub(super) ty: Ty,
    pub(super) how: How,
    /// The variables whose type, still open, it has: where they are declared.
    pub(super) from: Vec<usize>,
}

/// What an expression evaluates to.
#[derive(Clone)]
pub(super) enum Val<'a> {
    Leaf(Leaf),
    Tuple(Vec<Val<'a>>),
    /// A struct: its fields.
    Struct(Arc<RustStruct>, Vec<Val<'a>>),
    /// An array of structs: its fields, with arrays in the places of numbers.
    Rows(Arc<RustStruct>, Len, Vec<Val<'a>>),
    Unit,
    Never,
    /// A `&mut` to a number: another name for its place.
    Alias(Place, Ty),
    Closure(Rc<super::closure::Closure<'a>>),
}

impl<'a> Val<'a> {
    pub(super) fn of(e: Expr, ty: Ty) -> Val<'a> {
        Val::Leaf(Leaf::new(e, ty))
    }

    pub(super) fn ty(&self) -> Ty {
        match self {
            Val::Leaf(leaf) => leaf.ty.clone(),
            Val::Tuple(all) => Ty::Tuple(all.iter().map(Val::ty).collect()),
            Val::Struct(def, _) => Ty::Struct(def.clone()),
            Val::Rows(def, len, _) => Ty::Array(Box::new(Ty::Struct(def.clone())), *len),
            Val::Alias(_, ty) => ty.clone(),
            Val::Never => Ty::Never,
            Val::Unit | Val::Closure(_) => Ty::Unit,
        }
    }

    /// Its numbers and arrays, in order.
    pub(super) fn leaves(&self) -> Vec<Leaf> {
        match self {
            Val::Leaf(leaf) => vec![leaf.clone()],
            Val::Tuple(all) | Val::Struct(_, all) | Val::Rows(_, _, all) => {
                all.iter().flat_map(Val::leaves).collect()
            }
            Val::Alias(place, ty) => vec![Leaf::new(place.read(), ty.clone())],
            Val::Unit | Val::Never | Val::Closure(_) => Vec::new(),
        }
    }
}

impl Leaf {
    /// A value just made.
    pub(super) fn new(e: Expr, ty: Ty) -> Leaf {
        Leaf { e, ty, how: How::Fresh, from: Vec::new() }
    }
}

/// What can be assigned to.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// A variable of the tree.
    Name(Name),
    /// An element or a part of an array.
    Element { base: Expr, indices: Vec<Index>, span: Span },
}

impl Place {
    /// What is there.
    pub(super) fn read(&self) -> Expr {
        match self {
            Place::Name(name) => named(&name.text, name.span),
            Place::Element { base, indices, span } => Expr {
                kind: ExprKind::Index { base: Box::new(base.clone()), indices: indices.clone() },
                span: *span,
            },
        }
    }

    /// It, as a target.
    pub(super) fn target(&self) -> Target {
        match self {
            Place::Name(name) => Target::Name(name.clone()),
            Place::Element { base, indices, span } => {
                Target::Element { base: base.clone(), indices: indices.clone(), span: *span }
            }
        }
    }
}

pub(super) fn named(name: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Name(name.to_owned()), span }
}

pub(super) fn int(k: i64, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(k), span }
}

pub(super) fn truth(b: bool, span: Span) -> Expr {
    Expr { kind: ExprKind::Bool(b), span }
}

/// A float; those that cannot be written are named.
pub(super) fn float(x: f64, span: Span) -> Expr {
    let kind = if x.is_nan() {
        ExprKind::Builtin("nan".into())
    } else if x.is_infinite() && x > 0.0 {
        ExprKind::Builtin("inf".into())
    } else if x.is_sign_negative() {
        return negated(float(-x, span), span);
    } else {
        ExprKind::Float(x)
    };
    Expr { kind, span }
}

pub(super) fn negated(e: Expr, span: Span) -> Expr {
    let op = crate::surface::tree::UnaryOp::Neg;
    Expr { kind: ExprKind::Unary { op, operand: Box::new(e) }, span }
}

pub(super) fn not(e: Expr, span: Span) -> Expr {
    let op = crate::surface::tree::UnaryOp::Not;
    Expr { kind: ExprKind::Unary { op, operand: Box::new(e) }, span }
}

/// A call of a library function.
pub(super) fn call(name: &str, args: Vec<Expr>, span: Span) -> Expr {
    let callee = Callee::Builtin(Name { text: name.to_owned(), span });
    Expr { kind: ExprKind::Call { callee, args, keywords: Vec::new() }, span }
}

/// `a op b`, in one node with the operations on its left.
pub(super) fn binary(a: Expr, op: BinaryOp, b: Expr, span: Span) -> Expr {
    // Small integers are computed here.
    if let (ExprKind::Int(x), ExprKind::Int(y)) = (&a.kind, &b.kind) {
        let known = match op {
            BinaryOp::Add => x.checked_add(*y),
            BinaryOp::Sub => x.checked_sub(*y),
            BinaryOp::Mul => x.checked_mul(*y),
            _ => None,
        };
        if let Some(k) = known {
            return int(k, span);
        }
    }
    if let (ExprKind::Int(0), BinaryOp::Add | BinaryOp::Sub) = (&b.kind, op) {
        return a;
    }
    let kind = match a.kind {
        ExprKind::Binary { first, mut rest } => {
            rest.push((op, b));
            ExprKind::Binary { first, rest }
        }
        _ => ExprKind::Binary { first: Box::new(a), rest: vec![(op, b)] },
    };
    Expr { kind, span }
}

pub(super) fn compare(a: Expr, op: crate::surface::tree::CompareOp, b: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Compare { first: Box::new(a), rest: vec![(op, b)] }, span }
}

/// Whether an expression is the same whenever it is evaluated.
pub(super) fn is_constant(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Builtin(_) => true,
        ExprKind::Unary { operand, .. } => is_constant(operand),
        ExprKind::Call { callee: Callee::Builtin(name), args, .. } => {
            name.text == "float32" && args.iter().all(is_constant)
        }
        _ => false,
    }
}
