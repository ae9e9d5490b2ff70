//! What sequences come to: sums, folds, collections.

use super::closure::Called;
use super::sequence::{Seq, Way};
use super::value::{How, Leaf, Len, Ty, Val, binary, call, int, named, not, truth};
use super::{Converter, Made, no};
use crate::span::Span;
use crate::surface::tree::{BinaryOp, Expr, ExprKind, Name, Stmt, StmtKind, Target};

/// Whether a method of this name with so many arguments uses an iterator up.
pub(super) fn consumes(name: &str, arguments: usize) -> bool {
    matches!(
        (name, arguments),
        ("sum" | "product" | "count" | "collect" | "len" | "min" | "max" | "last" | "next", 0)
            | (
                "all"
                    | "any"
                    | "for_each"
                    | "position"
                    | "find"
                    | "min_by"
                    | "max_by"
                    | "reduce"
                    | "nth"
                    | "partition",
                1
            )
            | ("fold" | "try_fold", 2)
    )
}

impl<'a> Converter<'a> {
    /// A sequence used up.
    pub(super) fn consumed(
        &mut self,
        method: &'a syn::ExprMethodCall,
        name: &str,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let at_name = self.at(&method.method);
        let args: Vec<&'a syn::Expr> = method.args.iter().collect();
        let declared = self.turbofish(method)?;
        let want = declared.as_ref().or(want);
        let seq = self.sequence(&method.receiver)?;
        let at_items = self.at(&*method.receiver);
        match (name, args.as_slice()) {
            ("sum" | "product", []) => self.reduced(&seq, name == "sum", want, at_items, at),
            ("count" | "len", []) => {
                let n = self.variable("n", int(0, at), at);
                self.each(&seq, None, at_items, at, None, &mut |c, _| {
                    let next = binary(named(&n, at), BinaryOp::Add, int(1, at), at);
                    c.assign(target(&n, at), next, at);
                    Ok(())
                })?;
                Ok(Val::of(named(&n, at), super::array::USIZE))
            }
            ("for_each", [f]) => {
                let f = self.callable(f)?;
                self.each(&seq, None, at_items, at, None, &mut |c, val| {
                    let Some(val) = val else { return Ok(()) };
                    c.apply(&f, vec![val], None, at_name).map(|_| ())
                })?;
                Ok(Val::Unit)
            }
            ("all" | "any", [f]) => {
                let f = self.callable(f)?;
                let all = name == "all";
                let found = self.variable("t", truth(all, at), at);
                self.each(&seq, None, at_items, at, None, &mut |c, val| {
                    let Some(val) = val else { return Ok(()) };
                    let test = c.apply(&f, vec![val], Some(&Ty::Bool), at_name)?;
                    let cond = c.as_scalar(test, at_name)?.e;
                    let cond = if all { not(cond, at) } else { cond };
                    let kind = StmtKind::Assign {
                        targets: vec![target(&found, at)],
                        value: truth(!all, at),
                    };
                    let then =
                        vec![Stmt { kind, span: at }, Stmt { kind: StmtKind::Break, span: at }];
                    c.emit(StmtKind::If { cond, then, otherwise: Vec::new() }, at);
                    Ok(())
                })?;
                Ok(Val::of(named(&found, at), Ty::Bool))
            }
            ("fold", [first, f]) => {
                let first_val = self.expr(first, want)?;
                let f = self.callable(f)?;
                self.folded(&seq, first_val, &f, (at_items, at_name, at))
            }
            ("collect", []) => self.collected(seq, want, at_items, at),
            _ => Err(no::OPTIONS.at(at_name)),
        }
    }

    /// The type a method says: `.sum::<f64>()`.
    fn turbofish(&mut self, method: &syn::ExprMethodCall) -> Made<Option<Ty>> {
        let Some(generic) = &method.turbofish else { return Ok(None) };
        match generic.args.first() {
            Some(syn::GenericArgument::Type(ty)) if !super::stmt::holds_infer(ty) => {
                Ok(Some(self.passed_type(ty)?.0.ty()))
            }
            _ => Ok(None),
        }
    }

    fn variable(&mut self, wanted: &str, value: Expr, at: Span) -> String {
        let text = self.fresh(wanted);
        self.assign(target(&text, at), value, at);
        text
    }

    fn reduced(
        &mut self,
        seq: &Seq<'a>,
        sum: bool,
        want: Option<&Ty>,
        at_items: Span,
        at: Span,
    ) -> Made<Val<'a>> {
        if let Some(base) = whole(seq).filter(|_| sum) {
            let leaf = Leaf::new(call("sum", vec![base.e.clone()], at), base.ty.scalar().clone());
            return Ok(Val::Leaf(Leaf { from: base.from.clone(), ..leaf }));
        }
        let total = self.fresh(if sum { "sum" } else { "product" });
        let mut found: Option<Leaf> = None;
        let (stmts, ()) = self.inside(|c| {
            c.each(seq, None, at_items, at, None, &mut |c, val| {
                let Some(val) = val else { return Ok(()) };
                let mut leaf = c.as_scalar(val, at_items)?;
                if let Some(want) = want.filter(|ty| ty.is_number()) {
                    leaf = c.fitted_leaf(leaf, want, at_items)?;
                }
                if !leaf.ty.is_number() {
                    return Err(super::call::mismatch(
                        "numbers are needed here".into(),
                        at_items,
                        &leaf.ty.shown(),
                    ));
                }
                found = Some(leaf.clone());
                let op = if sum { BinaryOp::Add } else { BinaryOp::Mul };
                c.emit(StmtKind::AugAssign { target: target(&total, at), op, value: leaf.e }, at);
                Ok(())
            })
        })?;
        let Some(leaf) = found else { return Err(no::SUM_TYPE.at(at)) };
        // Rust begins a sum of floats at -0.
        let first = match (&leaf.ty, sum) {
            (ty, true) if ty.is_float() => self.float_of(-0.0, *ty == Ty::F32, at),
            (ty, false) if ty.is_float() => self.float_of(1.0, *ty == Ty::F32, at),
            (_, sum) => int(i64::from(!sum), at),
        };
        self.assign(target(&total, at), first, at);
        self.append(stmts);
        Ok(Val::Leaf(Leaf { from: leaf.from, ..Leaf::new(named(&total, at), leaf.ty) }))
    }

    fn folded(
        &mut self,
        seq: &Seq<'a>,
        first: Val<'a>,
        f: &Called<'a>,
        (at_items, at_name, at): (Span, Span, Span),
    ) -> Made<Val<'a>> {
        let ty = first.ty();
        // What is begun with may be a literal whose type the items say.
        let ty = self.accumulated(seq, &ty, f, (at_items, at_name))?;
        let first = self.fitted(first, &ty, at)?;
        let held = self.held("fold", first, 0, at)?;
        let names: Vec<Leaf> = held.leaves();
        self.each(seq, None, at_items, at, None, &mut |c, val| {
            let Some(val) = val else { return Ok(()) };
            let new = c.apply(f, vec![held.clone(), val], Some(&ty), at_name)?;
            let new = c.fitted(new, &ty, at_name)?;
            let new = new.leaves();
            let values: Vec<Expr> = new.into_iter().map(|leaf| c.taken_over(leaf).e).collect();
            let targets: Vec<Target> = names
                .iter()
                .filter_map(|leaf| match &leaf.e.kind {
                    ExprKind::Name(text) => Some(target(text, at)),
                    _ => None,
                })
                .collect();
            match (<[Target; 1]>::try_from(targets), <[Expr; 1]>::try_from(values)) {
                (Ok([to]), Ok([value])) => c.assign(to, value, at),
                (Err(elements), Err(values)) => {
                    let value = Expr { kind: ExprKind::Tuple(values), span: at };
                    c.assign(Target::Tuple { elements, span: at }, value, at);
                }
                _ => return Err(no::CALLED.at(at)),
            }
            Ok(())
        })?;
        Ok(held)
    }

    /// The type of what is folded: tried once, and thrown away.
    fn accumulated(
        &mut self,
        seq: &Seq<'a>,
        ty: &Ty,
        f: &Called<'a>,
        (at_items, at_name): (Span, Span),
    ) -> Made<Ty> {
        if !ty.is_open() {
            return Ok(ty.clone());
        }
        let mut found = ty.clone();
        let stand_in = self.stand_in(ty, at_items);
        self.inside(|c| {
            c.each(seq, None, at_items, at_items, None, &mut |c, val| {
                let Some(val) = val else { return Ok(()) };
                let new = c.apply(f, vec![stand_in.clone(), val], None, at_name)?;
                if let Some(joined) = found.join(&new.ty()) {
                    found = joined;
                }
                Ok(())
            })
        })?;
        Ok(found)
    }

    fn collected(
        &mut self,
        seq: Seq<'a>,
        want: Option<&Ty>,
        at_items: Span,
        at: Span,
    ) -> Made<Val<'a>> {
        if self.is_uneven(&seq) {
            return Err(no::UNEVEN_SEQUENCE.at(at_items));
        }
        let Some(count) = self.count_of(&seq, at_items) else {
            return Err(no::FOREVER.at(at_items));
        };
        let count = self.kept(count);
        let made = self.fresh("made");
        let mut found: Option<Ty> = None;
        let elem = match want {
            Some(Ty::Array(elem, _)) => Some((**elem).clone()),
            _ => None,
        };
        let numbered = Seq::Enumerate(Box::new(seq));
        let (stmts, ()) = self.inside(|c| {
            c.each(&numbered, None, at_items, at, None, &mut |c, val| {
                let Some(Val::Tuple(both)) = val else { return Ok(()) };
                let [k, val] = <[Val<'a>; 2]>::try_from(both).map_err(|_| no::COLLECTED.at(at))?;
                let val = match &elem {
                    Some(ty) => c.fitted(val, ty, at_items)?,
                    None => val,
                };
                let leaves = val.leaves();
                let (Val::Leaf(_) | Val::Alias(..), [leaf]) = (&val, leaves.as_slice()) else {
                    return Err(no::COLLECTED.at(at_items));
                };
                found = Some(leaf.ty.clone());
                let k = c.as_scalar(k, at)?.e;
                let place = super::array::element(named(&made, at), k, at);
                if let ExprKind::Index { base, indices } = place.kind {
                    c.assign(
                        Target::Element { base: *base, indices, span: at },
                        leaf.e.clone(),
                        at,
                    );
                }
                Ok(())
            })
        })?;
        let Some(ty) = found else { return Err(no::COLLECTED.at(at)) };
        let mut inner = &ty;
        while let Ty::Array(elem, len) = inner {
            // Rows of any length might differ.
            if !matches!(len, Len::Fixed(_)) {
                return Err(no::COLLECTED.at(at));
            }
            inner = elem;
        }
        let item = self.stand_in(&ty, at);
        for leaf in self.filled_with(item, count, Len::Vec, at)?.leaves() {
            self.assign(target(&made, at), leaf.e, at);
        }
        self.append(stmts);
        let ty = Ty::Array(Box::new(ty), Len::Vec);
        Ok(Val::Leaf(Leaf { e: named(&made, at), ty, how: How::Fresh, from: Vec::new() }))
    }

    /// `array::from_fn(f)`.
    pub(super) fn collected_from(&mut self, n: usize, f: &Called<'a>, at: Span) -> Made<Val<'a>> {
        let seq = Seq::Range {
            start: int(0, at),
            stop: int(n as i64, at),
            step: int(1, at),
            down: false,
            ty: super::array::USIZE,
        };
        let seq = Seq::Map(Box::new(seq), f.clone(), at);
        Ok(match self.collected(seq, None, at, at)? {
            Val::Leaf(Leaf { e, ty: Ty::Array(elem, _), how, from }) => {
                Val::Leaf(Leaf { e, ty: Ty::Array(elem, Len::Fixed(n)), how, from })
            }
            other => other,
        })
    }
}

/// The array of floats whose elements a sequence gives, one after the other: their sum is one operation, in an order that
/// processors like.
fn whole<'s>(seq: &'s Seq) -> Option<&'s Leaf> {
    match seq {
        Seq::Copied(inner) => whole(inner),
        Seq::Elements { base, way: Way::Value | Way::Ref } => {
            base.ty.element().is_some_and(Ty::is_float).then_some(base)
        }
        _ => None,
    }
}

fn target(name: &str, span: Span) -> Target {
    Target::Name(Name { text: name.to_owned(), span })
}
