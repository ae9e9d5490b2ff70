//! Loops that are taken back: the functions that do it give the same bits everywhere, and the driver gives the gradient that
//! recording everything gives, near by or to the bit.

use crate::{Arg, Bits, Both, Ran, all_or, native};
use wengert_core::check::Random;
use wengert_core::fault::FaultKind;
use wengert_core::generate::coupling;
use wengert_core::interp::Val;
use wengert_core::ir::{Module, parse};
use wengert_core::ops::Scalar;
use wengert_core::transform::{pipeline, vjp};
use wengert_runtime::{Invert, Options};

fn inverted(text: &str, wrt: &[usize]) -> Module {
    let module = pipeline::module(&parse::module(text).unwrap(), "f").unwrap();
    vjp::inverted_in_module(&module, "f", wrt, &|_| true).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn floats(ran: &Ran) -> Vec<f64> {
    let mut all = Vec::new();
    for bits in ran.as_ref().unwrap() {
        match bits {
            Bits::Scalar(Scalar::F64(x)) => all.push(*x),
            Bits::Scalar(_) => {}
            Bits::Array(x) | Bits::Shaped(_, (_, x)) => {
                all.extend(x.iter().map(|x| f64::from_bits(*x)));
            }
        }
    }
    all
}

const BY: [usize; 7] = [0, 1, 2, 3, 4, 6, 7];

fn random(count: usize) -> Vec<(Module, Vec<Val>)> {
    let mut seeds = Random(7);
    let one = |_| {
        let (text, args) = coupling::program(seeds.bits());
        (inverted(&text, &BY), args)
    };
    (0..count).map(one).collect()
}

#[test]
fn random_loops_go_there_and_back_alike() {
    let programs = random(all_or(40, 15));
    let around =
        |(module, _): &(Module, Vec<Val>)| coupling::there_and_back(module, "f.record").to_string();
    let texts: Vec<String> = programs.iter().map(around).collect();
    for (both, (_, args)) in Both::all(&texts).iter().zip(&programs) {
        let args: Vec<Arg> = args.iter().filter_map(Arg::from_val).collect();
        both.agree("f.record", &args).unwrap();
    }
}

#[test]
fn gradients_of_random_loops_that_are_taken_back() {
    let programs = random(all_or(40, 15));
    let texts: Vec<String> = programs.iter().map(|(module, _)| module.to_string()).collect();
    let mut taken = 0;
    for (both, (module, args)) in Both::all(&texts).iter().zip(&programs) {
        let mut args: Vec<Val> = args.clone();
        // Adjoints like the results.
        args.extend(args.clone().into_iter().take(5));
        *args.get_mut(8).unwrap() = Val::i64(37);
        let args: Vec<Arg> = args.iter().filter_map(Arg::from_val).collect();
        let wanted = both.compiled("f.vjp", &args).0;
        let sizes = floats(&wanted);
        let most = sizes.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        for program in [Some(both.program()), both.printed()].into_iter().flatten() {
            let run = |every: Option<u64>, memory: Option<u64>, within: f64| {
                let invert = Some(Invert { every, within });
                let options = Options { invert, memory, ..both.options.clone() };
                native(program, "f.vjp", &args, &options)
            };
            // Every state is the exact one.
            let (ran, stats) = run(Some(1), None, 1e-6);
            assert_eq!(ran, wanted, "{module}");
            let back: Vec<_> = stats.loops.iter().filter_map(|of| of.taken_back).collect();
            assert_eq!(back.len(), module.loops.len());
            taken += back.iter().map(|(done, _)| done.unstepped).sum::<u64>();
            let (ran, stats) = run(None, None, 1e-6);
            match &ran {
                // Some of them make differences so much smaller that nothing is left of them.
                Err(fault) => assert!(matches!(fault.kind, FaultKind::Drift(_)), "{fault}"),
                Ok(_) => {
                    let drift = stats.loops.iter().filter_map(|of| of.taken_back);
                    let drift =
                        drift.fold(0.0, |most: f64, (done, _)| most.max(done.drift.relative));
                    for (x, y) in floats(&ran).iter().zip(&sizes) {
                        let allowed = (1e6 * drift + 1e-9) * most;
                        assert!((x - y).abs() <= allowed, "{x} {y}: {drift}, {most}\n{module}");
                    }
                }
            }
            // In little memory records are made of fewer steps, or it is said that it does not do.
            if let Err(fault) = run(Some(8), Some(4000), 1e-6).0 {
                let known = matches!(fault.kind, FaultKind::Drift(_) | FaultKind::Budget { .. });
                assert!(known, "{fault}");
            }
        }
    }
    assert!(taken > all_or(1000, 300), "{taken}");
}
