//! Calls: many values each way, arrays, recursion, and what is asked of callers.

use crate::standalone::Standalone;
use crate::{Arg, Both, agree, module};
use wengert_core::fault::FaultKind;
use wengert_core::interp::{Interp, Val};
use wengert_core::ops::{Array, Data};
use wengert_runtime::{CompileError, Options, Program, RunError};

#[test]
fn many_parameters_and_results() {
    let _standalone = Standalone::here(1_000_000_000);
    let names: Vec<String> = (0..20).map(|k| format!("%x{k}")).collect();
    let params: Vec<String> =
        (0..20).map(|k| format!("%x{k}: {}", ["f64", "i64", "bool"][k % 3])).collect();
    let types: Vec<&str> = (0..20).map(|k| ["f64", "i64", "bool"][k % 3]).collect();
    let outer: Vec<String> = (0..20).map(|k| format!("%y{k}")).collect();
    let text = format!(
        "func @g({p}) -> ({t}) {{ %z = iadd %x1, %x4 return {n} }}
         func @f({p}) -> ({t}) {{ {o} = call @g({n}) : {t}  return {o} }}",
        p = params.join(", "),
        t = types.join(", "),
        n = names.join(", "),
        o = outer.join(", "),
    );
    let args: Vec<Arg> = (0..20)
        .map(|k| match k % 3 {
            0 => Arg::F64(k as f64 + 0.5),
            1 => Arg::I64(-(k as i64)),
            _ => Arg::Bool(k % 2 == 0),
        })
        .collect();
    agree(&text, &args).unwrap();
}

#[test]
fn arrays_are_passed_and_taken_over() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @sum(%x: [f64]) -> f64 {
          %n = len %x
          %s = for %i in 0..%n carry (%t = 0.0) { %v = load %x, %i  %u = add %t, %v  yield %u }
          return %s
        }
        func @bump(%x: [f64], %i: i64) -> [f64] {
          %v = load %x, %i
          %w = add %v, 1.0
          %y = store %x, %i, %w
          return %y
        }
        func @f(%x: [f64], %n: i64) -> ([f64], f64) {
          %y, %t = for %i in 0..%n carry (%a = %x, %s = 0.0) {
            %b = call @bump(%a, %i) : [f64]
            %c = call @sum(%b) : f64
            %u = add %s, %c
            yield %b, %u
          }
          return %y, %t
        }";
    let both = Both::new(text);
    let x = [1.0, 2.0, 3.0];
    for n in 0..4 {
        both.agree("f", &[Arg::Array(&x), Arg::I64(n)]).unwrap();
    }
    // The fault is in a callee: its caller's loop is reported too.
    let fault = both.agree("f", &[Arg::Array(&x), Arg::I64(4)]).unwrap_err();
    assert_eq!(fault.iterations.iter().map(|l| l.1).collect::<Vec<_>>(), [3]);
}

#[test]
fn recursion() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @fib(%n: i64) -> i64 {
          %p = ilt %n, 2
          %r = if %p { yield %n } else {
            %a = isub %n, 1
            %b = isub %n, 2
            %c = call @fib(%a) : i64
            %d = call @fib(%b) : i64
            %e = iadd %c, %d
            yield %e
          }
          return %r
        }
        func @leaf(%n: i64) -> i64 { %m = iadd %n, 1  %e = exp 1.0  return %m }
        func @down(%n: i64) -> i64 {
          %p = ile %n, 0
          %r = if %p { %z = call @leaf(%n) : i64  yield %z } else {
            %s = for %i in 0..1 carry (%t = 0) {
              %a = isub %n, 1
              %c = call @even(%a) : i64
              yield %c
            }
            yield %s
          }
          return %r
        }
        func @even(%n: i64) -> i64 { %r = call @down(%n) : i64  return %r }
        func @f(%n: i64) -> i64 { %r = call @down(%n) : i64  return %r }";
    let both = Both::new(text);
    both.agree("fib", &[Arg::I64(15)]).unwrap();
    let mut deepest = 0;
    for n in 40..60 {
        match both.agree("f", &[Arg::I64(n)]) {
            Ok(_) => deepest = n,
            Err(fault) => assert_eq!(fault.kind, FaultKind::CallDepth(100)),
        }
        let _ = both.agree("even", &[Arg::I64(n)]);
    }
    assert!((45..55).contains(&deepest), "{deepest}");
    // Endless recursion does not end the process.
    let text = "func @f(%x: f64) -> f64 { %y = call @f(%x) : f64  return %y }";
    assert!(agree(text, &[Arg::F64(1.0)]).is_err());
}

#[test]
fn a_long_chain_without_recursion() {
    let _standalone = Standalone::here(1_000_000_000);
    let mut text = String::from("func @f0(%x: f64) -> f64 { return %x }\n");
    for k in 1..=110 {
        text += &format!(
            "func @f{k}(%x: f64) -> f64 {{ %y = call @f{}(%x) : f64  return %y }}\n",
            k - 1
        );
    }
    let both = Both::new(&text);
    for k in [0, 50, 98, 99, 100, 101, 110] {
        let _ = both.agree(&format!("f{k}"), &[Arg::F64(1.0)]);
    }
}

/// The last function of the chain is one that changes no register: it is called, so it counts. Elementary
/// functions do not, however they are compiled: in place, with parts that are called, or called themselves.
#[test]
fn a_chain_that_ends_in_a_leaf() {
    let call_all =
        (0..60).map(|k| format!("%a{k} = asinh %x  %b{k} = exp %a{k}  ")).collect::<String>();
    let leaves = [
        "%y = add %x, 1.0".to_string(),
        "%y = sin %x".to_string(),
        format!("{call_all} %y = add %b0, %b59"),
    ];
    for leaf in leaves {
        let mut text = format!("func @g0(%x: f64) -> f64 {{ {leaf}  return %y }}\n");
        for k in 1..=101 {
            text += &format!(
                "func @g{k}(%x: f64) -> f64 {{ %y = call @g{}(%x) : f64  return %y }}\n",
                k - 1
            );
        }
        let module = module(&text);
        for k in [98, 99, 100, 101] {
            // The leaf is no entry: those are called another way.
            let entry = format!("g{k}");
            let program = Program::compile(&module, &[&entry]).unwrap();
            let ran = program.call(&entry, &[Arg::F64(1e300)], &Options::default());
            let wanted = Interp::new(&module).call(&entry, vec![Val::f64(1e300)]);
            assert_eq!(ran.is_ok(), k <= 99, "{leaf} @{entry}");
            match (ran, wanted) {
                (Ok((out, _)), Ok(wanted)) => {
                    assert_eq!(
                        format!("{:?}", Val::from(out[0].clone())),
                        format!("{:?}", wanted[0])
                    );
                }
                (Err(RunError::Fault(fault)), Err(wanted)) => assert_eq!(fault, wanted),
                (ran, wanted) => panic!("{leaf} @{entry}: {ran:?}, but interpreted {wanted:?}"),
            }
        }
    }
}

#[test]
fn wrong_calls_are_refused() {
    let text = "func @f(%x: f64, %t: tape, %y: [f64]) -> f64 { return %x }";
    let module = module(text);
    assert!(matches!(Program::compile(&module, &["h"]), Err(CompileError::UnknownEntry(_))));
    let program = Program::compile(&module, &["f"]).unwrap();
    let call =
        |entry: &str, args: &[Arg]| program.call(entry, args, &Options::default()).unwrap_err();
    assert!(matches!(call("g", &[]), RunError::UnknownEntry { .. }));
    assert_eq!(call("f", &[Arg::F64(1.0)]).to_string(), "`f` takes 2 arguments, but 1 are given");
    assert_eq!(
        call("f", &[Arg::F64(1.0), Arg::I64(2)]).to_string(),
        "argument 2 of `f` is i64, but must be [f64]"
    );
    let matrix = Array { shape: vec![2, 3], data: Data::F64(vec![0.0; 6]) };
    assert_eq!(
        call("f", &[Arg::F64(1.0), Arg::Shaped(&matrix)]).to_string(),
        "argument 2 of `f` is [[f64]], but must be [f64]"
    );
    let torn = Array { shape: vec![7], data: Data::F64(vec![0.0; 6]) };
    let error = call("f", &[Arg::F64(1.0), Arg::Shaped(&torn)]);
    assert!(matches!(error, RunError::ArgumentShape { position: 2, .. }));
    // Dimensions whose product wraps around to the number of elements, or that are no indices.
    let text = "func @f(%x: [[f64]]) -> f64 { %y = load %x, 5, 7  return %y }";
    let program = Program::compile(&crate::module(text), &["f"]).unwrap();
    for shape in [[1 << 32, 1 << 32], [0, usize::MAX], [usize::MAX, 0], [1 << 63, 2]] {
        let torn = Array { shape: shape.to_vec(), data: Data::F64(Vec::new()) };
        let error = program.call("f", &[Arg::Shaped(&torn)], &Options::default()).unwrap_err();
        assert!(matches!(error, RunError::ArgumentShape { position: 1, .. }), "{shape:?}");
    }
    let text = "func @f(%x: f64) -> f64 { %y = call @nowhere(%x) : f64  return %y }";
    let broken = crate::module(text);
    assert!(matches!(Program::compile(&broken, &["f"]), Err(CompileError::Invalid(_))));
}
