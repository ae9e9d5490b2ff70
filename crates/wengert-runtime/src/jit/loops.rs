//! Loops.
//!
//! A loop is rotated: one test before it, one at the bottom. Carries are parameters of its header.
//!
//! Interrupting a run must cost nothing per iteration. An outermost loop without loops inside runs in
//! chunks: the test at the bottom compares with the end of the chunk instead of the end of the loop,
//! and a cold block looks at the flag and sets the next end. The iteration limit of a `while` is the
//! end of its last chunk. A loop around other loops or calls looks at the flag in every iteration,
//! which is little beside them; an inner loop never does, for the loop around it does.

use super::ahead::Ahead;
use super::cold::OpenLoop;
use super::emit::{Emitter, Exit};
use super::site::SiteKind;
use crate::context::field;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData};
use wengert_core::ir::{Block, Inst, Op, Value};
use wengert_core::ops::ArrayOp;
use wengert_core::span::Span;

/// Iterations between looks at the interrupt flag in a loop without loops inside.
const CHUNK: i64 = 1 << 16;

/// When a loop looks at the interrupt flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Poll {
    Never,
    EachChunk,
    EachIteration,
}

/// What of a loop is fixed while it runs.
pub(super) struct Shape<'i> {
    pub(super) inst: &'i Inst,
    /// `for` has an end, `while` a limit.
    counts: bool,
    pub(super) start: ir::Value,
    pub(super) bound: ir::Value,
    header: ir::Block,
    /// Where a chunk begins: the header, or a block before it where a compiler should see two loops.
    chunk: ir::Block,
    pub(super) exit: Exit,
    /// The carries that change.
    pub(super) carried: Vec<usize>,
    poll: Poll,
}

impl Emitter<'_, '_, '_> {
    /// A `for` or `while` loop.
    pub(super) fn looping(&mut self, inst: &Inst) {
        let counts = inst.op == Op::For;
        let body = &inst.blocks[0];
        let inits = if counts { &inst.args[2..] } else { &inst.args[..] };
        let (start, bound) = if counts {
            (self.one(inst.args[0]), self.one(inst.args[1]))
        } else {
            (self.b.ins().iconst(I64, 0), self.load_context(I64, field::ROUNDS))
        };
        let own = |v: Value| !self.identity.is_linked(v);
        let carried: Vec<usize> = (0..inits.len()).filter(|k| own(body.params[k + 1])).collect();
        let taken: Vec<usize> = (0..inits.len()).filter(|k| own(inst.results[*k])).collect();
        let effect = self.tape_effect(body);
        self.note_tops(inst, effect.1);
        self.check_pops(inst, start, bound);

        let exit = Exit { after: self.b.create_block(), taken };
        let poll = self.poll_of(inst);
        if effect.0 {
            self.raised.extend(&body.params);
        } else {
            let risen = inits.iter().zip(&body.params[1..]).filter(|(a, _)| self.is_raised(**a));
            let risen: Vec<Value> = risen.map(|(_, p)| *p).collect();
            // A loop that pops had its tapes noted above.
            self.raised.extend(risen.iter().filter(|_| !effect.1));
        }
        let mut shape = Shape {
            inst,
            counts,
            start,
            bound,
            header: exit.after,
            chunk: exit.after,
            exit,
            carried,
            poll,
        };
        if counts {
            let [from, to] = [0, 1].map(|k: usize| self.identity.find(inst.args[k]));
            self.bounds.open_loop(body.params[0], from, to, self.func);
        }
        let batches = self.open_batches(inst, start, bound);
        if let Some(lanes) = self.lanes_of(inst) {
            self.in_lockstep(&mut shape, inits, lanes);
        } else if let Some(ahead) = self.ahead(inst) {
            let wrong = self.look_ahead(inst, &ahead, (start, bound));
            let (checked, unchecked) = (self.b.create_block(), self.b.create_block());
            self.b.set_cold_block(checked);
            self.b.ins().brif(wrong, checked, &[], unchecked, &[]);
            self.enter(unchecked);
            self.bounds.open();
            self.bounds.know(&ahead);
            self.pairs_and_rest(&mut shape, inits, Some(&ahead));
            self.bounds.close();
            self.enter(checked);
            self.round(&mut shape, inits);
        } else if let Some(nest) = self.nest(inst) {
            let wrong = self.look_at_nest(inst, &nest, (start, bound));
            let (checked, unchecked) = (self.b.create_block(), self.b.create_block());
            self.b.set_cold_block(checked);
            self.b.ins().brif(wrong, checked, &[], unchecked, &[]);
            self.enter(unchecked);
            self.bounds.open();
            nest.all().for_each(|ahead| self.bounds.know(ahead));
            self.once = true;
            self.round(&mut shape, inits);
            self.bounds.close();
            self.enter(checked);
            self.round(&mut shape, inits);
            self.once = false;
        } else {
            self.pairs_and_rest(&mut shape, inits, None);
        }
        self.join(shape.exit.after, &inst.results, &shape.exit.taken);
        self.close_batches(batches);
        self.raise_results(inst, effect);
    }

    /// The loop, several iterations at a time as far as that goes.
    fn pairs_and_rest(&mut self, shape: &mut Shape, inits: &[Value], ahead: Option<&Ahead>) {
        let start = shape.start;
        if let Some(pairs) = self.pairs(shape.inst, ahead) {
            if self.compiler.prints() {
                let taken: Vec<Value> = shape.exit.taken.iter().map(|k| inits[*k]).collect();
                let taken = self.block_args(&taken);
                let after = (shape.exit.after, &taken[..]);
                self.in_eights(shape.inst, &pairs, (start, shape.bound), after);
            } else {
                shape.start = self.in_pairs(shape.inst, &pairs, start, shape.bound);
            }
        }
        self.round(shape, inits);
        shape.start = start;
    }

    /// The loop itself, which ends in the block after it.
    pub(super) fn round(&mut self, shape: &mut Shape, inits: &[Value]) {
        shape.header = self.b.create_block();
        // C compilers make vectors of an innermost loop: of the chunk, if it is a loop in another.
        let nested = shape.poll == Poll::EachChunk && self.compiler.prints();
        shape.chunk = if nested { self.b.create_block() } else { shape.header };
        self.head(shape, inits);
        let body = &shape.inst.blocks[0];
        self.block(body, Some(&shape.exit));
        self.bottom(shape, body);
    }

    /// The test before the loop, and the header's parameters: counter, end of the chunk, carries.
    fn head(&mut self, shape: &Shape, inits: &[Value]) {
        let params = &shape.inst.blocks[0].params;
        let carries: Vec<Value> = shape.carried.iter().map(|k| params[k + 1]).collect();
        let counter = self.b.append_block_param(shape.header, I64);
        let mut args = vec![BlockArg::Value(shape.start)];
        if shape.poll == Poll::EachChunk {
            self.b.append_block_param(shape.header, I64);
            let end = self.chunk_end(shape.start, shape.bound);
            args.push(BlockArg::Value(end));
        }
        self.add_params(shape.header, &carries);
        if shape.chunk != shape.header {
            for _ in 0..2 {
                self.b.append_block_param(shape.chunk, I64);
            }
            self.add_params(shape.chunk, &carries);
        }
        let carried: Vec<Value> = shape.carried.iter().map(|k| inits[*k]).collect();
        args.extend(self.block_args(&carried));
        if shape.counts {
            let some = self.b.ins().icmp(IntCC::SignedLessThan, shape.start, shape.bound);
            let taken: Vec<Value> = shape.exit.taken.iter().map(|k| inits[*k]).collect();
            let none = self.block_args(&taken);
            self.b.ins().brif(some, shape.chunk, &args, shape.exit.after, &none);
        } else {
            let fault = self.cold_block(SiteKind::IterationLimit, shape.inst.span, &[]);
            self.b.ins().brif(shape.bound, shape.chunk, &args, fault, &[]);
        }
        if shape.chunk != shape.header {
            self.enter(shape.chunk);
            // Something that keeps the block.
            self.b.ins().nop();
            let words = self.b.block_params(shape.chunk).to_vec();
            let words: Vec<BlockArg> = words.into_iter().map(BlockArg::Value).collect();
            self.b.ins().jump(shape.header, &words);
        }
        self.enter(shape.header);
        let words = self.b.block_params(shape.header).to_vec();
        let first_carry = if shape.poll == Poll::EachChunk { 2 } else { 1 };
        self.bind_words(&params[..1], &words[..1]);
        self.bind_words(&carries, &words[first_carry..]);
        let (span, start, first) = (shape.inst.span, shape.start, params[0]);
        let numbering = shape.inst.blocks[0].numbering;
        self.loops.push(OpenLoop { span, counter, start, numbering, first });
    }

    /// The test at the bottom.
    fn bottom(&mut self, shape: &Shape, body: &Block) {
        if shape.poll == Poll::EachIteration {
            self.poll(shape.inst.span);
        }
        let counter = self.b.block_params(shape.header)[0];
        let one = self.b.ins().iconst(I64, 1);
        let next = self.b.ins().iadd(counter, one);
        let less = if shape.counts { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
        let carried: Vec<Value> = shape.carried.iter().map(|k| body.yields[*k]).collect();
        let taken: Vec<Value> = shape.exit.taken.iter().map(|k| body.yields[*k]).collect();
        let carries = self.block_args(&carried);
        let again = |end: Option<ir::Value>| -> Vec<BlockArg> {
            let first = std::iter::once(next).chain(end).map(BlockArg::Value);
            first.chain(carries.iter().copied()).collect()
        };
        // Where the loop goes when it has reached its bound.
        let (over, over_args) = if shape.counts {
            (shape.exit.after, self.block_args(&taken))
        } else {
            let own = self.loops.pop();
            let fault = self.cold_block(SiteKind::IterationLimit, shape.inst.span, &[]);
            self.loops.extend(own);
            (fault, Vec::new())
        };
        if shape.poll == Poll::EachChunk {
            let end = self.b.block_params(shape.header)[1];
            let in_chunk = self.b.ins().icmp(less, next, end);
            let (ended, more) = (self.b.create_block(), self.b.create_block());
            self.b.set_cold_block(ended);
            self.b.set_cold_block(more);
            self.b.ins().brif(in_chunk, shape.header, &again(Some(end)), ended, &[]);
            self.enter(ended);
            let in_range = self.b.ins().icmp(less, next, shape.bound);
            self.b.ins().brif(in_range, more, &[], over, &over_args);
            self.enter(more);
            // The old counter is dead here, so that it can be counted up in place.
            if let Some(own) = self.loops.last_mut() {
                own.counter = next;
            }
            self.poll(shape.inst.span);
            let end = self.chunk_end(next, shape.bound);
            self.b.ins().jump(shape.chunk, &again(Some(end)));
        } else {
            let in_range = self.b.ins().icmp(less, next, shape.bound);
            self.b.ins().brif(in_range, shape.header, &again(None), over, &over_args);
        }
        self.loops.pop();
    }

    /// `exit_if`: leaves the loop whose body this is.
    pub(super) fn exit_if(&mut self, inst: &Inst, exit: Option<&Exit>) {
        let exit = exit.unwrap_or_else(|| unreachable!("verified: stands in a loop"));
        let condition = self.one(inst.args[0]);
        let (leave, on) = (self.b.create_block(), self.b.create_block());
        // It runs once, the rest of the body in every iteration.
        self.b.set_cold_block(leave);
        self.b.ins().brif(condition, leave, &[], on, &[]);
        self.enter(leave);
        self.block(&inst.blocks[0], None);
        // What the body has defined by now dies here too.
        self.free_dying();
        let results: Vec<Value> = exit.taken.iter().map(|k| inst.blocks[0].yields[*k]).collect();
        let args = self.block_args(&results);
        self.b.ins().jump(exit.after, &args);
        self.enter(on);
    }

    /// The end of the chunk that starts at `from`, which is less than `bound`. Counted back from
    /// the bound: a sum with `from` would be rewritten as one with the counter and keep that alive.
    fn chunk_end(&mut self, from: ir::Value, bound: ir::Value) -> ir::Value {
        let chunk = self.b.ins().iconst(I64, CHUNK);
        let left = self.b.ins().isub(bound, from);
        let long = self.b.ins().icmp(IntCC::UnsignedGreaterThan, left, chunk);
        let beyond = self.b.ins().isub(left, chunk);
        let zero = self.b.ins().iconst(I64, 0);
        let rest = self.b.ins().select(long, beyond, zero);
        self.b.ins().isub(bound, rest)
    }

    /// Ends the run if the user asks for it.
    pub(super) fn poll(&mut self, span: Span) {
        let flag = self.load_context(I64, field::INTERRUPT);
        // An atomic load, so that no earlier look stands for this one.
        let set = self.b.ins().atomic_load(I8, MemFlagsData::trusted(), flag);
        self.fault_if(set, SiteKind::Interrupted, span, &[]);
    }

    fn poll_of(&self, inst: &Inst) -> Poll {
        let mut long = false;
        inst.blocks[0].walk(&mut |i| {
            long |= match &i.op {
                // What stands aside is scalar code.
                Op::Call(name) => !self.compiler.declared[name].stands_aside,
                // One operation on large arrays takes as long as many iterations without.
                Op::Array(op) => !matches!(op, ArrayOp::Peek | ArrayOp::Poke),
                op => matches!(op, Op::For | Op::While | Op::Drive(..)),
            };
        });
        match inst.op {
            _ if long => Poll::EachIteration,
            Op::For if !self.loops.is_empty() => Poll::Never,
            _ => Poll::EachChunk,
        }
    }

    /// Whether code pushes, and whether it pops.
    pub(super) fn tape_effect(&self, block: &Block) -> (bool, bool) {
        let (mut pushes, mut pops) = (false, false);
        block.walk(&mut |inst| {
            let callee = match &inst.op {
                Op::Push => return pushes = true,
                Op::Pop => return pops = true,
                Op::Call(name) => name,
                // Either phase's functions count for both: this is only about what is noted.
                Op::Drive(..) => return (pushes, pops) = (true, true),
                _ => return,
            };
            let callee = &self.compiler.declared[callee];
            pushes |= callee.pushes;
            pops |= callee.pops;
        });
        (pushes, pops)
    }
}
