//! Sequences: ranges, and what iterates over arrays.
//!
//! A [`Seq`] says how many items it has and what each is, given its number; nothing is kept. Ranges, also reversed and
//! in steps, are ranges of the tree; all else is a range over the numbers of its items.

use super::array::{USIZE, element, length};
use super::closure::Called;
use super::expr::strip;
use super::labels::Kind;
use super::place::after;
use super::scope::Entry;
use super::value::{How, Leaf, Len, Place, Ty, Val, binary, call, compare, int, named, negated};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{
    BinaryOp, CompareOp, Expr, ExprKind, Index, Iter, IterKind, Name, Stmt, StmtKind, Target,
};

/// What a loop goes over.
#[derive(Clone)]
pub(super) enum Seq<'a> {
    /// From `start` by `step` to before `stop`; down where it is reversed.
    Range {
        start: Expr,
        stop: Expr,
        step: Expr,
        down: bool,
        ty: Ty,
    },
    /// The elements of an array.
    Elements {
        base: Leaf,
        way: Way,
    },
    /// The structs of an array.
    Rows(Box<Val<'a>>, Way),
    /// Parts of an array: overlapping, or one after the other, the last one perhaps shorter.
    Parts {
        base: Leaf,
        size: Expr,
        cut: Cut,
    },
    Enumerate(Box<Seq<'a>>),
    Zip(Box<Seq<'a>>, Box<Seq<'a>>),
    Rev(Box<Seq<'a>>),
    Skip(Box<Seq<'a>>, Expr),
    Take(Box<Seq<'a>>, Expr),
    StepBy(Box<Seq<'a>>, Expr),
    Map(Box<Seq<'a>>, Called<'a>, Span),
    Filter(Box<Seq<'a>>, Called<'a>, Span),
    /// The numbers behind references.
    Copied(Box<Seq<'a>>),
    /// The same value again and again.
    Repeat(Box<Val<'a>>),
}

/// How elements are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Value,
    Ref,
    Mut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Windows,
    Chunks,
    Exact,
}

const ADAPTERS: &[&str] = &[
    "iter",
    "iter_mut",
    "into_iter",
    "enumerate",
    "zip",
    "rev",
    "skip",
    "take",
    "step_by",
    "map",
    "filter",
    "copied",
    "cloned",
    "windows",
    "chunks",
    "chunks_mut",
    "chunks_exact",
    "chunks_exact_mut",
    "inspect",
    "chain",
    "take_while",
    "skip_while",
    "flat_map",
    "flatten",
    "scan",
    "peekable",
    "cycle",
    "rsplit",
    "by_ref",
    "filter_map",
    "map_while",
];

/// Whether a method makes an iterator.
pub(super) fn is_adapter(name: &str) -> bool {
    ADAPTERS.contains(&name)
}

impl<'a> Converter<'a> {
    /// Whether an expression is an iterator.
    pub(super) fn is_sequence(&self, e: &syn::Expr) -> bool {
        match strip(e) {
            syn::Expr::Range(_) => true,
            syn::Expr::MethodCall(m) => is_adapter(&m.method.to_string()) || self.is_along_rows(m),
            syn::Expr::Call(call) => is_source(&call.func),
            _ => false,
        }
    }

    /// What an expression iterates over.
    pub(super) fn sequence(&mut self, e: &'a syn::Expr) -> Made<Seq<'a>> {
        let at = self.at(e);
        self.deeper(at, |c| c.sequence_here(e, at))
    }

    fn sequence_here(&mut self, e: &'a syn::Expr, at: Span) -> Made<Seq<'a>> {
        match strip(e) {
            syn::Expr::Range(range) => self.range(range, at),
            syn::Expr::MethodCall(method) if is_adapter(&method.method.to_string()) => {
                self.adapted(method, at)
            }
            syn::Expr::MethodCall(method) if self.is_along_rows(method) => self.rows(method),
            syn::Expr::Call(called) if is_source(&called.func) => {
                let args: Vec<&'a syn::Expr> = called.args.iter().collect();
                match (last_word(&called.func).as_str(), args.as_slice()) {
                    ("zip", [a, b]) => {
                        let (a, b) = (self.sequence(a)?, self.sequence(b)?);
                        Ok(Seq::Zip(Box::new(a), Box::new(b)))
                    }
                    ("repeat", [value]) => {
                        let val = self.expr(value, None)?;
                        Ok(Seq::Repeat(Box::new(val)))
                    }
                    _ => Err(no::ITERATOR.at(at)),
                }
            }
            syn::Expr::Reference(reference) => {
                let way = if reference.mutability.is_some() { Way::Mut } else { Way::Ref };
                self.elements(&reference.expr, way)
            }
            other => {
                // A reference in a variable gives references, an array itself its elements.
                let way = match other {
                    syn::Expr::Path(path) => match path.path.get_ident().map(ToString::to_string) {
                        Some(name) => match self.scopes.get(&name) {
                            Some(Entry::Variable(val @ Val::Rows(..)))
                                if val.leaves().iter().all(|leaf| leaf.how == How::Ref) =>
                            {
                                Way::Mut
                            }
                            // All elements of several axes are looked at, and not written.
                            Some(Entry::Variable(Val::Leaf(leaf)))
                                if leaf.how == How::Ref && leaf.ty.axes() > 1 =>
                            {
                                Way::Ref
                            }
                            // Whichever reference it is: what is there can be read by either.
                            Some(Entry::Variable(Val::Leaf(leaf))) if leaf.how == How::Ref => {
                                Way::Mut
                            }
                            _ => Way::Value,
                        },
                        None => Way::Value,
                    },
                    _ => Way::Value,
                };
                self.elements(e, way)
            }
        }
    }

    fn elements(&mut self, e: &'a syn::Expr, way: Way) -> Made<Seq<'a>> {
        let val = self.expr(e, None)?;
        let at = self.at(e);
        if let Val::Rows(..) = val {
            return Ok(Seq::Rows(Box::new(self.steady_rows(val)), way));
        }
        let base = self.as_array(val, at)?;
        let base = if base.ty.axes() > 1 { self.flat(base, way, at)? } else { base };
        Ok(self.elements_of(base, way))
    }

    pub(super) fn elements_of(&mut self, base: Leaf, way: Way) -> Seq<'a> {
        let base = self.steady(base);
        Seq::Elements { base, way }
    }

    /// An array as a variable, or as a part of one.
    fn steady(&mut self, base: Leaf) -> Leaf {
        match base.e.kind {
            ExprKind::Name(_) => base,
            _ => {
                let e = self.kept(base.e);
                Leaf { e, ..base }
            }
        }
    }

    fn range(&mut self, range: &'a syn::ExprRange, at: Span) -> Made<Seq<'a>> {
        let (Some(start), Some(stop)) = (&range.start, &range.end) else {
            return Err(no::FOREVER.at(at));
        };
        let first = self.integer(start, None)?;
        let mut pending = super::expr::Pending::default();
        let ty = first.ty.clone();
        self.next(&mut pending, Val::Leaf(first.clone()))?;
        let last = self.integer(stop, Some(&ty))?;
        self.next(&mut pending, Val::Leaf(last.clone()))?;
        let kept: Vec<Leaf> = pending.done().iter().flat_map(Val::leaves).collect();
        let [first, last] = <[Leaf; 2]>::try_from(kept).map_err(|_| no::FOREVER.at(at))?;
        let Some(ty) = first.ty.join(&last.ty) else {
            return Err(super::call::expected(&first.ty, &last.ty, last.e.span));
        };
        let first = self.fitted_leaf(first, &ty, at)?;
        let last = self.fitted_leaf(last, &ty, at)?;
        let stop = match range.limits {
            syn::RangeLimits::Closed(_) => after(last.e, at),
            syn::RangeLimits::HalfOpen(_) => last.e,
        };
        Ok(Seq::Range { start: first.e, stop, step: int(1, at), down: false, ty })
    }

    fn adapted(&mut self, method: &'a syn::ExprMethodCall, at: Span) -> Made<Seq<'a>> {
        let name = method.method.to_string();
        let args: Vec<&'a syn::Expr> = method.args.iter().collect();
        let at_name = self.at(&method.method);
        match (name.as_str(), args.as_slice()) {
            ("iter", []) => return self.elements(&method.receiver, Way::Ref),
            ("iter_mut", []) => return self.elements(&method.receiver, Way::Mut),
            ("into_iter", []) => return self.sequence(&method.receiver),
            ("windows", [size]) => return self.parts(method, size, Cut::Windows),
            ("chunks" | "chunks_mut", [size]) => return self.parts(method, size, Cut::Chunks),
            ("chunks_exact" | "chunks_exact_mut", [size]) => {
                return self.parts(method, size, Cut::Exact);
            }
            _ => {}
        }
        let inner = self.sequence(&method.receiver)?;
        let numbered = |c: &Self, inner: Seq<'a>| -> Made<Box<Seq<'a>>> {
            if c.is_uneven(&inner) {
                Err(no::UNEVEN_SEQUENCE.at(at_name))
            } else {
                Ok(Box::new(inner))
            }
        };
        Ok(match (name.as_str(), args.as_slice()) {
            ("enumerate", []) => Seq::Enumerate(numbered(self, inner)?),
            ("rev", []) => match inner {
                Seq::Range { start, stop, step, down, ty } => {
                    self.reversed(start, stop, step, down, ty, at)
                }
                inner => Seq::Rev(numbered(self, inner)?),
            },
            ("zip", [other]) => {
                let inner = numbered(self, inner)?;
                let other = self.sequence(other)?;
                Seq::Zip(inner, numbered(self, other)?)
            }
            ("skip", [n]) => Seq::Skip(numbered(self, inner)?, self.kept_count(n)?),
            ("take", [n]) => Seq::Take(numbered(self, inner)?, self.kept_count(n)?),
            ("step_by", [n]) => {
                let n = self.kept_count(n)?;
                self.positive(&n, "the step is zero", at_name);
                match inner {
                    Seq::Range { start, stop, step, down, ty } if is_one(&step) => {
                        Seq::Range { start, stop, step: n, down, ty }
                    }
                    inner => Seq::StepBy(numbered(self, inner)?, n),
                }
            }
            ("map", [f]) => Seq::Map(Box::new(inner), self.callable(f)?, at_name),
            ("filter", [f]) => Seq::Filter(Box::new(inner), self.callable(f)?, at_name),
            ("copied" | "cloned", []) => Seq::Copied(Box::new(inner)),
            _ => {
                let message = format!("an iterator has no method `{name}` that is supported");
                return Err(Diagnostic::new("unsupported-function", message)
                    .label(at_name, "not supported")
                    .help("write it as a `for` loop"));
            }
        })
    }

    fn parts(
        &mut self,
        method: &'a syn::ExprMethodCall,
        size: &'a syn::Expr,
        cut: Cut,
    ) -> Made<Seq<'a>> {
        let val = self.expr(&method.receiver, None)?;
        let at = self.at(&*method.receiver);
        let base = self.as_array(val, at)?;
        let base = self.steady(base);
        let size = self.kept_count(size)?;
        let at_name = self.at(&method.method);
        self.positive(&size, "the length of the parts is zero", at_name);
        Ok(Seq::Parts { base, size, cut })
    }

    fn kept_count(&mut self, e: &'a syn::Expr) -> Made<Expr> {
        let count = self.count(e)?;
        Ok(self.kept(count))
    }

    fn positive(&mut self, e: &Expr, message: &str, at: Span) {
        if super::constants::known_integer(e).is_some_and(|k| k > 0) {
            return;
        }
        let cond = compare(e.clone(), CompareOp::Gt, int(0, at), at);
        self.emit(StmtKind::Assert { cond, message: Some(message.into()) }, at);
    }

    /// A range from its end.
    fn reversed(
        &mut self,
        start: Expr,
        stop: Expr,
        step: Expr,
        down: bool,
        ty: Ty,
        at: Span,
    ) -> Seq<'a> {
        let one = || int(1, at);
        if is_one(&step) {
            let by = if down { BinaryOp::Add } else { BinaryOp::Sub };
            let (first, end) = (binary(stop, by, one(), at), binary(start, by, one(), at));
            return Seq::Range { start: first, stop: end, step, down: !down, ty };
        }
        let (start, stop) = (self.kept(start), self.kept(stop));
        let (low, high) = if down { (stop, start.clone()) } else { (start.clone(), stop) };
        let (toward, back) =
            if down { (BinaryOp::Sub, BinaryOp::Add) } else { (BinaryOp::Add, BinaryOp::Sub) };
        let n = quotient_up(binary(high, BinaryOp::Sub, low, at), step.clone(), at);
        let steps = binary(binary(n, BinaryOp::Sub, one(), at), BinaryOp::Mul, step.clone(), at);
        let last = binary(start.clone(), toward, steps, at);
        let last = self.kept(last);
        Seq::Range { start: last, stop: binary(start, back, one(), at), step, down: !down, ty }
    }

    /// Whether how many items there are is known only at the end.
    pub(super) fn is_uneven(&self, seq: &Seq<'a>) -> bool {
        match seq {
            Seq::Filter(..) => true,
            Seq::Map(inner, ..) | Seq::Copied(inner) => self.is_uneven(inner),
            _ => false,
        }
    }

    /// How many items there are; nothing where there is no end.
    pub(super) fn count_of(&mut self, seq: &Seq<'a>, at: Span) -> Option<Expr> {
        let zero = || int(0, at);
        Some(match seq {
            Seq::Range { start, stop, step, down, .. } => {
                let (low, high) = if *down { (stop, start) } else { (start, stop) };
                let span = binary(high.clone(), BinaryOp::Sub, low.clone(), at);
                let n = if is_one(step) { span } else { quotient_up(span, step.clone(), at) };
                match super::constants::known_integer(&n) {
                    Some(k) => int(k.max(0), at),
                    None if super::constants::known_integer(low) == Some(0) && is_one(step) => n,
                    None => call("max", vec![n, zero()], at),
                }
            }
            Seq::Elements { base, .. } => length(&base.e, &base.ty, at),
            Seq::Rows(rows, _) => super::rows::count(rows, at),
            Seq::Parts { base, size, cut } => {
                let n = length(&base.e, &base.ty, at);
                match cut {
                    Cut::Windows => {
                        let least = binary(size.clone(), BinaryOp::Sub, int(1, at), at);
                        call("max", vec![binary(n, BinaryOp::Sub, least, at), zero()], at)
                    }
                    Cut::Chunks => quotient_up(n, size.clone(), at),
                    Cut::Exact => binary(n, BinaryOp::FloorDiv, size.clone(), at),
                }
            }
            Seq::Enumerate(inner) | Seq::Rev(inner) | Seq::Copied(inner) => {
                self.count_of(inner, at)?
            }
            Seq::Map(inner, ..) | Seq::Filter(inner, ..) => self.count_of(inner, at)?,
            Seq::Zip(a, b) => match (self.count_of(a, at), self.count_of(b, at)) {
                (Some(a), Some(b)) if a == b => a,
                (Some(a), Some(b)) => call("min", vec![a, b], at),
                (a, b) => a.or(b)?,
            },
            Seq::Skip(inner, k) => {
                let n = self.count_of(inner, at)?;
                call("max", vec![binary(n, BinaryOp::Sub, k.clone(), at), zero()], at)
            }
            Seq::Take(inner, k) => match self.count_of(inner, at) {
                Some(n) => call("min", vec![n, k.clone()], at),
                None => k.clone(),
            },
            Seq::StepBy(inner, k) => {
                let n = self.count_of(inner, at)?;
                quotient_up(n, k.clone(), at)
            }
            Seq::Repeat(_) => return None,
        })
    }

    /// Item `k`, given to `then`; where items are left out, in a branch.
    pub(super) fn with_item(
        &mut self,
        seq: &Seq<'a>,
        k: &Expr,
        at: Span,
        then: &mut dyn FnMut(&mut Self, Val<'a>) -> Made<()>,
    ) -> Made<()> {
        match seq {
            Seq::Filter(inner, test, at_test) => self.with_item(inner, k, at, &mut |c, val| {
                let val = c.settled(val);
                let by_ref = val.clone();
                let found = c.apply(test, vec![by_ref], Some(&Ty::Bool), *at_test)?;
                let cond = c.as_scalar(found, *at_test)?.e;
                let (stmts, ()) = c.inside(|c| then(c, val))?;
                c.emit(StmtKind::If { cond, then: stmts, otherwise: Vec::new() }, at);
                Ok(())
            }),
            Seq::Map(inner, f, at_map) if self.is_uneven(inner) => {
                self.with_item(inner, k, at, &mut |c, val| {
                    let val = c.apply(f, vec![val], None, *at_map)?;
                    then(c, val)
                })
            }
            Seq::Copied(inner) if self.is_uneven(inner) => {
                self.with_item(inner, k, at, &mut |c, val| {
                    let val = deref(val);
                    then(c, val)
                })
            }
            seq => {
                let val = self.item(seq, k, at)?;
                then(self, val)
            }
        }
    }

    /// A value that is looked at twice.
    fn settled(&mut self, val: Val<'a>) -> Val<'a> {
        match val {
            Val::Leaf(leaf) if leaf.ty.is_scalar() => {
                let e = self.kept(leaf.e);
                Val::Leaf(Leaf { e, ..leaf })
            }
            Val::Tuple(all) => Val::Tuple(all.into_iter().map(|v| self.settled(v)).collect()),
            Val::Struct(def, all) => {
                Val::Struct(def, all.into_iter().map(|v| self.settled(v)).collect())
            }
            other => other,
        }
    }

    /// Item `k` of a sequence that leaves none out.
    fn item(&mut self, seq: &Seq<'a>, k: &Expr, at: Span) -> Made<Val<'a>> {
        Ok(match seq {
            Seq::Range { start, step, down, ty, .. } => {
                let by = if *down { BinaryOp::Sub } else { BinaryOp::Add };
                let offset = if is_one(step) {
                    k.clone()
                } else {
                    binary(k.clone(), BinaryOp::Mul, step.clone(), at)
                };
                let e = match (super::constants::known_integer(start), down) {
                    (Some(0), false) => offset,
                    _ => binary(start.clone(), by, offset, at),
                };
                Val::of(e, ty.clone())
            }
            Seq::Elements { base, way } => {
                let ty = base.ty.element().cloned().unwrap_or(Ty::F64);
                let e = element(base.e.clone(), k.clone(), at);
                match (e.kind, way) {
                    (ExprKind::Index { base, indices }, Way::Mut) if ty.is_scalar() => {
                        Val::Alias(Place::Element { base: *base, indices, span: at }, ty)
                    }
                    (kind, way) => {
                        let how = if *way == Way::Value { How::Place } else { How::Ref };
                        let from = base.from.clone();
                        Val::Leaf(Leaf { e: Expr { kind, span: at }, ty, how, from })
                    }
                }
            }
            Seq::Rows(rows, way) => self.row_item(rows, k, *way, at)?,
            Seq::Parts { base, size, cut } => {
                let start = match cut {
                    Cut::Windows => k.clone(),
                    _ => {
                        let start = binary(k.clone(), BinaryOp::Mul, size.clone(), at);
                        self.kept(start)
                    }
                };
                let mut stop = binary(start.clone(), BinaryOp::Add, size.clone(), at);
                if *cut == Cut::Chunks {
                    stop = call("min", vec![stop, length(&base.e, &base.ty, at)], at);
                }
                let elem = base.ty.element().cloned().unwrap_or(Ty::F64);
                let ty = Ty::Array(Box::new(elem), Len::Slice);
                let index =
                    Index::Slice { start: Some(start), stop: Some(stop), step: None, span: at };
                let kind = ExprKind::Index { base: Box::new(base.e.clone()), indices: vec![index] };
                let from = base.from.clone();
                Val::Leaf(Leaf { e: Expr { kind, span: at }, ty, how: How::Ref, from })
            }
            Seq::Enumerate(inner) => {
                let item = self.item(inner, k, at)?;
                Val::Tuple(vec![Val::of(k.clone(), USIZE), item])
            }
            Seq::Zip(a, b) => {
                let a = self.item(a, k, at)?;
                let b = self.item(b, k, at)?;
                Val::Tuple(vec![a, b])
            }
            Seq::Rev(inner) => {
                let n = match self.count_of(inner, at) {
                    Some(n) => self.kept(n),
                    None => return Err(no::FOREVER.at(at)),
                };
                let last = binary(n, BinaryOp::Sub, int(1, at), at);
                let place = binary(last, BinaryOp::Sub, k.clone(), at);
                let place = self.kept(place);
                self.item(inner, &place, at)?
            }
            Seq::Skip(inner, n) => {
                let place = binary(k.clone(), BinaryOp::Add, n.clone(), at);
                let place = self.kept(place);
                self.item(inner, &place, at)?
            }
            Seq::Take(inner, _) => self.item(inner, k, at)?,
            Seq::StepBy(inner, n) => {
                let place = binary(k.clone(), BinaryOp::Mul, n.clone(), at);
                let place = self.kept(place);
                self.item(inner, &place, at)?
            }
            Seq::Map(inner, f, at_map) => {
                let item = self.item(inner, k, at)?;
                self.apply(f, vec![item], None, *at_map)?
            }
            Seq::Copied(inner) => deref(self.item(inner, k, at)?),
            Seq::Repeat(val) => (**val).clone(),
            Seq::Filter(..) => return Err(no::UNEVEN_SEQUENCE.at(at)),
        })
    }

    /// `for pattern in items { .. }`.
    pub(super) fn for_loop(&mut self, l: &'a syn::ExprForLoop, at: Span) -> Made<Val<'a>> {
        let label = l.label.as_ref().map(|l| l.name.ident.to_string());
        let seq = self.sequence(&l.expr)?;
        let at_items = self.at(&*l.expr);
        self.scopes.enter();
        let done = self.each(&seq, label, at_items, at, Some(&l.pat), &mut |c, val| {
            if let Some(val) = val {
                c.bind(&l.pat, val)?;
            }
            c.block(&l.body, None).map(|_| ())
        });
        self.scopes.leave();
        done.map(|()| Val::Unit)
    }

    /// A loop over items. Where the items are a range and `name` is one name, that is the variable of the loop, and
    /// `body` is given nothing to bind.
    pub(super) fn each(
        &mut self,
        seq: &Seq<'a>,
        label: Option<String>,
        at_items: Span,
        at: Span,
        name: Option<&'a syn::Pat>,
        body: &mut dyn FnMut(&mut Self, Option<Val<'a>>) -> Made<()>,
    ) -> Made<()> {
        if let (Seq::Range { start, stop, step, down, ty }, Some(syn::Pat::Ident(ident))) =
            (seq, name)
            && ident.by_ref.is_none()
            && ident.subpat.is_none()
        {
            let at_name = self.at(&ident.ident);
            let key = std::ptr::from_ref(ident) as usize;
            let ty = match self.hints.get(&key) {
                Some(known) if ty.join(known).is_some() => known.clone(),
                _ => ty.clone(),
            };
            let text = self.fresh(&ident.ident.to_string());
            let from = if ty.is_open() { vec![key] } else { Vec::new() };
            let val = Val::Leaf(Leaf { e: named(&text, at_name), ty, how: How::Place, from });
            self.scopes.set(&ident.ident.to_string(), Entry::Variable(val));
            let step = if *down { negated_step(step, at_items) } else { step.clone() };
            let kind = IterKind::Range { start: start.clone(), stop: stop.clone(), step };
            let target = Target::Name(Name { text, span: at_name });
            return self.counted(kind, target, label, at_items, at, |c| body(c, None));
        }
        let Some(count) = self.count_of(seq, at_items) else {
            return Err(no::FOREVER.at(at_items));
        };
        let text = self.fresh("k");
        let k = named(&text, at_items);
        let kind = IterKind::Range { start: int(0, at_items), stop: count, step: int(1, at_items) };
        let target = Target::Name(Name { text, span: at_items });
        self.counted(kind, target, label, at_items, at, |c| {
            c.with_item(seq, &k, at_items, &mut |c, val| body(c, Some(val)))
        })
    }

    fn counted(
        &mut self,
        kind: IterKind,
        target: Target,
        label: Option<String>,
        at_items: Span,
        at: Span,
        body: impl FnOnce(&mut Self) -> Made<()>,
    ) -> Made<()> {
        let close = |body: Vec<Stmt>| StmtKind::For {
            target,
            iter: Box::new(Iter { kind, span: at_items }),
            body,
        };
        self.leavable(Kind::Loop, label, None, at, body, close).map(|_| ())
    }
}

/// A value instead of a reference to it.
fn deref(val: Val<'_>) -> Val<'_> {
    match val {
        Val::Leaf(leaf) if leaf.how == How::Ref => Val::Leaf(Leaf { how: How::Place, ..leaf }),
        Val::Alias(place, ty) => Val::of(place.read(), ty),
        other => other,
    }
}

fn is_one(step: &Expr) -> bool {
    matches!(step.kind, ExprKind::Int(1))
}

fn negated_step(step: &Expr, at: Span) -> Expr {
    match step.kind {
        ExprKind::Int(k) => int(-k, at),
        _ => negated(step.clone(), at),
    }
}

/// `a / b`, rounded up.
fn quotient_up(a: Expr, b: Expr, at: Span) -> Expr {
    let less = binary(b.clone(), BinaryOp::Sub, int(1, at), at);
    binary(binary(a, BinaryOp::Add, less, at), BinaryOp::FloorDiv, b, at)
}

/// Whether a function makes an iterator: `iter::zip`.
fn is_source(function: &syn::Expr) -> bool {
    let syn::Expr::Path(path) = strip(function) else { return false };
    let words: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    matches!(
        words.iter().map(String::as_str).collect::<Vec<_>>().as_slice(),
        [.., "iter", "zip" | "repeat"] | ["zip" | "repeat"]
    )
}

fn last_word(function: &syn::Expr) -> String {
    match strip(function) {
        syn::Expr::Path(path) => {
            path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default()
        }
        _ => String::new(),
    }
}
