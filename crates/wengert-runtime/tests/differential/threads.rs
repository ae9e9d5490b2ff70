//! Compiling and running from several threads.

use crate::{Arg, Both, module};
use std::sync::Arc;
use wengert_runtime::{Options, Out, Program};

const TEXT: &str = "
    func @f(%x: f64, %n: i64, %t: tape) -> (f64, f64) {
      %y, %t1 = for %i in 0..%n carry (%h = %x, %s = %t) {
        %s1 = push %s, %h
        %a = sin %h
        yield %a, %s1
      }
      %d, %t2 = for %k in 0..%n carry (%g = 1.0, %r = %t1) {
        %r1, %v = pop %r : tape, f64
        %c = cos %v
        %g1 = mul %g, %c
        yield %g1, %r1
      }
      return %y, %d
    }";

#[test]
fn one_program_many_threads() {
    let program = Arc::new(Program::compile(&module(TEXT), &["f"]).unwrap());
    let wanted = Both::new(TEXT);
    let threads: Vec<_> = (0..4)
        .map(|k| {
            let program = program.clone();
            std::thread::spawn(move || {
                let x = 0.1 + k as f64;
                let run = || {
                    let args = [Arg::F64(x), Arg::I64(1000 + 100 * k)];
                    program.call("f", &args, &Options::default()).unwrap().0
                };
                let first = run();
                (0..50).for_each(|_| assert_eq!(run(), first));
                (x, 1000 + 100 * k, first)
            })
        })
        .collect();
    for thread in threads {
        let (x, n, out) = thread.join().unwrap();
        let [Out::F64(y), Out::F64(d)] = out[..] else { panic!("{out:?}") };
        let wanted = wanted.interpreted("f", &[Arg::F64(x), Arg::I64(n)]).unwrap();
        assert_eq!(wanted, [crate::float(y), crate::float(d)]);
    }
}

#[test]
fn many_programs_many_threads() {
    let threads: Vec<_> = (0..4)
        .map(|k| {
            std::thread::spawn(move || {
                for n in 0..20 {
                    let program = Program::compile(&module(TEXT), &["f"]).unwrap();
                    let args = [Arg::F64(k as f64), Arg::I64(n)];
                    program.call("f", &args, &Options::default()).unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}

/// Several threads load one library; each has its own programs.
#[test]
fn many_programs_through_c() {
    let text = module(TEXT);
    let Some(first) = crate::printed(&[&text]) else { return };
    let wanted = first[0].call("f", &[Arg::F64(0.3), Arg::I64(50)], &Options::default()).unwrap();
    drop(first);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let wanted = wanted.clone();
            std::thread::spawn(move || {
                for _ in 0..20 {
                    let program = crate::printed(&[&module(TEXT)]).unwrap().remove(0);
                    let args = [Arg::F64(0.3), Arg::I64(50)];
                    assert_eq!(program.call("f", &args, &Options::default()).unwrap(), wanted);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}
