//! What `x[...]` names: one element, a part, rows, what a mask picks; reading it and writing it.

use super::env::{Part, Pick, View};
use super::operand::{Operand, described, described_rank};
use super::{Lowered, Lowering};
use crate::arrays;
use crate::ir::{Elem, Op, Type, Value};
use crate::ops::{ArrayOp, Check, Prim};
use crate::span::{Diagnostic, Span};
use crate::surface::names::EXACT_INDEX;
use crate::surface::tree::{Callee, Expr, ExprKind, Index, UnaryOp};
use std::rc::Rc;

/// What an index expression names.
pub(super) enum Place {
    /// One element: the array and an index for each axis of its storage.
    Element(View, Vec<Value>),
    /// A part of an array, or a slice of a list.
    Part(View),
    /// A list inside a list.
    Inner(View),
    /// Elements along the first axis, by their numbers.
    Rows(View, Value),
    /// Elements along another axis, by their numbers.
    Along(View, Value, usize),
    /// One element for each place that numbers, one or as many for every axis, name together.
    Picked(View, Vec<Value>),
    /// The elements where a mask of the same shape holds.
    Masked(View, Value),
    /// An element of a tuple.
    Item(Operand),
}

/// One index, evaluated.
enum At {
    /// A place, and whether it is counted from the end where it is negative.
    One(Value, Span, bool),
    Slice {
        start: Option<Value>,
        stop: Option<Value>,
        step: Option<Value>,
        span: Span,
    },
    Many(Value, Span),
    Mask(Value, Span),
}

impl Lowering<'_> {
    /// `base[indices]`, read.
    pub(super) fn indexed(
        &mut self,
        base: &Expr,
        indices: &[Index],
        span: Span,
    ) -> Lowered<Operand> {
        let new_axes: Vec<usize> = new_axes(indices);
        if new_axes.is_empty() {
            let place = self.place(base, indices, span)?;
            return self.read_place(place, span);
        }
        if let Some(at) = indices.iter().find(|i| matches!(i, Index::Rest(_))) {
            return Err(Diagnostic::new(
                "unsupported-array",
                "`...` beside a new axis is not supported",
            )
            .label(at.span(), "here")
            .help("write out every axis: `x[:, :, None]`"));
        }
        let rest: Vec<Index> =
            indices.iter().filter(|i| !matches!(i, Index::NewAxis(_))).cloned().collect();
        let operand = if rest.is_empty() {
            self.expr(base)?
        } else {
            let place = self.place(base, &rest, span)?;
            self.read_place(place, span)?
        };
        let shares = match &operand {
            Operand::Array(view) => Some(view.storage),
            _ => None,
        };
        let mut v = self.value(&operand, span)?;
        self.b.at(span);
        for axis in new_axes {
            let one = self.b.i64(1);
            v = if self.b.ty(v).is_array() {
                let units = self.units_of(v);
                let low = units & ((1 << axis) - 1);
                let high = (units & !((1 << axis) - 1)) << 1;
                let wide = self.b.array(ArrayOp::Expand(axis as u8), &[v, one]);
                self.note_units(wide, low | high | 1 << axis);
                wide
            } else {
                let wide = self.b.filled(&[one], v);
                self.note_units(wide, 1);
                wide
            };
        }
        Ok(Operand::Fresh(super::operand::Fresh { value: v, shares }))
    }

    fn read_place(&mut self, place: Place, span: Span) -> Lowered<Operand> {
        self.b.at(span);
        Ok(match place {
            Place::Element(view, index) => {
                let x = self.env.version(view.storage);
                Operand::Scalar(self.b.element(x, &index))
            }
            // A slice of a list is a copy, in which inner lists are still shared.
            Place::Part(view) if self.env.is_list(view.storage) => {
                let shares = (self.rank_of(&view) > 1).then_some(view.storage);
                let value = self.read(&view, span);
                Operand::Array(self.stored_list(value, shares))
            }
            Place::Part(view) | Place::Inner(view) => Operand::Array(view),
            Place::Rows(view, rows) => {
                let x = self.read(&view, span);
                let rows = self.wrapped_rows(x, rows);
                let v = self.b.array(ArrayOp::Gather, &[x, rows]);
                Operand::fresh(v)
            }
            Place::Along(view, numbers, axis) => {
                let x = self.read(&view, span);
                let taken = arrays::take(&mut self.b, x, numbers, axis)
                    .map_err(|e| Diagnostic::new("shape-mismatch", e).label(span, "here"))?;
                Operand::fresh(taken)
            }
            Place::Picked(view, numbers) => self.picked_elements(&view, &numbers, span)?,
            Place::Masked(view, _) => {
                let name = self.env.name_of(view.storage).unwrap_or_else(|| "x".into());
                return Err(Diagnostic::new(
                    "unsupported-array",
                    "how many elements a mask picks is known only when it runs",
                )
                .label(span, "picked by a mask")
                .help(format!("keep the shape: `np.where(mask, {name}, 0.0)`")));
            }
            Place::Item(operand) => operand,
        })
    }

    /// `base[indices] = operand`.
    pub(super) fn write_place(
        &mut self,
        place: Place,
        operand: &Operand,
        at: Span,
        span: Span,
    ) -> Lowered<()> {
        match place {
            Place::Element(view, index) => {
                let v = self.as_scalar(operand, at)?;
                let x = self.env.version(view.storage);
                let v = self.element_of(v, x, at)?;
                self.b.at(span);
                let next = self.b.with_element(x, &index, v);
                self.next_version(&view, next, span);
                Ok(())
            }
            // Python would put the very list there, not its numbers.
            Place::Inner(_) => Err(inner_list(span)),
            Place::Part(view) if self.env.is_list(view.storage) && self.rank_of(&view) > 1 => {
                Err(inner_list(span))
            }
            Place::Part(view) => {
                let v = self.value(operand, at)?;
                self.put(&view, v, at, span)
            }
            Place::Masked(view, mask) => {
                let v = self.as_scalar(operand, at).map_err(|e| {
                    e.help("assign one number to the masked elements; for others use `np.where`")
                })?;
                let x = self.read(&view, span);
                let v = self.element_of(v, x, at)?;
                self.b.at(span);
                let chosen = self.b.select(mask, v, x);
                self.put(&view, chosen, at, span)
            }
            Place::Rows(..) | Place::Along(..) | Place::Picked(..) => Err(Diagnostic::new(
                "unsupported-array",
                "assigning to elements picked by an array of indices is not supported",
            )
            .label(span, "picked by an array")
            .help("write a loop over the indices: `for k in range(len(idx)): x[idx[k]] = v[k]`")),
            Place::Item(_) => {
                Err(Diagnostic::new("type", "an element of a tuple cannot be assigned")
                    .label(span, "a tuple, or a list of arrays")
                    .help("give each element a name of its own, or keep numbers in an array"))
            }
        }
    }

    /// What `base[indices]` names.
    pub(super) fn place(&mut self, base: &Expr, indices: &[Index], span: Span) -> Lowered<Place> {
        let operand = self.expr(base)?;
        let operand = match operand {
            Operand::Tuple(elements) => return self.tuple_item(elements, indices, span),
            Operand::List(elements)
                if constant_index(indices).is_some()
                    || elements.iter().any(|(e, _)| !matches!(e, Operand::Scalar(_))) =>
            {
                return self.tuple_item(elements, indices, span);
            }
            other => other,
        };
        let view = self.as_view(operand, base.span)?;
        let rank = self.rank_of(&view);
        let mut ats = Vec::new();
        let named = indices.iter().filter(|i| !matches!(i, Index::Rest(_))).count();
        if named > rank {
            let name = self.env.name_of(view.storage);
            let name = name.map_or("this".into(), |n| format!("`{n}`"));
            let message =
                format!("{name} is {}, but {named} indices are given", described_rank(rank));
            return Err(Diagnostic::new("shape-mismatch", message)
                .label(span, "too many indices")
                .help(format!("give at most {rank}")));
        }
        for index in indices {
            match index {
                Index::Rest(at) => {
                    let all = || At::Slice { start: None, stop: None, step: None, span: *at };
                    ats.extend((0..rank - named).map(|_| all()));
                }
                other => ats.push(self.evaluated(other)?),
            }
        }
        if let [At::Mask(mask, at)] = ats[..] {
            let mask_rank = self.b.ty(mask).rank();
            if mask_rank != rank {
                let message = "a mask must have the shape of the array";
                return Err(Diagnostic::new("shape-mismatch", message)
                    .label(at, format!("this is {}", described_rank(mask_rank)))
                    .label(base.span, format!("this is {}", described_rank(rank))));
            }
            return Ok(Place::Masked(view, mask));
        }
        if let [At::Many(rows, _)] = ats[..] {
            return Ok(Place::Rows(view, rows));
        }
        let many = ats.iter().filter(|a| matches!(a, At::Many(..))).count();
        let numbers = ats.iter().map(|a| match a {
            At::One(v, ..) | At::Many(v, _) => Some(*v),
            _ => None,
        });
        if many > 0
            && ats.len() == rank
            && let Some(numbers) = numbers.collect::<Option<Vec<Value>>>()
        {
            return Ok(Place::Picked(view, numbers));
        }
        // One array beside slices picks along its axis.
        let mut picked = None;
        if many == 1 && !ats.iter().any(|a| matches!(a, At::Mask(..) | At::One(..))) {
            let axis = ats.iter().position(|a| matches!(a, At::Many(..))).unwrap_or(0);
            if let At::Many(v, at) = ats[axis] {
                ats[axis] = At::Slice { start: None, stop: None, step: None, span: at };
                picked = Some((v, axis));
            }
        }
        let mut picks = self.picks(&view);
        let axes: Vec<usize> = match &view.part {
            Some(part) => part.axes.clone(),
            None => (0..rank).collect(),
        };
        let element = ats.len() == rank && ats.iter().all(|a| matches!(a, At::One(..)));
        let mut kept = Vec::new();
        for (k, axis) in axes.iter().enumerate() {
            let Pick::Range { start, count, step } = picks[*axis] else {
                unreachable!("kept axes")
            };
            picks[*axis] = match ats.get(k) {
                None => {
                    kept.push(*axis);
                    continue;
                }
                Some(At::One(i, at, wraps)) => {
                    self.b.at(*at);
                    let i = if *wraps { self.wrapped_index(count, *i) } else { *i };
                    if view.part.is_none() && element {
                        // The load or store itself looks whether it exists.
                        Pick::At(i)
                    } else {
                        self.exists(&view, *axis, i, count, *at);
                        Pick::At(self.along(start, i, step))
                    }
                }
                Some(At::Slice { start: from, stop, step: by, span: at }) => {
                    kept.push(*axis);
                    self.b.at(*at);
                    let [from, n, by] = self.cut(count, *from, *stop, *by)?;
                    let start = self.along(start, from, step);
                    let step = self.b.prim(Prim::WMul, &[step, by]);
                    Pick::Range { start, count: n, step }
                }
                Some(At::Many(_, at) | At::Mask(_, at)) => {
                    return Err(Diagnostic::new(
                        "unsupported-array",
                        "an array as an index is supported beside slices, or with a number or an array for every axis",
                    )
                    .label(*at, "this is an array")
                    .help("index one axis after the other, or write a loop"));
                }
            };
        }
        if element {
            let index = picks.iter().map(|p| match p {
                Pick::At(i) => *i,
                Pick::Range { start, .. } => *start,
            });
            return Ok(Place::Element(view.clone(), index.collect()));
        }
        let part = Part { picks, axes: kept };
        let part = View { storage: view.storage, part: Some(Rc::new(part)) };
        if let Some((numbers, axis)) = picked {
            return Ok(Place::Along(part, numbers, axis));
        }
        let item = ats.iter().all(|a| matches!(a, At::One(..)));
        Ok(if item && self.env.is_list(view.storage) {
            Place::Inner(part)
        } else {
            Place::Part(part)
        })
    }

    /// `x[i, j]` with arrays of numbers: the elements one by one.
    fn picked_elements(&mut self, view: &View, numbers: &[Value], span: Span) -> Lowered<Operand> {
        let x = self.read(view, span);
        let name = self.env.name_of(view.storage);
        let name = name.map_or("this array".into(), |n| format!("`{n}`"));
        self.b.at(span);
        let dims = self.b.dims(x);
        let zero = self.b.i64(0);
        let mut place = zero;
        for (axis, (i, n)) in numbers.iter().zip(&dims).enumerate() {
            let negative = self.b.prim(Prim::ILt, &[*i, zero]);
            let shifted = self.b.prim(Prim::WAdd, &[*i, *n]);
            let i = self.b.select(negative, shifted, *i);
            let (low, high) =
                (self.b.prim(Prim::IGe, &[i, zero]), self.b.prim(Prim::ILt, &[i, *n]));
            let mut inside = self.b.prim(Prim::And, &[low, high]);
            if self.b.ty(inside).is_array() {
                inside = arrays::all(&mut self.b, inside, None)
                    .map_err(|e| Diagnostic::new("shape-mismatch", e).label(span, "here"))?;
            }
            let message = format!("an index is out of range for axis {axis} of {name}");
            self.b.op(Op::Assert(message.into()), &[inside]);
            let before = self.b.prim(Prim::WMul, &[place, *n]);
            place = self.b.prim(Prim::WAdd, &[before, i]);
        }
        let line = arrays::flatten(&mut self.b, x)
            .map_err(|e| Diagnostic::new("shape-mismatch", e).label(span, "here"))?;
        Ok(Operand::fresh(self.b.array(ArrayOp::Gather, &[line, place])))
    }

    /// Checks that a place on an axis of the storage exists.
    fn exists(&mut self, view: &View, axis: usize, i: Value, count: Value, span: Span) {
        if view.part.is_none() {
            let x = self.env.version(view.storage);
            let (zero, one) = (self.b.i64(0), self.b.i64(1));
            let rank = self.b.ty(x).rank();
            let section =
                (0..rank).flat_map(|k| if k == axis { [i, one, one] } else { [zero, zero, one] });
            let args: Vec<Value> = std::iter::once(x).chain(section).collect();
            self.b.op(Op::Array(ArrayOp::Conform(Check::Slice)), &args);
            return;
        }
        self.b.at(span);
        let zero = self.b.i64(0);
        let low = self.b.prim(Prim::IGe, &[i, zero]);
        let high = self.b.prim(Prim::ILt, &[i, count]);
        let inside = self.b.prim(Prim::And, &[low, high]);
        let name = self.env.name_of(view.storage);
        let name = name.map_or("this part of an array".into(), |n| format!("this part of `{n}`"));
        self.b.op(Op::Assert(format!("the index is out of range for {name}").into()), &[inside]);
    }

    fn evaluated(&mut self, index: &Index) -> Lowered<At> {
        Ok(match index {
            Index::At(e) => {
                let (e, wraps) = match exact_index(e) {
                    Some(inner) => (inner, false),
                    None => (e, true),
                };
                let operand = self.expr(e)?;
                let v = self.value(&operand, e.span)?;
                match self.b.ty(v) {
                    Type::I64 => At::One(v, e.span, wraps),
                    Type::Array(Elem::I64, 1) => At::Many(v, e.span),
                    Type::Array(Elem::Bool, _) => At::Mask(v, e.span),
                    ty => {
                        return Err(Diagnostic::new("type", "an index must be an integer")
                            .label(e.span, format!("this is {}", described(ty)))
                            .help("use `int(...)` or `//` to make it an integer"));
                    }
                }
            }
            Index::Slice { start, stop, step, span } => {
                let mut bound = |e: &Option<Expr>, what: &str| match e {
                    Some(e) if matches!(e.kind, ExprKind::None) => Ok(None),
                    Some(e) => self.integer(e, what).map(Some),
                    None => Ok(None),
                };
                let start = bound(start, "the start of a slice")?;
                let stop = bound(stop, "the end of a slice")?;
                let step = bound(step, "the step of a slice")?;
                At::Slice { start, stop, step, span: *span }
            }
            Index::NewAxis(at) => {
                return Err(Diagnostic::new(
                    "unsupported-array",
                    "a new axis cannot be assigned to",
                )
                .label(*at, "this makes a new axis")
                .help("leave it out on the left of `=`"));
            }
            Index::Rest(_) => unreachable!("written out by the caller"),
        })
    }

    /// Start, count and step of a slice of an axis with `n` elements.
    fn cut(
        &mut self,
        n: Value,
        start: Option<Value>,
        stop: Option<Value>,
        step: Option<Value>,
    ) -> Lowered<[Value; 3]> {
        let step = match step.map(|s| self.known_integer(s)) {
            None => None,
            Some(Some(k)) => Some(k),
            Some(None) => {
                return Err(Diagnostic::new(
                    "unsupported-array",
                    "the step of a slice must be a constant",
                )
                .label(self.b.span(), "in this slice")
                .help("write a loop over `range(start, stop, step)`"));
            }
        };
        if (start, stop, step) == (None, None, None) {
            let (zero, one) = (self.b.i64(0), self.b.i64(1));
            return Ok([zero, n, one]);
        }
        let range = arrays::Range { start, stop, step };
        Ok(arrays::shape::resolved(&mut self.b, n, range))
    }

    /// An element of a tuple.
    fn tuple_item(
        &mut self,
        mut elements: Vec<(Operand, Span)>,
        indices: &[Index],
        span: Span,
    ) -> Lowered<Place> {
        let n = elements.len() as i64;
        let Some(k) = constant_index(indices) else {
            return Err(Diagnostic::new("type", "an element of a tuple is named by a constant")
                .label(span, "not a constant")
                .help("keep numbers in an array: `np.array([a, b])`"));
        };
        let at = if k < 0 { k + n } else { k };
        if !(0..n).contains(&at) {
            let message = format!("index {k} is out of range for a tuple of {n} elements");
            return Err(Diagnostic::new("index-out-of-range", message).label(span, "here"));
        }
        Ok(Place::Item(elements.swap_remove(at as usize).0))
    }
}

/// The place behind [`EXACT_INDEX`].
fn exact_index(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Call { callee: Callee::Builtin(name), args, .. } if name.text == EXACT_INDEX => {
            args.first()
        }
        _ => None,
    }
}

/// The index, where it is one integer that is written out.
fn constant_index(indices: &[Index]) -> Option<i64> {
    let [Index::At(e)] = indices else { return None };
    match &e.kind {
        ExprKind::Int(k) => Some(*k),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => match operand.kind {
            ExprKind::Int(k) => Some(-k),
            _ => None,
        },
        _ => None,
    }
}

/// Where new axes stand in the result of an index expression.
fn new_axes(indices: &[Index]) -> Vec<usize> {
    let mut axes = Vec::new();
    let mut at = 0;
    for index in indices {
        match index {
            Index::NewAxis(_) => {
                axes.push(at);
                at += 1;
            }
            Index::At(_) => {}
            Index::Slice { .. } | Index::Rest(_) => at += 1,
        }
    }
    axes
}

fn inner_list(span: Span) -> Diagnostic {
    Diagnostic::new("unsupported-array", "a list inside a list cannot be replaced")
        .label(span, "this is a list")
        .help("assign its elements one by one, or make it an array: `np.array(...)`")
}
