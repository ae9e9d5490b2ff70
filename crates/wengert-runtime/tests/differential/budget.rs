//! Loops in less memory than their records take: the same bits.

use crate::{Arg, Both, Ran, module, native};
use wengert_core::fault::FaultKind;
use wengert_core::ir::Module;
use wengert_core::transform::{pipeline, vjp};
use wengert_runtime::{Options, Program};

/// Runs a program under one budget after the other: each gives what it gives without one, or says that it is too little.
/// Gives back how often iterations were run again.
pub(crate) fn within(
    (program, options, about): (&Program, &Options, &Module),
    entry: &str,
    args: &[Arg],
    wanted: &Ran,
    memory: &[u64],
) -> u64 {
    let mut again = 0;
    for memory in memory {
        let options = Options { memory: Some(*memory), ..options.clone() };
        let (ran, stats) = native(program, entry, args, &options);
        again += stats.run_again;
        match ran {
            Err(fault) if matches!(fault.kind, FaultKind::Budget(_)) => {}
            ran => assert_eq!(ran, *wanted, "in {memory} bytes @{entry}{args:?}\n{about}"),
        }
    }
    again
}

/// The same by Cranelift, and through C where it is there.
fn agree(both: &Both, entry: &str, args: &[Arg], memory: &[u64]) -> u64 {
    let wanted = both.native(both.program(), entry, args).0;
    let programs = [Some(both.program()), both.printed()].into_iter().flatten();
    programs.map(|p| within((p, &both.options, &both.module), entry, args, &wanted, memory)).sum()
}

/// The gradient of a function by some of its parameters.
fn gradient(text: &str, wrt: &[usize]) -> Both {
    Both::of(vjp::vjp(&pipeline::run(&module(text), "f").unwrap(), wrt).unwrap())
}

const BUDGETS: [u64; 9] = [40, 100, 150, 200, 400, 1_000, 3_000, 20_000, 1 << 30];

#[test]
fn scalars() {
    let both = gradient(
        "func @f(%x: f64, %r: f64, %n: i64) -> f64 {
           %y = for %i in 0..%n carry (%a = %x) {
             %b = sub 1.0, %a
             %c = mul %a, %b
             %d = mul %c, %r
             %s = sin %d
             yield %s
           }
           return %y
         }",
        &[0, 1],
    );
    for n in [0, 1, 2, 7, 8, 9, 100, 1000] {
        let args = [Arg::F64(0.3), Arg::F64(3.7), Arg::I64(n), Arg::F64(1.0)];
        let again = agree(&both, "f.vjp", &args, &BUDGETS);
        assert_eq!(again > 0, n > 2, "{n}: {again}");
    }
}
