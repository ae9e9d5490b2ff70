//! Branches in loops over elements become selections.
//!
//! A C compiler computes several elements of an array at a time where a loop's body has no branches. Elementary
//! functions have some, each of a few instructions that can neither fail nor be seen: both sides are computed, and
//! what the condition says is taken. No bit changes. For a processor that takes one element at a time it is
//! more work, so this is not among the passes for everyone ([`pipeline`](super::pipeline)).

use super::copy::{Copier, rebuild};
use crate::ir::{Builder, Func, Inst, Op, Type};
use crate::ops::{ArrayOp, Prim};

/// More instructions than this on sides that may not be taken are more than several elements at a time gain.
const MOST: usize = 160;

/// The function with branches of loops over elements as selections.
pub fn loops(func: &Func) -> Func {
    rebuild(func, &func.name, &mut |copier, b, inst| {
        if !is_over_elements(func, inst) {
            return false;
        }
        let args = copier.all(func, b, &inst.args);
        let body = copier.block_with(func, b, &inst.blocks[0], &mut |copier, b, inst| {
            inst.op == Op::If && {
                select(func, copier, b, inst);
                true
            }
        });
        let types: Vec<_> = inst.results.iter().map(|r| func.ty(*r)).collect();
        let results = b.inst(Op::For, args, &types, vec![body]);
        inst.results
            .iter()
            .zip(results)
            .for_each(|(from, to)| copier.bind_named(func, b, *from, to));
        true
    })
}

/// Whether a loop has branches, and nothing else that keeps elements from being computed side by side.
fn is_over_elements(func: &Func, inst: &Inst) -> bool {
    if inst.op != Op::For {
        return false;
    }
    let body = &inst.blocks[0];
    let (mut branches, mut aside) = (0, 0);
    let element = |inst: &Inst| match &inst.op {
        Op::Array(ArrayOp::Peek | ArrayOp::Poke) | Op::Load | Op::Store => true,
        Op::If => {
            branches += 1;
            is_arithmetic(func, inst, &mut aside)
        }
        op => is_simple(op),
    };
    let arrays = body.params[1..].iter().all(|p| func.ty(*p).is_array());
    arrays && body.insts.iter().all(element) && branches > 0 && aside <= MOST
}

/// Whether a branch gives numbers, computes them from numbers, and nothing can go wrong; counts its instructions.
fn is_arithmetic(func: &Func, branch: &Inst, count: &mut usize) -> bool {
    let numbers =
        branch.results.iter().all(|r| !matches!(func.ty(*r), Type::Array(..) | Type::Tape));
    numbers
        && branch.blocks.iter().all(|side| {
            *count += side.insts.len();
            side.insts.iter().all(|inst| match inst.op {
                Op::If => is_arithmetic(func, inst, count),
                _ => is_simple(&inst.op),
            })
        })
}

fn is_simple(op: &Op) -> bool {
    matches!(op, Op::Prim(_)) && op.is_pure()
}

/// Both sides of a branch, and for each result the one that holds.
fn select(func: &Func, copier: &mut Copier, b: &mut Builder, inst: &Inst) {
    let condition = copier.get(func, b, inst.args[0]);
    let [then, otherwise] = [0, 1].map(|k: usize| {
        let side = &inst.blocks[k];
        copier.insts_with(func, b, side, &mut |copier, b, inst| {
            inst.op == Op::If && {
                select(func, copier, b, inst);
                true
            }
        });
        copier.all(func, b, &side.yields)
    });
    for (k, result) in inst.results.iter().enumerate() {
        let taken = b.prim(Prim::Select, &[condition, then[k], otherwise[k]]);
        copier.bind(*result, taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::floats;
    use crate::interp::{Interp, Val};
    use crate::ir::{Module, parse, verify};
    use crate::ops::Scalar;
    use crate::transform::pipeline;
    use crate::transform::testing::branches;

    #[test]
    fn both_sides_give_the_bits_of_the_one_taken() {
        let text = "
            func @f(%x: [f64]) -> [f64] {
              %a = tanh %x
              %b = exp %x
              %c = add %a, %b
              return %c
            }";
        let module = pipeline::finish(&parse::module(text).unwrap());
        let flat = Module { funcs: module.funcs.iter().map(loops).collect(), ..module.clone() };
        verify::module(&flat).unwrap();
        assert!(branches(&module.funcs[0]) > 2);
        assert_eq!(branches(&flat.funcs[0]), 0);
        let special = [0.0, -0.0, 1e-310, 0.3, -0.95, 19.0, 25.0, 800.0, -800.0, -720.0];
        let rest = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX];
        let x = Val::array([&special[..], &rest[..]].concat());
        let bits = |m: &Module| {
            let out = Interp::new(m).call("f", vec![x.clone()]).unwrap();
            floats(&out).iter().map(|x| Scalar::F64(*x).key()).collect::<Vec<_>>()
        };
        assert_eq!(bits(&module), bits(&flat));
    }

    #[test]
    fn branches_with_effects_stay() {
        let text = "
            func @f(%x: [f64], %n: i64) -> [f64] {
              %r = for %i in 0..%n carry (%y = %x) {
                %e = load %y, %i
                %c = lt %e, 0.0
                %z = if %c { %k = isub %i, 1  %b = load %y, %k  yield %b } else { yield %e }
                %w = store %y, %i, %z
                yield %w
              }
              return %r
            }";
        let module = parse::module(text).unwrap();
        assert_eq!(branches(&loops(&module.funcs[0])), 1);
    }

    /// Which of two arrays is meant is not known element by element.
    #[test]
    fn branches_between_arrays_stay() {
        let text = "
            func @f(%x: [f64], %y: [f64], %n: i64) -> [f64] {
              %r = for %i in 0..%n carry (%z = %x) {
                %e = load %y, %i
                %c = lt %e, 0.0
                %w = if %c { yield %z } else { yield %y }
                yield %w
              }
              return %r
            }";
        let module = parse::module(text).unwrap();
        assert_eq!(branches(&loops(&module.funcs[0])), 1);
    }
}
