//! Random programs and their derivatives.

use crate::budget;
use crate::random::Random;
use crate::standalone::Standalone;
use crate::{Arg, Bits, Both, Ran, Stats, float, native, printed};
use std::time::{SystemTime, UNIX_EPOCH};
use wengert_core::check::Derived;
use wengert_core::fault::{Fault, FaultKind};
use wengert_core::generate;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Elem, Module, Type, verify};
use wengert_core::ops::Scalar;
use wengert_core::transform::{derivative, pipeline, vjp as reverse};
use wengert_runtime::Options;

/// Iterations after which a `while` loop of a generated program is taken not to end.
const MAX_ITERATIONS: u64 = 200;

fn args(vals: &[Val]) -> Vec<Arg<'_>> {
    vals.iter().filter_map(Arg::from_val).collect()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|n| n.parse().ok())
}

/// What came out, without the signs of zeros.
fn unsigned(ran: Ran) -> Ran {
    let plain = |x: u64| if f64::from_bits(x) == 0.0 { 0 } else { x };
    let all = |bits: Vec<u64>| bits.into_iter().map(plain).collect();
    let value = |bits: Bits| match bits {
        Bits::Scalar(Scalar::F64(x)) => float(if x == 0.0 { 0.0 } else { x }),
        Bits::Array(bits) => Bits::Array(all(bits)),
        Bits::Shaped(Elem::F64, (shape, bits)) => Bits::Shaped(Elem::F64, (shape, all(bits))),
        other => other,
    };
    ran.map(|values| values.into_iter().map(value).collect())
}

/// A number in the place of each float of a value.
fn like(val: &Val, random: &mut Random) -> Val {
    let mut any = || (random.bits() % 2000) as f64 / 500.0 - 2.0;
    match val {
        Val::Array(x) => Val::shaped(x.with_floats((0..x.len()).map(|_| any()))),
        _ => Val::f64(any()),
    }
}

/// Programs that have run and are still to run through C: many by one run of the compiler. That takes longer than
/// all the rest, so of the programs made of one (itself, its derivatives, its loops in parts) one goes through
/// C, each time another; `WENGERT_THROUGH_C=8` takes only every eighth.
#[derive(Default)]
struct Waiting {
    runs: Vec<Run>,
    /// How many programs until the next goes through C.
    until: u64,
    /// How many have been through C.
    compared: usize,
    /// How many have run some iterations again because there was little memory.
    run_again: u64,
    /// How many have run in a memory that was too small without inner loops in pieces.
    in_less: u64,
}

/// A program, what it was called with, and what Cranelift's code gave.
struct Run {
    both: Both,
    entry: String,
    vals: Vec<Val>,
    wanted: (Ran, Stats),
}

impl Waiting {
    /// Interpreted and by Cranelift; through C later.
    fn agree(&mut self, module: &Module, entry: &str, vals: &[Val]) -> Ran {
        let mut both = Both::of(module.clone());
        both.options.max_iterations = MAX_ITERATIONS;
        let wanted = both.interpreted(entry, &args(vals));
        let given = both.native(both.program(), entry, &args(vals));
        assert_eq!(wanted, given.0, "interpreted (left) and compiled (right) @{entry}{vals:?}");
        if !module.loops.is_empty() {
            let bytes = given.1.tape_peak_bytes + given.1.array_peak_bytes;
            let budgets = [60, bytes / 7, bytes / 2, bytes];
            let program = (both.program(), &both.options, module);
            self.run_again +=
                u64::from(budget::within(program, entry, &args(vals), &wanted, &budgets) > 0);
        }
        match self.until.checked_sub(1) {
            Some(until) => self.until = until,
            None => {
                self.runs.push(Run {
                    both,
                    entry: entry.into(),
                    vals: vals.to_vec(),
                    wanted: given,
                });
                self.until = u64::MAX;
            }
        }
        if self.runs.len() >= 100 {
            self.run();
        }
        wanted
    }

    /// Where the memory is too small for a program, it may do for one whose inner loops are outlined as well.
    fn in_less(&mut self, modules: [&Module; 2], entry: &str, vals: &[Val], wanted: &Ran) {
        let [plain, nested] = modules.map(|module| Both::of(module.clone()));
        for memory in (1..14).map(|k| 20 * k * (k + 2)) {
            let max_iterations = MAX_ITERATIONS;
            let options = Options { memory: Some(memory), max_iterations, ..plain.options.clone() };
            let run = |both: &Both| native(both.program(), entry, &args(vals), &options).0;
            let is_small = |ran: &Ran| {
                let too_small = |fault: &Fault| matches!(fault.kind, FaultKind::Budget { .. });
                ran.as_ref().is_err_and(too_small)
            };
            if !is_small(&run(&plain)) {
                break;
            }
            let ran = run(&nested);
            if !is_small(&ran) {
                assert_eq!(ran, *wanted, "in {memory} bytes @{entry}{vals:?}\n{}", nested.module);
                self.in_less += 1;
            }
        }
    }

    /// Those that wait.
    fn run(&mut self) {
        if self.runs.is_empty() {
            return;
        }
        let modules: Vec<&Module> = self.runs.iter().map(|run| &run.both.module).collect();
        let programs = printed(&modules).into_iter().flatten();
        for (Run { both, entry, vals, wanted }, program) in self.runs.iter().zip(programs) {
            let given = both.native(&program, entry, &args(vals));
            assert_eq!(wanted, &given, "Cranelift (left), C (right) @{entry}{vals:?}");
        }
        let _standalone = Standalone::here(MAX_ITERATIONS);
        for Run { both, entry, vals, wanted } in &self.runs {
            both.note(entry, &args(vals), &wanted.0);
        }
        self.compared += self.runs.len();
        self.runs.clear();
    }
}

/// In two halves, for two cores.
#[test]
fn programs_and_their_derivatives() {
    half(0);
}

#[test]
fn other_programs_and_their_derivatives() {
    half(1);
}

/// Every second program.
fn half(first: u64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let start = number("WENGERT_SEED").unwrap_or(now);
    println!("WENGERT_SEED={start}");
    let count = number("WENGERT_PROGRAMS").unwrap_or(200);
    let every = number("WENGERT_THROUGH_C").unwrap_or(1);
    let mut waiting = Waiting { until: u64::MAX, ..Waiting::default() };
    let mut ran = 0u64;
    for k in (first..count).step_by(2) {
        let seed = start.wrapping_mul(1 << 20).wrapping_add(k);
        if (k / 2).is_multiple_of(every) {
            waiting.until = Random(seed).bits() % 6;
        }
        if ran > 0 && ran.is_multiple_of(500) {
            println!("{ran} programs, {} of them through C", waiting.compared);
        }
        ran += 1;
        let case = generate::case(seed);
        let funcs = std::iter::once(&case.func).chain(&case.callees).cloned().collect();
        let whole = Module { funcs, ..Module::default() };
        // As it stands, with its calls, and as it is differentiated.
        let Ok(_) = waiting.agree(&whole, &case.func.name, &case.args) else { continue };
        let derived = pipeline::run(&whole, &case.func.name)
            .and_then(|func| Derived::new(func, case.wrt.clone()))
            .unwrap_or_else(|e| panic!("WENGERT_SEED={start}, program {seed}: {e}"));
        let name = &derived.func.name;
        let mut random = Random(seed);
        let vals = &case.args;
        let Ok(_) = waiting.agree(&derived.primal, name, vals) else { continue };

        let tangents: Vec<Val> = case.wrt.iter().map(|k| like(&vals[*k], &mut random)).collect();
        let with_tangents: Vec<Val> = vals.iter().chain(&tangents).cloned().collect();
        let _ = waiting.agree(&derived.forward, &format!("{name}.jvp"), &with_tangents);

        let results = Interp::new(&derived.primal).call(name, vals.clone()).unwrap();
        let types: Vec<Type> = derived.func.results.clone();
        let floats = results.into_iter().zip(types).filter(|(_, t)| t.is_float());
        let adjoints: Vec<Val> = floats.map(|(r, _)| like(&r, &mut random)).collect();
        let with_adjoints: Vec<Val> = vals.iter().chain(&adjoints).cloned().collect();
        let vjp = format!("{name}.vjp");
        let gradient = waiting.agree(&derived.reverse, &vjp, &with_adjoints);
        // With inner loops outlined as well; to compile takes most of the time, so not all of them.
        let nested = reverse::nested(&derived.func, &case.wrt).unwrap();
        if let Some(nested) = nested.filter(|_| ran.is_multiple_of(4)) {
            assert_eq!(waiting.agree(&nested, &vjp, &with_adjoints), gradient, "{nested}");
            waiting.in_less([&derived.reverse, &nested], &vjp, &with_adjoints, &gradient);
        }

        // Second derivatives: a program with several tapes.
        if seed.is_multiple_of(4) {
            let flat = derivative::vjp_of(&derived.primal, name, &case.wrt)
                .and_then(|m| derivative::vjp_of(&m, &vjp, &case.wrt))
                .unwrap_or_else(|e| panic!("WENGERT_SEED={start}, program {seed}: {e}"));
            let twice = format!("{vjp}.vjp");
            let seeds = flat.func(&vjp).into_iter().flat_map(|f| f.results.clone());
            let values = Interp::new(&flat).call(&vjp, with_adjoints.clone()).unwrap();
            let floats = values.iter().zip(seeds).filter(|(_, t)| t.is_float());
            let seeds: Vec<Val> = floats.map(|(v, _)| like(v, &mut random)).collect();
            let all: Vec<Val> = with_adjoints.iter().chain(&seeds).cloned().collect();
            let _ = waiting.agree(&flat, &twice, &all);
        }

        // Forward over reverse, whose loops are driven, and as one function.
        if seed.is_multiple_of(4) {
            let driven = derivative::products(&derived.primal, name, &case.wrt, &case.wrt)
                .unwrap_or_else(|e| panic!("WENGERT_SEED={start}, program {seed}: {e}"));
            verify::module(&driven).unwrap_or_else(|e| panic!("{e}\n{driven}"));
            let all: Vec<Val> = with_adjoints.iter().chain(&tangents).cloned().collect();
            let entry = format!("{vjp}.jvp");
            let products = waiting.agree(&driven, &entry, &all);
            let flat = derivative::vjp_of(&derived.primal, name, &case.wrt)
                .and_then(|m| derivative::jvp_of(&m, &vjp, &case.wrt, 1))
                .unwrap();
            let flat = Both::of(flat).interpreted(&entry, &args(&all));
            // Something that is nowhere anything has zeros of either sign.
            assert_eq!(unsigned(products), unsigned(flat), "driven, in place\n{driven}");
        }

        // The three functions of outlined loops over parts of their ranges.
        let (record, reverse) = (format!("{name}.record"), format!("{name}.reverse"));
        let head = (seed % 4) as i64;
        let _ = waiting.agree(&generate::split(&derived.reverse, &record, head), &record, vals);
        let parts = generate::split_reverse(&derived.reverse, &reverse, head);
        let _ = waiting.agree(&parts, &vjp, &with_adjoints);
    }
    waiting.run();
    println!(
        "{ran} programs, {} of them through C, {} with iterations run again, {} in less memory",
        waiting.compared, waiting.run_again, waiting.in_less
    );
    assert!(waiting.run_again > 0 || count < 50);
}
