//! Branches, and the joining of what they bind.

use super::env::{Binding, Env, Part, Pick, StorageId, Unset, UnsetReason, View};
use super::names::{diverges, escapes};
use super::operand::{Operand, join_elem};
use super::recursion::UNKNOWN;
use super::{Lowered, Lowering};
use crate::ir::{Block, Op, Type, Value};
use crate::span::Span;
use crate::surface::tree::{Expr, Stmt};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// The hidden variable of the value of a branch.
const VALUE: &str = "the value of the branch";

/// One lowered side of a branch: its code so far and its bindings.
struct Side {
    block: Block,
    env: Env,
    /// Whether it always leaves the enclosing block early.
    diverges: bool,
    /// Whether it always leaves the function, so that no variable it binds is ever seen.
    returns: bool,
    /// Storage made in it that has been handed out already.
    given: BTreeSet<StorageId>,
}

/// What the results of a branch are bound to.
enum Outcome {
    /// A scalar variable.
    Scalar(Arc<str>, Span),
    /// New storage.
    Storage(usize),
    /// The next version of old storage.
    Version(StorageId),
    /// A number in the description of a view.
    Number(usize),
}

/// The joining of two sides in progress.
struct Joining {
    sides: [Side; 2],
    /// How many storages there were before.
    count: usize,
    types: Vec<Type>,
    outcomes: Vec<Outcome>,
    /// New storage, by the views it is made of.
    made: Vec<Made>,
    /// Numbers of views, in the order of their outcomes.
    numbers: usize,
    /// What is bound when the results are there.
    bindings: Vec<(Arc<str>, Pending, Span)>,
}

/// New storage that a branch makes.
struct Made {
    /// What it stands for, where it is not a copy.
    of: Option<Of>,
    /// What each side made that it holds or may share memory with.
    holds: [BTreeSet<StorageId>; 2],
    /// Other new storage that is the same array, or may be, on one of the sides.
    with: Vec<usize>,
    /// The older storage it may share memory with.
    shares: BTreeSet<StorageId>,
    list: bool,
    units: u8,
}

/// The whole storages that new storage stands for. The sides number theirs independently of each other.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// One on each side.
    Both([StorageId; 2]),
    /// One on this side; nobody looks at what is there after the other.
    One(usize, StorageId),
}

/// A binding that waits for the results.
enum Pending {
    Ready(Binding),
    /// All of new storage.
    Made(usize),
    /// Part of old or new storage: numbers are counted from the first given.
    Part(Result<StorageId, usize>, Rc<Part>, usize),
}

impl Lowering<'_> {
    /// `then if cond else otherwise`.
    pub(super) fn conditional(
        &mut self,
        cond: &Expr,
        then: &Expr,
        otherwise: &Expr,
        span: Span,
    ) -> Lowered<Operand> {
        let c = self.condition(cond)?;
        self.branch_operand(c, span, |l| l.expr(then), |l| l.expr(otherwise))
    }

    /// A branch that computes one scalar.
    pub(super) fn branch_value(
        &mut self,
        cond: Value,
        span: Span,
        then: impl FnOnce(&mut Self) -> Lowered<Value>,
        otherwise: impl FnOnce(&mut Self) -> Lowered<Value>,
    ) -> Lowered<Value> {
        let then = |l: &mut Self| then(l).map(Operand::Scalar);
        let otherwise = |l: &mut Self| otherwise(l).map(Operand::Scalar);
        let value = self.branch_operand(cond, span, then, otherwise)?;
        self.as_scalar(&value, span)
    }

    fn branch_operand(
        &mut self,
        cond: Value,
        span: Span,
        then: impl FnOnce(&mut Self) -> Lowered<Operand>,
        otherwise: impl FnOnce(&mut Self) -> Lowered<Operand>,
    ) -> Lowered<Operand> {
        let then = self.side(&[], |l| then(l).and_then(|value| l.bind(VALUE, value, span)));
        let otherwise =
            self.side(&[], |l| otherwise(l).and_then(|value| l.bind(VALUE, value, span)));
        self.join_known(cond, span, then, otherwise)?;
        let binding = self.env.own(VALUE).map(|(b, _)| b.clone());
        let value = match binding {
            Some(binding) => self.bound(VALUE, &binding, span),
            None => unreachable!("both sides bind it"),
        };
        self.env.unbind(VALUE);
        value
    }

    /// One side of a branch; the bindings stay as they are.
    fn side(
        &mut self,
        stmts: &[&Stmt],
        lower: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<Side> {
        let before = self.env.clone();
        let mark = self.b.mark();
        self.b.open_block(&[]);
        if let Err(e) = lower(self) {
            self.b.rollback(&mark);
            self.env = before;
            return Err(e);
        }
        let block = self.b.close_block(Vec::new());
        let env = std::mem::replace(&mut self.env, before);
        let diverges = diverges(stmts.iter().copied());
        let escapes = escapes(stmts.iter().copied());
        let returns = diverges && !escapes.breaks && !escapes.continues;
        Ok(Side { block, env, diverges, returns, given: BTreeSet::new() })
    }

    /// Joins two sides. One that calls a function of which nothing is known yet is left out: what is made
    /// then is only looked at for its types.
    fn join_known(
        &mut self,
        cond: Value,
        span: Span,
        then: Lowered<Side>,
        otherwise: Lowered<Side>,
    ) -> Lowered<()> {
        match (then, otherwise) {
            (Ok(then), Ok(otherwise)) => self.join(cond, span, then, otherwise),
            (Ok(only), Err(e)) | (Err(e), Ok(only)) if e.code == UNKNOWN => {
                self.b.splice(only.block);
                self.env = only.env;
                Ok(())
            }
            (Err(e), _) | (_, Err(e)) => Err(e),
        }
    }

    /// An `if` statement.
    pub(super) fn if_statement(
        &mut self,
        cond: Value,
        then: &[&Stmt],
        otherwise: &[&Stmt],
        span: Span,
        known_flag: Option<&str>,
    ) -> Lowered<()> {
        let then_side = self.side(then, |l| l.stmts(then));
        let otherwise_side = self.side(otherwise, |l| {
            if let Some(flag) = known_flag {
                let yes = l.b.bool(true);
                l.env.bind(flag, Binding::Scalar(yes), span);
            }
            l.stmts(otherwise)
        });
        self.join_known(cond, span, then_side, otherwise_side)
    }

    /// Appends the `if` and binds what the sides leave.
    fn join(&mut self, cond: Value, span: Span, then: Side, otherwise: Side) -> Lowered<()> {
        let before = self.env.clone();
        let mut joining = Joining {
            sides: [then, otherwise],
            count: before.storage_count(),
            types: Vec::new(),
            outcomes: Vec::new(),
            made: Vec::new(),
            numbers: 0,
            bindings: Vec::new(),
        };
        let depth = before.depth() - 1;
        let differing: BTreeSet<(usize, Arc<str>)> =
            joining.sides.iter().flat_map(|s| s.env.differing(&before)).collect();
        for (_, name) in differing.iter().filter(|(d, _)| *d == depth).cloned() {
            let bound = joining.sides.iter().rev().find_map(|s| s.env.own(&name));
            let Some(set_at) = bound.map(|(_, at)| *at) else { continue };
            let pending = self.join_name(&mut joining, &name, set_at, span)?;
            if let Some(pending) = pending {
                joining.bindings.push((name, pending, set_at));
            }
        }
        for s in before.all_storage() {
            let [t, o] = [0, 1].map(|k: usize| joining.sides[k].env.version(s));
            if t != before.version(s) || o != before.version(s) {
                let ty = self.b.ty(t);
                joining.push([t, o], ty, Outcome::Version(s));
            }
        }
        self.env = before;
        // Names of callers can only have become unusable.
        for side in &joining.sides {
            for lost in differing.iter().filter(|(d, _)| *d < depth) {
                if let Some((Binding::Maybe(unset), _)) = side.env.at_depth(lost.0, &lost.1) {
                    self.env.lose(lost, unset.clone());
                }
            }
            for (a, b) in side.env.shares() {
                if !side.env.made_since(*b, joining.count) {
                    self.env.share_pair(*a, *b);
                }
            }
        }
        self.finish_join(cond, span, joining);
        Ok(())
    }

    /// Appends the instruction and binds its results.
    fn finish_join(&mut self, cond: Value, span: Span, joining: Joining) {
        let Joining { sides: [then, otherwise], types, outcomes, made, bindings, .. } = joining;
        self.b.at(span);
        let blocks = vec![then.block, otherwise.block];
        let results = self.b.inst(Op::If, vec![cond], &types, blocks);
        let mut storages = Vec::new();
        let mut numbers = Vec::new();
        for (outcome, v) in outcomes.into_iter().zip(results) {
            match outcome {
                Outcome::Scalar(name, at) => {
                    if !name.contains(' ') {
                        self.b.name(v, &name);
                    }
                    self.env.bind(&name, Binding::Scalar(v), at);
                }
                Outcome::Storage(k) => {
                    let storage = self.env.new_storage(v);
                    self.note_units(v, made[k].units);
                    made[k].shares.iter().for_each(|base| self.env.share(storage, *base));
                    if made[k].list {
                        self.env.mark_list(storage);
                    }
                    debug_assert_eq!(storages.len(), k);
                    storages.push(storage);
                }
                Outcome::Version(s) => {
                    let old = self.env.version(s);
                    if let Some(name) = self.b.func().name_of(old) {
                        self.b.name(v, &name);
                    }
                    self.keep_units(v, old);
                    self.env.set_version(s, v);
                }
                Outcome::Number(k) => {
                    debug_assert_eq!(numbers.len(), k);
                    numbers.push(v);
                }
            }
        }
        for (k, made) in made.iter().enumerate() {
            made.with.iter().for_each(|j| self.env.share_pair(storages[k], storages[*j]));
        }
        for (name, pending, at) in bindings {
            let binding = match pending {
                Pending::Ready(binding) => binding,
                Pending::Made(k) => {
                    if !name.contains(' ') {
                        self.b.name(self.env.version(storages[k]), &name);
                    }
                    Binding::Array(View::whole(storages[k]))
                }
                Pending::Part(storage, part, first) => {
                    let storage = storage.unwrap_or_else(|k| storages[k]);
                    let part = part.with_numbers(&numbers[first..]);
                    Binding::Array(View { storage, part: Some(Rc::new(part)) })
                }
            };
            self.env.bind(&name, binding, at);
        }
    }

    /// What a name stands for after the branch; nothing where it is one of its results.
    fn join_name(
        &mut self,
        joining: &mut Joining,
        name: &Arc<str>,
        set_at: Span,
        span: Span,
    ) -> Lowered<Option<Pending>> {
        let found = |k: usize| joining.sides[k].env.own(name).map(|(b, _)| b.clone());
        let (t, o) = (found(0), found(1));
        let unset = |reason| Pending::Ready(Binding::Maybe(Unset { reason, set_at, by: span }));
        let hidden = name.contains(' ');
        Ok(Some(match (t, o) {
            (Some(a), Some(b)) if a == b && !joining.is_inner(&a) => Pending::Ready(a),
            (Some(live), Some(_)) if joining.sides[1].returns && !hidden => {
                return self.export(joining, 0, live, name, set_at);
            }
            (Some(_), Some(live)) if joining.sides[0].returns && !hidden => {
                return self.export(joining, 1, live, name, set_at);
            }
            (Some(Binding::Scalar(a)), Some(Binding::Scalar(b))) => {
                let elem = join_elem(self.elem(a), self.elem(b));
                let a = self.in_side(&mut joining.sides[0], |l| l.convert(a, elem, span))?;
                let b = self.in_side(&mut joining.sides[1], |l| l.convert(b, elem, span))?;
                joining.push([a, b], elem.scalar(), Outcome::Scalar(name.clone(), set_at));
                return Ok(None);
            }
            (Some(Binding::Array(a)), Some(Binding::Array(b))) => {
                match self.join_arrays(joining, [&a, &b], span)? {
                    Some(k) => Pending::Made(k),
                    None => unset(UnsetReason::Kind),
                }
            }
            (Some(Binding::Tuple(a)), Some(Binding::Tuple(b))) if a == b => {
                Pending::Ready(Binding::Tuple(a))
            }
            // One side never gets here, or the variable is looked at only where it is set.
            (Some(live), None) if joining.sides[1].diverges || hidden => {
                return self.export(joining, 0, live, name, set_at);
            }
            (None, Some(live)) if joining.sides[0].diverges || hidden => {
                return self.export(joining, 1, live, name, set_at);
            }
            (Some(Binding::Maybe(u)), _) | (_, Some(Binding::Maybe(u))) => {
                Pending::Ready(Binding::Maybe(u))
            }
            (None, _) | (_, None) => unset(UnsetReason::Branch),
            (Some(_), Some(_)) => unset(UnsetReason::Kind),
        }))
    }

    /// New storage for an array that is one of two. Nothing where they differ in rank.
    fn join_arrays(
        &mut self,
        joining: &mut Joining,
        views: [&View; 2],
        span: Span,
    ) -> Lowered<Option<usize>> {
        let whole = views.iter().all(|v| v.part.is_none());
        let of = whole.then(|| Of::Both([views[0].storage, views[1].storage]));
        if let Some(k) = joining.made.iter().position(|m| of.is_some() && m.of == of) {
            return Ok(Some(k));
        }
        let types = [0, 1].map(|k: usize| self.type_in(&joining.sides[k].env, views[k]));
        if types[0].rank() != types[1].rank() {
            return Ok(None);
        }
        let elems = types.map(|t| t.elem().unwrap_or(crate::ir::Elem::F64));
        let elem = join_elem(elems[0], elems[1]);
        let mut yields = [None; 2];
        let mut shares = BTreeSet::new();
        let mut units = u8::MAX;
        let mut list = false;
        for k in 0..2 {
            let (v, u) = self.hand_out(joining, k, views[k], span)?;
            let converted = self.in_side(&mut joining.sides[k], |l| l.convert(v, elem, span))?;
            yields[k] = Some(converted);
            units &= u;
            let env = &joining.sides[k].env;
            list |= env.is_list(views[k].storage);
            let old = env.sharing(views[k].storage).into_iter().chain([views[k].storage]);
            shares.extend(old.filter(|s| !env.made_since(*s, joining.count)));
        }
        let [Some(a), Some(b)] = yields else { unreachable!("both sides have been looked at") };
        let holds = [0, 1].map(|k: usize| joining.new_in(k, views[k].storage));
        let k = joining.make(Made { of, holds, with: Vec::new(), shares, list, units });
        joining.push([a, b], types[0].with_elem(elem), Outcome::Storage(k));
        Ok(Some(k))
    }

    /// An array a side yields: the storage itself where the side made it, else a copy.
    fn hand_out(
        &mut self,
        joining: &mut Joining,
        k: usize,
        view: &View,
        span: Span,
    ) -> Lowered<(Value, u8)> {
        let count = joining.count;
        let side = &mut joining.sides[k];
        let own = view.part.is_none() && side.env.made_since(view.storage, count);
        if own && side.given.insert(view.storage) {
            let v = side.env.version(view.storage);
            return Ok((v, self.units_of(v)));
        }
        let v = self.in_side(side, |l| Ok(l.read_copy(view, span)))?;
        Ok((v, self.units_of(v)))
    }

    /// What one side binds and the other does not, for code that only the first can reach.
    fn export(
        &mut self,
        joining: &mut Joining,
        live: usize,
        binding: Binding,
        name: &Arc<str>,
        set_at: Span,
    ) -> Lowered<Option<Pending>> {
        Ok(Some(match binding {
            Binding::Scalar(v) => {
                let ty = self.b.ty(v);
                let zero = self.stand_in(ty);
                joining.push_live(live, v, zero, ty, Outcome::Scalar(name.clone(), set_at));
                return Ok(None);
            }
            Binding::Array(view) => {
                let env = &joining.sides[live].env;
                let storage = if env.made_since(view.storage, joining.count) {
                    Err(self.export_storage(joining, live, view.storage, set_at)?)
                } else {
                    Ok(view.storage)
                };
                match (storage, view.part) {
                    (Ok(storage), None) => Pending::Ready(Binding::Array(View::whole(storage))),
                    (Err(k), None) => Pending::Made(k),
                    (storage, Some(part)) => {
                        let first = joining.numbers;
                        let zero = self.b.i64(0);
                        for v in part.numbers() {
                            let outcome = Outcome::Number(joining.numbers);
                            joining.numbers += 1;
                            joining.push_live(live, v, zero, Type::I64, outcome);
                        }
                        Pending::Part(storage, part, first)
                    }
                }
            }
            other => Pending::Ready(other),
        }))
    }

    fn export_storage(
        &mut self,
        joining: &mut Joining,
        live: usize,
        storage: StorageId,
        set_at: Span,
    ) -> Lowered<usize> {
        let known = |m: &Made| match m.of {
            Some(Of::Both(of)) => of[live] == storage,
            of => of == Some(Of::One(live, storage)),
        };
        if let Some(k) = joining.made.iter().position(known) {
            return Ok(k);
        }
        // As a part of something else it may have been handed out before.
        let (v, _) = self.hand_out(joining, live, &View::whole(storage), set_at)?;
        let env = &joining.sides[live].env;
        let (ty, units, list) = (self.b.ty(v), self.units_of(v), env.is_list(storage));
        let shares = env.sharing(storage).into_iter();
        let shares = shares.filter(|s| !env.made_since(*s, joining.count)).collect();
        let dummy = self.in_side(&mut joining.sides[1 - live], |l| Ok(l.stand_in(ty)))?;
        let mut holds = [BTreeSet::new(), BTreeSet::new()];
        holds[live] = joining.new_in(live, storage);
        let of = Some(Of::One(live, storage));
        let k = joining.make(Made { of, holds, with: Vec::new(), shares, list, units });
        joining.push_live(live, v, dummy, ty, Outcome::Storage(k));
        Ok(k)
    }

    /// Instructions appended to a side that is closed already.
    fn in_side<T>(
        &mut self,
        side: &mut Side,
        f: impl FnOnce(&mut Self) -> Lowered<T>,
    ) -> Lowered<T> {
        let yields = side.block.yields.clone();
        self.b.reopen_block(std::mem::take(&mut side.block));
        std::mem::swap(&mut self.env, &mut side.env);
        let result = f(self);
        std::mem::swap(&mut self.env, &mut side.env);
        side.block = self.b.close_block(yields);
        result
    }
}

impl Joining {
    fn push(&mut self, [t, o]: [Value; 2], ty: Type, outcome: Outcome) {
        self.sides[0].block.yields.push(t);
        self.sides[1].block.yields.push(o);
        self.types.push(ty);
        self.outcomes.push(outcome);
    }

    fn push_live(&mut self, live: usize, v: Value, dummy: Value, ty: Type, outcome: Outcome) {
        self.push(if live == 0 { [v, dummy] } else { [dummy, v] }, ty, outcome);
    }

    /// A piece of storage, and what may share memory with it, as far as a side made them.
    fn new_in(&self, side: usize, storage: StorageId) -> BTreeSet<StorageId> {
        let env = &self.sides[side].env;
        let all = env.sharing(storage).into_iter().chain([storage]);
        all.filter(|s| env.made_since(*s, self.count)).collect()
    }

    /// New storage, which shares memory with what holds the same on one of the sides.
    fn make(&mut self, mut new: Made) -> usize {
        let meets = |m: &Made| (0..2).any(|k| !m.holds[k].is_disjoint(&new.holds[k]));
        new.with = (0..self.made.len()).filter(|k| meets(&self.made[*k])).collect();
        self.made.push(new);
        self.made.len() - 1
    }

    /// Whether equal bindings of the sides mean storage each made for itself.
    fn is_inner(&self, binding: &Binding) -> bool {
        let env = &self.sides[0].env;
        matches!(binding, Binding::Array(v) if env.made_since(v.storage, self.count))
    }
}

impl Part {
    /// The numbers that describe it, in order.
    fn numbers(&self) -> Vec<Value> {
        let of = |p: &Pick| match *p {
            Pick::At(i) => vec![i],
            Pick::Range { start, count, step } => vec![start, count, step],
        };
        self.picks.iter().flat_map(of).collect()
    }

    /// The same with other numbers.
    fn with_numbers(&self, numbers: &[Value]) -> Part {
        let mut rest = numbers.iter().copied();
        let mut next = |old: Value| rest.next().unwrap_or(old);
        let picks = self.picks.iter().map(|p| match *p {
            Pick::At(i) => Pick::At(next(i)),
            Pick::Range { start, count, step } => {
                Pick::Range { start: next(start), count: next(count), step: next(step) }
            }
        });
        Part { picks: picks.collect(), axes: self.axes.clone() }
    }
}
