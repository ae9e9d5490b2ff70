//! Parallel loops whose iterations run in lockstep through C: the same bits and faults as one by one.

use crate::random::{FLOATS, Random};
use crate::{Arg, Both, module, printed};
use std::fmt::Write;
use wengert_core::fault::FaultKind;
use wengert_core::generate;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::Module;
use wengert_core::ops::Scalar;
use wengert_core::transform::{jvp, pipeline, vjp};
use wengert_runtime::cc;

/// Numbers of iterations: none, fewer than run at once, as many, one more, some groups and some left over, more than
/// there are chunks.
pub(crate) const SIZES: [usize; 8] = [0, 1, 7, 8, 9, 17, 67, 515];

/// A program whose iterations compute `%y` from a number, an element and an array that all of them read.
pub(crate) fn program(body: &str) -> String {
    format!(
        "func @f(%p: f64, %x: [f64], %w: [f64]) -> [f64] {{
          %n = len %x
          %m = len %w
          %out = fill %n, 0.0
          %r = parallel for %i in 0..%n carry (%o = %out) {{
            %v = load %x, %i
            {body}
            %o1 = store %o, %i, %y
            yield %o1
          }}
          return %r
        }}"
    )
}

/// A program as it stands, forward and reverse.
pub(crate) fn ways(text: &str) -> [(Module, &'static str); 3] {
    let original = module(text);
    let func = pipeline::run(&original, "f").unwrap();
    let forward = Module::of(jvp::jvp(&func, &[0, 1]).unwrap());
    let reverse = vjp::vjp(&func, &[0, 1]).unwrap();
    [(original, "f"), (forward, "f.jvp"), (reverse, "f.vjp")]
}

/// Whether the loops of a program run in lockstep through C.
pub(crate) fn in_lockstep(module: &Module, entry: &str) -> bool {
    cc::text(module, &[entry]).unwrap().contains("\n  v8u v")
}

/// What goes wrong first in a program with this body, and in which iterations: the same in all three ways, in lockstep.
pub(crate) fn faults(body: &str, max_iterations: u64) -> (FaultKind, Vec<i64>) {
    let text = program(body);
    let [value, forward, reverse] = ways(&text).map(|(module, entry)| {
        assert!(in_lockstep(&module, entry), "{entry} {text}");
        let mut both = Both::of(module);
        both.options.max_iterations = max_iterations;
        let x: Vec<f64> = (0..40).map(|k| element(k, false)).collect();
        let mut args = vec![Arg::F64(0.8), Arg::Array(&x), Arg::Array(&x)];
        match entry {
            "f.jvp" => args.extend([Arg::F64(0.5), Arg::Array(&x)]),
            "f.vjp" => args.push(Arg::Array(&x)),
            _ => {}
        }
        let fault = both.agree(entry, &args).unwrap_err();
        let iterations: Vec<i64> = fault.iterations.iter().map(|(_, i)| *i).collect();
        (fault.kind, iterations)
    });
    assert!(forward == value && reverse == value, "{value:?} {forward:?} {reverse:?}");
    value
}

pub(crate) fn element(k: usize, special: bool) -> f64 {
    match special {
        true => FLOATS[(7 * k + 3) % FLOATS.len()],
        false => ((k * k) % 97) as f64 / 40.0 - 1.1,
    }
}

/// Runs programs all ways, at all sizes, with ordinary numbers and with special ones.
pub(crate) fn agree(texts: &[String], sizes: &[usize], all_in_lockstep: bool) {
    let all: Vec<(Both, &str)> = texts
        .iter()
        .flat_map(|text| ways(text))
        .map(|(module, entry)| {
            let mut both = Both::of(module);
            both.options.max_iterations = 100;
            (both, entry)
        })
        .collect();
    for some in all.chunks(30) {
        let modules: Vec<&Module> = some.iter().map(|(both, _)| &both.module).collect();
        for ((both, _), program) in some.iter().zip(printed(&modules).into_iter().flatten()) {
            assert!(both.printed.set(Some(program)).is_ok());
        }
    }
    let w = [0.3, -0.2, 0.7];
    for (both, entry) in &all {
        if all_in_lockstep {
            assert!(in_lockstep(&both.module, entry), "{entry} {:?}", both.module.funcs[0]);
        }
        for (n, special) in sizes.iter().flat_map(|n| [(*n, false), (*n, true)]) {
            let x: Vec<f64> = (0..n).map(|k| element(k, special)).collect();
            let d: Vec<f64> = (0..n).map(|k| element(k + 5, special && k % 2 == 0)).collect();
            let mut args = vec![Arg::F64(0.8), Arg::Array(&x), Arg::Array(&w)];
            match *entry {
                "f.jvp" => args.extend([Arg::F64(0.5), Arg::Array(&d)]),
                "f.vjp" => args.push(Arg::Array(&d)),
                _ => {}
            }
            _ = both.agree(entry, &args);
        }
    }
}

/// A loop over time whose adjoint is left out where nothing depends on it: lanes differ in whether they need it.
#[test]
fn sweeps_that_some_lanes_need() {
    let body = "
        %h = for %t in 0..%m carry (%s = %v) {
          %u = load %w, %t
          %g = fma %s, %p, %u
          %e = sin %g
          yield %e
        }
        %y = max %h, 0.25";
    agree(&[program(body)], &SIZES, true);
}

#[test]
fn branches_that_lanes_take_differently() {
    let plain = "
        %c = lt %v, 0.5
        %y = if %c {
          %a = mul %v, %p
          yield %a
        } else {
          %b = div %p, %v
          yield %b
        }";
    // With a loop, loads at places of the lane's own, and others that only some lanes may read.
    let long = "
        %c = lt %v, 0.5
        %y = if %c {
          %a = for %t in 0..%m carry (%s = %v) {
            %u = load %w, %t
            %b = exp %s
            %d = fma %b, %p, %u
            %g = tanh %d
            yield %g
          }
          %near = ilt %i, %m
          %z = if %near {
            %own = load %w, %i
            %k = mul %own, %a
            yield %k
          } else {
            yield %a
          }
          yield %z
        } else {
          %q = sqrt %v
          %l = log %q
          yield %l
        }";
    agree(&[program(plain), program(long)], &SIZES, true);
}

/// Integers and truth values that differ between lanes, and go from one iteration of an inner loop to the next.
#[test]
fn integers_and_truth_values() {
    let body = "
        %k0 = imod %i, %m
        %k, %odd, %h = for %t in 0..5 carry (%j = %k0, %b = false, %s = %v) {
          %u = load %w, %j
          %s1 = fma %s, %u, %p
          %up = iadd %j, 1
          %j1 = imod %up, %m
          %b1 = not %b
          %s2 = select %b, %s1, %s
          yield %j1, %b1, %s2
        }
        %e = itof %k
        %q = select %odd, %e, %p
        %y = mul %q, %h";
    let bits = "
        %a = floor %v
        %k = ftoi %a
        %b = imax %k, 0
        %c = imin %b, 2
        %u = load %w, %c
        %d = round %u
        %z = add %d, %v
        %y = mul %z, %p";
    agree(&[program(body), program(bits)], &SIZES, true);
}

/// Every elementary function, on special values too.
#[test]
fn elementary_functions() {
    let names = [
        "sin", "cos", "tan", "exp", "log", "tanh", "cbrt", "expm1", "log1p", "exp2", "log2",
        "asin", "atan", "sinh", "cosh", "asinh", "erf", "erfc", "sigmoid", "softplus", "lgamma",
        "normcdf", "norminv", "ceil", "trunc", "sign", "relu", "floor", "round", "abs",
    ];
    let texts = names.map(|name| {
        let body = format!("%a = {name} %v\n %b = mul %a, %p\n %huge = mul %v, 1e7\n %c = {name} %huge\n %y = add %b, %c");
        program(&body)
    });
    agree(&texts, &[17], false);
}

/// The fault of the first iteration that fails, wherever the others stand.
#[test]
fn faults_are_those_of_one_by_one() {
    let index = "
        %big = imul %i, 2
        %u = load %w, %big
        %y = mul %u, %v";
    let late = "
        %early = ieq %i, 13
        %by = select %early, -1, 1
        %z = if %early {
          %far = load %w, 47
          yield %far
        } else {
          yield %v
        }
        %at = imul %i, %by
        %back = isub 12, %at
        %u = load %w, %back
        %y = mul %u, %z";
    let sum = "
        %huge = wsub 9223372036854775807, 20
        %s = iadd %huge, %i
        %e = itof %s
        %y = mul %e, %v";
    let told = "
        %few = ilt %i, 21
        assert %few, \"few\"
        %y = mul %p, %v";
    let found = [index, late, sum, told].map(|body| faults(body, u64::MAX));
    assert!(matches!(found[0].0, FaultKind::Index { index: 40, len: 40, .. }), "{found:?}");
    let iterations: Vec<&[i64]> = found.iter().map(|(_, i)| &i[..]).collect();
    assert_eq!(iterations, [[20], [13], [21], [21]]);
}

/// Whether there is room on the tape does not depend on lanes.
#[test]
fn the_tape_is_as_long_as_one_by_one() {
    let body = "
        %y = for %t in 0..%m carry (%s = %v) {
          %g = sin %s
          yield %g
        }";
    let [_, _, (reverse, entry)] = ways(&program(body));
    assert!(in_lockstep(&reverse, entry));
    let mut both = Both::of(reverse);
    let x: Vec<f64> = (0..20).map(|k| element(k, false)).collect();
    let args = [Arg::F64(0.8), Arg::Array(&x), Arg::Array(&x[..3]), Arg::Array(&x)];
    let (_, stats) = both.compiled(entry, &args);
    for bytes in 0..=stats.tape_peak_bytes / 8 + 1 {
        both.options.tape_limit = Some(8 * bytes);
        let (ran, _) = both.compiled(entry, &args);
        assert_eq!(ran.is_ok(), 8 * bytes >= stats.tape_peak_bytes, "{bytes}");
    }
}

/// What is computed in a random program, from the variables there are.
struct Body {
    random: Random,
    text: String,
    floats: Vec<String>,
    made: usize,
}

impl Body {
    fn any(&mut self, n: usize) -> usize {
        (self.random.bits() % n as u64) as usize
    }

    fn float(&mut self) -> String {
        let k = self.any(self.floats.len());
        self.floats[k].clone()
    }

    fn name(&mut self) -> String {
        self.made += 1;
        format!("%a{}", self.made)
    }

    /// A side of a branch or the body of a loop: what it yields is its last variable.
    fn nested(&mut self, depth: usize, own: &[String]) {
        let outside = self.floats.len();
        self.floats.extend_from_slice(own);
        self.statements(depth);
        let last = self.float();
        let _ = writeln!(self.text, "yield {last}");
        self.floats.truncate(outside);
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..2 + self.any(4) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        let (a, b, c) = (self.float(), self.float(), self.float());
        let (r, t) = (self.name(), self.name());
        let two = ["add", "sub", "mul", "min", "max", "div"][self.any(6)];
        let one =
            ["sin", "exp", "tanh", "sqrt", "neg", "abs", "floor", "flush", "log"][self.any(9)];
        let compare = ["lt", "le", "gt", "ge", "eq", "ne"][self.any(6)];
        match self.any(if depth == 0 { 5 } else { 11 }) {
            0 | 1 => _ = writeln!(self.text, "{r} = {two} {a}, {b}"),
            2 => _ = writeln!(self.text, "{r} = {one} {a}"),
            3 => _ = writeln!(self.text, "{r} = fma {a}, {b}, {c}"),
            4 => {
                let _ = writeln!(self.text, "{t} = {compare} {a}, {b}\n{r} = select {t}, {b}, {c}");
            }
            5 | 6 => {
                let _ = writeln!(self.text, "{t} = {compare} {a}, {b}\n{r} = if {t} {{");
                self.nested(depth - 1, &[]);
                let _ = writeln!(self.text, "}} else {{");
                self.nested(depth - 1, &[]);
                let _ = writeln!(self.text, "}}");
            }
            7 => {
                let (j, s, u) = (self.name(), self.name(), self.name());
                let _ = writeln!(self.text, "{r} = for {j} in 0..%m carry ({s} = {a}) {{");
                let _ = writeln!(self.text, "{u} = load %w, {j}");
                self.nested(depth - 1, &[s, u]);
                let _ = writeln!(self.text, "}}");
            }
            // Loops that lanes leave at different times.
            8 => {
                let [j, s, lo, hi] = [(); 4].map(|()| self.name());
                let (few, many) = (1 + self.any(3), 1 + self.any(7));
                let _ = writeln!(self.text, "{lo} = iand %i, {few}\n{hi} = iand %i, {many}");
                let _ = writeln!(self.text, "{r} = for {j} in {lo}..{hi} carry ({s} = {a}) {{");
                let _ = writeln!(self.text, "{t} = itof {j}");
                self.nested(depth - 1, &[s, t]);
                let _ = writeln!(self.text, "}}");
            }
            9 => {
                let (j, s) = (self.name(), self.name());
                let most = 1 + self.any(7);
                let _ = writeln!(self.text, "{r} = for {j} in 0..{most} carry ({s} = {a}) {{");
                self.floats.push(s);
                self.exit(depth - 1, &format!("{compare} {b}, {c}"));
                self.exit(0, &format!("{compare} {c}, {a}"));
                self.floats.pop();
                self.nested(depth - 1, &[]);
                let _ = writeln!(self.text, "}}");
            }
            _ => {
                let [j, s, k] = [(); 3].map(|()| self.name());
                let most = 1 + self.any(15);
                let _ = writeln!(self.text, "{k} = iand %i, {most}");
                let _ = writeln!(self.text, "{r} = while {j} carry ({s} = {a}) {{");
                self.floats.push(s);
                self.exit(depth - 1, &format!("ige {j}, {k}"));
                if self.any(2) == 0 {
                    let s = self.float();
                    self.exit(0, &format!("{compare} {s}, {b}"));
                }
                self.floats.pop();
                self.nested(depth - 1, &[]);
                let _ = writeln!(self.text, "}}");
            }
        }
        self.floats.push(r);
    }

    /// A way out of a loop.
    fn exit(&mut self, depth: usize, condition: &str) {
        let t = self.name();
        let _ = writeln!(self.text, "{t} = {condition}\nexit_if {t} {{");
        self.nested(depth, &[]);
        let _ = writeln!(self.text, "}}");
    }
}

#[test]
fn random_programs() {
    let texts: Vec<String> = (0..32)
        .map(|seed| {
            let floats = vec!["%p".into(), "%v".into(), "%v".into()];
            let random = Random(seed * 7919 + 17);
            let mut body = Body { random, text: String::new(), floats, made: 0 };
            body.statements(2);
            let last = body.floats[body.floats.len() - 1].clone();
            let _ = writeln!(body.text, "%y = add {last}, %v");
            program(&body.text)
        })
        .collect();
    agree(&texts, &[9, 67], false);
    let count = texts.iter().flat_map(|text| ways(text)).filter(|(m, e)| in_lockstep(m, e)).count();
    // Where a loop stands before the way out of another one, their records are not written in lockstep.
    assert!(count >= 85, "{count}");
}

/// Generated programs with parallel loops, and their derivatives, through C.
#[test]
fn generated_programs() {
    let mut all = Vec::new();
    let mut together = [0; 3];
    for seed in 0..4000 {
        let case = generate::case(seed);
        let mut parallel = false;
        case.func.body.walk(&mut |i| parallel |= i.blocks.iter().any(|b| b.parallel));
        if !parallel || !case.callees.is_empty() {
            continue;
        }
        let Ok(func) = pipeline::run(&Module::of(case.func.clone()), &case.func.name) else {
            continue;
        };
        let floats: Vec<Val> = case.wrt.iter().map(|k| case.args[*k].clone()).collect();
        let name = func.name.clone();
        let tangents = [&case.args[..], &floats].concat();
        let mut ways = vec![
            (Module::of(func.clone()), name.to_string(), case.args.clone()),
            (Module::of(jvp::jvp(&func, &case.wrt).unwrap()), format!("{name}.jvp"), tangents),
        ];
        // What is asked of its results: themselves, where it has any here.
        let mut interp = Interp::new(&ways[0].0);
        interp.max_iterations = 200;
        if let (Ok(results), Ok(reverse)) =
            (interp.call(&name, case.args.clone()), vjp::vjp(&func, &case.wrt))
        {
            let float = |v: &Val| match v {
                Val::Scalar(s) => matches!(s, Scalar::F64(_) | Scalar::F32(_)),
                Val::Array(x) => x.elem().is_float(),
                Val::Tape(_) => false,
            };
            let asked = results.into_iter().filter(float);
            let args = case.args.into_iter().chain(asked).collect();
            ways.push((reverse, format!("{name}.vjp"), args));
        }
        for (k, (module, entry, args)) in ways.into_iter().enumerate() {
            together[k] += usize::from(in_lockstep(&module, &entry));
            all.push((Both::of(module), entry, args));
        }
        if all.len() >= 30 {
            break;
        }
    }
    for some in all.chunks(30) {
        let modules: Vec<&Module> = some.iter().map(|(both, ..)| &both.module).collect();
        for ((both, ..), program) in some.iter().zip(printed(&modules).into_iter().flatten()) {
            assert!(both.printed.set(Some(program)).is_ok());
        }
    }
    for (both, entry, vals) in &mut all {
        both.options.max_iterations = 200;
        let args: Vec<Arg> = vals.iter().filter_map(Arg::from_val).collect();
        _ = both.agree(entry, &args);
    }
    assert!(together.iter().all(|n| *n >= 3), "{together:?} of {}", all.len());
}

/// A loop beside the parallel one, which was not looked at.
#[test]
fn other_loops_run_as_ever() {
    let both = Both::new(
        "func @f(%p: f64, %x: [f64]) -> [f64] {
           %n = len %x
           %out = fill %n, 0.0
           %r, %d, %e = drive @l forward (0, %n, %out, %x, %p) : [f64], i64, i64
           return %r
         }
         func @g(%from: i64, %to: i64, %o: [f64], %x: [f64], %p: f64) -> ([f64], i64, i64) {
           %c = lt %p, 3.0
           %z = if %c {
             %q = for %k in 0..100 carry (%a = %p) {
               %b = mul %a, 0.9
               %s = sin %b
               yield %s
             }
             yield %q
           } else { yield 0.0 }
           %r = for %i in %from..%to carry (%o1 = %o) {
             %v = load %x, %i
             %u = mul %v, %z
             %o2 = store %o1, %i, %u
             yield %o2
           }
           %m = imax %from, %to
           return %r, %m, 0
         }
         loop @l parallel for carries 1 state 0 finals () advance @g record @g reverse @g",
    );
    let x: Vec<f64> = (0..19).map(|k| f64::from(k) - 7.5).collect();
    let _ = both.agree("f", &[Arg::F64(0.7), Arg::Array(&x)]).unwrap();
}

/// What is read again after a fault has been changed, and a comparison of it makes an index.
#[test]
fn comparisons_decide_over_faults() {
    let both = Both::new(
        "func @f(%x: [f64], %b: [f64]) -> ([f64], [f64]) {
           %n = len %x
           %y = copy %x
           %z = fill %n, 0.0
           %r, %s = parallel for %i in 0..%n carry (%y1 = %y, %z1 = %z) {
             %v = load %y1, %i
             %w = sub %v, 2.0
             %y2 = store %y1, %i, %w
             %c = gt %w, 0.0
             %k = select %c, 1000, 0
             %e = load %b, %k
             %z2 = store %z1, %i, %e
             yield %y2, %z2
           }
           return %r, %s
         }",
    );
    for x in [[0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 9.0, 0.0]] {
        assert!(both.agree("f", &[Arg::Array(&x), Arg::Array(&[1.0])]).is_err());
    }
}
