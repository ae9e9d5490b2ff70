//! Elements and parts of arrays: what `x[...]` names, reading it and writing it.

use super::env::{Part, Pick, View};
use super::operand::{Operand, described, described_rank, join_elem};
use super::{Lowered, Lowering};
use crate::arrays;
use crate::ir::{Elem, Op, Type, Value};
use crate::ops::{ArrayOp, Check, Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{BinaryOp, Expr, ExprKind, Index, UnaryOp};
use std::rc::Rc;

/// What an index expression names.
pub(super) enum Place {
    /// One element: the array and an index for each axis of its storage.
    Element(View, Vec<Value>),
    /// A part of an array.
    Part(View),
    /// Elements along the first axis, by their numbers.
    Rows(View, Value),
    /// The elements where a mask of the same shape holds.
    Masked(View, Value),
    /// An element of a tuple.
    Item(Operand),
}

/// One index, evaluated.
enum At {
    One(Value, Span),
    Slice { start: Option<Value>, stop: Option<Value>, step: Option<Value>, span: Span },
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
            Place::Part(view) => Operand::Array(view),
            Place::Rows(view, rows) => {
                let x = self.read(&view, span);
                let rows = self.wrapped_rows(x, rows);
                let v = self.b.array(ArrayOp::Gather, &[x, rows]);
                Operand::fresh(v)
            }
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
            Place::Rows(..) => Err(Diagnostic::new(
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

    /// A number as an element of an array.
    fn element_of(&mut self, v: Value, array: Value, at: Span) -> Lowered<Value> {
        let (from, to) = (self.elem(v), self.elem(array));
        if from.is_float() && to == Elem::I64 {
            return Err(Diagnostic::new("type", "a float cannot be put into an array of integers")
                .label(at, "this is a float")
                .help("convert it with `int(...)`, or make the array of floats: `np.zeros(n)`"));
        }
        self.convert(v, to, at)
    }

    /// The storage of a view has a new version.
    pub(super) fn next_version(&mut self, view: &View, next: Value, span: Span) {
        let old = self.env.version(view.storage);
        if let Some(name) = self.b.func().name_of(old) {
            self.b.name(next, &name);
        }
        self.keep_units(next, old);
        self.env.write(view.storage, next, span);
    }

    /// Writes an array (or a number, everywhere) into a view.
    pub(super) fn put(&mut self, view: &View, v: Value, at: Span, span: Span) -> Lowered<()> {
        let x = self.env.version(view.storage);
        let rank = self.rank_of(view);
        if self.b.ty(v).rank() > rank {
            let message = "more axes are assigned than the target has";
            return Err(Diagnostic::new("shape-mismatch", message)
                .label(at, format!("this is {}", described_rank(self.b.ty(v).rank())))
                .label(span, format!("this is {}", described_rank(rank))));
        }
        if self.elem(v).is_float() && self.elem(x) == Elem::I64 {
            self.element_of(v, x, at)?;
        }
        let v = self.convert(v, self.elem(x), at)?;
        self.b.at(span);
        let dims = self.dims_of(view);
        let v = self.spread(v, &dims, &[]);
        // `x[::-1] = x` reads what it writes.
        let v = if v == x { self.b.op(Op::Copy, &[v])[0] } else { v };
        let next = match &view.part {
            None => {
                // All of it: nothing of the old version is left but its shape.
                let section = self.section(view);
                self.b.array(ArrayOp::Put, &[&[x][..], &section, &[v]].concat())
            }
            Some(part) => {
                let section = self.section(view);
                let v = self.in_base_order(v, part);
                self.b.array(ArrayOp::Put, &[&[x][..], &section, &[v]].concat())
            }
        };
        self.next_version(view, next, span);
        Ok(())
    }

    /// The elements of a view, all of them new: an array of the same shape.
    pub(super) fn replace(&mut self, view: &View, v: Value, at: Span, span: Span) -> Lowered<()> {
        let x = self.env.version(view.storage);
        let (old, new) = (self.type_of(view), self.b.ty(v));
        if new.rank() > old.rank() || (view.part.is_none() && self.units_of(v) != self.units_of(x))
        {
            return Err(Diagnostic::new(
                "shape-mismatch",
                "an array keeps its shape when it is updated in place",
            )
            .label(at, format!("this makes it {}", described_rank(new.rank())))
            .label(span, format!("this is {}", described_rank(old.rank())))
            .help("make a new array: `x = x + y`"));
        }
        if view.part.is_some() {
            return self.put(view, v, at, span);
        }
        if self.elem(v).is_float() && self.elem(x) == Elem::I64 {
            self.element_of(v, x, at)?;
        }
        let v = self.convert(v, self.elem(x), at)?;
        self.next_version(view, v, span);
        Ok(())
    }

    /// Item `k` of a view along its first axis; it is known to exist.
    pub(super) fn item_of(&mut self, view: &View, k: Value, span: Span) -> Operand {
        let mut picks = self.picks(view);
        let mut axes: Vec<usize> = match &view.part {
            Some(part) => part.axes.clone(),
            None => (0..picks.len()).collect(),
        };
        self.b.at(span);
        let axis = axes.remove(0);
        if let Pick::Range { start, step, .. } = picks[axis] {
            picks[axis] = Pick::At(self.along(start, k, step));
        }
        if axes.is_empty() {
            let x = self.env.version(view.storage);
            let index: Vec<Value> = picks
                .iter()
                .map(|p| match p {
                    Pick::At(i) => *i,
                    Pick::Range { start, .. } => *start,
                })
                .collect();
            return Operand::Scalar(self.b.element(x, &index));
        }
        let part = Part { picks, axes };
        Operand::Array(View { storage: view.storage, part: Some(Rc::new(part)) })
    }

    /// An array with the axes of a part, with those of the array it is part of.
    fn in_base_order(&mut self, v: Value, part: &Part) -> Value {
        let mut order: Vec<u8> = (0..part.axes.len() as u8).collect();
        order.sort_by_key(|k| part.axes[*k as usize]);
        let sorted = order.windows(2).all(|w| w[0] < w[1]);
        let v =
            if sorted { v } else { self.b.array(ArrayOp::Transpose(order.clone().into()), &[v]) };
        if part.axes.len() == part.picks.len() {
            return v;
        }
        let one = self.b.i64(1);
        let dims: Vec<Value> = part
            .picks
            .iter()
            .map(|p| match p {
                Pick::At(_) => one,
                Pick::Range { count, .. } => *count,
            })
            .collect();
        if part.axes.is_empty() {
            return self.b.filled(&dims, v);
        }
        self.b.array(ArrayOp::Reshape, &[&[v][..], &dims].concat())
    }

    /// Start, count and step for each axis of the storage.
    fn section(&mut self, view: &View) -> Vec<Value> {
        let one = self.b.i64(1);
        let picks = self.picks(view);
        let triple = |p: Pick| match p {
            Pick::At(i) => [i, one, one],
            Pick::Range { start, count, step } => [start, count, step],
        };
        picks.into_iter().flat_map(triple).collect()
    }

    /// What is picked on each axis of the storage.
    fn picks(&mut self, view: &View) -> Vec<Pick> {
        match &view.part {
            Some(part) => part.picks.clone(),
            None => {
                let x = self.env.version(view.storage);
                let (zero, one) = (self.b.i64(0), self.b.i64(1));
                let all = |count| Pick::Range { start: zero, count, step: one };
                self.b.dims(x).into_iter().map(all).collect()
            }
        }
    }

    /// The number of axes of a view.
    pub(super) fn rank_of(&self, view: &View) -> usize {
        match &view.part {
            Some(part) => part.axes.len(),
            None => self.b.ty(self.env.version(view.storage)).rank(),
        }
    }

    /// The type a view has when it is read.
    pub(super) fn type_of(&self, view: &View) -> Type {
        let elem = self.elem(self.env.version(view.storage));
        Type::of(elem, self.rank_of(view))
    }

    /// The number of elements along each axis of a view.
    pub(super) fn dims_of(&mut self, view: &View) -> Vec<Value> {
        match &view.part {
            None => {
                let x = self.env.version(view.storage);
                self.b.dims(x)
            }
            Some(part) => {
                let count = |axis: &usize| match part.picks[*axis] {
                    Pick::Range { count, .. } => count,
                    Pick::At(i) => i,
                };
                part.axes.iter().map(count).collect()
            }
        }
    }

    /// The elements of a view as an array of their own; all of an array is the array itself.
    pub(super) fn read(&mut self, view: &View, span: Span) -> Value {
        let x = self.env.version(view.storage);
        let Some(part) = &view.part else { return x };
        self.b.at(span);
        let section = self.section(view);
        let mut v = self.b.array(ArrayOp::Slice, &[&[x][..], &section].concat());
        let mut kept: Vec<usize> = part.axes.clone();
        kept.sort_unstable();
        let dims = self.dims_of(view);
        if kept.len() < part.picks.len() {
            let sizes: Vec<Value> = kept
                .iter()
                .map(|axis| match part.picks[*axis] {
                    Pick::Range { count, .. } => count,
                    Pick::At(i) => i,
                })
                .collect();
            v = self.b.array(ArrayOp::Reshape, &[&[v][..], &sizes].concat());
        }
        if kept != part.axes {
            let place = |axis: &usize| kept.iter().position(|k| k == axis).unwrap_or(0) as u8;
            let order: Vec<u8> = part.axes.iter().map(place).collect();
            v = self.b.array(ArrayOp::Transpose(order.into()), &[v]);
        }
        if let Some(name) = self.b.func().name_of(x) {
            self.b.name(v, &name);
        }
        self.note_dims(v, &dims);
        v
    }

    /// A view with its axes in another order.
    pub(super) fn permuted(&mut self, view: &View, order: &[usize]) -> View {
        let picks = self.picks(view);
        let axes: Vec<usize> = match &view.part {
            Some(part) => part.axes.clone(),
            None => (0..picks.len()).collect(),
        };
        let axes = order.iter().map(|k| axes[*k]).collect();
        View { storage: view.storage, part: Some(Rc::new(Part { picks, axes })) }
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
                Some(At::One(i, at)) => {
                    self.b.at(*at);
                    let i = self.wrapped_index(count, *i);
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
                        "an array as an index is supported only when it is the only one",
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
        Ok(Place::Part(View { storage: view.storage, part: Some(Rc::new(part)) }))
    }

    /// `start + i * step`, which cannot overflow where the element exists.
    fn along(&mut self, start: Value, i: Value, step: Value) -> Value {
        let offset = self.b.prim(Prim::WMul, &[i, step]);
        let at = self.b.prim(Prim::WAdd, &[start, offset]);
        if let (Some(low), Some(from), Some(Scalar::I64(by))) =
            (self.lower_bound(i), self.lower_bound(start), self.b.func().as_const(step))
            && by >= 0
            && let Some(bound) = low.checked_mul(by).and_then(|o| o.checked_add(from))
        {
            self.lower_bounds.insert(at, bound);
        }
        at
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
                let operand = self.expr(e)?;
                let v = self.value(&operand, e.span)?;
                match self.b.ty(v) {
                    Type::I64 => At::One(v, e.span),
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
        let step = match step.map(|s| (s, self.b.func().as_const(s))) {
            None => None,
            Some((_, Some(Scalar::I64(k)))) => Some(k),
            Some(_) => {
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

    /// A negative index counts from the end of `n` elements.
    fn wrapped_index(&mut self, n: Value, i: Value) -> Value {
        match self.b.func().as_const(i) {
            Some(Scalar::I64(k)) if k >= 0 => return i,
            Some(Scalar::I64(_)) => {
                let zero = self.b.i64(0);
                let shifted = self.b.prim(Prim::WAdd, &[n, i]);
                let inside = self.b.prim(Prim::IGe, &[shifted, zero]);
                return self.b.select(inside, shifted, i);
            }
            _ => {}
        }
        if self.lower_bounds.get(&i).is_some_and(|lo| *lo >= 0) {
            return i;
        }
        let zero = self.b.i64(0);
        let negative = self.b.prim(Prim::ILt, &[i, zero]);
        let shifted = self.b.prim(Prim::WAdd, &[i, n]);
        // An index that is out of range either way is reported as it was written.
        let inside = self.b.prim(Prim::IGe, &[shifted, zero]);
        let wraps = self.b.prim(Prim::And, &[negative, inside]);
        self.b.select(wraps, shifted, i)
    }

    /// Row numbers, negative ones counted from the end.
    pub(super) fn wrapped_rows(&mut self, x: Value, rows: Value) -> Value {
        let n = self.b.op(Op::Dim(0), &[x])[0];
        let zero = self.b.i64(0);
        let negative = self.b.prim(Prim::ILt, &[rows, zero]);
        let shifted = self.b.prim(Prim::WAdd, &[rows, n]);
        self.b.select(negative, shifted, rows)
    }

    /// An array (or a number) with this shape: missing axes in front are repeated, and so are axes that
    /// are known to have one element and are not in `keep`.
    pub(super) fn spread(&mut self, v: Value, dims: &[Value], keep: &[usize]) -> Value {
        let ty = self.b.ty(v);
        if !ty.is_array() {
            return self.b.filled(dims, v);
        }
        let missing = dims.len() - ty.rank();
        let units = self.units_of(v);
        let one = Some(Scalar::I64(1));
        let wide = |l: &Self, k: usize| {
            units >> k & 1 == 1
                && !keep.contains(&(k + missing))
                && l.b.func().as_const(dims[k + missing]) != one
        };
        let mut v = v;
        if (0..ty.rank()).any(|k| wide(self, k)) {
            let own = self.b.dims(v);
            let (zero, step) = (self.b.i64(0), self.b.i64(1));
            let section: Vec<Value> = (0..ty.rank())
                .flat_map(|k| {
                    if wide(self, k) {
                        [zero, dims[k + missing], zero]
                    } else {
                        [zero, own[k], step]
                    }
                })
                .collect();
            v = self.b.array(ArrayOp::Slice, &[&[v][..], &section].concat());
        }
        for axis in (0..missing).rev() {
            v = self.b.array(ArrayOp::Expand(0), &[v, dims[axis]]);
        }
        v
    }

    /// Two arrays, or an array and a number, as operands of one elementwise operation: of one kind, and
    /// with one shape where one is known to repeat.
    pub(super) fn aligned(&mut self, x: Value, y: Value) -> (Value, Value) {
        let (tx, ty) = (self.b.ty(x), self.b.ty(y));
        if !tx.is_array() || !ty.is_array() {
            return (x, y);
        }
        let (ux, uy) = (self.units_of(x), self.units_of(y));
        if tx.rank() == ty.rank() && ux == uy {
            return (x, y);
        }
        let rank = tx.rank().max(ty.rank());
        let (skip_x, skip_y) = (rank - tx.rank(), rank - ty.rank());
        let (dims_x, dims_y) = (self.b.dims(x), self.b.dims(y));
        let own = |k: usize, skip: usize, units: u8, dims: &[Value]| {
            (k >= skip).then(|| (dims[k - skip], units >> (k - skip) & 1 == 1))
        };
        let dims: Vec<Value> = (0..rank)
            .map(|k| match (own(k, skip_x, ux, &dims_x), own(k, skip_y, uy, &dims_y)) {
                (Some((n, false)), _) | (Some((n, _)), None) => n,
                (_, Some((n, _))) => n,
                (None, None) => unreachable!("one of them has the axis"),
            })
            .collect();
        (self.spread(x, &dims, &[]), self.spread(y, &dims, &[]))
    }

    /// What is known of an integer from below.
    pub(super) fn lower_bound(&self, v: Value) -> Option<i64> {
        match self.b.func().as_const(v) {
            Some(Scalar::I64(k)) => Some(k),
            _ => self.lower_bounds.get(&v).copied(),
        }
    }

    /// Whether `a - b` is known to fit: `b` is a constant, and `a` is bounded from below.
    pub(super) fn cannot_underflow(&self, a: Value, b: Value) -> bool {
        let low = self.lower_bound(a);
        match self.b.func().as_const(b) {
            Some(Scalar::I64(k)) if k >= 0 => low.is_some_and(|low| low.checked_sub(k).is_some()),
            _ => false,
        }
    }

    /// Keeps track of lower bounds through integer arithmetic.
    pub(super) fn note_bound(&mut self, op: BinaryOp, a: Value, b: Value, result: Value) {
        let upper = match self.b.func().as_const(b) {
            Some(Scalar::I64(k)) => Some(k),
            _ => None,
        };
        let (low_a, low_b) = (self.lower_bound(a), self.lower_bound(b));
        let bound = match op {
            BinaryOp::Add => low_a.zip(low_b).and_then(|(a, b)| a.checked_add(b)),
            BinaryOp::Sub => low_a.zip(upper).and_then(|(a, b)| a.checked_sub(b)),
            BinaryOp::Mul => match (low_a, low_b) {
                (Some(a), Some(b)) if a >= 0 && b >= 0 => a.checked_mul(b),
                _ => None,
            },
            BinaryOp::FloorDiv => match (low_a, upper) {
                (Some(a), Some(d)) if d > 0 => Some(a.div_euclid(d)),
                _ => None,
            },
            // The remainder has the sign of the divisor.
            BinaryOp::Rem => low_b.filter(|d| *d > 0).map(|_| 0),
            _ => None,
        };
        if let Some(bound) = bound {
            self.lower_bounds.insert(result, bound);
        }
    }

    /// The kind two numbers or arrays have in common. Among floats an array decides over a number, and what
    /// is not a constant over what is.
    pub(super) fn common_elem(&self, x: Value, y: Value) -> Elem {
        let (ex, ey) = (self.elem(x), self.elem(y));
        let weak = |v: Value, other: Value| {
            !self.b.ty(v).is_array()
                && (self.b.ty(other).is_array() || self.b.func().as_const(v).is_some())
        };
        match (ex, ey) {
            (Elem::F32, Elem::F64 | Elem::I64) if weak(y, x) => Elem::F32,
            (Elem::F64 | Elem::I64, Elem::F32) if weak(x, y) => Elem::F32,
            _ => join_elem(ex, ey),
        }
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
