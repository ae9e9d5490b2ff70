//! Arrays of crate `ndarray`: their types, indices and methods.
//!
//! In the tree they are arrays like all others; in the walk their axes have a length of their own kind ([`Len::Axis`]), so that
//! `len`, `iter` and indices mean what they do there.

use super::array::{USIZE, element, filled};
use super::place::all_of;
use super::sequence::{Seq, Way};
use super::types::{Mode, RustType, as_type};
use super::value::{How, Leaf, Len, Ty, Val, call, int};
use super::{Converter, Made, no};
use crate::span::Span;
use crate::surface::tree::{Expr, ExprKind, Index};

/// The most axes that a type can say.
const MOST: usize = 6;

/// The number of axes behind a word: 2 in `ArrayView2`.
fn axes_after(name: &str, word: &str) -> Option<usize> {
    let rank: usize = name.strip_prefix(word)?.parse().ok()?;
    (1..=MOST).contains(&rank).then_some(rank)
}

/// The number of axes of an array of this type.
pub(super) fn array_named(name: &str) -> Option<usize> {
    axes_after(name, "Array")
}

/// The number of axes of a view of this type, and what it is a view for.
pub(super) fn view_named(name: &str) -> Option<(usize, Mode)> {
    let shared = axes_after(name, "ArrayView").map(|rank| (rank, Mode::Ref));
    shared.or_else(|| axes_after(name, "ArrayViewMut").map(|rank| (rank, Mode::RefMut)))
}

/// Whether a type of this name has any number of axes.
pub(super) fn is_generic(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "ArrayBase",
        "ArrayD",
        "ArrayRef",
        "ArrayView",
        "ArrayViewD",
        "ArrayViewMut",
        "ArrayViewMutD",
        "ArcArray",
        "CowArray",
    ];
    NAMES.contains(&name)
}

/// Whether a type of this name is taken to be one of that crate.
pub(super) fn is_known(name: &str) -> bool {
    array_named(name).is_some() || view_named(name).is_some() || is_generic(name)
}

/// The words of methods that go along the first axis.
const ROWS: &[&str] = &["outer_iter", "outer_iter_mut", "rows", "rows_mut"];

impl<'a> Converter<'a> {
    /// Whether a path is no struct or alias of the text.
    pub(super) fn names_nothing_here(&self, path: &syn::Path) -> bool {
        match path.get_ident() {
            Some(name) => self.scopes.get(&name.to_string()).is_none(),
            None => true,
        }
    }

    /// What an array type says of its elements.
    pub(super) fn nd_item(&mut self, word: &syn::PathSegment, at: Span) -> Made<RustType> {
        let types = match &word.arguments {
            syn::PathArguments::AngleBracketed(args) => args.args.iter().find_map(|a| match a {
                syn::GenericArgument::Type(ty) => Some(ty),
                _ => None,
            }),
            _ => None,
        };
        let Some(item) = types else { return Err(as_type(no::NDARRAY_ITEM.at(at))) };
        let item = self.rust_type(item)?;
        match item {
            RustType::F64 | RustType::F32 | RustType::Int(_) | RustType::Bool => Ok(item),
            _ => Err(as_type(no::NDARRAY_ITEM.at(at))),
        }
    }

    /// `a[[i, j]]`.
    pub(super) fn nd_element(
        &mut self,
        base: Leaf,
        indices: Vec<&'a syn::Expr>,
        at: Span,
    ) -> Made<Val<'a>> {
        if indices.len() != base.ty.axes() {
            return Err(no::NDARRAY_INDEX.at(at));
        }
        let (stmts, places) = self.inside(|c| {
            let mut places = Vec::new();
            for index in indices {
                let place = c.count(index)?;
                places.push(if c.so_far() > 0 { c.kept(place) } else { place });
            }
            Ok(places)
        })?;
        let base = if stmts.is_empty() { base } else { self.found(base)? };
        self.append(stmts);
        let ty = base.ty.scalar().clone();
        let e = places.into_iter().fold(base.e, |e, place| element(e, place, at));
        Ok(Val::Leaf(Leaf { e, ty, how: How::Place, from: base.from }))
    }

    /// A method of an array of that crate, where it is not one that all arrays have: then the array is given back.
    pub(super) fn nd_method(
        &mut self,
        base: Leaf,
        name: &str,
        args: &[&'a syn::Expr],
        at: Span,
    ) -> Made<Result<Val<'a>, Leaf>> {
        let rank = base.ty.axes();
        if rank == 0 {
            return Ok(Err(base));
        }
        let number = |e: Expr| Val::of(e, USIZE);
        Ok(Ok(match (name, args) {
            ("len", []) => number(call("size", vec![base.e], at)),
            ("ndim", []) => number(int(rank as i64, at)),
            ("nrows", []) if rank == 2 => number(axis(&base.e, 0, at)),
            ("ncols", []) if rank == 2 => number(axis(&base.e, 1, at)),
            ("dim", []) => {
                let mut all: Vec<Val<'a>> =
                    (0..rank).map(|k| number(axis(&base.e, k, at))).collect();
                if rank == 1 { all.remove(0) } else { Val::Tuple(all) }
            }
            ("shape", []) => {
                let all = (0..rank).map(|k| axis(&base.e, k, at)).collect();
                let list = Expr { kind: ExprKind::List(all), span: at };
                let ty = Ty::Array(Box::new(USIZE), Len::Fixed(rank));
                Val::of(call("array", vec![list], at), ty)
            }
            ("view" | "view_mut", []) => Val::Leaf(Leaf { how: How::Ref, ..base }),
            ("row" | "row_mut", [k]) if rank == 2 => {
                let k = self.count(k)?;
                let k = self.kept(k);
                let ty = Ty::nd(base.ty.scalar().clone(), 1);
                Val::Leaf(Leaf { e: element(base.e, k, at), ty, how: How::Ref, from: base.from })
            }
            ("column" | "column_mut", [k]) if rank == 2 => {
                let k = self.count(k)?;
                let k = self.kept(k);
                let all = Index::Slice { start: None, stop: None, step: None, span: at };
                let k = element(base.e.clone(), k, at);
                let ExprKind::Index { indices, .. } = k.kind else { return Ok(Err(base)) };
                let indices =
                    std::iter::once(all).chain(indices.into_iter().rev().take(1)).collect();
                let e =
                    Expr { kind: ExprKind::Index { base: Box::new(base.e), indices }, span: at };
                let ty = Ty::nd(base.ty.scalar().clone(), 1);
                Val::Leaf(Leaf { e, ty, how: How::Ref, from: base.from })
            }
            ("t", []) => {
                let e = call("transpose", vec![base.e], at);
                Val::Leaf(Leaf { e, ty: base.ty, how: How::Ref, from: base.from })
            }
            ("sum", []) => {
                let leaf = Leaf::new(call("sum", vec![base.e], at), base.ty.scalar().clone());
                Val::Leaf(Leaf { from: base.from, ..leaf })
            }
            ("dot", [other]) => {
                let val = self.expr(other, None)?;
                let at_other = self.at(*other);
                let other = self.as_array(val, at_other)?;
                let (a, b) = (rank, other.ty.axes());
                let item = base.ty.scalar().clone();
                if !(1..=2).contains(&a) || !(1..=2).contains(&b) || item != *other.ty.scalar() {
                    return Err(super::call::expected(&base.ty, &other.ty, at_other));
                }
                Val::of(call("dot", vec![base.e, other.e], at), Ty::nd(item, a + b - 2))
            }
            ("fill", [value]) => {
                let item = base.ty.scalar().clone();
                let leaf = self.scalar(value, Some(&item))?;
                let at_value = self.at(*value);
                let leaf = self.fitted_leaf(leaf, &item, at_value)?;
                self.assign(all_of(base.e, at).target(), leaf.e, at);
                Val::Unit
            }
            ("assign", [source]) => {
                let val = self.expr(source, Some(&base.ty))?;
                let at_value = self.at(*source);
                let source = self.as_array(val, at_value)?;
                let source = self.fitted_leaf(source, &base.ty, at_value)?;
                self.same_shape(&base.e, &source.e, rank, at);
                self.assign(all_of(base.e, at).target(), source.e, at);
                Val::Unit
            }
            _ => return Ok(Err(base)),
        }))
    }

    fn same_shape(&mut self, a: &Expr, b: &Expr, rank: usize, at: Span) {
        use crate::surface::tree::{CompareOp, StmtKind};
        for k in 0..rank {
            let cond = super::value::compare(axis(a, k, at), CompareOp::Eq, axis(b, k, at), at);
            let message = Some("the arrays differ in shape".into());
            self.emit(StmtKind::Assert { cond, message }, at);
        }
    }

    /// `Array2::zeros((n, m))` and the like; nothing where it is none of these.
    pub(super) fn nd_made(
        &mut self,
        path: &syn::Path,
        args: &[&'a syn::Expr],
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Option<Val<'a>>> {
        let mut words = path.segments.iter().rev();
        let (Some(name), Some(owner)) = (words.next(), words.next()) else { return Ok(None) };
        let Some(rank) = array_named(&owner.ident.to_string()) else { return Ok(None) };
        let wanted = want.map(|ty| ty.scalar().clone()).filter(Ty::is_scalar);
        let item = match owner.arguments.is_none() {
            true => wanted,
            false => Some(self.nd_item(owner, at)?.ty()),
        };
        let name = name.ident.to_string();
        let name = name.as_str();
        match (name, args) {
            ("zeros" | "ones", [shape]) => {
                let dims = self.nd_shape(shape, rank, at)?;
                let ty = item.unwrap_or(Ty::Float);
                let value = match (&ty, name) {
                    (Ty::Int(_), _) => int(i64::from(name == "ones"), at),
                    (ty, _) => {
                        self.float_of(if name == "ones" { 1.0 } else { 0.0 }, *ty == Ty::F32, at)
                    }
                };
                Ok(Some(Val::of(filled(dims, value, at), Ty::nd(ty, rank))))
            }
            ("from_elem", [shape, value]) => {
                let dims = self.nd_shape(shape, rank, at)?;
                let dims: Vec<Expr> = dims.into_iter().map(|e| self.kept(e)).collect();
                let leaf = self.scalar(value, item.as_ref())?;
                let ty = Ty::nd(leaf.ty.clone(), rank);
                let e = filled(dims, leaf.e, at);
                Ok(Some(Val::Leaf(Leaf { from: leaf.from, ..Leaf::new(e, ty) })))
            }
            ("from_vec" | "from", [source]) if rank == 1 => {
                let inner = item.map(|item| Ty::Array(Box::new(item), Len::Vec));
                let val = self.expr(source, inner.as_ref())?;
                let at_source = self.at(*source);
                let leaf = self.as_array(val, at_source)?;
                let leaf = self.taken_over(leaf);
                let ty = Ty::nd(leaf.ty.scalar().clone(), 1);
                Ok(Some(Val::Leaf(Leaf { ty, ..leaf })))
            }
            _ => Ok(None),
        }
    }

    /// The lengths that are written as `n` or `(n, m)`.
    fn nd_shape(&mut self, e: &'a syn::Expr, rank: usize, at: Span) -> Made<Vec<Expr>> {
        let all = super::array::several(e).unwrap_or_else(|| vec![e]);
        if all.len() == rank {
            return all.into_iter().map(|e| self.count(e)).collect();
        }
        // A variable: what `dim()` gave.
        let val = self.expr(e, None)?;
        let leaves = val.leaves();
        let fits = leaves.len() == rank && leaves.iter().all(|leaf| leaf.ty.is_int());
        if fits {
            Ok(leaves.into_iter().map(|leaf| leaf.e).collect())
        } else {
            Err(no::NDARRAY_INDEX.at(at))
        }
    }

    /// All elements of an array of several axes, in order.
    pub(super) fn flat(&mut self, base: Leaf, way: Way, at: Span) -> Made<Leaf> {
        if way == Way::Mut {
            return Err(no::NDARRAY_ELEMENTS.at(at));
        }
        let e = call("ravel", vec![base.e], at);
        let ty = Ty::nd(base.ty.scalar().clone(), 1);
        Ok(Leaf { e, ty, how: How::Ref, from: base.from })
    }

    /// Whether a method goes along the rows of an array of that crate.
    pub(super) fn is_along_rows(&self, method: &syn::ExprMethodCall) -> bool {
        ROWS.iter().any(|name| method.method == name)
            && self.peek(&method.receiver).is_some_and(|ty| ty.axes() > 0)
    }

    /// The parts along the first axis; `rows` is that of a matrix.
    pub(super) fn rows(&mut self, method: &'a syn::ExprMethodCall) -> Made<Seq<'a>> {
        let val = self.expr(&method.receiver, None)?;
        let at = self.at(&*method.receiver);
        let base = self.as_array(val, at)?;
        let name = method.method.to_string();
        if name.starts_with("rows") && base.ty.axes() != 2 {
            return Err(no::NDARRAY_INDEX.at(at));
        }
        let way = if name.ends_with("_mut") { Way::Mut } else { Way::Ref };
        Ok(self.elements_of(base, way))
    }
}

/// How many elements an array has along an axis.
fn axis(e: &Expr, k: usize, at: Span) -> Expr {
    let base = Box::new(call("shape", vec![e.clone()], at));
    let indices = vec![Index::At(int(k as i64, at))];
    Expr { kind: ExprKind::Index { base, indices }, span: at }
}
