//! Reversing loops.
//!
//! The state of a reverse loop is, in this order: adjoints of the active carries, adjoints of the
//! active values it captures, truth values that tell of some of these whether any iteration had a use for
//! them, storage of carried arrays that is taken back step by step, carry-outs
//! that serve as primal values, and the tape. First the iteration that an exit cut short is
//! reversed (if there was one), then the full ones from last to first. Where everything that an inner loop makes has been
//! left aside, its records are dropped instead.
//!
//! A loop over chunks ([`super::chunks`]) has no adjoints in its state that chunks share: those of captured values,
//! and the truth values, are arrays with an element for each chunk, which are summed up after the loop.
//!
//! An outermost loop, and one over chunks, becomes a function over a range of iterations, called through the plan driver.

use super::adjoints::Adjoints;
use super::inner;
use super::layout::{End, Slot, needs_exit_slot};
use super::nest::{BlockId, carried, exits};
use super::reverse::{Reverse, Scope, bar};
use crate::ir::{Block, Builder, Inst, LoopPlan, Numbering, Op, Phase, Type, Value};
use crate::ops::{ArrayOp, Partial, Prim};
use crate::span::Span;
use crate::transform::emit::accumulate;
use crate::transform::when::When;
use std::sync::Arc;

/// What a reverse loop works on.
struct Shape<'f> {
    inst: &'f Inst,
    body: BlockId,
    /// Carries with an adjoint.
    active: Vec<usize>,
    /// Captured values with an adjoint.
    captured: Vec<Value>,
    /// Whether it is a loop over chunks.
    in_chunks: bool,
    /// Of one over chunks: which captured values have adjoints that several chunks add to. In their place the state
    /// has arrays with one sum per chunk.
    summed: Vec<bool>,
    /// Those of which it tells whether an iteration had a use for them.
    told: Vec<usize>,
    /// Carried arrays that are restored.
    held: Vec<usize>,
    /// Joined carries: parameter and carry-out.
    joined: Vec<(Value, Value)>,
    /// Captured arrays that are read again.
    read: Vec<Value>,
    /// Primal values used from outside.
    preload: Vec<Value>,
}

/// In which cases a piece of the reverse loop adds to the captured values.
struct Touched {
    /// Each iteration that an exit cut short.
    cut: Vec<Vec<When>>,
    /// A full one.
    full: Vec<When>,
}

impl Shape<'_> {
    /// The carries whose last values the state ends with: restored arrays, then carry-outs.
    fn finals(&self) -> Vec<usize> {
        let carry = |p: &Value| self.inst.blocks[0].params.iter().position(|q| q == p);
        let joined = self.joined.iter().filter_map(|(p, _)| carry(p)).map(|k| k - 1);
        self.held.iter().copied().chain(joined).collect()
    }
}

impl Reverse<'_> {
    fn shape<'f>(&self, inst: &'f Inst) -> Shape<'f> {
        let block = &inst.blocks[0];
        let body = self.nest.id(block);
        let carries = &block.params[1..];
        let restored = |v: &Value| self.layout.restores(self.nest, *v);
        let captured = self.active_captures(&inst.blocks);
        let told = |k: &usize| self.layout.told.contains(&(block.params[0], captured[*k]));
        let chunks = self.outlined.chunks.iter().find(|c| c.counter == block.params[0]);
        let shared = |v: &Value| chunks.is_some_and(|chunks| !chunks.own.contains(v));
        Shape {
            inst,
            body,
            active: (0..carries.len()).filter(|k| self.activity.is_active(carries[*k])).collect(),
            told: (0..captured.len()).filter(told).collect(),
            in_chunks: chunks.is_some(),
            summed: captured.iter().map(shared).collect(),
            captured,
            held: (0..carries.len()).filter(|k| restored(&carries[*k])).collect(),
            joined: self.layout.joined_outs(self.nest, body),
            read: block.captures(self.nest.func).into_iter().filter(restored).collect(),
            preload: self.preload.get(&body).into_iter().flatten().copied().collect(),
        }
    }

    pub(super) fn looping(&mut self, inst: &Inst) {
        let shape = self.shape(inst);
        let counter = inst.blocks[0].params[0];
        let results = &inst.results;

        // The range of full iterations, and how the loop ended.
        let from = if inst.op == Op::For { self.get(inst.args[0]) } else { self.b.i64(0) };
        let exits = exits(inst);
        let to = if inst.op == Op::While && exits.is_empty() {
            // It never ends, so this is never reached.
            from
        } else if exits.is_empty() {
            let hi = self.get(inst.args[1]);
            self.b.prim(Prim::IMax, &[from, hi])
        } else {
            self.ask(Slot::Done(counter))
        };
        let exit = if needs_exit_slot(inst) {
            self.ask(Slot::Exit(counter))
        } else {
            self.b.i64(exits.len() as i64)
        };

        let mut state = Vec::new();
        let mut wanted = When::Never;
        for k in &shape.active {
            state.push(self.adjoint_or_zero(results[*k]));
            wanted = wanted.or(&mut self.b, self.scope.adjoint.when(results[*k]));
            self.scope.adjoint.take(results[*k]);
        }
        for (v, summed) in shape.captured.iter().zip(&shape.summed) {
            state.push(if *summed {
                let dims: Vec<Value> = std::iter::once(to).chain(self.dims(*v)).collect();
                let zero = self.b.zero(self.nest.func.ty(*v));
                self.b.filled(&dims, zero)
            } else {
                self.adjoint_or_zero(*v)
            });
        }
        for _ in &shape.told {
            state.push(if shape.in_chunks {
                let zero = self.b.f64(0.0);
                self.b.filled(&[to], zero)
            } else {
                self.b.bool(false)
            });
        }
        for k in &shape.held {
            state.push(self.held(results[*k]));
        }
        for k in &shape.finals()[shape.held.len()..] {
            state.push(self.get(results[*k]));
        }
        state.push(self.tape);
        self.bring(shape.body);

        let ordinal = self.outlined.counters.iter().position(|c| *c == counter);
        let skipped = match wanted {
            When::Is(c, _) => ordinal.is_none() && self.b.ty(c).is_scalar(),
            _ => false,
        };
        let wanted = if skipped && self.can_be_skipped(&shape) { wanted } else { When::Always };
        let (ended, touched) = match (ordinal, wanted) {
            (Some(ordinal), _) => self.outlined_loop(&shape, ordinal, [from, to, exit], state),
            (None, When::Always) => self.sweep(&shape, [from, to, exit], state),
            _ => {
                self.whole.insert(counter);
                self.sweep_where(wanted, &shape, [from, to, exit], state)
            }
        };

        let mut ended = ended.into_iter();
        let tape = self.tape;
        let mut next = || ended.next().unwrap_or(tape);
        let adjoints: Vec<Value> = shape.active.iter().map(|_| next()).collect();
        let mut captured: Vec<Value> = shape.captured.iter().map(|_| next()).collect();
        let mut told: Vec<(usize, Value)> = shape.told.iter().map(|k| (*k, next())).collect();
        if shape.in_chunks {
            self.sum_up(&shape, &mut captured, &mut told);
        }
        for (k, v) in shape.captured.iter().enumerate() {
            let told = told.iter().find(|(told, _)| *told == k);
            let when = match told {
                Some((_, any)) => self.scope.adjoint.when(*v).or(&mut self.b, When::Is(*any, true)),
                None => self.cases(&touched, k, *v, [from, to, exit], wanted),
            };
            self.scope.adjoint.set_when(*v, captured[k], when);
        }
        self.note_told(&shape, &touched);
        for k in &shape.held {
            self.scope.held.insert(carried(inst)[*k], next());
        }
        self.tape = match ended.next_back() {
            Some(tape) => tape,
            None => self.tape,
        };
        for (k, d) in shape.active.iter().zip(adjoints) {
            let init = carried(inst)[*k];
            if self.nest.func.ty(init).is_linear() {
                if self.activity.is_active(init) {
                    self.scope.adjoint.set(init, d);
                }
            } else {
                self.contribute_where(init, d, wanted);
            }
        }
    }

    /// The sums over all chunks, onto what has been accumulated before.
    fn sum_up(&mut self, shape: &Shape, captured: &mut [Value], told: &mut [(usize, Value)]) {
        for (k, v) in shape.captured.iter().enumerate().filter(|(k, _)| shape.summed[*k]) {
            let is_array = self.nest.func.ty(*v).is_array();
            let sum = self.b.array(ArrayOp::Sum(is_array.then_some(0)), &[captured[k]]);
            let before = self.scope.adjoint.get(*v);
            captured[k] = accumulate(&mut self.b, Partial::Const(1.0), sum, before);
        }
        for (_, any) in told {
            let count = self.b.array(ArrayOp::Sum(None), &[*any]);
            let zero = self.b.f64(0.0);
            *any = self.b.prim(Prim::Ne, &[count, zero]);
        }
    }

    /// Puts the sum of a chunk to those of the others.
    fn keep_sum(&mut self, sums: Value, chunk: Value, sum: Value) -> Value {
        if !self.b.ty(sum).is_array() {
            return self.b.store(sums, chunk, sum);
        }
        let (zero, one) = (self.b.i64(0), self.b.i64(1));
        let dims = self.b.dims(sum);
        let mut row = vec![sum, one];
        row.extend(&dims);
        let row = self.b.array(ArrayOp::Reshape, &row);
        let mut args = vec![sums, chunk, one, one];
        args.extend(dims.iter().flat_map(|n| [zero, *n, one]));
        args.push(row);
        self.b.array(ArrayOp::Put, &args)
    }

    /// The reverse of a loop as a function of its own, and the call to it.
    fn outlined_loop(
        &mut self,
        shape: &Shape,
        ordinal: usize,
        range: [Value; 3],
        state: Vec<Value>,
    ) -> (Vec<Value>, Touched) {
        let name = loop_name(&self.nest.func.name, ordinal);
        let mut args = range.to_vec();
        let tape = state.len() - 1;
        args.extend(&state[..tape]);
        args.extend(shape.read.iter().map(|v| self.scope.held[v]));
        args.extend(shape.preload.iter().map(|v| self.scope.primal.get(v).copied()).map(|v| {
            // In the dry run nothing is at hand yet, and nothing is loaded before.
            v.unwrap_or(range[0])
        }));
        args.push(state[tape]);
        let params: Vec<(Type, Option<Arc<str>>)> =
            args.iter().map(|v| (self.b.ty(*v), self.b.func().name_of(*v))).collect();

        let (b, values) = Builder::new(format!("{name}.reverse"), &params);
        let caller = std::mem::replace(&mut self.b, b);
        let mut inner = Scope::default();
        let fixed = values[3 + tape..].iter();
        let (read, primal) = (shape.read.iter(), shape.preload.iter());
        inner.held.extend(read.copied().zip(fixed.clone().copied()));
        inner.primal.extend(primal.copied().zip(fixed.skip(shape.read.len()).copied()));
        let outer = std::mem::replace(&mut self.scope, inner);
        let mut entry = values[3..3 + tape].to_vec();
        entry.extend(values.last());
        let (results, touched) = self.sweep(shape, [values[0], values[1], values[2]], entry);
        let b = std::mem::replace(&mut self.b, caller);
        let func = b.finish(results);
        let types = func.results.clone();
        self.scope = outer;

        let symbol: Arc<str> = name.as_str().into();
        // Inside a loop with exits it is come by several times, always as the same.
        let again = self.plans.iter().any(|plan| plan.name == symbol);
        let plan = LoopPlan {
            name: symbol.clone(),
            advance: format!("{name}.advance").into(),
            record: format!("{name}.record").into(),
            reverse: format!("{name}.reverse").into(),
            carries: shape.inst.results.len(),
            state: tape,
            finals: shape.finals(),
            bounded: shape.inst.op == Op::For,
            parallel: shape.in_chunks,
            unstep: None,
        };
        if !again {
            let adjoints = shape.active.len() + shape.captured.len();
            self.funcs.push((func, 3..3 + adjoints));
            self.plans.push(plan);
        }
        self.b.at(shape.inst.span);
        (self.b.inst(Op::Drive(symbol, Phase::Reverse), args, &types, Vec::new()), touched)
    }

    /// When a captured value has a part in the results, after a loop has been reversed: where it had one before,
    /// and where a piece of the loop ran that uses it. (For an array only the pieces at the end are looked at:
    /// that a loop has run at all is not worth a look at every element.) A loop that is skipped adds to nothing.
    fn cases(
        &mut self,
        touched: &Touched,
        k: usize,
        v: Value,
        [from, to, exit]: [Value; 3],
        wanted: When,
    ) -> When {
        let mut when = self.scope.adjoint.when(v);
        if touched.full[k] != When::Never {
            if self.nest.func.ty(v).is_array() {
                return When::Always;
            }
            let ran = self.b.prim(Prim::ILt, &[from, to]);
            let used = match wanted {
                When::Is(c, holds) => When::Is(ran, true).and(&mut self.b, c, holds),
                _ => When::Is(ran, true),
            };
            when = when.or(&mut self.b, used);
        }
        for (number, cut) in touched.cut.iter().enumerate() {
            if cut[k] != When::Never && when != When::Always {
                let taken = self.ended_by(exit, number);
                when = when.or(&mut self.b, When::Is(taken, true));
            }
        }
        when
    }

    /// Notes of which captured values this loop had better tell whether they were of use: those that were only in
    /// some cases, and whose own operands have partials to be left out in the others.
    fn note_told(&mut self, shape: &Shape, touched: &Touched) {
        let counter = shape.inst.blocks[0].params[0];
        for (k, v) in shape.captured.iter().enumerate() {
            let mut pieces = touched.cut.iter().chain([&touched.full]).map(|cases| cases[k]);
            let computed = self.nest.inst_of(*v).is_some() && self.nest.func.ty(*v).is_scalar();
            if computed && pieces.any(|when| matches!(when, When::Is(..))) {
                self.told.insert((counter, *v));
            }
        }
    }

    /// Reverses the iterations `from..to`, and the one after them that an exit cut short.
    /// The results are the state before them.
    fn sweep(
        &mut self,
        shape: &Shape,
        [from, to, exit]: [Value; 3],
        mut state: Vec<Value>,
    ) -> (Vec<Value>, Touched) {
        let ends = exits(shape.inst);
        let types: Vec<Type> = state.iter().map(|v| self.b.ty(*v)).collect();
        let mut cut = Vec::new();
        if !ends.is_empty() {
            (state, cut) = self.cut_short(shape, &ends, (to, exit), state, &types);
        }
        let one = self.b.i64(1);
        let zero = self.b.i64(0);
        let last = self.b.prim(Prim::WSub, &[to, one]);
        let trips = self.b.prim(Prim::WSub, &[to, from]);
        let mut params: Vec<(Type, Option<Arc<str>>)> = vec![(Type::I64, None)];
        params.extend(types.iter().zip(self.state_names(shape)).map(|(t, n)| (*t, n)));
        let outer = self.scope.clone();
        let values = self.b.open_block(&params);
        let i = self.b.prim(Prim::WSub, &[last, values[0]]);
        let (next, full) = self.iteration(shape, i, &values[1..], End::Block);
        let mut body = self.b.close_block(next);
        if shape.in_chunks {
            body.numbering = Numbering::Hidden;
        }
        self.scope = outer;
        let mut args = vec![zero, trips];
        args.extend(state);
        self.b.at(self.swept_at(shape));
        let swept = self.b.inst(Op::For, args, &types, vec![body]);
        self.b.at(shape.inst.span);
        (swept, Touched { cut, full })
    }

    /// Where the reversal of a loop stands: in the place of the loop, or of a mark by which it is found again.
    fn swept_at(&self, shape: &Shape) -> Span {
        let counter = shape.inst.blocks[0].params[0];
        let number = self.outlined.inner.iter().position(|inner| inner.counter == counter);
        number.map_or(shape.inst.span, inner::mark)
    }

    /// Whether a loop leaves nothing but one record per iteration, and no array to be put back.
    fn can_be_skipped(&self, shape: &Shape) -> bool {
        let block = &shape.inst.blocks[0];
        let mut plain = exits(shape.inst).is_empty() && shape.held.is_empty();
        block.walk(&mut |inst| {
            plain &= !matches!(inst.op, Op::Call(_) | Op::Drive(..) | Op::Push | Op::Pop);
            let no_record =
                |b: &Block| self.layout.slots(self.nest, self.nest.id(b), End::Block).is_empty();
            plain &= inst.blocks.iter().all(no_record);
        });
        let scalar = |k: &usize| self.nest.func.ty(shape.inst.results[*k]).is_scalar();
        plain && shape.inst.op == Op::For && shape.active.iter().all(scalar)
    }

    /// [`Reverse::sweep`], where something depends on the loop; elsewhere its records are dropped: all adjoints that it
    /// is given are zeros left aside.
    fn sweep_where(
        &mut self,
        wanted: When,
        shape: &Shape,
        [from, to, exit]: [Value; 3],
        state: Vec<Value>,
    ) -> (Vec<Value>, Touched) {
        let types: Vec<Type> = state.iter().map(|v| self.b.ty(*v)).collect();
        let wanted = wanted.truth(&mut self.b);
        self.b.open_block(&[]);
        let (swept, touched) = self.sweep(shape, [from, to, exit], state.clone());
        let swept = self.b.close_block(swept);

        self.b.open_block(&[]);
        let mut dropped = state;
        for adjoint in &mut dropped[..shape.active.len()] {
            *adjoint = self.b.zero(self.b.ty(*adjoint));
        }
        let slots = self.layout.slots(self.nest, shape.body, End::Block);
        let record: Vec<Type> = slots.iter().map(|s| s.ty(self.nest)).collect();
        if let Some(tape) = dropped.last_mut().filter(|_| !record.is_empty()) {
            let params = self.b.open_block(&[(Type::I64, None), (Type::Tape, None)]);
            let (below, _) = self.b.pop(params[1], &record);
            let body = self.b.close_block(vec![below]);
            let zero = self.b.i64(0);
            let trips = self.b.prim(Prim::WSub, &[to, from]);
            *tape = self.b.inst(Op::For, vec![zero, trips, *tape], &[Type::Tape], vec![body])[0];
        }
        let dropped = self.b.close_block(dropped);
        self.b.at(shape.inst.span);
        (self.b.inst(Op::If, vec![wanted], &types, vec![swept, dropped]), touched)
    }

    /// Names for the state, so that the program can be read.
    fn state_names(&self, shape: &Shape) -> Vec<Option<Arc<str>>> {
        let func = self.nest.func;
        let carries = &shape.inst.blocks[0].params[1..];
        let active = shape.active.iter().map(|k| bar(func, carries[*k]));
        let captured = shape.captured.iter().map(|v| bar(func, *v));
        let told = shape.told.iter().map(|_| None);
        let held = shape.held.iter().map(|k| func.name_of(carries[*k]));
        let joined = shape.joined.iter().map(|(p, _)| func.name_of(*p));
        active.chain(captured).chain(told).chain(held).chain(joined).chain([None]).collect()
    }

    /// Whether it was this exit that ended a loop.
    fn ended_by(&mut self, exit: Value, which: usize) -> Value {
        let number = self.b.i64(which as i64 + 1);
        self.b.prim(Prim::IEq, &[exit, number])
    }

    /// One `if` per exit, innermost the case that there was none.
    fn cut_short(
        &mut self,
        shape: &Shape,
        ends: &[usize],
        (to, exit): (Value, Value),
        state: Vec<Value>,
        types: &[Type],
    ) -> (Vec<Value>, Vec<Vec<When>>) {
        let mut blocks = Vec::new();
        let mut touched = Vec::new();
        for (k, at) in ends.iter().enumerate() {
            let taken = self.ended_by(exit, k);
            let outer = self.scope.clone();
            self.b.open_block(&[]);
            let (next, adds) = self.iteration(shape, to, &state, End::Exit(*at));
            let then = self.b.close_block(next);
            touched.push(adds);
            self.scope = outer;
            blocks.push((taken, then));
            self.b.open_block(&[]);
        }
        let mut result = state;
        for (taken, then) in blocks.into_iter().rev() {
            let otherwise = self.b.close_block(result);
            self.b.at(shape.inst.span);
            result = self.b.inst(Op::If, vec![taken], types, vec![then, otherwise]);
        }
        (result, touched)
    }

    /// What the adjoint of a captured value is at the end of an iteration, before that is reversed: what the state has
    /// of it, or zero where each chunk sums up for itself.
    fn start(&mut self, shape: &Shape, k: usize, state: Value) -> Value {
        if !shape.summed[k] {
            return state;
        }
        let ty = self.nest.func.ty(shape.captured[k]);
        let zero = self.b.zero(ty);
        let dims = (1..=ty.rank() as u8).map(|axis| self.b.op(Op::Dim(axis), &[state])[0]);
        let dims: Vec<Value> = dims.collect();
        self.b.filled(&dims, zero)
    }

    /// Reverses one iteration, up to its end or up to an exit, and gives back the state before it, and in which
    /// cases it adds to the captured values.
    fn iteration(
        &mut self,
        shape: &Shape,
        i: Value,
        state: &[Value],
        end: End,
    ) -> (Vec<Value>, Vec<When>) {
        let block = &shape.inst.blocks[0];
        let counter = block.params[0];
        let mut parts = state.iter().copied();
        let mut next = || parts.next().unwrap_or(i);
        let seeds: Vec<Value> = shape.active.iter().map(|_| next()).collect();
        // Adjoints of values outside are the state's; the others are not to be added to here.
        let sums: Vec<Value> = shape.captured.iter().map(|_| next()).collect();
        let given: Vec<Value> = (0..sums.len()).map(|k| self.start(shape, k, sums[k])).collect();
        self.scope.adjoint = Adjoints::default();
        for (v, bar) in shape.captured.iter().zip(&given) {
            self.scope.adjoint.set_when(*v, *bar, When::Never);
        }
        let told: Vec<Value> = shape.told.iter().map(|_| next()).collect();
        let held: Vec<Value> = shape.held.iter().map(|_| next()).collect();
        let outs: Vec<Value> = shape.joined.iter().map(|_| next()).collect();
        self.tape = next();

        self.scope.primal.insert(counter, i);
        let (upto, yields) = match end {
            End::Block => (block.insts.len(), &block.yields),
            End::Exit(at) => (at, &block.insts[at].blocks[0].yields),
        };
        self.path.push((shape.body, upto));
        self.pop_record(shape.body, end);
        if end == End::Block {
            for ((_, out), v) in shape.joined.iter().zip(outs) {
                self.scope.primal.insert(*out, v);
            }
        }
        for (k, v) in shape.held.iter().zip(held) {
            self.scope.held.insert(yields[*k], v);
        }
        for (k, seed) in shape.active.iter().zip(seeds) {
            let y = yields[*k];
            if self.nest.func.ty(y).is_linear() {
                if self.activity.is_active(y) {
                    self.scope.adjoint.set(y, seed);
                }
            } else {
                self.contribute(y, seed);
            }
        }
        if let End::Exit(at) = end {
            let exit = &block.insts[at].blocks[0];
            let id = self.nest.id(exit);
            self.bring(id);
            self.pop_record(id, End::Block);
            self.path.push((id, exit.insts.len()));
            self.insts(id, exit.insts.len());
            self.path.pop();
        }
        self.insts(shape.body, upto);
        self.path.pop();

        let mut before = Vec::new();
        for k in &shape.active {
            let p = block.params[k + 1];
            let d = self.adjoint_or_zero(p);
            // What only passes through has been flushed before.
            let flushed = self.nest.func.ty(p).is_scalar() && !state.contains(&d);
            before.push(if flushed { self.b.prim(Prim::Flush, &[d]) } else { d });
        }
        let captured: Vec<Value> =
            shape.captured.iter().map(|v| self.adjoint_or_zero(*v)).collect();
        let mut touched = Vec::new();
        for ((v, after), given) in shape.captured.iter().zip(&captured).zip(&given) {
            touched.push(match self.scope.adjoint.when(*v) {
                _ if after == given => When::Never,
                When::Is(c, _) if self.b.ty(c).is_array() => When::Always,
                when => when,
            });
        }
        for (k, after) in captured.into_iter().enumerate() {
            before.push(match shape.summed[k] {
                true if touched[k] == When::Never => sums[k],
                true => self.keep_sum(sums[k], i, after),
                false => after,
            });
        }
        for (k, any) in shape.told.iter().zip(told) {
            if shape.in_chunks {
                let (zero, one) = (self.b.f64(0.0), self.b.f64(1.0));
                let truth = touched[*k].truth(&mut self.b);
                let number = self.b.select(truth, one, zero);
                before.push(self.b.store(any, i, number));
                continue;
            }
            let any = When::Is(any, true).or(&mut self.b, touched[*k]);
            before.push(any.truth(&mut self.b));
        }
        for k in &shape.held {
            before.push(self.held(block.params[k + 1]));
        }
        before.extend(shape.joined.iter().map(|(p, _)| self.scope.primal[p]));
        before.push(self.tape);
        (before, touched)
    }
}

/// The name of an outlined loop.
pub(super) fn loop_name(func: &str, ordinal: usize) -> String {
    format!("{func}.loop{ordinal}")
}
