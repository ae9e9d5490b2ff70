//! Batches in the interpreter: every member has the bits it has alone.

use super::*;
use crate::check::bits;
use crate::interp::{Interp, Val};
use crate::ir::parse;
use crate::ops::Array;
use crate::transform::pipeline;
use crate::transform::testing::{array, count};

/// Runs a batch of the gradient of the first function of a text, and its members alone, and compares. Gives back the
/// batch.
fn same(text: &str, by: &[usize], over: &[usize], members: i64, args: &[Val]) -> Func {
    let module = pipeline::module(&parse::module(text).unwrap(), "f").unwrap();
    let batch = gradients(&module, "f", by, over).unwrap().expect("can be one loop");
    assert!(batch.reverses());
    verify::module(&batch).unwrap_or_else(|e| panic!("{e}\n{batch}"));
    let mut all = args.to_vec();
    all.extend([1, members].map(Val::i64));
    let results =
        Interp::new(&batch).call("f.vjp.batch", all).unwrap_or_else(|e| panic!("{e}\n{batch}"));
    let alone = derivative::vjp_of(&module, "f", by).unwrap();
    for member in 1..members as usize {
        let mut own: Vec<Val> = args.to_vec();
        over.iter().for_each(|k| own[*k] = row(&args[*k], member));
        own.push(Val::f64(1.0));
        let wanted = Interp::new(&alone).call("f.vjp", own).unwrap();
        let found: Vec<Val> = results.iter().map(|r| row(r, member - 1)).collect();
        assert_eq!(bits(&found), bits(&wanted), "member {member}\n{batch}");
    }
    batch.funcs[0].clone()
}

/// A row of an array.
fn row(x: &Val, at: usize) -> Val {
    let Val::Array(x) = x else { panic!("an array") };
    let crate::ops::Data::F64(elements) = &x.data else { panic!("of doubles") };
    let size: usize = x.shape[1..].iter().product();
    let part = elements[at * size..(at + 1) * size].to_vec();
    match x.shape.len() {
        1 => Val::f64(part[0]),
        _ => Val::shaped(Array::new(x.shape[1..].to_vec(), part)),
    }
}

const PATH: &str = "func @f(%x: [f64], %k: f64, %s: f64) -> f64 {
  %n = len %x
  %v = for %i in 0..%n carry (%w = %s) {
    %a = mul %k, %w
    %e = load %x, %i
    %p = mul %a, %e
    %u = sin %p
    yield %u
  }
  return %v
}";

#[test]
fn rows_are_read_and_written_in_place() {
    let args = [array(&[5, 4]), array(&[5]), Val::f64(0.7)];
    let func = same(PATH, &[0, 1, 2], &[0, 1], 5, &args);
    let made = count(&func, |op| matches!(op, Op::Fill | Op::Array(_) | Op::Copy));
    // The results of the whole batch, and nothing else.
    assert_eq!(made, 4, "{}", Module::of(func));
    // An array that all members share.
    let args = [array(&[4]), array(&[5]), Val::f64(0.7)];
    let func = same(PATH, &[0, 1, 2], &[1], 5, &args);
    assert_eq!(count(&func, |op| matches!(op, Op::Fill)), 4, "{}", Module::of(func));
}

#[test]
fn other_uses_take_copies_of_rows() {
    let text = "func @f(%x: [f64], %k: [f64]) -> f64 {
      %y = mul %x, %x
      %z = mul %y, %k
      %n = len %x
      %w = store %z, 0, 2.0
      %s = dot %w, %x
      return %s
    }";
    let args = [array(&[6, 3]), array(&[3])];
    same(text, &[0, 1], &[0], 6, &args);
    same(text, &[0, 1], &[0, 1], 6, &[array(&[6, 3]), array(&[6, 3])]);
    // A parameter that is written into.
    let text = "func @f(%x: [f64], %k: f64) -> f64 {
      %e = load %x, 1
      %p = mul %e, %k
      %w = store %x, 0, %p
      %a = load %w, 0
      %b = load %w, 2
      %s = mul %a, %b
      return %s
    }";
    same(text, &[0, 1], &[0], 4, &[array(&[4, 3]), Val::f64(2.0)]);
    same(text, &[0, 1], &[1], 4, &[array(&[3]), array(&[4])]);
}

#[test]
fn what_cannot_be_one_loop() {
    let refused = |text: &str| {
        let module = pipeline::module(&parse::module(text).unwrap(), "f").unwrap();
        assert!(values(&module.funcs[0], &[0]).is_none(), "{text}");
    };
    refused("func @f(%x: f64, %n: i64) -> [f64] { %y = fill %n, %x  return %y }");
    refused("func @f(%x: [[[[[[[[f64]]]]]]]]) -> i64 { %n = len %x  return %n }");
    refused(
        "func @f(%x: [f64]) -> f64 {
           %n = len %x
           %o = fill %n, 0.0
           %r = parallel for %i in 0..%n carry (%a = %o) {
             %v = load %x, %i
             %b = store %a, %i, %v
             yield %b
           }
           %s = sum %r
           return %s
         }",
    );
    refused(
        "func @f(%x: f64) -> f64 {
           %c = lt %x, 0.0
           %y = if %c { yield %x } else { %z = sub %x, 1.0  %w = call @f(%z) : f64  yield %w }
           return %y
         }",
    );
}
