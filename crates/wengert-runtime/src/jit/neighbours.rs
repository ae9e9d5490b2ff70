//! Elements beside each other in vectors.
//!
//! A stencil reads an element and those beside it. A vector that begins one element before or after another lies across two
//! lines of memory, which takes twice as long to load; but its elements have been loaded already, or will be in the next
//! iteration. So where three loads of an array are found, when the program runs, to lie one element apart, the loop
//! carries what it has loaded on, and puts vectors together from two of them. What is computed is the same.
//!
//! Who reads what lies where: the loop loads one vector ahead, and only elements that it reads anyway, so it begins with the
//! third vector and ends before the last two.

use super::emit::Emitter;
use super::pairs::Pairs;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64X8, I64};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder};
use rustc_hash::FxHashMap as HashMap;
use wengert_core::ir::{Block, Inst, Op, Type, Value, uses};
use wengert_core::ops::{ArrayOp, Prim};

/// Elements of a vector, and their bytes.
const LANES: usize = 8;
const BYTES: i64 = 64;

/// Loads that may lie beside each other, by their results.
pub(super) struct Neighbours {
    middle: Value,
    beside: [Value; 2],
}

/// Where loops that carry vectors on begin.
pub(super) struct Way {
    found: Neighbours,
    /// Takes where they begin.
    pub(super) entry: ir::Block,
    /// Where that is to be: nowhere, unless elements lie as they should.
    pub(super) wanted: ir::Value,
    /// Whether the first of those beside lies before the one in the middle; otherwise it is the second.
    first_before: ir::Value,
}

/// What a loop over vectors needs to know.
pub(super) struct Frame<'i> {
    pub(super) body: &'i Block,
    pub(super) pairs: &'i Pairs,
    /// Numbers from outside, in every lane.
    pub(super) lanes: HashMap<Value, ir::Value>,
    /// Where the elements of the first iteration lie.
    pub(super) places: HashMap<Value, ir::Value>,
    /// How many bytes a row of elements has.
    pub(super) bytes: ir::Value,
}

impl Emitter<'_, '_, '_> {
    /// The loads of a loop that may lie beside each other, where loads are what takes time.
    pub(super) fn neighbours(&self, body: &Block, pairs: &Pairs) -> Option<Neighbours> {
        let moves = |i: &&Inst| {
            matches!(i.op, Op::Load | Op::Array(ArrayOp::Peek)) && !pairs.is_fixed(i.results[0])
        };
        let loads: Vec<&Inst> = body.insts.iter().filter(moves).collect();
        let float =
            |i: &&Inst| matches!(i.op, Op::Prim(_)) && self.func.ty(i.results[0]) == Type::F64;
        let operations = body.insts.iter().filter(float).count();
        if loads.len() < 3 || operations > 2 * loads.len() {
            return None;
        }
        let made = uses::makers(&self.func.body);
        let place = |i: &Inst| {
            let mut terms = Vec::new();
            self.terms(i.args[1], &made, &mut terms);
            terms.retain(|t| *t != body.params[0]);
            terms.sort_unstable();
            (self.identity.find(i.args[0]), terms)
        };
        let places: Vec<_> = loads.iter().map(|i| place(i)).collect();
        for (middle, (array, terms)) in loads.iter().zip(&places) {
            let is_beside = |(other, more): &(Value, Vec<Value>)| {
                let mut left = more.clone();
                terms.iter().for_each(|t| {
                    left.iter().position(|l| l == t).into_iter().for_each(|k| {
                        left.remove(k);
                    });
                });
                other == array && more.len() == terms.len() + 1 && left.len() == 1
            };
            let beside: Vec<Value> = loads
                .iter()
                .zip(&places)
                .filter(|(_, place)| is_beside(place))
                .map(|(i, _)| i.results[0])
                .collect();
            if let [a, b] = beside[..] {
                return Some(Neighbours { middle: middle.results[0], beside: [a, b] });
            }
        }
        None
    }

    /// The values that an index is the sum of.
    fn terms(&self, v: Value, made: &HashMap<Value, &Inst>, terms: &mut Vec<Value>) {
        match made.get(&v) {
            Some(inst) if inst.op == Op::Prim(Prim::WAdd) => {
                inst.args.iter().for_each(|a| self.terms(*a, made, terms));
            }
            _ => terms.push(v),
        }
    }

    /// Looks whether elements lie beside each other, so that loops from `start` on can carry loaded vectors on.
    pub(super) fn beside_each_other(
        &mut self,
        found: Neighbours,
        frame: &Frame,
        start: ir::Value,
    ) -> Way {
        let middle = frame.places[&found.middle];
        let [before, behind] = [-8, 8].map(|k| self.b.ins().iconst(I64, k));
        let far = found.beside.map(|v| self.b.ins().isub(frame.places[&v], middle));
        let ways = [[before, behind], [behind, before]].map(|way| {
            let [a, b] = [0, 1].map(|k: usize| self.b.ins().icmp(IntCC::Equal, far[k], way[k]));
            self.b.ins().band(a, b)
        });
        let either = self.b.ins().bor(ways[0], ways[1]);
        // The vector after the first one is among those read.
        let two = self.b.ins().iconst(I64, 2 * BYTES);
        let end = self.b.ins().iadd(start, two);
        let long = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, frame.bytes);
        let runs = self.b.ins().band(either, long);
        let nowhere = self.b.ins().iconst(I64, -1);
        let wanted = self.b.ins().select(runs, start, nowhere);

        Way { found, entry: self.b.create_block(), wanted, first_before: ways[0] }
    }

    /// Those loops; they end by going `back` to a loop that takes where it goes on, and where after that: at most at
    /// the last vector.
    pub(super) fn carry_on(&mut self, way: &Way, frame: &Frame, back: (ir::Block, ir::Value)) {
        let Way { found, entry, .. } = way;
        let middle = frame.places[&found.middle];
        let from = self.b.append_block_param(*entry, I64);
        let headers = [0, 1].map(|_| self.b.create_block());
        self.enter(*entry);
        let at = self.b.ins().iadd(middle, from);
        let flags = self.vector_flags();
        let loaded = [-BYTES as i32, 0].map(|k| self.b.ins().load(F64X8, flags, at, k));
        let first = [from, loaded[0], loaded[1]].map(BlockArg::Value);
        self.b.ins().brif(way.first_before, headers[0], &first, headers[1], &first);
        for (k, header) in headers.into_iter().enumerate() {
            let offset = self.b.append_block_param(header, I64);
            let [before, now] = [0, 1].map(|_| self.b.append_block_param(header, F64X8));
            self.enter(header);
            let at = self.b.ins().iadd(middle, offset);
            let behind = self.b.ins().load(F64X8, flags, at, BYTES as i32);
            let sides = [self.across(before, now, LANES - 1), self.across(now, behind, 1)];
            let mut lanes = frame.lanes.clone();
            let sides = [sides[k], sides[1 - k]];
            let known =
                [(found.middle, now), (found.beside[0], sides[0]), (found.beside[1], sides[1])];
            for i in &frame.body.insts {
                match known.iter().find(|(v, _)| *v == i.results[0]) {
                    Some((v, lane)) => {
                        lanes.insert(self.identity.find(*v), *lane);
                    }
                    None => self.pair(i, frame.pairs, &mut lanes, &frame.places, (offset, 0)),
                }
            }
            let vector = self.b.ins().iconst(I64, BYTES);
            let next = self.b.ins().iadd(offset, vector);
            let two = self.b.ins().iconst(I64, 2 * BYTES);
            let end = self.b.ins().iadd(next, two);
            let on = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, frame.bytes);
            let further = self.b.ins().iadd(next, vector);
            let further = self.b.ins().umin(further, back.1);
            let again = [next, now, behind].map(BlockArg::Value);
            let over = [next, further].map(BlockArg::Value);
            self.b.ins().brif(on, header, &again, back.0, &over);
        }
    }

    /// A vector of the elements of two, from one of the first on.
    fn across(&mut self, x: ir::Value, y: ir::Value, from: usize) -> ir::Value {
        let lane = |this: &mut Self, k: usize| {
            let (of, k) = if k < LANES { (x, k) } else { (y, k - LANES) };
            this.b.ins().extractlane(of, k as u8)
        };
        let first = lane(self, from);
        let mut all = self.b.ins().splat(F64X8, first);
        for k in 0..LANES {
            let element = lane(self, from + k);
            all = self.b.ins().insertlane(all, element, k as u8);
        }
        all
    }
}
