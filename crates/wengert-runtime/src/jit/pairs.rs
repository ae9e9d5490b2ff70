//! Loops over doubles, two at a time.
//!
//! An iteration that reads and writes elements at places that count up with the iterations, and computes nothing but
//! floats from them, does the same as the next one, one place further. Two such iterations run at once, in the two
//! lanes of a register; a last one that is left over runs alone. Of short iterations four pairs run between two tests. An element is computed as before, so no bit changes.
//!
//! Only inner loops are made so, and only where every index is known to be in range in all iterations: such a loop
//! cannot fail, and nobody looks at it while it runs. For C compilers see [`eights`](super::eights).

use super::ahead::Ahead;
use super::bounds::Along;
use super::emit::Emitter;
use super::machine::Machine;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use wengert_core::ir::{Block, Elem, Inst, Op, Type, Value, uses};
use wengert_core::ops::{ArrayOp, Prim, Scalar};

/// Bytes of a pair.
const PAIR: i64 = 16;

/// Pairs between two tests for the end, of a loop of at most [`SHORT`] instructions.
const TOGETHER: i64 = 4;
const SHORT: usize = 48;

/// What pairs of iterations do.
pub(super) struct Pairs {
    /// Numbers from outside the loop that lanes are computed with.
    outside: Vec<Value>,
    /// Elements that are the same in all iterations.
    fixed: HashSet<Value>,
    /// Integers that are bits of floats, and so in lanes.
    bits: HashSet<Value>,
}

impl Pairs {
    /// Whether an element is the same in all iterations.
    pub(super) fn is_fixed(&self, v: Value) -> bool {
        self.fixed.contains(&v)
    }
}

/// Looks whether iterations can run in pairs.
pub(super) struct Looker<'e, 'a, 'l, 'f> {
    pub(super) emitter: &'e Emitter<'a, 'l, 'f>,
    counter: Value,
    made: HashMap<Value, &'e Inst>,
    ahead: Option<&'e Ahead>,
    outside: Vec<Value>,
    /// Per array that is written: the only index it is read and written at.
    written: HashMap<Value, Value>,
    fixed: HashSet<Value>,
    /// Integers that are bits of floats.
    pub(super) bits: HashSet<Value>,
    /// Instructions on sides of branches.
    pub(super) aside: usize,
}

impl Looker<'_, '_, '_, '_> {
    pub(super) fn is_outside(&self, v: Value) -> bool {
        v < self.counter || self.emitter.func.as_const(v).is_some()
    }

    /// How far a place moves from one iteration to the next.
    fn step(&self, v: Value) -> Option<i64> {
        if v == self.counter {
            return Some(1);
        }
        if self.is_outside(v) {
            return Some(0);
        }
        let inst = self.made.get(&v)?;
        let of = |k: usize| self.step(self.emitter.identity.find(inst.args[k]));
        let constant = |k: usize| match self.emitter.func.as_const(inst.args[k]) {
            Some(Scalar::I64(c)) => Some(c),
            _ => None,
        };
        match inst.op {
            Op::Prim(Prim::IAdd | Prim::WAdd) => of(0)?.checked_add(of(1)?),
            Op::Prim(Prim::ISub | Prim::WSub) => of(0)?.checked_sub(of(1)?),
            Op::Prim(Prim::IMul | Prim::WMul) => match (of(0)?, of(1)?) {
                (0, 0) => Some(0),
                (a, 0) => a.checked_mul(constant(1)?),
                (0, b) => b.checked_mul(constant(0)?),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an element of an array of doubles is read or written at a place that moves by one, in range.
    fn is_at_a_place(&mut self, inst: &Inst, writes: bool) -> bool {
        let e = self.emitter;
        let array = e.identity.find(inst.args[0]);
        let flat = matches!(inst.op, Op::Array(_));
        let Type::Array(Elem::F64, rank) = e.func.ty(array) else { return false };
        let index = e.identity.find(inst.args[1]);
        if !self.is_outside(array) || (!flat && rank != 1) {
            return false;
        }
        let along = if flat { Along::All(rank) } else { Along::Axis(0) };
        let ahead = self.ahead.is_some_and(|a| a.indices.contains(&(array, along, index)));
        let step = self.step(index);
        if step == Some(0) {
            self.fixed.insert(inst.results[0]);
        }
        let moves = step == Some(1) || (step == Some(0) && !writes);
        let apart = self.written.get(&array).is_none_or(|only| *only == index);
        moves && apart && (ahead || e.bounds.in_range(array, along, index))
    }

    pub(super) fn lane(&mut self, v: Value) {
        let v = self.emitter.identity.find(v);
        if self.is_outside(v) && !self.outside.contains(&v) {
            self.outside.push(v);
        }
    }

    fn block(&mut self, body: &Block) -> bool {
        body.insts.iter().all(|inst| self.inst(inst))
    }

    pub(super) fn inst(&mut self, inst: &Inst) -> bool {
        let func = self.emitter.func;
        match &inst.op {
            Op::Load | Op::Array(ArrayOp::Peek) => self.is_at_a_place(inst, false),
            Op::Store | Op::Array(ArrayOp::Poke) => {
                self.lane(inst.args[2]);
                self.is_at_a_place(inst, true)
            }
            Op::If => self.branch(inst),
            Op::Prim(prim) if self.row_of_bits(*prim, inst) => true,
            Op::Prim(prim) if func.ty(inst.results[0]) == Type::I64 => {
                let v = inst.results[0];
                let fits = match prim {
                    Prim::WAdd | Prim::WSub | Prim::WMul => true,
                    Prim::IAdd | Prim::ISub | Prim::IMul => {
                        self.ahead.is_some_and(|a| a.exact.contains(&v))
                            || self.emitter.bounds.is_exact(v)
                    }
                    _ => false,
                };
                fits && self.step(v).is_some()
            }
            Op::Prim(prim) => {
                let float = |v: &Value| matches!(func.ty(*v), Type::F64 | Type::Bool);
                let known = is_lane_row(*prim);
                inst.args.iter().for_each(|a| self.lane(*a));
                known && inst.args.iter().chain(&inst.results).all(float)
            }
            _ => false,
        }
    }
}

/// The rows that lanes are computed with.
fn is_lane_row(prim: Prim) -> bool {
    use Prim::*;
    let always = matches!(
        prim,
        Add | Sub
            | Mul
            | Div
            | Neg
            | Abs
            | Min
            | Max
            | Flush
            | Sqrt
            | StopGradient
            | Lt
            | Le
            | Gt
            | Ge
            | Eq
            | Ne
            | And
            | Or
            | Not
            | Select
    );
    always || (matches!(prim, Fma | Floor | Round) && has_lanes_of_all())
}

/// Whether the machine has the instructions that are functions elsewhere.
fn has_lanes_of_all() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("fma") && is_x86_feature_detected!("sse4.1");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

impl Emitter<'_, '_, '_> {
    /// What pairs of iterations of an inner loop do, if they can run in pairs. `ahead` has been looked at before.
    pub(super) fn pairs(&self, inst: &Inst, ahead: Option<&Ahead>) -> Option<Pairs> {
        let body = &inst.blocks[0];
        let inner = inst.op == Op::For && !self.loops.is_empty();
        let plain = inst.results.iter().all(|r| self.identity.is_linked(*r));
        if !inner || !plain {
            return None;
        }
        let mut looker = Looker {
            emitter: self,
            counter: body.params[0],
            made: uses::makers(body),
            ahead,
            outside: Vec::new(),
            written: HashMap::default(),
            fixed: HashSet::default(),
            bits: HashSet::default(),
            aside: 0,
        };
        for i in body.insts.iter().filter(|i| matches!(i.op, Op::Store | Op::Array(ArrayOp::Poke)))
        {
            looker.written.insert(self.identity.find(i.args[0]), self.identity.find(i.args[1]));
        }
        let in_pairs = !looker.written.is_empty() && looker.block(body);
        let Looker { outside, fixed, bits, written, .. } = looker;
        (in_pairs && (!self.compiler.prints() || self.is_plain(body, &written))).then_some(Pairs {
            outside,
            fixed,
            bits,
        })
    }

    /// Whether iterations can run twice and have no branches, of which C compilers make more.
    fn is_plain(&self, body: &Block, written: &HashMap<Value, Value>) -> bool {
        body.insts.iter().all(|i| match &i.op {
            Op::Load | Op::Array(ArrayOp::Peek) => {
                !written.contains_key(&self.identity.find(i.args[0]))
            }
            Op::Prim(prim) => !matches!(prim, Prim::Bits | Prim::FromBits | Prim::Select),
            op => *op != Op::If,
        })
    }

    /// The vectors that lanes lie in.
    fn wide(&self, lane: ir::Type) -> ir::Type {
        lane.by(if self.compiler.prints() { 8 } else { 2 }).unwrap_or(lane)
    }

    /// How vectors of elements are accessed: they need not lie at a multiple of their size.
    pub(super) fn vector_flags(&self) -> MemFlagsData {
        MemFlagsData::new().with_notrap().with_alias_region(self.regions.arrays.alias_region())
    }

    /// What comes from outside the loop, in every lane.
    pub(super) fn outside_lanes(&mut self, pairs: &Pairs) -> HashMap<Value, ir::Value> {
        let (floats, words) = (self.wide(F64), self.wide(I64));
        let mut lanes = HashMap::default();
        for v in &pairs.outside {
            let lane = self.one(*v);
            let all = match self.func.ty(*v) {
                Type::F64 => self.b.ins().splat(floats, lane),
                Type::I64 => self.b.ins().splat(words, lane),
                _ => {
                    let wide = self.b.ins().uextend(I64, lane);
                    let mask = self.b.ins().ineg(wide);
                    self.b.ins().splat(words, mask)
                }
            };
            lanes.insert(*v, all);
        }
        lanes
    }

    /// Where the elements of the first iteration lie, by the instructions that read or write them.
    pub(super) fn first_places(
        &mut self,
        body: &Block,
        pairs: &Pairs,
        start: ir::Value,
    ) -> HashMap<Value, ir::Value> {
        self.bind_words(&body.params[..1], &[start]);
        let mut places = HashMap::default();
        for i in &body.insts {
            match &i.op {
                Op::If => {}
                Op::Prim(_) if pairs.bits.contains(&i.results[0]) => {}
                Op::Prim(prim) if self.func.ty(i.results[0]) == Type::I64 => {
                    let word = self.prim(*prim, i);
                    self.set(i.results[0], Machine::One(word));
                }
                Op::Prim(_) => {}
                _ => {
                    places.insert(i.results[0], self.address_of(i));
                }
            }
        }
        places
    }

    /// The pairs of iterations from `start` on; gives back where the rest begins.
    ///
    /// Where elements lie is computed once, for the first iteration; what is added to that counts in bytes. So an element
    /// takes one register, and the next pairs are constants away.
    pub(super) fn in_pairs(
        &mut self,
        inst: &Inst,
        pairs: &Pairs,
        start: ir::Value,
        bound: ir::Value,
    ) -> ir::Value {
        let body = &inst.blocks[0];
        let trips = self.b.ins().isub(bound, start);
        let zero = self.b.ins().iconst(I64, 0);
        let some = self.b.ins().icmp(IntCC::SignedLessThan, start, bound);
        let trips = self.b.ins().select(some, trips, zero);
        let even = self.b.ins().iconst(I64, -2);
        let trips = self.b.ins().band(trips, even);
        let end = self.b.ins().iadd(start, trips);
        let lanes = self.outside_lanes(pairs);
        let places = self.first_places(body, pairs, start);
        let bytes = self.b.ins().ishl_imm_u(trips, 3);
        let mut insts = 0;
        body.walk(&mut |_| insts += 1);
        let together = if insts <= SHORT { TOGETHER } else { 1 };
        let mut from = zero;
        for count in if together == 1 { vec![1] } else { vec![together, 1] } {
            let whole = self.b.ins().iconst(I64, -(count * PAIR));
            let to = self.b.ins().band(bytes, whole);
            let (header, after) = (self.b.create_block(), self.b.create_block());
            let offset = self.b.append_block_param(header, I64);
            let some = self.b.ins().icmp(IntCC::SignedLessThan, from, to);
            self.b.ins().brif(some, header, &[BlockArg::Value(from)], after, &[]);
            self.enter(header);
            for k in 0..count {
                let mut lanes = lanes.clone();
                for i in &body.insts {
                    self.pair(i, pairs, &mut lanes, &places, (offset, (k * PAIR) as i32));
                }
            }
            let step = self.b.ins().iconst(I64, count * PAIR);
            let next = self.b.ins().iadd(offset, step);
            let on = self.b.ins().icmp(IntCC::SignedLessThan, next, to);
            self.b.ins().brif(on, header, &[BlockArg::Value(next)], after, &[]);
            self.enter(after);
            from = to;
        }
        end
    }

    /// One instruction, for two iterations that lie so many bytes behind the first ones.
    pub(super) fn pair(
        &mut self,
        inst: &Inst,
        pairs: &Pairs,
        lanes: &mut HashMap<Value, ir::Value>,
        places: &HashMap<Value, ir::Value>,
        (offset, more): (ir::Value, i32),
    ) {
        let flags = self.vector_flags();
        let floats = self.wide(F64);
        match &inst.op {
            Op::Load | Op::Array(ArrayOp::Peek) => {
                let place = places[&inst.results[0]];
                let both = if pairs.fixed.contains(&inst.results[0]) {
                    let one = self.b.ins().load(F64, flags, place, 0);
                    self.b.ins().splat(floats, one)
                } else {
                    let address = self.b.ins().iadd(place, offset);
                    self.b.ins().load(floats, flags, address, more)
                };
                lanes.insert(self.identity.find(inst.results[0]), both);
            }
            Op::Store | Op::Array(ArrayOp::Poke) => {
                let address = self.b.ins().iadd(places[&inst.results[0]], offset);
                let both = lanes[&self.identity.find(inst.args[2])];
                self.b.ins().store(flags, both, address, more);
            }
            Op::If => self.pair_of_sides(inst, pairs, lanes, places, (offset, more)),
            Op::Prim(prim @ (Prim::Shl | Prim::Shr)) if pairs.bits.contains(&inst.results[0]) => {
                self.pair_of_shifts(*prim, inst, lanes);
            }
            // An index, computed before.
            Op::Prim(_)
                if self.func.ty(inst.results[0]) == Type::I64
                    && !pairs.bits.contains(&inst.results[0]) => {}
            Op::Prim(prim) => {
                let args: Vec<ir::Value> =
                    inst.args.iter().map(|a| lanes[&self.identity.find(*a)]).collect();
                let both = self.lane_row(*prim, &args);
                lanes.insert(self.identity.find(inst.results[0]), both);
            }
            _ => unreachable!("looked at before"),
        }
    }
}
