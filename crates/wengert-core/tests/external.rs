//! Calls of functions that are somewhere else: two modules, differentiated apart and put together, against the same
//! functions in one module.

mod nested;

use nested::verified;
use wengert_core::check::{Engine, Interpreter, bits};
use wengert_core::fault::FaultKind;
use wengert_core::generate::program::{Program, program};
use wengert_core::interp::Val;
use wengert_core::ir::{Builder, External, Func, Module, Op, Type, parse};
use wengert_core::ops::Scalar;
use wengert_core::transform::{derivative, jvp, pipeline, vjp};

/// A function that is called, and one that calls it.
struct Case {
    callee: &'static str,
    declared: &'static str,
    caller: &'static str,
    args: Vec<Val>,
    /// The callee calls itself, so that its calls stay calls in one module too.
    apart_anyway: bool,
}

fn cases() -> Vec<Case> {
    let case = |callee, declared, caller, args: &[Val]| Case {
        callee,
        declared,
        caller,
        args: args.to_vec(),
        apart_anyway: false,
    };
    vec![
        case(
            "func @g(%x: f64, %a: f64) -> f64 { %s = sin %x  %p = mul %s, %a  return %p }",
            "extern @g(f64, f64) -> (f64) jvp vjp",
            "func @f(%x: f64, %a: f64) -> f64 {
               %y = for %i in 0..4 carry (%y1 = %x) {
                 %y2 = call @g(%y1, %a) : f64
                 %y3 = mul %y2, %y1
                 yield %y3
               }
               return %y
             }",
            &[Val::f64(0.8), Val::f64(1.3)],
        ),
        // An array that is written, a result beside it, an integer; a loop with an exit in the callee.
        case(
            "func @g(%u: [f64], %k: f64, %n: i64) -> (f64, [f64]) {
               %w = copy %u
               %v, %s = for %i in 0..%n carry (%v1 = %w, %s1 = 0.0) {
                 %e = load %v1, %i
                 %q = mul %e, %e
                 %far = gt %q, 4.0
                 exit_if %far { yield %v1, %s1 }
                 %r = mul %q, %k
                 %s2 = add %s1, %r
                 %v2 = store %v1, %i, %s2
                 yield %v2, %s2
               }
               return %s, %v
             }",
            "extern @g([f64], f64, i64) -> (f64, [f64]) jvp vjp",
            "func @f(%u: [f64], %k: f64) -> (f64, [f64]) {
               %s, %v = for %i in 0..3 carry (%s1 = %k, %v1 = %u) {
                 %s2, %v2 = call @g(%v1, %s1, 3) : f64, [f64]
                 %e = load %v1, 2
                 %s3 = mul %s2, %e
                 yield %s3, %v2
               }
               return %s, %v
             }",
            &[Val::array(vec![0.3, 0.9, 0.7]), Val::f64(1.1)],
        ),
        // Nothing of the first parameter reaches the result.
        case(
            "func @g(%u: [f64], %x: f64) -> (f64, i64) {
               %n = len %u
               %y = mul %x, %x
               return %y, %n
             }",
            "extern @g([f64], f64) -> (f64, i64) jvp vjp",
            "func @f(%u: [f64], %x: f64) -> f64 {
               %y, %n = call @g(%u, %x) : f64, i64
               %m = isub %n, 1
               %e = load %u, %m
               %z = mul %y, %e
               return %z
             }",
            &[Val::array(vec![0.3, 0.9]), Val::f64(1.1)],
        ),
        Case {
            apart_anyway: true,
            ..case(
                "func @g(%x: f64, %n: i64) -> f64 {
                   %end = ile %n, 0
                   %p = if %end { yield %x } else {
                     %m = isub %n, 1
                     %q = call @g(%x, %m) : f64
                     %r = mul %q, %x
                     yield %r
                   }
                   return %p
                 }",
                "extern @g(f64, i64) -> (f64) jvp vjp",
                "func @f(%x: f64) -> f64 {
                   %y = call @g(%x, 3) : f64
                   %z = sin %y
                   return %z
                 }",
                &[Val::f64(0.8)],
            )
        },
    ]
}

fn prepared(text: &str, name: &str) -> Module {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e} {:?}", e.labels));
    verified(&module);
    pipeline::module(&module, name).unwrap_or_else(|e| panic!("{e}"))
}

fn floats(func: &Func) -> Vec<usize> {
    let types = func.param_types();
    (0..types.len()).filter(|k| types[*k].is_float()).collect()
}

/// The callee and all that derivatives of its callers call.
fn everything(callee: &Module, name: &str) -> Vec<Func> {
    let tangent = |module: &Module, name: &str| {
        jvp::in_module(module, name, &floats(module.func(name).unwrap()), 1).unwrap()
    };
    let reversed = vjp::callee_in_module(callee, name).unwrap();
    let mut all = Vec::<Func>::new();
    for module in [
        tangent(callee, name),
        tangent(&reversed, &format!("{name}.call.record")),
        tangent(&reversed, &format!("{name}.call.reverse")),
        reversed,
    ] {
        verified(&module);
        for func in module.funcs {
            if all.iter().all(|known| known.name != func.name) {
                all.push(func);
            }
        }
    }
    all
}

/// The module with bodies for what it declares.
fn linked(mut module: Module, bodies: &[Func]) -> Module {
    verified(&module);
    for external in std::mem::take(&mut module.externals) {
        let body = bodies.iter().find(|f| f.name == external.name);
        let body = body.unwrap_or_else(|| panic!("`{}` is missing", external.name));
        assert_eq!(body.param_types(), external.params, "{}", external.name);
        assert_eq!(body.results, external.results, "{}", external.name);
    }
    for body in bodies.iter().filter(|b| module.func(&b.name).is_none()).collect::<Vec<_>>() {
        module.funcs.push(body.clone());
    }
    verified(&module);
    module
}

/// Arguments for parameters after the first ones.
fn extended(args: &[Val], module: &Module, name: &str) -> Vec<Val> {
    let mut args = args.to_vec();
    let types = module.func(name).unwrap().param_types();
    for (k, ty) in types.iter().enumerate().skip(args.len()) {
        let x = 0.4 + 0.3 * k as f64;
        let like = args.iter().find(|a| matches!(a, Val::Array(_))).cloned();
        args.push(match (ty, like) {
            (Type::Tape, _) => Val::Tape(Vec::new()),
            (ty, Some(Val::Array(like))) if ty.is_array() => {
                let n = like.shape.iter().product::<usize>();
                Val::array((0..n).map(|j| x + 0.1 * j as f64).collect())
            }
            _ => Val::f64(x),
        });
    }
    args
}

fn run(module: &Module, name: &str, args: &[Val]) -> Vec<Val> {
    let args = extended(args, module, name);
    Interpreter::default().call(module, name, &args).unwrap_or_else(|e| panic!("{e}\n{module}"))
}

/// The value, forward mode, reverse mode and forward over reverse, to rounding: in one module the callee's products and sums
/// are fused with the caller's, and adjoints are summed in another order.
#[test]
fn two_modules_are_as_one() {
    for Case { callee, declared, caller, args, apart_anyway } in cases() {
        let one = prepared(&format!("{caller}\n{callee}"), "f");
        let two = prepared(&format!("{declared}\n{caller}"), "f");
        let bodies = everything(&prepared(callee, "g"), "g");
        let wrt = floats(one.func("f").unwrap());
        type Make = fn(&Module, &[usize]) -> Module;
        let modes: [(&str, Make); 4] = [
            ("f", |m, _| m.clone()),
            ("f.jvp", |m, wrt| jvp::in_module(m, "f", wrt, 1).unwrap()),
            ("f.vjp", |m, wrt| vjp::in_module(m, "f", wrt).unwrap()),
            ("f.vjp.jvp", |m, wrt| derivative::products(m, "f", wrt, wrt).unwrap()),
        ];
        for (name, make) in modes {
            let apart = linked(make(&two, &wrt), &bodies);
            let whole = make(&one, &wrt);
            let (apart, whole) = (run(&apart, name, &args), run(&whole, name, &args));
            if apart_anyway {
                assert_eq!(bits(&apart), bits(&whole), "{name} of {caller}");
            }
            let (a, b) = (wengert_core::check::floats(&apart), wengert_core::check::floats(&whole));
            assert_eq!(a.len(), b.len());
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{name}: {a} {b} of {caller}");
            }
        }
    }
}

/// Along several directions a call is made once for each.
#[test]
fn several_directions() {
    let Case { callee, declared, caller, args, .. } = cases().remove(0);
    let two = prepared(&format!("{declared}\n{caller}"), "f");
    let bodies = everything(&prepared(callee, "g"), "g");
    let apart = linked(jvp::in_module(&two, "f", &[0, 1], 3).unwrap(), &bodies);
    let once = linked(jvp::in_module(&two, "f", &[0, 1], 1).unwrap(), &bodies);
    let given = extended(&args, &apart, "f.jvp3");
    let all = Interpreter::default().call(&apart, "f.jvp3", &given).unwrap();
    for d in 0..3 {
        let along = [&args[..], &given[2 + 2 * d..4 + 2 * d]].concat();
        let one = Interpreter::default().call(&once, "f.jvp", &along).unwrap();
        assert_eq!(bits(&one[1..]), bits(&all[1 + d..2 + d]), "{d}");
    }
}

#[test]
fn what_is_not_there_is_not_run() {
    let module = parse::module("extern @g(f64) -> (f64)").unwrap();
    let fault = Interpreter::default().call(&module, "g", &[Val::f64(1.0)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::External("g".into()));
}

/// Random programs: the functions that they call are taken for functions that are somewhere else. Values have the same bits
/// where nothing is fused; `WENGERT_PROGRAMS` says how many there are.
#[test]
fn random_programs_in_two_modules() {
    let number = std::env::var("WENGERT_PROGRAMS").ok().and_then(|n| n.parse().ok());
    let (mut compared, mut faults) = (0, 0);
    for seed in 1.. {
        if compared >= number.unwrap_or(40) {
            break;
        }
        let Program { func, callees, args } = program(seed);
        let mut one = Module::of(func.clone());
        one.funcs.extend(callees.iter().cloned());
        let mut two = Module::of(func.clone());
        two.externals.extend(callees.iter().map(|callee| External {
            name: callee.name.clone(),
            params: callee.param_types(),
            results: callee.results.clone(),
            jvp: true,
            vjp: true,
        }));
        let name = &*func.name;
        let (one, two) = (ready(&one, name), ready(&two, name));
        // What is not called, or has no part in derivatives, says nothing.
        if two.externals.is_empty() {
            continue;
        }
        let together = Module { funcs: callees.clone(), ..Module::default() };
        let bodies: Vec<Func> =
            callees.iter().flat_map(|callee| reading(&together, &callee.name)).collect();
        let wrt = floats(&func);
        let first = Interpreter::default().call(&one, name, &args);
        // Seeds have the shapes of results, tangents those of arguments.
        let is_float = |v: &&Val| match v {
            Val::Scalar(x) => x.elem().is_float(),
            Val::Array(x) => x.elem().is_float(),
            Val::Tape(_) => false,
        };
        let seeds: Vec<Val> =
            first.iter().flatten().filter(is_float).enumerate().map(|(k, v)| like(v, k)).collect();
        let tangents: Vec<Val> = wrt.iter().map(|k| like(&args[*k], k + 3)).collect();
        let outcome = |module: &Module, mode: &str| {
            let mut args = args.clone();
            if mode.contains("vjp") {
                args.extend(seeds.iter().cloned());
            }
            if mode.contains("jvp") {
                args.extend(tangents.iter().cloned());
            }
            if mode.contains("vjp") {
                args.push(Val::Tape(Vec::new()));
            }
            Interpreter::default().call(module, &format!("{name}{mode}"), &args)
        };
        type Make = fn(&Module, &str, &[usize]) -> Module;
        let modes: [(&str, Make); 4] = [
            ("", |m, _, _| m.clone()),
            (".jvp", |m, name, wrt| jvp::in_module(m, name, wrt, 1).unwrap()),
            (".vjp", |m, name, wrt| vjp::in_module(m, name, wrt).unwrap()),
            (".vjp.jvp", |m, name, wrt| derivative::products(m, name, wrt, wrt).unwrap()),
        ];
        for (mode, make) in modes {
            if first.is_err() && mode.contains("vjp") {
                continue;
            }
            let apart = linked(make(&two, name, &wrt), &bodies);
            let whole = make(&one, name, &wrt);
            match (outcome(&apart, mode), outcome(&whole, mode)) {
                (Ok(apart), Ok(whole)) if mode.is_empty() => {
                    assert_eq!(bits(&apart), bits(&whole), "seed {seed}");
                }
                (Ok(apart), Ok(whole)) => {
                    let [a, b] = [apart, whole].map(|v| wengert_core::check::floats(&v));
                    assert_eq!(a.len(), b.len());
                    let size = b.iter().filter(|b| b.is_finite()).fold(1.0, |s, b| b.abs().max(s));
                    for (a, b) in a.iter().zip(&b) {
                        let same = a == b || (a.is_nan() && b.is_nan());
                        assert!(same || (a - b).abs() <= 1e-9 * size, "seed {seed}{mode}: {a} {b}");
                    }
                }
                (Err(a), Err(b)) => {
                    faults += 1;
                    assert_eq!(a.kind, b.kind, "seed {seed}{mode}");
                }
                (a, b) => panic!("seed {seed}{mode}: {a:?} {b:?}"),
            }
        }
        compared += 1;
    }
    assert!(faults < 4 * compared);
}

/// Small numbers in the place of the floats of a value.
fn like(val: &Val, k: usize) -> Val {
    let x = 0.4 + 0.3 * k as f64;
    match val {
        Val::Array(of) => {
            Val::shaped(of.with_floats((0..of.len()).map(|j| x - 0.1 * (j % 7) as f64)))
        }
        Val::Scalar(Scalar::F32(_)) => Val::Scalar(Scalar::F32(x as f32)),
        _ => Val::f64(x),
    }
}

fn ready(module: &Module, name: &str) -> Module {
    verified(module);
    pipeline::module_as_rounded(module, name).unwrap_or_else(|e| panic!("{e}\n{module}"))
}

/// A function and what derivatives of its callers call; none takes over the arrays it is given.
fn reading(module: &Module, name: &str) -> Vec<Func> {
    let callee = ready(module, name);
    let mut all = Vec::new();
    for mut func in everything(&callee, name) {
        let params: Vec<_> = func.params().iter().map(|p| (func.ty(*p), None)).collect();
        let (mut b, values) = Builder::new(func.name.clone(), &params);
        let mut args = Vec::new();
        for (v, (ty, _)) in values.iter().zip(&params) {
            args.push(if ty.is_array() { b.op(Op::Copy, &[*v])[0] } else { *v });
        }
        func.name = format!("{}.inside", func.name).into();
        let results = b.inst(Op::Call(func.name.clone()), args, &func.results, Vec::new());
        all.push(b.finish(results));
        all.push(func);
    }
    all
}
