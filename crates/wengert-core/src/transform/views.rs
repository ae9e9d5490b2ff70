//! Arrays that are others, read in another way.
//!
//! A copy, or a slice of everything, that nobody changes is the array it was made of, as long as nobody changes that
//! either ([`remove`]): no bit changes. And a product with a transposed matrix need not transpose it
//! ([`products`]): a matrix times a vector is a dot product per row, a transposed one a chain of fused
//! multiply-adds per element, so rounding changes.
//!
//! `A.T @ v` in a loop would otherwise make a copy and a transposed copy of `A` in every iteration, and keep one of
//! them for the way back.

use super::carries::rename_inside;
use super::copies::names_its_array;
use crate::ir::{Block, Func, Inst, Op, Value, uses};
use crate::ops::{ArrayOp, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The function without copies and whole slices that are only read, of arrays that are only read.
pub fn remove(func: &Func) -> Func {
    let taken = taken(func);
    let makers = uses::makers(&func.body);
    let mut same: HashMap<Value, Value> = HashMap::default();
    func.body.walk(&mut |inst| {
        let whole = match &inst.op {
            Op::Copy => true,
            Op::Array(ArrayOp::Slice) => is_whole(func, &makers, inst),
            _ => false,
        };
        if !whole {
            return;
        }
        let (x, view) = (inst.args[0], inst.results[0]);
        if !taken.contains(&x) && !taken.contains(&view) {
            // Walked from above, so what it is made of has been looked at.
            let x = same.get(&x).copied().unwrap_or(x);
            same.insert(view, x);
        }
    });
    // Errors name arrays.
    func.body.walk(&mut |inst| {
        let first = inst.args.first().filter(|_| names_its_array(&inst.op));
        if let Some(x) = first.and_then(|view| same.get(view))
            && func.name_of(*x) != func.name_of(inst.args[0])
        {
            same.remove(&inst.args[0]);
        }
    });
    if same.is_empty() {
        return func.clone();
    }
    let mut result = func.clone();
    drop_all(&mut result.body, &same);
    rename_inside(&mut result.body, &same);
    result
}

/// Drops the instructions that make these; a whole slice cannot fail.
fn drop_all(block: &mut Block, made: &HashMap<Value, Value>) {
    block.insts.retain(|inst| inst.results.first().is_none_or(|r| !made.contains_key(r)));
    for inst in &mut block.insts {
        inst.blocks.iter_mut().for_each(|nested| drop_all(nested, made));
    }
}

/// The function with products of matrices instead of products of their transposes.
pub fn products(func: &Func) -> Func {
    let taken = taken(func);
    let mut plain: HashMap<Value, Value> = HashMap::default();
    func.body.walk(&mut |inst| {
        if let Op::Array(ArrayOp::Transpose(axes)) = &inst.op
            && **axes == [1, 0]
            && !taken.contains(&inst.args[0])
        {
            plain.insert(inst.results[0], inst.args[0]);
        }
    });
    if plain.is_empty() {
        return func.clone();
    }
    let mut result = func.clone();
    flip(&mut result.body, &plain);
    super::dce::remove_dead(&result)
}

/// Takes `plain` matrices for their transposes where these are factors.
fn flip(block: &mut Block, plain: &HashMap<Value, Value>) {
    for inst in &mut block.insts {
        inst.blocks.iter_mut().for_each(|nested| flip(nested, plain));
        let Op::Array(ArrayOp::Gemm(ta, tb)) = &mut inst.op else { continue };
        for (k, flag) in [(1, ta), (2, tb)] {
            if let Some(x) = plain.get(&inst.args[k]) {
                inst.args[k] = *x;
                *flag = flag.flip();
            }
        }
    }
}

/// The arrays that are taken over somewhere.
fn taken(func: &Func) -> HashSet<Value> {
    let mut taken = HashSet::default();
    uses::each_in(&func.body, &mut |v, takes| {
        if takes && func.ty(v).is_array() {
            taken.insert(v);
        }
    });
    taken
}

/// Whether a slice is of everything: from 0, in steps of 1, as many as there are.
fn is_whole(func: &Func, makers: &HashMap<Value, &Inst>, slice: &Inst) -> bool {
    let is = |v: Value, c: i64| func.as_const(v) == Some(Scalar::I64(c));
    let x = slice.args[0];
    slice.args[1..].chunks(3).enumerate().all(|(axis, section)| {
        let all = makers
            .get(&section[1])
            .is_some_and(|count| count.op == Op::Dim(axis as u8) && count.args[0] == x);
        is(section[0], 0) && is(section[2], 1) && all
    })
}
