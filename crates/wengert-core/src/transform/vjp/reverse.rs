//! The reversing program: walks a function backwards, accumulating adjoints.
//!
//! The same walk runs twice. The first, *dry* run records which primal values and facts each rule
//! asks for and where (the `needs`); `remat` then decides what to save, recompute and restore; the
//! second run emits the program. So there is no second list of what reverse rules need.
//!
//! While the walk stands at a position, `held` maps array versions to the storage that has been
//! taken back to that version, and `adjoint` maps active values to what has been accumulated so
//! far. Loops are in `reverse_loop`.

use super::Outlined;
use super::adjoints::Adjoints;
use super::layout::{End, Layout, Slot, Told};
use super::nest::{BlockId, Nest, takes_over};
use crate::ir::{Block, Builder, Elem, Func, Inst, LoopPlan, Module, Op, Type, Value};
use crate::ops::{Class, Partial, Prim};
use crate::transform::activity::Activity;
use crate::transform::copy::Copier;
use crate::transform::emit::{accumulate, partials};
use crate::transform::when::When;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

/// A primal value the reverse sweep asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub(super) value: Value,
    /// The block whose reverse asks.
    pub(super) block: BlockId,
    /// Where in the block that defines the value the sweep stands at that time.
    pub(super) position: usize,
}

/// Everything the reverse sweep asks for.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) needs: Vec<Need>,
    pub(super) slots: HashSet<Slot>,
}

/// What is known at one point of the reverse program.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Primal values at hand.
    pub(super) primal: HashMap<Value, Value>,
    /// Adjoints accumulated so far.
    pub(super) adjoint: Adjoints,
    /// Storage that holds an array version.
    pub(super) held: HashMap<Value, Value>,
    /// Fields popped that are not values of the program.
    pub(super) slots: HashMap<Slot, Value>,
}

/// Values a block's reverse uses that are defined outside it, per block.
pub(super) type Preload = HashMap<BlockId, BTreeSet<Value>>;

pub(super) struct Reverse<'a> {
    /// Where rules are found.
    pub(super) module: &'a Module,
    pub(super) nest: &'a Nest<'a>,
    pub(super) activity: &'a Activity,
    pub(super) layout: &'a Layout,
    pub(super) preload: &'a Preload,
    /// Set in the dry run.
    pub(super) asked: Option<Asked>,
    pub(super) b: Builder,
    pub(super) tape: Value,
    pub(super) scope: Scope,
    /// Where the walk stands: a position in each block from the function's body inwards.
    pub(super) path: Vec<(BlockId, usize)>,
    /// The loops that become functions.
    pub(super) outlined: Outlined<'a>,
    /// With each, which of its parameters are adjoints.
    pub(super) funcs: Vec<(Func, Range<usize>)>,
    pub(super) plans: Vec<LoopPlan>,
    /// What loops had better tell: see [`Layout::told`].
    pub(super) told: Told,
    /// Loops, by their counters, that stay where they are: their records are not always reversed.
    pub(super) whole: HashSet<Value>,
}

impl<'a> Reverse<'a> {
    /// Reverses a whole function: `(parameters that are read again.., adjoints of float results.., tape) ->
    /// (adjoints of wrt.., tape)`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn function(
        module: &'a Module,
        nest: &'a Nest<'a>,
        activity: &'a Activity,
        layout: &'a Layout,
        preload: &'a Preload,
        outlined: Outlined<'a>,
        wrt: &[Value],
        dry: bool,
    ) -> Reversed {
        let func = nest.func;
        let results: Vec<Value> =
            func.body.yields.iter().copied().filter(|y| func.ty(*y).has_adjoint()).collect();
        let given = layout.given.iter().copied();
        let given_count = given.len();
        let mut params: Vec<(Type, Option<Arc<str>>)> =
            given.clone().map(|p| (func.ty(p), func.name_of(p))).collect();
        params.extend(results.iter().map(|y| (func.ty(*y), bar(func, *y))));
        params.push((Type::Tape, None));
        let (b, mut values) = Builder::new(format!("{}.reverse", func.name), &params);
        let held: Vec<Value> = values.drain(..given.len()).collect();
        let mut reverse = Reverse {
            module,
            nest,
            activity,
            layout,
            preload,
            asked: dry.then(Asked::default),
            b,
            tape: values[results.len()],
            scope: Scope::default(),
            path: vec![(0, func.body.insts.len())],
            outlined,
            funcs: Vec::new(),
            plans: Vec::new(),
            told: Told::default(),
            whole: HashSet::default(),
        };
        reverse.scope.held.extend(given.zip(held));
        reverse.pop_record(0, End::Block);
        for (y, seed) in results.iter().zip(values) {
            reverse.contribute(*y, seed);
        }
        reverse.insts(0, func.body.insts.len());
        let mut out: Vec<Value> = wrt.iter().map(|p| reverse.adjoint_or_zero(*p)).collect();
        out.push(reverse.tape);
        let bars = given_count..given_count + results.len();
        reverse.funcs.push((reverse.b.finish(out), bars));
        let Reverse { asked, funcs, plans, told, whole, .. } = reverse;
        Reversed { asked, funcs, plans, told, whole }
    }

    /// A primal value, as the reverse program has it.
    pub(super) fn get(&mut self, v: Value) -> Value {
        if let Some(c) = self.nest.func.as_const(v) {
            return self.b.constant(c);
        }
        if let Some(asked) = &mut self.asked {
            let block = self.path.last().map_or(0, |p| p.0);
            let home = self.nest.block_of(v);
            let position = self.path.iter().find(|(b, _)| Some(*b) == home).map_or(0, |p| p.1);
            asked.needs.push(Need { value: v, block, position });
            return self.stand_in(self.nest.func.ty(v));
        }
        if let Some(at_hand) = self.scope.primal.get(&v) {
            return *at_hand;
        }
        let Some(inst) = self.nest.inst_of(v).filter(|_| self.layout.recomputed.contains(&v))
        else {
            panic!("the layout leaves out {v:?} of @{}", self.nest.func.name);
        };
        self.recompute(inst);
        self.scope.primal[&v]
    }

    /// Something of this type, for the dry run.
    pub(super) fn stand_in(&mut self, ty: Type) -> Value {
        let zero = match ty.elem() {
            Some(Elem::I64) => self.b.i64(0),
            Some(Elem::Bool) => self.b.bool(false),
            Some(Elem::F32) => self.b.float(Elem::F32, 0.0),
            _ => self.b.f64(0.0),
        };
        let none = self.b.i64(0);
        self.b.filled(&vec![none; ty.rank()], zero)
    }

    /// Executes an instruction of the program again.
    fn recompute(&mut self, inst: &Inst) {
        let span = self.b.span();
        let mut map: HashMap<Value, Value> = HashMap::default();
        if inst.op == Op::Load {
            map.insert(inst.args[0], self.scope.held[&inst.args[0]]);
        }
        let mut wanted = inst.args.clone();
        wanted.extend(inst.blocks.iter().flat_map(|b| b.captures(self.nest.func)));
        for a in wanted {
            if let Entry::Vacant(entry) = map.entry(a) {
                entry.insert(self.at_hand(a));
            }
        }
        let mut copier = Copier::with(map);
        let func = self.nest.func;
        copier.inst_with(func, &mut self.b, inst, &mut |copier, b, inst| {
            // It did not overflow the first time.
            let unchecked = match inst.op {
                Op::Prim(Prim::IAdd) => Prim::WAdd,
                Op::Prim(Prim::ISub) => Prim::WSub,
                Op::Prim(Prim::IMul) => Prim::WMul,
                _ => return false,
            };
            let args = copier.all(func, b, &inst.args);
            copier.bind(inst.results[0], b.prim(unchecked, &args));
            true
        });
        for r in &inst.results {
            self.scope.primal.insert(*r, copier.get(self.nest.func, &mut self.b, *r));
        }
        self.b.at(span);
    }

    /// A recorded fact about the run.
    pub(super) fn ask(&mut self, slot: Slot) -> Value {
        if let Some(asked) = &mut self.asked {
            asked.slots.insert(slot);
            return self.placeholder(slot.ty(self.nest));
        }
        self.scope.slots[&slot]
    }

    /// Something of this type, for the dry run (whose code is not kept).
    fn placeholder(&mut self, ty: Type) -> Value {
        match ty.elem() {
            Some(Elem::I64) => self.b.i64(0),
            Some(Elem::Bool) => self.b.bool(false),
            elem => self.b.float(elem.unwrap_or(Elem::F64), 0.0),
        }
    }

    /// Pops the record of a block and binds its fields.
    pub(super) fn pop_record(&mut self, id: BlockId, end: End) {
        let slots = self.layout.slots(self.nest, id, end);
        let types: Vec<Type> = slots.iter().map(|s| s.ty(self.nest)).collect();
        let (tape, values) = self.b.pop(self.tape, &types);
        self.tape = tape;
        for (slot, popped) in slots.into_iter().zip(values) {
            match slot {
                Slot::Value(v) | Slot::Snapshot(v) => {
                    if let Some(name) = self.nest.func.name_of(v) {
                        self.b.name(popped, &name);
                    }
                    self.scope.primal.insert(v, popped);
                }
                Slot::Held(v) => {
                    self.scope.held.insert(v, popped);
                }
                other => {
                    self.scope.slots.insert(other, popped);
                }
            }
        }
    }

    /// Brings what a nested block uses from outside to hand, before the block is opened.
    pub(super) fn bring(&mut self, id: BlockId) {
        if let Some(values) = self.preload.get(&id) {
            for v in values {
                self.get(*v);
            }
        }
    }

    /// Adds to the adjoint of a value.
    pub(super) fn contribute(&mut self, v: Value, d: Value) {
        self.contribute_where(v, d, When::Always);
    }

    /// The same, where that has a part in the results in these cases.
    pub(super) fn contribute_where(&mut self, v: Value, d: Value, when: When) {
        self.add(v, Partial::Const(1.0), d, false, when);
    }

    /// The same, times a partial, where the result has a part in these cases; `d` may serve again.
    pub(super) fn contribute_partial(
        &mut self,
        v: Value,
        partial: Partial<Value>,
        d: Value,
        when: When,
    ) {
        self.add(v, partial, d, true, when);
    }

    fn add(&mut self, v: Value, partial: Partial<Value>, d: Value, shared: bool, when: When) {
        if !self.activity.is_active(v) {
            return;
        }
        let spread = self.b.ty(d).is_array() && !self.nest.func.ty(v).is_array();
        let when = if spread { When::Always } else { when };
        let when = self.scope.adjoint.when(v).or(&mut self.b, when);
        let (partial, d) = self.gathered(v, partial, d);
        // A tape is handed on once: what comes back is all there is.
        let of_tape = self.nest.func.ty(v) == Type::Tape;
        let sum = self.scope.adjoint.get(v).filter(|_| !of_tape);
        let mut total = accumulate(&mut self.b, partial, d, sum);
        if total == d && self.b.ty(d).is_array() && shared {
            // An array belongs to one value.
            total = self.b.op(Op::Copy, &[d])[0];
        }
        if let Some(name) = bar(self.nest.func, v) {
            self.b.name(total, &name);
        }
        self.scope.adjoint.set_when(v, total, when);
    }

    /// The adjoint of a value, zeros where nothing reached it.
    pub(super) fn adjoint_or_zero(&mut self, v: Value) -> Value {
        if let Some(bar) = self.scope.adjoint.get(v) {
            return bar;
        }
        let ty = self.nest.func.ty(v);
        if ty == Type::Tape {
            return self.b.op(Op::Tape, &[])[0];
        }
        let zero = self.b.zero(ty);
        let dims = self.dims(v);
        self.b.filled(&dims, zero)
    }

    /// Reverses the instructions of a block before `upto`; exits are the loop's business.
    pub(super) fn insts(&mut self, id: BlockId, upto: usize) {
        let block: &Block = self.nest.blocks[id].block;
        for at in (0..upto).rev() {
            if let Some(here) = self.path.last_mut() {
                here.1 = at;
            }
            let inst = &block.insts[at];
            self.b.at(inst.span);
            match &inst.op {
                Op::Prim(prim) => self.prim(*prim, inst),
                Op::Load => self.load(inst),
                Op::Store => self.store(inst),
                Op::Fill => self.fill(inst),
                Op::Copy => self.copy(inst),
                Op::Array(op) => self.array_op(op, inst),
                Op::Call(name) if self.activity.is_active_inst(inst) => self.call(name, inst),
                Op::Push => self.push(inst),
                Op::Pop => self.pop(inst),
                Op::Tape => {
                    self.scope.adjoint.take(inst.results[0]);
                }
                Op::If if self.activity.is_active_inst(inst) => self.branch(id, at),
                Op::For | Op::While if self.activity.is_active_inst(inst) => self.looping(inst),
                // Without a derivative, or refused before the walk.
                _ => {}
            }
        }
    }

    fn prim(&mut self, prim: Prim, inst: &Inst) {
        let Some((d, when)) = self.scope.adjoint.take_when(inst.results[0]) else { return };
        let active: Vec<bool> = inst.args.iter().map(|a| self.activity.is_active(*a)).collect();
        match prim.class() {
            Class::Select => {
                let c = self.at_hand(inst.args[0]);
                let zero = self.b.zero(self.b.ty(d));
                let lasts = self.stays_at_hand(inst.args[0]);
                for (k, (a, b)) in [(1, (d, zero)), (2, (zero, d))] {
                    if active[k] {
                        let part = self.b.select(c, a, b);
                        let when = if lasts { when.and(&mut self.b, c, k == 1) } else { when };
                        self.add(inst.args[k], Partial::Const(1.0), part, false, when);
                    }
                }
                return;
            }
            Class::Cast => {
                if let (true, Some(back)) = (active[0], prim.cast_back()) {
                    let part = self.b.prim(back, &[d]);
                    self.add(inst.args[0], Partial::Const(1.0), part, false, when);
                }
                return;
            }
            _ => {}
        }
        // Only what the partials by active inputs mention is brought to hand; what is a companion of their own, is all
        // that they mention.
        let companion = self.nest.companion(inst, &self.path);
        let companion = companion.map(|(prim, v)| (prim, self.at_hand(v)));
        let needed = (0..active.len()).filter(|k| active[*k] && companion.is_none());
        let uses: Vec<_> = needed.map(|k| prim.needs(k)).collect();
        let mut inputs = Vec::new();
        for (k, a) in inst.args.iter().enumerate() {
            let used = uses.iter().any(|u| u.has_input(k));
            inputs.push(if used { self.at_hand(*a) } else { self.unused(*a) });
        }
        let needs_output = uses.iter().any(|u| u.has_output());
        let result = inst.results[0];
        let y = if needs_output { self.at_hand(result) } else { self.unused(result) };
        let partials = partials(&mut self.b, prim, &inputs, y, companion);
        for (k, partial) in partials.into_iter().enumerate() {
            if active[k] {
                let partial = when.factor(&mut self.b, partial);
                let when = when.through(&mut self.b, partial);
                self.contribute_partial(inst.args[k], partial, d, when);
            }
        }
    }

    /// Whether what [`Reverse::at_hand`] gives for a value is its value for the rest of the walk: storage that is
    /// taken back further holds something else later.
    fn stays_at_hand(&self, v: Value) -> bool {
        let made = self.nest.inst_of(v).is_some_and(|inst| matches!(inst.op, Op::Prim(_)));
        made || !self.layout.restores(self.nest, v)
    }

    /// A number in the place of an input that no partial mentions.
    fn unused(&mut self, v: Value) -> Value {
        let elem = self.nest.func.ty(v).elem().unwrap_or(Elem::F64);
        self.stand_in(elem.scalar())
    }

    /// Takes over the storage that holds a version.
    pub(super) fn held(&mut self, v: Value) -> Value {
        match self.scope.held.remove(&v) {
            Some(held) => held,
            None => panic!("nothing holds {v:?} of @{}", self.nest.func.name),
        }
    }

    pub(super) fn get_all(&mut self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|v| self.get(*v)).collect()
    }

    fn branch(&mut self, id: BlockId, at: usize) {
        let inst = &self.nest.blocks[id].block.insts[at];
        let condition = self.get(inst.args[0]);
        let seeds: Vec<Option<(Value, When)>> =
            inst.results.iter().map(|r| self.scope.adjoint.take_when(*r)).collect();
        let restored: Vec<bool> =
            inst.results.iter().map(|r| self.layout.restores(self.nest, *r)).collect();
        let held: Vec<Option<Value>> = inst
            .results
            .iter()
            .zip(&restored)
            .map(|(r, restored)| restored.then(|| self.held(*r)))
            .collect();
        let taken = self.layout.taken_by_branches(self.nest, id, at);
        let captured = self.active_captures(&inst.blocks);
        // Adjoints the branches add to exist before them. That of an array a branch takes over starts in
        // the branches: nothing after them has a part in it.
        let ends = |v: &Value| self.nest.func.ty(*v) == Type::Tape || takes_over(inst, *v);
        let stay: Vec<Value> = captured.iter().copied().filter(|v| !ends(v)).collect();
        for v in &stay {
            let bar = self.adjoint_or_zero(*v);
            let when = self.scope.adjoint.when(*v);
            self.scope.adjoint.set_when(*v, bar, when);
        }
        // In which cases each branch adds to them.
        let mut adds: Vec<[When; 2]> = vec![[When::Never; 2]; captured.len()];
        for block in &inst.blocks {
            self.bring(self.nest.id(block));
        }
        let outer_tape = self.tape;
        let mut blocks = Vec::new();
        let mut types: Vec<Type> = captured.iter().map(|v| self.nest.func.ty(*v)).collect();
        types.extend(taken.iter().map(|v| self.nest.func.ty(*v)));
        types.push(Type::Tape);
        for (side, block) in inst.blocks.iter().enumerate() {
            let outer = self.scope.clone();
            let inner = self.nest.id(block);
            self.b.open_block(&[]);
            self.tape = outer_tape;
            self.path.push((inner, block.insts.len()));
            for (k, y) in block.yields.iter().enumerate() {
                if let Some((seed, when)) = seeds[k] {
                    self.add(*y, Partial::Const(1.0), seed, false, when);
                }
                if let Some(held) = held[k] {
                    self.scope.held.insert(*y, held);
                }
            }
            self.pop_record(inner, End::Block);
            self.insts(inner, block.insts.len());
            self.path.pop();
            let mut yields: Vec<Value> =
                captured.iter().map(|v| self.adjoint_or_zero(*v)).collect();
            for v in &taken {
                yields.push(self.held(*v));
            }
            yields.push(self.tape);
            for (v, adds) in captured.iter().zip(&mut adds) {
                if self.scope.adjoint.get(*v) != outer.adjoint.get(*v) {
                    adds[side] = self.scope.adjoint.when(*v);
                }
            }
            blocks.push(self.b.close_block(yields));
            self.scope = outer;
        }
        // Where cases within the branches matter, the branches give truth values that tell.
        let told: Vec<bool> = adds.iter().map(|adds| self.is_told(adds)).collect();
        for (side, block) in blocks.iter_mut().enumerate() {
            let mut yields = std::mem::take(&mut block.yields);
            self.b.reopen_block(std::mem::take(block));
            for (adds, _) in adds.iter().zip(&told).filter(|(_, told)| **told) {
                yields.push(adds[side].truth(&mut self.b));
            }
            *block = self.b.close_block(yields);
        }
        types.extend(told.iter().filter(|told| **told).map(|_| Type::Bool));
        self.b.at(inst.span);
        let results = self.b.inst(Op::If, vec![condition], &types, blocks);
        let (results, mut truths) = results.split_at(captured.len() + taken.len() + 1);
        let mut results = results.iter().copied();
        for ((v, adds), told) in captured.iter().zip(adds).zip(told) {
            let mut when = self.scope.adjoint.when(*v);
            if let (true, [truth, rest @ ..]) = (told, truths) {
                when = when.or(&mut self.b, When::Is(*truth, true));
                truths = rest;
            } else {
                for side in (0..2).filter(|side| adds[*side] != When::Never) {
                    when = when.or(&mut self.b, When::Is(condition, side == 0));
                }
            }
            let bar = results.next().unwrap_or(outer_tape);
            self.scope.adjoint.set_when(*v, bar, when);
        }
        for v in &taken {
            self.scope.held.extend(results.next().map(|r| (*v, r)));
        }
        self.tape = results.next().unwrap_or(outer_tape);
    }

    /// Whether cases within branches are told one by one: where they are no arrays of truth values.
    fn is_told(&self, adds: &[When; 2]) -> bool {
        let conditions = adds.iter().filter_map(|when| match when {
            When::Is(c, _) => Some(self.b.ty(*c)),
            _ => None,
        });
        let conditions: Vec<Type> = conditions.collect();
        !conditions.is_empty() && conditions.iter().all(|ty| ty.is_scalar())
    }

    /// Active values that blocks use from outside.
    pub(super) fn active_captures(&self, blocks: &[Block]) -> Vec<Value> {
        let mut captured = Vec::new();
        for block in blocks {
            for v in block.captures(self.nest.func) {
                if self.activity.is_active(v) && !captured.contains(&v) {
                    captured.push(v);
                }
            }
        }
        captured
    }
}

/// What a walk leaves behind.
pub(super) struct Reversed {
    pub(super) asked: Option<Asked>,
    /// With each, which of its parameters are adjoints.
    pub(super) funcs: Vec<(Func, Range<usize>)>,
    pub(super) plans: Vec<LoopPlan>,
    pub(super) told: Told,
    pub(super) whole: HashSet<Value>,
}

/// The name of the adjoint of a value: `h` becomes `h_bar`.
pub(super) fn bar(func: &Func, v: Value) -> Option<Arc<str>> {
    func.name_of(v).map(|n| format!("{n}_bar").into())
}
