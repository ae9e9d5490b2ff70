//! Arrays of structs: `&[Particle]`, `Vec<Particle>`, `[Particle; 3]`.
//!
//! They are structs of arrays: one array for each number and array of the struct, its column, with the elements along the first axis.
//! An element is the struct of the elements of the columns.

use super::array::{USIZE, element, length};
use super::expr::strip;
use super::structs::{RustStruct, owned, shared};
use super::types::{Length, RustType, as_type};
use super::value::{How, Leaf, Len, Ty, Val, call, compare, int};
use super::{Converter, Made, no};
use crate::span::Span;
use crate::surface::tree::{CompareOp, Expr, ExprKind};
use std::sync::Arc;

/// The type of an array of structs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructArray {
    /// Its elements.
    pub item: Arc<RustStruct>,
    /// What it is: a slice, a vector or an array, of numbers.
    pub like: RustType,
    /// The types of its columns.
    pub columns: Vec<RustType>,
}

impl StructArray {
    /// A type as that of a column, where this is the type of what is in the struct.
    fn column(like: &RustType, of: &RustType) -> RustType {
        let of = Box::new(of.clone());
        match like {
            RustType::Vec(_) => RustType::Vec(of),
            RustType::Array(_, n) => RustType::Array(of, n.clone()),
            _ => RustType::Slice(of),
        }
    }

    /// Its length in the walk.
    pub(super) fn len(&self) -> Len {
        match &self.like {
            RustType::Vec(_) => Len::Vec,
            RustType::Array(_, Length::Known(n)) => Len::Fixed(*n),
            RustType::Array(_, Length::Param(k, _)) => Len::Param(*k),
            _ => Len::Slice,
        }
    }
}

/// An array of structs of this type, `like` being that of numbers.
pub(super) fn array_of_structs(item: Arc<RustStruct>, like: RustType, at: Span) -> Made<RustType> {
    let all = RustType::Struct(item.clone());
    let leaves = all.leaves();
    let holds_vectors = |ty: &RustType| {
        matches!(ty, RustType::Vec(_) | RustType::NdArray { .. } | RustType::Structs(_))
    };
    if leaves.iter().any(|ty| holds_vectors(ty)) {
        return Err(as_type(no::STRUCTS_OF_VECTORS.at(at)));
    }
    if leaves.is_empty() {
        return Err(as_type(no::EMPTY_STRUCTS.at(at)));
    }
    let columns = leaves.into_iter().map(|ty| StructArray::column(&like, ty)).collect();
    Ok(RustType::Structs(Arc::new(StructArray { item, like, columns })))
}

impl<'a> Val<'a> {
    /// An array of structs out of its columns.
    pub(super) fn rows(
        def: &Arc<RustStruct>,
        len: Len,
        columns: &mut dyn Iterator<Item = Leaf>,
    ) -> Val<'a> {
        let fields = def.fields.iter().map(|f| column_of(&f.ty, columns));
        Val::Rows(def.clone(), len, fields.collect())
    }

    /// The same with each column changed.
    pub(super) fn each_column(self, change: &mut dyn FnMut(Leaf) -> Leaf) -> Val<'a> {
        match self {
            Val::Leaf(leaf) => Val::Leaf(change(leaf)),
            Val::Tuple(all) => Val::Tuple(all.into_iter().map(|v| v.each_column(change)).collect()),
            Val::Struct(def, all) => {
                Val::Struct(def, all.into_iter().map(|v| v.each_column(change)).collect())
            }
            Val::Rows(def, len, all) => {
                Val::Rows(def, len, all.into_iter().map(|v| v.each_column(change)).collect())
            }
            other => other,
        }
    }
}

fn column_of<'a>(ty: &RustType, columns: &mut dyn Iterator<Item = Leaf>) -> Val<'a> {
    match ty {
        RustType::Tuple(all) => Val::Tuple(all.iter().map(|ty| column_of(ty, columns)).collect()),
        RustType::Struct(def) => {
            Val::Struct(def.clone(), def.fields.iter().map(|f| column_of(&f.ty, columns)).collect())
        }
        _ => columns.next().map_or(Val::Unit, Val::Leaf),
    }
}

/// How many structs there are.
pub(super) fn count(rows: &Val<'_>, at: Span) -> Expr {
    rows.leaves().first().map_or_else(|| int(0, at), |leaf| length(&leaf.e, &leaf.ty, at))
}

/// The struct with this number.
pub(super) fn row<'a>(rows: Val<'a>, k: &Expr, at: Span) -> Val<'a> {
    let Val::Rows(def, _, columns) = rows else { return rows };
    let mut at_k = |leaf: Leaf| {
        let ty = leaf.ty.element().cloned().unwrap_or(Ty::F64);
        Leaf { e: element(leaf.e, k.clone(), at), ty, how: How::Place, from: leaf.from }
    };
    Val::Struct(def, columns.into_iter().map(|v| v.each_column(&mut at_k)).collect())
}

impl<'a> Converter<'a> {
    /// `rows[index]`.
    pub(super) fn row_at(
        &mut self,
        rows: Val<'a>,
        index: &'a syn::Expr,
        at: Span,
    ) -> Made<Val<'a>> {
        if let syn::Expr::Range(range) = strip(index) {
            let (start, stop) = self.bounds(range, at)?;
            return self.part_of_rows(rows, start, stop, at);
        }
        let k = self.count(index)?;
        let k = self.kept(k);
        Ok(row(rows, &k, at))
    }

    fn part_of_rows(
        &mut self,
        rows: Val<'a>,
        start: Option<Expr>,
        stop: Option<Expr>,
        at: Span,
    ) -> Made<Val<'a>> {
        let Val::Rows(def, ..) = &rows else { return Ok(rows) };
        let mut parts = Vec::new();
        for leaf in rows.leaves() {
            let how = leaf.how;
            let part = self.part_of(leaf, start.clone(), stop.clone(), at)?;
            parts.extend(part.leaves().into_iter().map(|part| Leaf { how, ..part }));
        }
        Ok(Val::rows(def, Len::Slice, &mut parts.into_iter()))
    }

    /// `[a, b, c]` of structs.
    pub(super) fn rows_of(
        &mut self,
        def: &Arc<RustStruct>,
        all: Vec<Val<'a>>,
        len: Len,
        at: Span,
    ) -> Made<Val<'a>> {
        let wanted = Ty::Struct(def.clone());
        let mut items = Vec::new();
        for val in all {
            if matches!(val, Val::Never) {
                return Ok(Val::Never);
            }
            items.push(self.fitted(val, &wanted, at)?.leaves());
        }
        let types: Vec<Ty> =
            RustType::Struct(def.clone()).leaves().into_iter().map(RustType::ty).collect();
        let mut columns = Vec::new();
        for (k, ty) in types.into_iter().enumerate() {
            let mut parts = Vec::new();
            for item in &items {
                parts.push(self.fitted_leaf(item[k].clone(), &ty, at)?.e);
            }
            let list = Expr { kind: ExprKind::List(parts), span: at };
            columns.push(Leaf::new(call("array", vec![list], at), Ty::Array(Box::new(ty), len)));
        }
        Ok(Val::rows(def, len, &mut columns.into_iter()))
    }

    /// So many times a struct.
    pub(super) fn filled_rows(
        &mut self,
        def: &Arc<RustStruct>,
        fields: Vec<Val<'a>>,
        count: Expr,
        len: Len,
        at: Span,
    ) -> Made<Val<'a>> {
        let count = self.kept(count);
        let mut columns = Vec::new();
        for leaf in Val::Struct(def.clone(), fields).leaves() {
            let column = self.filled_with(Val::Leaf(leaf), count.clone(), len, at)?;
            columns.extend(column.leaves());
        }
        Ok(Val::rows(def, len, &mut columns.into_iter()))
    }

    /// A method of an array of structs.
    pub(super) fn rows_method(
        &mut self,
        rows: Val<'a>,
        method: &'a syn::ExprMethodCall,
        at: Span,
    ) -> Made<Val<'a>> {
        let name = method.method.to_string();
        let args: Vec<&'a syn::Expr> = method.args.iter().collect();
        let at_name = self.at(&method.method);
        match (name.as_str(), args.as_slice()) {
            ("len", []) => Ok(Val::of(count(&rows, at), USIZE)),
            ("is_empty", []) => {
                Ok(Val::of(compare(count(&rows, at), CompareOp::Eq, int(0, at), at), Ty::Bool))
            }
            ("clone" | "to_vec", []) => {
                let Val::Rows(def, len, _) = &rows else { return Ok(rows) };
                let len = if name == "clone" { *len } else { Len::Vec };
                let copied = rows.leaves().into_iter().map(|leaf| {
                    let ty =
                        Ty::Array(Box::new(leaf.ty.element().cloned().unwrap_or(Ty::F64)), len);
                    Leaf { ty, ..Leaf::new(call("copy", vec![leaf.e], at), Ty::Unit) }
                });
                Ok(Val::rows(def, len, &mut copied.collect::<Vec<_>>().into_iter()))
            }
            ("as_slice" | "as_mut_slice", []) => Ok(referred(rows)),
            ("swap", [i, j]) => {
                let mut both = Vec::new();
                for k in [i, j] {
                    let k = self.count(k)?;
                    let k = self.kept(k);
                    both.push(self.mutable_reference(row(rows.clone(), &k, at), at)?);
                }
                let (Some(b), Some(a)) = (both.pop(), both.pop()) else { return Ok(Val::Unit) };
                self.exchange(a, b, at)?;
                Ok(Val::Unit)
            }
            _ => Err(no::STRUCTS_METHOD.at(at_name)),
        }
    }

    /// The same array in variables, or parts of such.
    pub(super) fn steady_rows(&mut self, rows: Val<'a>) -> Val<'a> {
        rows.each_column(&mut |leaf| match leaf.e.kind {
            ExprKind::Name(_) => leaf,
            _ => Leaf { e: self.kept(leaf.e.clone()), ..leaf },
        })
    }

    /// Element `k` of an array of structs that is gone through.
    pub(super) fn row_item(
        &mut self,
        rows: &Val<'a>,
        k: &Expr,
        way: super::sequence::Way,
        at: Span,
    ) -> Made<Val<'a>> {
        use super::sequence::Way;
        let item = row(rows.clone(), k, at);
        Ok(match way {
            Way::Mut => self.mutable_reference(item, at)?,
            Way::Ref => shared(item),
            Way::Value => owned(item),
        })
    }
}

/// An array of structs behind a reference.
pub(super) fn referred(rows: Val<'_>) -> Val<'_> {
    rows.each_column(&mut |leaf| Leaf { how: How::Ref, ..leaf })
}
