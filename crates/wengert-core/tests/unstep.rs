//! Loops run backwards: random ones come back to where they began, and those that cannot say why.

use wengert_core::check::Random;
use wengert_core::generate::{self, coupling};
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{LoopPlan, Module, parse, verify};
use wengert_core::span::Diagnostic;
use wengert_core::transform::{pipeline, vjp};

fn inverted(text: &str, wrt: &[usize]) -> Result<Module, Diagnostic> {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify::module(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let module = pipeline::module(&module, "f")?;
    let module = vjp::inverted_in_module(&module, "f", wrt, &|_| true)?;
    verify::module(&module).unwrap_or_else(|e| panic!("{e}\n{module}"));
    Ok(module)
}

fn floats(vals: &[Val]) -> Vec<f64> {
    let mut all = Vec::new();
    for val in vals {
        match val {
            Val::Array(x) => all.extend(x.floats()),
            Val::Scalar(s) => all.push(s.to_string().parse().unwrap()),
            Val::Tape(_) => {}
        }
    }
    all
}

#[test]
fn random_loops_come_back() {
    let mut seeds = Random(20);
    let mut longest = 0;
    for _ in 0..2000 {
        let seed = seeds.bits();
        let (text, args) = coupling::program(seed);
        let module = inverted(&text, &[0, 1, 2, 3, 4, 6, 7])
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert!(module.loops.iter().all(|plan| plan.unstep.is_some()) && !module.loops.is_empty());
        let around = coupling::there_and_back(&module, "f.record");
        verify::module(&around).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{around}"));
        let mut given = args.clone();
        given.push(Val::tape());
        let back = Interp::new(&around).call("f.record", given).unwrap();
        let mut none = args;
        *none.last_mut().unwrap() = Val::i64(0);
        let wanted = Interp::new(&module).call("f", none).unwrap();
        let (back, wanted) = (floats(&back), floats(&wanted));
        assert_eq!(back.len(), wanted.len());
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-8 * (1.0 + b.abs());
        assert!(
            back.iter().zip(&wanted).all(near),
            "seed {seed}: {back:?}, not {wanted:?}\n{module}"
        );
        longest = longest.max(text.lines().count());
    }
    assert!(longest > 40);
}

/// Programs that nobody made to be taken back: where that works out by chance, they come back as well.
#[test]
fn whatever_can_be_taken_back_comes_back() {
    let mut seeds = Random(4);
    let (mut found, mut compared) = (0, 0);
    for _ in 0..1500 {
        let seed = seeds.bits();
        let case = generate::case(seed);
        let funcs = [&case.func].into_iter().chain(&case.callees).cloned().collect();
        let module = Module { funcs, ..Module::default() };
        let name = case.func.name.to_string();
        let Ok(module) = pipeline::module(&module, &name) else { continue };
        // Only those that come back by themselves.
        let whole = vjp::in_module(&module, &name, &case.wrt).unwrap();
        if whole.loops.is_empty() || whole.loops.iter().any(|plan| plan.parallel) {
            continue;
        }
        let Ok(module) = vjp::inverted_in_module(&module, &name, &case.wrt, &|_| true) else {
            continue;
        };
        verify::module(&module).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{module}"));
        found += 1;
        let plain = |plan: &LoopPlan| {
            plan.unstep.as_ref().is_some_and(|unstep| unstep.free.is_empty() && !unstep.apart)
        };
        if !module.loops.iter().all(plain) {
            continue;
        }
        let record = format!("{name}.record");
        let run = |module: &Module| {
            let mut args = case.args.clone();
            args.push(Val::tape());
            let mut interp = Interp::new(module);
            interp.max_iterations = 200;
            interp.call(&record, args).ok().map(|vals| floats(&vals))
        };
        let around = coupling::there_and_back(&module, &record);
        verify::module(&around).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{around}"));
        let (Some(back), Some(wanted)) = (run(&around), run(&coupling::left_out(&module, &record)))
        else {
            continue;
        };
        compared += 1;
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * (1.0 + b.abs()) || a == b;
        let all = back.len() == wanted.len() && back.iter().zip(&wanted).all(near);
        assert!(all, "seed {seed}: {back:?}, not {wanted:?}\n{module}");
    }
    println!("{found} can be taken back, {compared} compared");
    assert!(found > 30 && compared > 3, "{found}, {compared}");
}

/// The message for a body of carries `%x` and `%y`.
fn refused(body: &str) -> String {
    let text = format!(
        "func @f(%a: f64, %b: f64, %p: f64, %n: i64) -> (f64, f64) {{
           %r, %s = for %i in 0..%n carry (%x = %a, %y = %b) {{ {body} }}
           return %r, %s
         }}"
    );
    inverted(&text, &[0, 1]).map(|_| ()).unwrap_err().message
}

#[test]
fn what_is_lost_is_named() {
    let why = |body: &str, text: &str| assert!(refused(body).contains(text), "{}", refused(body));
    why(
        "%u = add %x, %y  %v = sin %x  yield %u, %v",
        "`y` is overwritten by something that does not contain it",
    );
    why(
        "%u = mul %x, %x  yield %u, %y",
        "`x` is changed by something that depends on it in more than one place",
    );
    why("%u = sin %x  %v = add %y, %x  yield %u, %v", "`x` cannot be taken back through `sin`");
    why(
        "%u = mul %x, %y  %v = add %y, 1.0  %w = mul %u, 1.0  yield %u, %v",
        "`x` is multiplied by something that depends on the state",
    );
    why("%u = mul %x, 0.0  %v = add %y, %x  yield %u, %v", "`x` is multiplied by something");
    why(
        "%u = select true, %x, %y  %c = gt %x, 0.5  %v = if %c { yield %y } else { %z = sin %y  yield %z }  yield %u, %v",
        "`y` is changed in a branch",
    );
}

#[test]
fn what_keeps_its_value_needs_no_rule() {
    let text = "func @f(%a: f64, %b: f64, %n: i64) -> (f64, f64) {
       %r, %s, %t = for %i in 0..%n carry (%x = %a, %y = %b, %z = 0.0) {
         %u = add %y, 1.5
         %v = mul %u, %u
         yield %u, %x, %v
       }
       %q = add %s, %t
       return %r, %q
     }";
    let module = inverted(text, &[0, 1]).unwrap();
    // `z` begins no iteration.
    let plan = module.loops.iter().find(|plan| plan.unstep.is_some()).unwrap();
    assert_eq!(plan.unstep.as_ref().unwrap().free.len(), 1);
    let mut interp = Interp::new(&module);
    let [a, b, z, lo, hi] = [0.25, 0.75, 9.0, 0.0, 4.0];
    let args = [Val::i64(lo as i64), Val::i64(hi as i64), Val::f64(a), Val::f64(b), Val::f64(z)];
    let name = plan.unstep.as_ref().unwrap().func.clone();
    let back = interp.call(&name, args.to_vec()).unwrap();
    // Two steps forward and two back change places twice.
    assert_eq!(floats(&back)[2], 9.0);
}

#[test]
fn what_is_made_again_is_that_of_the_iteration_before() {
    // The force depends on the time as well.
    let text = "func @f(%a: f64, %b: f64, %h: f64, %n: i64) -> (f64, f64, f64) {
       %start = itof -1
       %first = cos %start
       %g = fma %a, %first, %b
       %r, %s, %t = for %i in 0..%n carry (%x = %a, %v = %b, %g0 = %g) {
         %v1 = fma %h, %g0, %v
         %x1 = fma %h, %v1, %x
         %time = itof %i
         %c = cos %time
         %g1 = fma %x1, %c, 0.5
         yield %x1, %v1, %g1
       }
       return %r, %s, %t
     }";
    let module = inverted(text, &[0, 1]).unwrap();
    let plan = &module.loops[0];
    let mut interp = Interp::new(&module);
    let mut run = |name: &str, from: i64, to: i64, state: &[f64]| {
        let range = [Val::i64(from), Val::i64(to)];
        let state = state.iter().chain(&[0.125]).map(|x| Val::f64(*x));
        floats(&interp.call(name, range.into_iter().chain(state).collect()).unwrap())[..3].to_vec()
    };
    let one = run(&plan.advance, 0, 1, &[0.5, 0.25, 0.75]);
    let nine = run(&plan.advance, 1, 9, &one);
    let back = run(&plan.unstep.as_ref().unwrap().func, 1, 9, &nine);
    for (x, y) in back.iter().zip(&one) {
        assert!((x - y).abs() < 1e-12, "{back:?}, not {one:?}");
    }
}
