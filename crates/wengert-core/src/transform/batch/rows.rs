//! Arrays of a member that are rows of arrays of the whole batch.
//!
//! An array that a function is given, or that it makes of zeros and gives back, goes by many names: each store makes
//! a version, loops and branches hand them on. Where elements are all that is read and written of any of them, the array
//! of the whole batch can take its place, with the member as one more index. Then no member makes an array.

use crate::ir::{Block, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A function in which arrays are rows where they can be.
pub(super) struct Rows {
    pub(super) func: Func,
    /// Stands for the index of a member's rows in what is given.
    pub(super) member: Value,
    /// Stands for their index in what is given back.
    pub(super) place: Value,
    /// The parameters that are arrays of the whole batch.
    pub(super) read: Vec<usize>,
    /// The results that are, with the version each of them begins as.
    pub(super) written: Vec<(usize, Value)>,
}

impl Rows {
    /// Of a function with these parameters that differ between members, and results that have the shapes of
    /// parameters.
    pub(super) fn of(func: &Func, over: &[usize], results: &[Option<usize>]) -> Rows {
        let names = Names::of(func);
        let mut rows = Rows {
            func: func.clone(),
            member: Value(0),
            place: Value(0),
            read: Vec::new(),
            written: Vec::new(),
        };
        rows.member = rows.func.value(Type::I64, None);
        rows.place = rows.func.value(Type::I64, None);
        for k in over.iter().filter(|k| func.ty(func.params()[**k]).is_array()) {
            let p = func.params()[*k];
            // What members share nobody takes over, so it has no other name.
            if names.all(func, p).len() == 1 && names.elements_only(func, p) {
                names.deepen(&mut rows.func, p, rows.member);
                rows.read.push(*k);
            }
        }
        for (k, like) in results.iter().enumerate() {
            let y = func.body.yields[k];
            let Some(like) = like.filter(|_| func.ty(y).is_array()) else { continue };
            let first = names.begins_as(func, y).filter(|first| {
                let made = func.body.insts.iter().position(|inst| inst.results == [*first]);
                made.is_some_and(|at| is_zeros_like(func, &func.body.insts[at], like))
            });
            if let Some(first) = first
                && names.elements_only(func, y)
            {
                names.deepen(&mut rows.func, y, rows.place);
                rows.func.body.insts.retain(|inst| inst.results != [first]);
                rows.written.push((k, first));
            }
        }
        rows
    }
}

/// Whether an instruction makes an array of zeros in the shape of a parameter.
fn is_zeros_like(func: &Func, inst: &Inst, like: usize) -> bool {
    let Some((value, lengths)) = inst.args.split_last() else { return false };
    let makers = uses::makers(&func.body);
    let is_length = |(axis, n): (usize, &Value)| {
        makers.get(n).is_some_and(|maker| {
            maker.op == Op::Dim(axis as u8) && maker.args[0] == func.params()[like]
        })
    };
    let zero = match func.as_const(*value) {
        Some(Scalar::F64(x)) => x.to_bits() == 0,
        Some(Scalar::F32(x)) => x.to_bits() == 0,
        _ => false,
    };
    inst.op == Op::Fill && zero && lengths.iter().enumerate().all(is_length)
}

/// Which values are names of the same array, one after the other.
struct Names {
    /// Per value one that stands for all.
    of: HashMap<Value, Value>,
}

impl Names {
    fn of(func: &Func) -> Names {
        let mut names = Names { of: HashMap::default() };
        func.body.walk(&mut |inst| names.inst(func, inst));
        names
    }

    fn find(&self, mut v: Value) -> Value {
        while let Some(other) = self.of.get(&v) {
            v = *other;
        }
        v
    }

    fn join(&mut self, func: &Func, a: Value, b: Value) {
        let (x, y) = (self.find(a), self.find(b));
        if x != y && func.ty(a).is_array() {
            self.of.insert(x, y);
        }
    }

    fn inst(&mut self, func: &Func, inst: &Inst) {
        match inst.op {
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                let inits = inst.args.len() - inst.results.len();
                for (k, r) in inst.results.iter().enumerate() {
                    for v in [inst.args[inits + k], body.params[k + 1], body.yields[k]] {
                        self.join(func, v, *r);
                    }
                    for exit in body.insts.iter().filter(|i| i.op == Op::ExitIf) {
                        self.join(func, exit.blocks[0].yields[k], *r);
                    }
                }
            }
            Op::If => {
                for (k, r) in inst.results.iter().enumerate() {
                    inst.blocks.iter().for_each(|b| self.join(func, b.yields[k], *r));
                }
            }
            _ => {
                if let Some(k) = inst.op.takes() {
                    self.join(func, inst.args[k], inst.results[0]);
                }
            }
        }
    }

    /// All names of an array.
    fn all(&self, func: &Func, v: Value) -> HashSet<Value> {
        let of = self.find(v);
        let values = (0..func.values.len() as u32).map(Value);
        values.filter(|v| func.ty(*v).is_array() && self.find(*v) == of).collect()
    }

    /// The value an array begins as, if there is one.
    fn begins_as(&self, func: &Func, v: Value) -> Option<Value> {
        let names = self.all(func, v);
        let mut first: Vec<Value> =
            func.params().iter().copied().filter(|p| names.contains(p)).collect();
        func.body.walk(&mut |inst| {
            let hands_on = matches!(inst.op, Op::For | Op::While | Op::If);
            if !hands_on && inst.op.takes().is_none() {
                first.extend(inst.results.iter().filter(|r| names.contains(r)));
            }
        });
        if first.len() == 1 { first.pop() } else { None }
    }

    /// Whether all that happens to an array is that its elements are read and written and its lengths asked for.
    fn elements_only(&self, func: &Func, v: Value) -> bool {
        let names = self.all(func, v);
        let is_element = |inst: &Inst| match inst.op {
            Op::Load | Op::Store | Op::Dim(_) | Op::For | Op::While => true,
            Op::Array(ArrayOp::Peek | ArrayOp::Poke) => func.ty(inst.args[0]).rank() == 1,
            _ => false,
        };
        let mut fits = !func.params().contains(&v) || !func.body.yields.contains(&v);
        func.body.walk(&mut |inst| {
            fits &= is_element(inst) || !inst.args.iter().any(|a| names.contains(a));
        });
        fits
    }

    /// Makes an array one of the whole batch, of which this index is the row that is meant.
    fn deepen(&self, func: &mut Func, v: Value, index: Value) {
        let names = self.all(func, v);
        for name in &names {
            let ty = func.ty(*name);
            if let Some(elem) = ty.elem() {
                func.values[name.index()].ty = Type::of(elem, ty.rank() + 1);
            }
        }
        deepen(&mut func.body, &names, index);
    }
}

fn deepen(block: &mut Block, names: &HashSet<Value>, index: Value) {
    for inst in &mut block.insts {
        inst.blocks.iter_mut().for_each(|nested| deepen(nested, names, index));
        if !inst.args.first().is_some_and(|a| names.contains(a)) {
            continue;
        }
        match &mut inst.op {
            Op::Dim(axis) => *axis += 1,
            Op::Load | Op::Store => inst.args.insert(1, index),
            op @ Op::Array(ArrayOp::Peek) => {
                *op = Op::Load;
                inst.args.insert(1, index);
            }
            op @ Op::Array(ArrayOp::Poke) => {
                *op = Op::Store;
                inst.args.insert(1, index);
            }
            _ => {}
        }
    }
}
