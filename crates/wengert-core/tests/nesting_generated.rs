//! Derivatives of derivatives of generated programs. Second derivatives are part of what `generated`
//! checks; here are third ones, and second ones through calls that stay calls.
//!
//! `WENGERT_SEED` and `WENGERT_PROGRAMS` choose which programs and how many.

use wengert_core::check::{self, Engine, Interpreter};
use wengert_core::interp::Val;
use wengert_core::ir::{Func, Module, parse, verify};
use wengert_core::transform::{inline, pipeline};

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Every combination of three modes on generated programs. Rounding grows with the order; a wrong
/// derivative is wrong by far more.
#[test]
fn third_derivatives_of_generated_programs() {
    let count = number("WENGERT_PROGRAMS", 200) / 25;
    let seed = number("WENGERT_SEED", 1);
    for seed in seed..seed + count {
        let case = wengert_core::generate::case(seed);
        let module = Module::of(case.func.clone());
        let name = case.func.name.to_string();
        let report = check::check_grads(&module, &name, &case.args, 3)
            .unwrap_or_else(|e| panic!("WENGERT_SEED={seed}: {e}\n{module}"));
        for row in report.rows.iter().filter(|row| !row.against.starts_with("differences")) {
            assert!(row.error.is_some_and(|e| e < 1e-6), "WENGERT_SEED={seed}\n{report}\n{module}");
        }
    }
}

/// A program that calls the function through a recursion that stays a call.
fn through_calls(func: &Func) -> String {
    let types = func.param_types();
    let params: Vec<String> = (0..types.len()).map(|k| format!("%p{k}: {}", types[k])).collect();
    let args: Vec<String> = (0..types.len()).map(|k| format!("%p{k}")).collect();
    let results: Vec<String> = func.results.iter().map(|t| t.to_string()).collect();
    let values = |letter: &str| -> String {
        (0..results.len()).map(|k| format!("%{letter}{k}")).collect::<Vec<_>>().join(", ")
    };
    let (params, args, results) = (params.join(", "), args.join(", "), results.join(", "));
    let (r, q, s, name) = (values("r"), values("q"), values("s"), &func.name);
    format!(
        "func @outer({params}) -> ({results}) {{
           {r} = call @again({args}, 1) : {results}
           return {r}
         }}
         func @again({params}, %k: i64) -> ({results}) {{
           %more = igt %k, 0
           {r} = if %more {{
             %m = isub %k, 1
             {q} = call @again({args}, %m) : {results}
             yield {q}
           }} else {{
             {s} = call @{name}({args}) : {results}
             yield {s}
           }}
           return {r}
         }}
         {func}"
    )
}

#[test]
fn calls_of_generated_programs() {
    let count = number("WENGERT_PROGRAMS", 200) / 8;
    let seed = number("WENGERT_SEED", 1);
    let engine = &mut Interpreter::default();
    for seed in seed..seed + count {
        let mut case = wengert_core::generate::case(seed);
        let funcs = std::iter::once(&case.func).chain(&case.callees).cloned().collect();
        let whole = Module { funcs, ..Module::default() };
        case.func = inline::inline(&whole, &case.func.name).unwrap();
        let alone = pipeline::module(&Module::of(case.func.clone()), &case.func.name).unwrap();
        let value = engine.call(&alone, &case.func.name, &case.args).unwrap();
        let module = parse::module(&through_calls(&case.func)).unwrap();
        verify::module(&module).unwrap();
        let (name, module) = ("outer", pipeline::module(&module, "outer").unwrap());
        let mut random = check::Random(seed);
        let weights: Vec<Val> =
            value.iter().filter(|v| v.ty().is_float()).map(|v| random.like(v)).collect();
        let along: Vec<Val> = case.wrt.iter().map(|k| random.like(&case.args[*k])).collect();
        let mut products = Vec::new();
        for (module, name) in [(&alone, &*case.func.name), (&module, name)] {
            let given = (&weights[..], &along[..]);
            let found = check::hessian_products(module, name, &case.wrt, engine, &case.args, given);
            products.extend(found.unwrap_or_else(|e| panic!("WENGERT_SEED={seed}: {e}\n{module}")));
        }
        let size = products.iter().flatten().fold(1e-3f64, |m, x| m.max(x.abs()));
        assert!(size.is_finite(), "WENGERT_SEED={seed}\n{products:?}\n{}", case.func);
        for other in &products {
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-7 * size;
            let right =
                other.len() == products[0].len() && other.iter().zip(&products[0]).all(close);
            assert!(right, "WENGERT_SEED={seed}\n{products:?}\n{}", case.func);
        }
    }
}
