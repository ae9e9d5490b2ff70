//! Fused multiply-add: `a*b + c` becomes one operation with one rounding.
//!
//! Part of the fixed pipeline before differentiation and of reverse mode, so it is part of what a program means: every
//! backend executes the same `fma`. A product is fused when nothing else uses it; one of adjoints that are numbers also
//! where several sums do and nothing else. Where both terms of a sum are such products, the left one is fused; of a
//! difference, the right one.
//!
//! Of a product of arrays, the comparison of their shapes stays where it was, and that of a sum stays the sum's.

use super::copy::rebuild;
use super::shapes;
use crate::ir::{Block, Func, Op, Value};
use crate::ops::{ArrayOp, Check, Prim};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Inserts fused operations.
pub fn fuse(func: &Func) -> Func {
    insert(func, &|_| true, 1)
}

/// Inserts them for the sums that are adjoints.
pub fn fuse_adjoints(func: &Func, is_adjoint: &dyn Fn(Value) -> bool) -> Func {
    insert(func, is_adjoint, 1)
}

/// Inserts them for the sums that are wanted, where a product is used in this many of them at most.
fn insert(func: &Func, wanted: &dyn Fn(Value) -> bool, most: usize) -> Func {
    let mut products: HashMap<Value, (Value, Value)> = HashMap::default();
    let mut uses: HashMap<Value, usize> = HashMap::default();
    count(&func.body, &mut uses);
    let mut in_sums: HashMap<Value, usize> = HashMap::default();
    func.body.walk(&mut |inst| {
        if matches!(inst.op, Op::Prim(Prim::Add | Prim::Sub)) && wanted(inst.results[0]) {
            inst.args.iter().for_each(|a| *in_sums.entry(*a).or_default() += 1);
        }
    });
    let taken = taken_over(&func.body);
    let uneven = shapes::uneven(func);
    func.body.walk(&mut |inst| {
        let product = inst.results.first();
        let [all, in_sums] = [&uses, &in_sums].map(|of| product.and_then(|p| of.get(p)).copied());
        let most = if product.is_some_and(|p| func.ty(*p).is_array()) { 1 } else { most };
        if inst.op != Op::Prim(Prim::Mul) || all != in_sums || all.is_none_or(|n| n > most) {
            return;
        }
        // An array that something takes over may be gone where the sum stands.
        let gone = |a: &Value| func.ty(*a).is_array() && taken.contains(a);
        if !inst.args.iter().any(gone) {
            products.insert(inst.results[0], (inst.args[0], inst.args[1]));
        }
    });
    let fused = rebuild(func, &func.name, &mut |copier, b, inst| {
        let Op::Prim(prim @ (Prim::Add | Prim::Sub)) = inst.op else { return false };
        if !wanted(inst.results[0]) {
            return false;
        }
        let (left, right) = (inst.args[0], inst.args[1]);
        let (product, other, negate_product, negate_other) =
            match (products.get(&left), products.get(&right)) {
                // In a difference of products the negated factor may be a constant of the loop.
                (Some(_), Some(p)) if prim == Prim::Sub => (*p, left, true, false),
                (Some(p), _) => (*p, right, false, prim == Prim::Sub),
                (None, Some(p)) => (*p, left, prim == Prim::Sub, false),
                (None, None) => return false,
            };
        for (x, y) in uneven.get(&inst.results[0]).into_iter().flatten() {
            let compared = copier.all(func, b, &[*x, *y]);
            b.op(Op::Array(ArrayOp::Conform(Check::Row(prim))), &compared);
        }
        let mut a = copier.get(func, b, product.0);
        let c = copier.get(func, b, product.1);
        let mut d = copier.get(func, b, other);
        if negate_product {
            a = b.neg(a);
        }
        if negate_other {
            d = b.neg(d);
        }
        let v = b.fma(a, c, d);
        if let Some(name) = func.name_of(inst.results[0]) {
            b.name(v, &name);
        }
        copier.bind(inst.results[0], v);
        true
    });
    // The products that were fused are left without a use.
    super::dce::remove_dead(&fused)
}

fn count(block: &Block, uses: &mut HashMap<Value, usize>) {
    let mut note = |values: &[Value]| {
        for v in values {
            *uses.entry(*v).or_default() += 1;
        }
    };
    note(&block.yields);
    for inst in &block.insts {
        note(&inst.args);
    }
    for inst in &block.insts {
        inst.blocks.iter().for_each(|b| count(b, uses));
    }
}

/// Values that nested blocks hand on, or that an operation or a loop takes over.
fn taken_over(body: &Block) -> HashSet<Value> {
    let mut taken = HashSet::default();
    body.walk(&mut |inst| {
        match inst.op {
            Op::For | Op::While | Op::Push | Op::Call(_) | Op::Drive(..) => {
                taken.extend(inst.args.iter().copied());
            }
            _ => taken.extend(inst.op.takes().map(|k| inst.args[k])),
        }
        taken.extend(inst.blocks.iter().flat_map(|b| b.yields.iter().copied()));
    });
    taken
}
