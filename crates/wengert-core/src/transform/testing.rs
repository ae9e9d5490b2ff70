//! Running programs before and after a pass.

use crate::check::bits;
use crate::interp::{Interp, Val};
use crate::ir::{Block, Func, Inst, Module, Op, parse, verify};
use crate::ops::Array;

/// A small array of this shape.
pub(super) fn array(shape: &[usize]) -> Val {
    let n = shape.iter().product();
    let elements = (0..n).map(|k| 0.3 + (k as f64 * 1.7).sin()).collect();
    Val::shaped(Array::new(shape.to_vec(), elements))
}

/// Runs the function with and without the pass; gives back what the pass made of it.
pub(super) fn same(text: &str, pass: impl Fn(&Func) -> Func, args: &[Val]) -> Func {
    let module = parse::module(text).unwrap();
    verify::module(&module).unwrap();
    let func = pass(&module.funcs[0]);
    let after = Module::of(func.clone());
    verify::module(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
    let run = |m: &Module| Interp::new(m).call("f", args.to_vec()).map(|values| bits(&values));
    assert_eq!(run(&module), run(&after), "{after}");
    func
}

/// How many branches a function has, at any depth.
pub(super) fn branches(func: &Func) -> usize {
    count(func, |op| *op == Op::If)
}

/// How many instructions of a function, nested ones included, are of a kind.
pub(super) fn count(func: &Func, wanted: impl Fn(&Op) -> bool) -> usize {
    fn in_block(block: &Block, wanted: &impl Fn(&Op) -> bool) -> usize {
        let one = |i: &Inst| {
            let nested: usize = i.blocks.iter().map(|b| in_block(b, wanted)).sum();
            usize::from(wanted(&i.op)) + nested
        };
        block.insts.iter().map(one).sum()
    }
    in_block(&func.body, &wanted)
}
