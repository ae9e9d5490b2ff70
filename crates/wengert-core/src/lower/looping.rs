//! Loops: what they carry, and how they are left.
//!
//! What a loop carries depends on its body, and what the body means on what is carried: an integer before
//! the loop may be a float after the first iteration, two names may come to share an array, a called
//! function may write one. So the body is lowered under a [`Guess`]. Wherever an iteration ends, the
//! variables are compared with the guess; where they do not fit, the code is thrown away and made again
//! under a wider guess. Guesses only grow, and the first one, read off the tree, is mostly right.

use super::env::{Binding, Env, StorageId, Unset, UnsetReason, View};
use super::names::{assigned, diverges, escapes, escapes_of, likely_written, target};
use super::operand::{Operand, join_elem};
use super::stmt::{BROKEN, CONTINUED, RETURNED};
use super::{Lowered, Lowering};
use crate::ir::{Elem, Op, Type, Value};
use crate::ops::{Prim, Scalar};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Expr, Iter, IterKind, Stmt, StmtKind, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most times the body of one loop is lowered again.
const MAX_ROUNDS: usize = 200;

/// What a loop is taken to carry.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Guess {
    /// Scalar variables, and the kind that holds them in every iteration.
    scalars: BTreeMap<Arc<str>, Elem>,
    /// Hidden variables the body sets and the code after the loop looks at, with their types.
    set: BTreeMap<Arc<str>, Type>,
    /// Storage from before the loop.
    storage: BTreeSet<StorageId>,
    /// Arrays that part ways with what they share storage with: they get a copy before the loop.
    split: BTreeSet<Arc<str>>,
    /// Variables that do not hold one kind of thing in every iteration.
    lost: BTreeMap<(usize, Arc<str>), Unset>,
    /// Arrays that may share memory after an iteration.
    shares: BTreeSet<(Slot, Slot)>,
    /// Storage whose axes of one element may have more after an iteration.
    growing: BTreeSet<Slot>,
}

/// A piece of storage at the head of a loop, whatever its number is this time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Old(StorageId),
    /// Made at the head for this variable.
    New(Arc<str>),
}

/// The head of a loop under a guess.
struct Head {
    /// The bindings in the body before its first statement.
    env: Env,
    carries: Vec<Carry>,
    /// What the body was found to need beyond the guess.
    wanted: Guess,
    span: Span,
}

/// One value a loop carries.
#[derive(Clone)]
enum Carry {
    Scalar { name: Arc<str>, elem: Elem, at: Span },
    Storage { storage: StorageId, slot: Slot },
}

/// What a `for` loop goes over: how often, and what the items are.
#[derive(Debug)]
enum Items {
    /// `lo + k * by`; the counter itself where there is no step.
    Range {
        lo: Value,
        by: Option<Value>,
        bound: Option<i64>,
    },
    /// The array this hidden variable stands for: whatever else it is called may change its meaning.
    Array(Arc<str>),
    Enumerate(Box<Items>, Value),
    Zip(Vec<Items>),
    /// Backwards, given how many there are.
    Reversed(Box<Items>, Value),
}

/// What a loop does each time before its body.
enum Kind<'e> {
    For { target: &'e Target, items: Items, from: Value, to: Value, at: Span },
    While(&'e Expr),
}

impl Lowering<'_> {
    pub(super) fn while_loop(&mut self, cond: &Expr, body: &[Stmt], span: Span) -> Lowered<()> {
        self.looping(&Kind::While(cond), body, span)
    }

    pub(super) fn for_loop(
        &mut self,
        target: &Target,
        iter: &Iter,
        body: &[Stmt],
        span: Span,
    ) -> Lowered<()> {
        if let IterKind::Items(e) = &iter.kind {
            let operand = self.expr(e)?;
            if let Operand::Tuple(items) | Operand::List(items) = &operand {
                let numbers = items.iter().all(|(i, _)| matches!(i, Operand::Scalar(_)));
                if !numbers || items.len() <= 1 {
                    return self.written_out(target, items.clone(), body, span);
                }
            }
            // Numbers are looked up in an array of them.
            let operand = match operand {
                Operand::Tuple(numbers) => Operand::List(numbers),
                other => other,
            };
            let view = self.as_view(operand, e.span)?;
            let n = self.dims_of(&view)[0];
            let zero = self.b.i64(0);
            let items = self.held(view, e.span);
            let kind = Kind::For { target, items, from: zero, to: n, at: e.span };
            return self.looping(&kind, body, span);
        }
        if let IterKind::Range { start, stop, step } = &iter.kind {
            let [lo, hi, by] = self.bounds(start, stop, step)?;
            self.b.at(iter.span);
            let (items, from, to) = self.range(lo, hi, by, step.span)?;
            return self.looping(&Kind::For { target, items, from, to, at: iter.span }, body, span);
        }
        let (items, to) = self.items(iter)?;
        let from = self.b.i64(0);
        self.looping(&Kind::For { target, items, from, to, at: iter.span }, body, span)
    }

    fn bounds(&mut self, start: &Expr, stop: &Expr, step: &Expr) -> Lowered<[Value; 3]> {
        Ok([
            self.integer(start, "the start of a range")?,
            self.integer(stop, "the end of a range")?,
            self.integer(step, "the step of a range")?,
        ])
    }

    /// The items of a range, and the counter's first value and bound.
    fn range(
        &mut self,
        lo: Value,
        hi: Value,
        by: Value,
        span: Span,
    ) -> Lowered<(Items, Value, Value)> {
        let constant = match self.b.func().as_const(by) {
            Some(Scalar::I64(k)) => Some(k),
            _ => None,
        };
        if constant == Some(1) {
            let bound = self.lower_bound(lo);
            return Ok((Items::Range { lo, by: None, bound }, lo, hi));
        }
        if constant == Some(0) {
            return Err(Diagnostic::new("zero-step", "the step of a range cannot be 0")
                .label(span, "this step")
                .help("use a positive or a negative step, or `while`"));
        }
        let zero = self.b.i64(0);
        // ceil((hi - lo) / by), which floor division gives with the signs turned.
        let nonzero = self.b.prim(Prim::INe, &[by, zero]);
        self.b.op(Op::Assert("the step of a range cannot be 0".into()), &[nonzero]);
        let distance = self.b.prim(Prim::ISub, &[lo, hi]);
        let trips = self.b.prim(Prim::IDiv, &[distance, by]);
        let trips = self.b.prim(Prim::INeg, &[trips]);
        let bound = match constant {
            Some(k) if k > 0 => self.lower_bound(lo),
            Some(_) => self.lower_bound(hi).and_then(|h| h.checked_add(1)),
            None => None,
        };
        Ok((Items::Range { lo, by: Some(by), bound }, zero, trips))
    }

    /// What a loop goes over, counted from 0, and how many there are.
    fn items(&mut self, iter: &Iter) -> Lowered<(Items, Value)> {
        let zero = self.b.i64(0);
        Ok(match &iter.kind {
            IterKind::Range { start, stop, step } => {
                let [lo, hi, by] = self.bounds(start, stop, step)?;
                self.b.at(iter.span);
                match self.range(lo, hi, by, step.span)? {
                    (Items::Range { by: None, bound, .. }, lo, hi) => {
                        let n = self.b.prim(Prim::ISub, &[hi, lo]);
                        let n = self.b.prim(Prim::IMax, &[n, zero]);
                        let one = self.b.i64(1);
                        (Items::Range { lo, by: Some(one), bound }, n)
                    }
                    (items, _, trips) => (items, self.b.prim(Prim::IMax, &[trips, zero])),
                }
            }
            IterKind::Items(e) => {
                let operand = self.expr(e)?;
                let view = self.as_view(operand, e.span)?;
                let n = self.dims_of(&view)[0];
                (self.held(view, e.span), n)
            }
            IterKind::Enumerate { of, start } => {
                let (of, n) = self.items(of)?;
                let start = match start {
                    Some(e) => self.integer(e, "the start of `enumerate`")?,
                    None => zero,
                };
                (Items::Enumerate(Box::new(of), start), n)
            }
            IterKind::Zip(all) => {
                let mut items = Vec::new();
                let mut least = None;
                for iter in all {
                    let (of, n) = self.items(iter)?;
                    items.push(of);
                    least = Some(match least {
                        None => n,
                        Some(m) => self.b.prim(Prim::IMin, &[m, n]),
                    });
                }
                (Items::Zip(items), least.unwrap_or(zero))
            }
            IterKind::Reversed(of) => {
                let (of, n) = self.items(of)?;
                (Items::Reversed(Box::new(of), n), n)
            }
        })
    }

    /// An array to go over, in a hidden variable until the loop ends.
    fn held(&mut self, view: View, at: Span) -> Items {
        let mut name = format!("items at {}", at.start);
        while self.env.own(&name).is_some() {
            name.push('+');
        }
        self.env.bind(&name, Binding::Array(view), at);
        Items::Array(name.into())
    }

    fn release(&mut self, items: &Items) {
        match items {
            Items::Range { .. } => {}
            Items::Array(name) => self.env.unbind(name),
            Items::Enumerate(of, _) | Items::Reversed(of, _) => self.release(of),
            Items::Zip(all) => all.iter().for_each(|of| self.release(of)),
        }
    }

    /// Item `k`.
    fn item(&mut self, items: &Items, k: Value, span: Span) -> Lowered<Operand> {
        self.b.at(span);
        Ok(match items {
            Items::Range { lo, by, bound } => {
                let i = match by {
                    None => k,
                    Some(by) => {
                        // The range has been computed without overflow, so this cannot.
                        let offset = self.b.prim(Prim::WMul, &[k, *by]);
                        self.b.prim(Prim::WAdd, &[*lo, offset])
                    }
                };
                if let Some(bound) = bound {
                    self.lower_bounds.insert(i, *bound);
                }
                Operand::Scalar(i)
            }
            Items::Array(name) => {
                self.lower_bounds.insert(k, 0);
                match self.env.own(name).map(|(binding, _)| binding.clone()) {
                    Some(Binding::Array(view)) => self.item_of(&view, k, span),
                    Some(Binding::Maybe(unset)) => {
                        return Err(out_of_date(&unset, span));
                    }
                    _ => unreachable!("it is held until the loop ends"),
                }
            }
            Items::Enumerate(of, start) => {
                let number = self.b.prim(Prim::IAdd, &[*start, k]);
                if let Some(low) = self.lower_bound(*start) {
                    self.lower_bounds.insert(number, low);
                }
                let item = self.item(of, k, span)?;
                Operand::Tuple(vec![(Operand::Scalar(number), span), (item, span)])
            }
            Items::Zip(all) => {
                let mut items = Vec::new();
                for of in all {
                    items.push((self.item(of, k, span)?, span));
                }
                Operand::Tuple(items)
            }
            Items::Reversed(of, n) => {
                let one = self.b.i64(1);
                let last = self.b.prim(Prim::WSub, &[*n, one]);
                let k = self.b.prim(Prim::WSub, &[last, k]);
                self.lower_bounds.insert(k, 0);
                self.item(of, k, span)?
            }
        })
    }

    /// A loop over a tuple of different things: its body once for each.
    fn written_out(
        &mut self,
        target: &Target,
        items: Vec<(Operand, Span)>,
        body: &[Stmt],
        span: Span,
    ) -> Lowered<()> {
        if escapes(body).any() {
            return Err(Diagnostic::new(
                "unsupported-syntax",
                "a loop over a tuple of arrays cannot be left early",
            )
            .label(span, "this loop")
            .help("loop over a range, or over one array with an axis more: `np.stack([...])`"));
        }
        for (item, at) in items {
            self.assign(target, item, at)?;
            self.stmts(&body.iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Finds what the loop carries, and appends it.
    fn looping(&mut self, kind: &Kind, body: &[Stmt], span: Span) -> Lowered<()> {
        let key = (self.scopes.last().map_or(0, |s| s.path), span);
        let mut guess = self.first_guess(kind, body);
        if let Some(known) = self.guesses.get(&key) {
            guess.widen(known.clone());
        }
        let before = self.env.clone();
        let mark = self.b.mark();
        for _ in 0..MAX_ROUNDS {
            let wanted = self.attempt(kind, body, span, &guess)?;
            let mut wider = guess.clone();
            wider.widen(wanted);
            if wider == guess {
                // Storage has other numbers the next time.
                let Guess { scalars, set, split, .. } = guess;
                self.guesses.insert(key, Guess { scalars, set, split, ..Guess::default() });
                if let Kind::For { items, .. } = kind {
                    self.release(items);
                }
                return Ok(());
            }
            guess = wider;
            self.b.rollback(&mark);
            self.env = before.clone();
        }
        Err(Diagnostic::new("too-large", "what this loop carries cannot be found")
            .label(span, "this loop")
            .help("use fewer variables that change their kind or share arrays"))
    }

    /// What the tree says.
    fn first_guess(&self, kind: &Kind, body: &[Stmt]) -> Guess {
        let mut guess = Guess::default();
        let mut names = assigned(body);
        if let Kind::For { target: t, .. } = kind {
            target(t, &mut names);
        }
        let written = likely_written(&body.iter().collect::<Vec<_>>());
        if escapes(body).returns {
            guess.scalars.insert(RETURNED.into(), Elem::Bool);
        }
        for name in names.keys().chain(&written) {
            match self.env.get(name) {
                Some((Binding::Scalar(v), _))
                    if self.env.own(name).is_some() && names.contains_key(name) =>
                {
                    guess.scalars.insert(name.as_str().into(), self.elem(*v));
                }
                Some((Binding::Array(view), _)) => {
                    guess.storage.insert(view.storage);
                }
                _ => {}
            }
        }
        guess
    }

    /// Appends the loop under a guess; gives back what it needs beyond it.
    fn attempt(&mut self, kind: &Kind, body: &[Stmt], span: Span, guess: &Guess) -> Lowered<Guess> {
        let carries = self.prepare(guess, span)?;
        let mut args = Vec::new();
        let counter = match kind {
            Kind::For { target: Target::Name(n), items: Items::Range { by: None, .. }, .. } => {
                Some(Arc::from(n.text.as_str()))
            }
            _ => None,
        };
        let mut params: Vec<(Type, Option<Arc<str>>)> = vec![(Type::I64, counter)];
        for carry in &carries {
            let (v, name) = match carry {
                Carry::Scalar { name, elem, at } => {
                    let v = match self.env.own(name) {
                        Some((Binding::Scalar(v), _)) => *v,
                        _ => unreachable!("scalars are carried"),
                    };
                    let name = Some(name.clone()).filter(|n| !n.contains(' '));
                    (self.convert(v, *elem, *at)?, name)
                }
                Carry::Storage { storage, .. } => (self.env.version(*storage), None),
            };
            let hint = name.or_else(|| self.b.func().name_of(v));
            params.push((self.b.ty(v), hint));
            args.push(v);
        }
        let before = self.env.clone();
        let values = self.b.open_block(&params);
        for ((carry, p), arg) in carries.iter().zip(&values[1..]).zip(&args) {
            match carry {
                Carry::Scalar { name, at, .. } => {
                    // A loop that goes on has not returned.
                    let p = if &**name == RETURNED { self.b.bool(false) } else { *p };
                    self.env.bind(name, Binding::Scalar(p), *at);
                }
                Carry::Storage { storage, slot } => {
                    if !guess.growing.contains(slot) {
                        self.keep_units(*p, *arg);
                    }
                    self.env.set_version(*storage, *p);
                }
            }
        }
        for flag in [BROKEN, CONTINUED] {
            let no = self.b.bool(false);
            self.env.bind(flag, Binding::Scalar(no), span);
        }
        let env = self.env.clone();
        let mut head = Head { env, carries, wanted: Guess::default(), span };
        match kind {
            Kind::For { target, items, at, .. } => {
                let item = self.item(items, values[0], *at)?;
                self.assign(target, item, target.span())?;
            }
            Kind::While(cond) => {
                let goes_on = self.condition(cond)?;
                if self.constant_condition(goes_on) != Some(true) {
                    self.b.at(cond.span);
                    let ends = self.b.prim(Prim::Not, &[goes_on]);
                    self.exit(ends, &[], &mut head, cond.span)?;
                }
            }
        }
        self.loop_body(&body.iter().collect::<Vec<_>>(), &mut head)?;
        let escapes = escapes(body);
        if escapes.breaks || escapes.returns {
            let left = self.left_early();
            if self.constant_condition(left) != Some(false) {
                self.exit(left, &[], &mut head, span)?;
            }
        }
        let yields = self.yields(&mut head)?;
        let block = self.b.close_block(yields);
        let inner = std::mem::replace(&mut self.env, before);
        self.b.at(span);
        let types: Vec<Type> = params[1..].iter().map(|(t, _)| *t).collect();
        let (op, args) = match kind {
            Kind::For { from, to, .. } => (Op::For, [*from, *to].into_iter().chain(args).collect()),
            Kind::While(_) => (Op::While, args),
        };
        let results = self.b.inst(op, args, &types, vec![block]);
        for ((carry, v), p) in head.carries.iter().zip(&results).zip(&values[1..]) {
            match carry {
                Carry::Scalar { name, at, .. } => {
                    if !name.contains(' ') {
                        self.b.name(*v, name);
                    }
                    self.env.bind(name, Binding::Scalar(*v), *at);
                }
                Carry::Storage { storage, .. } => {
                    let old = self.env.version(*storage);
                    if let Some(name) = self.b.func().name_of(old) {
                        self.b.name(*v, &name);
                    }
                    self.keep_units(*v, *p);
                    self.env.set_version(*storage, *v);
                }
            }
        }
        // What only the body sets is there only if the body ran.
        let new: Vec<(Arc<str>, Span)> = inner
            .names()
            .filter(|(n, _)| !n.contains(' ') && self.env.own(n).is_none())
            .map(|(n, (_, at))| (n.clone(), *at))
            .collect();
        for (name, set_at) in new {
            let unset = Unset { reason: UnsetReason::Loop, set_at, by: span };
            self.env.bind(&name, Binding::Maybe(unset), set_at);
        }
        Ok(head.wanted)
    }

    /// Makes the bindings before the loop as the guess has them; gives back what is carried.
    fn prepare(&mut self, guess: &Guess, span: Span) -> Lowered<Vec<Carry>> {
        for (name, unset) in &guess.lost {
            self.env.lose(name, unset.clone());
        }
        let mut storages: Vec<(StorageId, Slot)> =
            guess.storage.iter().map(|s| (*s, Slot::Old(*s))).collect();
        self.b.at(span);
        for (name, ty) in &guess.set {
            let v = self.stand_in(*ty);
            let binding = self.bind_value(v);
            if let Binding::Array(view) = &binding {
                storages.push((view.storage, Slot::New(name.clone())));
            }
            self.env.bind(name, binding, span);
        }
        for name in &guess.split {
            let Some((Binding::Array(view), at)) = self.env.own(name).cloned() else { continue };
            let v = self.read(&view, span);
            let copy = if view.part.is_some() { v } else { self.b.op(Op::Copy, &[v])[0] };
            self.keep_units(copy, v);
            if !name.contains(' ') {
                self.b.name(copy, name);
            }
            let storage = self.env.new_storage(copy);
            self.env.share(storage, view.storage);
            if self.env.is_list(view.storage) {
                self.env.mark_list(storage);
            }
            self.env.bind(name, Binding::Array(View::whole(storage)), at);
            storages.push((storage, Slot::New(name.clone())));
        }
        let find = |slot: &Slot| match slot {
            Slot::Old(s) => Some(*s),
            new => storages.iter().find(|(_, s)| s == new).map(|(id, _)| *id),
        };
        for (a, b) in &guess.shares {
            if let (Some(a), Some(b)) = (find(a), find(b)) {
                self.env.share_pair(a, b);
            }
        }
        let scalars = guess.scalars.iter().filter_map(|(name, elem)| {
            let (binding, at) = self.env.own(name)?;
            let scalar = matches!(binding, Binding::Scalar(_));
            scalar.then(|| Carry::Scalar { name: name.clone(), elem: *elem, at: *at })
        });
        let set = guess.set.iter().filter(|(_, ty)| !ty.is_array());
        let set = set.map(|(name, ty)| Carry::Scalar {
            name: name.clone(),
            elem: ty.elem().unwrap_or(Elem::F64),
            at: span,
        });
        let scalars: Vec<Carry> = scalars.chain(set).collect();
        let storages = storages.into_iter().map(|(storage, slot)| Carry::Storage { storage, slot });
        Ok(scalars.into_iter().chain(storages).collect())
    }

    /// Statements of a loop body. `if c: ...; break` standing directly in it is an exit of the loop.
    fn loop_body(&mut self, body: &[&Stmt], head: &mut Head) -> Lowered<()> {
        for (k, stmt) in body.iter().enumerate() {
            if let StmtKind::If { cond, then, otherwise } = &stmt.kind
                && let Some(work) = exit_work(then)
            {
                let c = self.condition(cond)?;
                self.exit(c, work, head, stmt.span)?;
                // Past the exit the condition is false.
                let rest: Vec<&Stmt> =
                    otherwise.iter().chain(body[k + 1..].iter().copied()).collect();
                return self.loop_body(&rest, head);
            }
            if escapes_of(stmt).any() {
                return self.stmts(&body[k..]);
            }
            self.stmts(&[stmt])?;
        }
        Ok(())
    }

    /// `exit_if`, after some last work.
    fn exit(&mut self, cond: Value, work: &[Stmt], head: &mut Head, span: Span) -> Lowered<()> {
        let before = self.env.clone();
        self.b.open_block(&[]);
        self.stmts(&work.iter().collect::<Vec<_>>())?;
        let yields = self.yields(head)?;
        let block = self.b.close_block(yields);
        self.env = before;
        self.b.at(span);
        self.b.inst(Op::ExitIf, vec![cond], &[], vec![block]);
        Ok(())
    }

    fn left_early(&mut self) -> Value {
        let mut flags = [BROKEN, RETURNED].map(|flag| match self.env.own(flag) {
            Some((Binding::Scalar(v), _)) => Some(*v),
            _ => None,
        });
        let no = self.b.bool(false);
        let (a, b) = (flags[0].take().unwrap_or(no), flags[1].take().unwrap_or(no));
        self.b.prim(Prim::Or, &[a, b])
    }

    /// The values of the carries where an iteration or the loop ends, and what the guess lacks.
    fn yields(&mut self, head: &mut Head) -> Lowered<Vec<Value>> {
        self.compare_scalars(head);
        let targets = self.compare_arrays(head);
        let carries = head.carries.clone();
        let slots = Slots::new(&carries, &targets);
        let mut taken = BTreeSet::new();
        let mut yields = Vec::new();
        for carry in &carries {
            let v = match carry {
                Carry::Scalar { name, elem, at } => {
                    let v = match self.env.own(name) {
                        Some((Binding::Scalar(v), _)) => *v,
                        // It is lost in the next round.
                        _ => self.zero(*elem),
                    };
                    let joined = join_elem(*elem, self.elem(v));
                    if joined == *elem {
                        self.convert(v, *elem, *at)?
                    } else {
                        head.wanted.scalars.insert(name.clone(), joined);
                        v
                    }
                }
                Carry::Storage { storage, slot } => {
                    let view = &targets[storage];
                    self.yield_storage(head, *storage, slot, view, &slots, &mut taken)?
                }
            };
            yields.push(v);
        }
        for (a, b) in self.env.shares().clone() {
            for x in slots.of(a, head) {
                for y in slots.of(b, head) {
                    head.want_share(&carries, x, y);
                }
            }
        }
        Ok(yields)
    }

    fn yield_storage(
        &mut self,
        head: &mut Head,
        storage: StorageId,
        slot: &Slot,
        view: &View,
        slots: &Slots,
        taken: &mut BTreeSet<StorageId>,
    ) -> Lowered<Value> {
        let own = self.b.ty(head.env.version(storage));
        let ty = self.type_of(view);
        let carries = head.carries.clone();
        if ty != own {
            // Another kind of array after an iteration: its names cannot be used.
            let reason = UnsetReason::Kind;
            for (depth, name, at) in head.env.names_of(storage) {
                let unset = Unset { reason: reason.clone(), set_at: at, by: head.span };
                head.wanted.lost.insert((depth, name), unset);
            }
            return Ok(self.stand_in(own));
        }
        let inside = slots.carries(view.storage)
            || self.env.made_since(view.storage, head.env.storage_count());
        let v = if view.part.is_none() && inside && taken.insert(view.storage) {
            self.env.version(view.storage)
        } else {
            let v = self.read(view, head.span);
            let copy = if view.part.is_some() { v } else { self.b.op(Op::Copy, &[v])[0] };
            self.keep_units(copy, v);
            for other in slots.of(view.storage, head) {
                head.want_share(&carries, storage, other);
            }
            copy
        };
        let units = self.units_of(head.env.version(storage));
        if units & !self.units_of(v) != 0 {
            head.wanted.growing.insert(slot.clone());
        }
        Ok(v)
    }

    /// Variables that are not arrays, before and after an iteration.
    fn compare_scalars(&mut self, head: &mut Head) {
        let depth = self.env.depth() - 1;
        let all: Vec<(usize, Arc<str>, Binding, Span)> =
            head.env.all_names().map(|(d, n, (b, at))| (d, n.clone(), b.clone(), *at)).collect();
        for (d, name, old, at) in all {
            let now = self.env.at_depth(d, &name).map(|(b, _)| b.clone());
            let lost = |reason| Unset { reason, set_at: at, by: head.span };
            match (old, now) {
                (old, Some(now)) if old == now => {}
                (Binding::Maybe(_), _) => {}
                (_, Some(Binding::Maybe(unset))) => {
                    head.wanted.lost.insert((d, name), unset);
                }
                (Binding::Scalar(v), Some(Binding::Scalar(w))) => {
                    if [BROKEN, CONTINUED].contains(&&*name) {
                        continue;
                    }
                    let known = head
                        .carries
                        .iter()
                        .any(|c| matches!(c, Carry::Scalar { name: n, .. } if *n == name));
                    if d == depth && !known {
                        let elem = join_elem(self.elem(v), self.elem(w));
                        head.wanted.scalars.insert(name, elem);
                    }
                }
                (Binding::Array(_), Some(Binding::Array(_))) => {}
                _ => {
                    head.wanted.lost.insert((d, name), lost(UnsetReason::Kind));
                }
            }
        }
        // Returned values, which the code after the loop looks at.
        let set: Vec<(Arc<str>, Type)> = self
            .env
            .names()
            .filter(|(n, _)| n.starts_with("returned value") && head.env.own(n).is_none())
            .filter_map(|(n, (b, _))| match b {
                Binding::Scalar(v) => Some((n.clone(), self.b.ty(*v))),
                Binding::Array(view) => Some((n.clone(), self.type_of(view))),
                _ => None,
            })
            .collect();
        for (name, ty) in set {
            let known = head.wanted.set.entry(name).or_insert(ty);
            if !known.is_array() && !ty.is_array() {
                let elem =
                    join_elem(known.elem().unwrap_or(Elem::F64), ty.elem().unwrap_or(Elem::F64));
                *known = elem.scalar();
            }
        }
    }

    /// Arrays, before and after an iteration: what each carried storage holds for the next one.
    fn compare_arrays(&mut self, head: &mut Head) -> BTreeMap<StorageId, View> {
        let depth = self.env.depth() - 1;
        let mut targets = BTreeMap::new();
        let carried: Vec<StorageId> = head
            .carries
            .iter()
            .filter_map(|c| match c {
                Carry::Storage { storage, .. } => Some(*storage),
                Carry::Scalar { .. } => None,
            })
            .collect();
        for s in head.env.all_storage().filter(|s| !carried.contains(s)) {
            let rebound = head.env.names_of(s).into_iter().any(|(d, name, _)| {
                let old = head.env.at_depth(d, &name).map(|(b, _)| b);
                match self.env.at_depth(d, &name).map(|(b, _)| b) {
                    Some(now @ Binding::Array(_)) => Some(now) != old,
                    _ => false,
                }
            });
            if rebound || self.env.version(s) != head.env.version(s) {
                head.wanted.storage.insert(s);
            }
        }
        for s in carried {
            let whole = View::whole(s);
            // Where each of its names points now; all of it where the name still means what it meant.
            let mut now: Vec<(usize, Arc<str>, View)> = Vec::new();
            for (d, name, _) in head.env.names_of(s) {
                let Some((Binding::Array(old), _)) = head.env.at_depth(d, &name) else { continue };
                let Some((Binding::Array(new), _)) = self.env.at_depth(d, &name) else { continue };
                if old == new {
                    now.push((d, name, whole.clone()));
                } else if old.part.is_some() {
                    head.wanted.split.insert(name);
                } else {
                    now.push((d, name, new.clone()));
                }
            }
            let target = match now.first() {
                None => whole.clone(),
                Some((_, _, first)) if now.iter().all(|(_, _, v)| v == first) => first.clone(),
                Some(_) => {
                    // They part ways: those that moved get storage of their own, save one if all did.
                    let stays = now.iter().any(|(_, _, v)| *v == whole);
                    let moved = now.iter().filter(|(d, _, v)| *v != whole && *d == depth);
                    for (_, name, _) in moved.skip(usize::from(!stays)) {
                        head.wanted.split.insert(name.clone());
                    }
                    whole.clone()
                }
            };
            targets.insert(s, target);
        }
        targets
    }
}

/// Which carried storage holds what after an iteration.
struct Slots {
    holds: Vec<(StorageId, StorageId)>,
}

impl Slots {
    fn new(carries: &[Carry], targets: &BTreeMap<StorageId, View>) -> Slots {
        let storages = carries.iter().filter_map(|c| match c {
            Carry::Storage { storage, .. } => Some(*storage),
            Carry::Scalar { .. } => None,
        });
        Slots { holds: storages.map(|s| (s, targets[&s].storage)).collect() }
    }

    fn carries(&self, storage: StorageId) -> bool {
        self.holds.iter().any(|(s, _)| *s == storage)
    }

    /// Where the contents of a piece of storage are found in the next iteration.
    fn of(&self, storage: StorageId, head: &Head) -> Vec<StorageId> {
        let held = self.holds.iter().filter(|(_, t)| *t == storage).map(|(s, _)| *s);
        let old = !self.carries(storage) && !head.env.made_since(storage, head.env.storage_count());
        held.chain(old.then_some(storage)).collect()
    }
}

impl Head {
    fn want_share(&mut self, carries: &[Carry], a: StorageId, b: StorageId) {
        if a == b || self.env.shares().contains(&(a.min(b), a.max(b))) {
            return;
        }
        let slot = |s: StorageId| {
            let found = carries.iter().find_map(|c| match c {
                Carry::Storage { storage, slot } if *storage == s => Some(slot.clone()),
                _ => None,
            });
            found.unwrap_or(Slot::Old(s))
        };
        self.wanted.shares.insert((slot(a), slot(b)));
    }
}

impl Guess {
    /// Takes in another guess.
    fn widen(&mut self, other: Guess) {
        for (name, elem) in other.scalars {
            let known = self.scalars.entry(name).or_insert(elem);
            *known = join_elem(*known, elem);
        }
        for (name, ty) in other.set {
            let known = self.set.entry(name).or_insert(ty);
            if let (Some(a), Some(b), false) = (known.elem(), ty.elem(), known.is_array()) {
                *known = join_elem(a, b).scalar();
            }
        }
        self.storage.extend(other.storage);
        self.split.extend(other.split);
        for (name, unset) in other.lost {
            self.lost.entry(name).or_insert(unset);
        }
        self.shares.extend(other.shares);
        self.growing.extend(other.growing);
    }
}

/// A loop over an array that may or may not be one that has been written.
fn out_of_date(unset: &Unset, span: Span) -> Diagnostic {
    let other = match &unset.reason {
        UnsetReason::Stale(other) => format!("`{other}`"),
        _ => "another array".into(),
    };
    let message = format!("what this loop goes over and {other} may be the same array");
    Diagnostic::new("ambiguous-alias", message)
        .label(span, "the loop goes over this")
        .label(unset.by, "written here, perhaps")
        .help("loop over a copy: `np.copy(...)`")
}

/// The work before leaving, where a branch does some and then leaves the loop, and does not leave in
/// any other way.
fn exit_work(then: &[Stmt]) -> Option<&[Stmt]> {
    let (last, work) = then.split_last()?;
    let clean = |stmts: &[Stmt]| !stmts.iter().any(|s| escapes_of(s).any());
    match last.kind {
        StmtKind::Break if clean(work) => Some(work),
        // The return itself is part of the work: it sets the hidden variables.
        StmtKind::Return { .. } if clean(work) && diverges([last]) => Some(then),
        _ => None,
    }
}
