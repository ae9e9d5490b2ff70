//! Functions as Rust text: small ones, and the elementary functions of `wengert-math`. `BLESS=1` writes those.

use std::fmt::Write;
use wengert_core::emit::rust::{self, Beside, Calls, Unsupported};
use wengert_core::ir::{Func, Op, parse, verify};
use wengert_core::math;
use wengert_core::ops::Prim;
use wengert_core::transform::pipeline::{self, Passes};

const OPENING: &str = "\
//! Every row of floats as a Rust function.
//!
//! Made from the table of rows and the programs of elementary functions by a test of `wengert-core`:
//! `BLESS=1 cargo test -p wengert-core --test rust_text` writes it again.

use crate::dispatch::parts;

";

/// Parts of programs that are functions of their own here, because they are slow or large. The others are
/// copied to where they are called.
const APART: [&str; 3] = ["math.reduce_huge", "math.rem_huge", "math.hurwitz"];

/// Names in `wengert-math`.
struct Names;

impl Calls for Names {
    fn function(&self, name: &str) -> String {
        name.strip_prefix("math.").unwrap_or(name).to_string()
    }
}

/// The same, seen from the programs: what stands apart has versions to choose from.
struct Within;

impl Calls for Within {
    fn function(&self, name: &str) -> String {
        let plain = Names.function(name);
        if APART.contains(&name) { format!("parts::{plain}") } else { plain }
    }
}

fn rows() -> impl Iterator<Item = Prim> {
    Prim::ALL.iter().copied().filter(|p| p.signature().ends_with(">f"))
}

/// Names and Rust types of the inputs.
fn inputs(prim: Prim) -> Vec<(&'static str, &'static str)> {
    let names = match (prim.input_names(), prim.arity()) {
        ([], 1) => &["x"],
        ([], arity) => &["a", "b", "c"][..arity],
        (names, _) => names,
    };
    let types = prim.signature().chars().map(|c| if c == 'i' { "i64" } else { "f64" });
    names.iter().copied().zip(types).collect()
}

/// What it computes, and how exactly.
fn about(prim: Prim) -> String {
    let exact = match prim.bound() {
        0.0 => "exact".to_string(),
        0.5 if prim == Prim::Fma => return format!("`fma`: {}.", prim.about()),
        0.5 => "rounded once".to_string(),
        bound => format!("within {bound} ulp"),
    };
    format!("`{}`: {} ({exact}).", prim.name(), prim.about())
}

/// The program of a row, or a function of it alone.
fn program(prim: Prim) -> Func {
    if let Some(func) = math::find(prim) {
        return func.clone();
    }
    let (name, inputs) = (prim.name(), inputs(prim));
    let params: Vec<String> = inputs.iter().map(|(x, ty)| format!("%{x}: {ty}")).collect();
    let args: Vec<String> = inputs.iter().map(|(x, _)| format!("%{x}")).collect();
    let (params, args) = (params.join(", "), args.join(", "));
    let text = format!("func @{name}({params}) -> f64 {{ %y = {name} {args}  return %y }}");
    parse::module(&text).unwrap().funcs.remove(0)
}

/// The programs of sine and cosine as one: what both compute is computed once.
fn sine_and_cosine() -> Func {
    let text = "func @sin_cos(%x: f64) -> (f64, f64) { %s = sin %x  %c = cos %x  return %s, %c }";
    let passes = Passes { branches: true, ..Passes::NONE };
    let finished = pipeline::finish_with(&parse::module(text).unwrap(), &passes);
    finished.func("sin_cos").unwrap().clone()
}

/// A function of a few instructions that any machine has: not worth choosing a version of.
fn is_plain(prim: Prim) -> bool {
    prim != Prim::Fma && (math::find(prim).is_none() || prim.cost() <= 4)
}

fn file() -> String {
    let mut text = OPENING.to_string() + rust::SUPPORT;
    let mut parts: Vec<&'static Func> = Vec::new();
    let note = |func: &Func, parts: &mut Vec<&'static Func>| {
        func.body.walk(&mut |inst| {
            if let Op::Call(name) = &inst.op {
                let part = math::called(name).unwrap();
                if parts.iter().all(|p| p.name != part.name) {
                    parts.push(part);
                }
            }
        });
    };
    for prim in rows() {
        let func = program(prim);
        note(&func, &mut parts);
        let opening = format!("\n/// {}\n#[inline(always)]\npub ", about(prim));
        text += &rust::function(&func, &opening, &Within).unwrap();
    }
    let both = sine_and_cosine();
    note(&both, &mut parts);
    let opening = "\n/// The sine and the cosine of an angle: the same bits, in less time.\n#[inline(always)]\npub ";
    text += &rust::function(&both, opening, &Within).unwrap();
    // What is called may call on.
    let mut printed = 0;
    while let Some(part) = parts.get(printed).copied() {
        note(part, &mut parts);
        let apart = APART.contains(&&*part.name);
        let opening =
            if apart { "\n#[inline(always)]\npub(crate) " } else { "\n#[inline(always)]\n" };
        text += &rust::function(part, opening, &Apart { text: part }).unwrap();
        printed += 1;
    }
    text + &list()
}

/// A part is printed under its own name, and calls the others as programs do.
struct Apart {
    text: &'static Func,
}

impl Calls for Apart {
    fn function(&self, name: &str) -> String {
        if *name == *self.text.name { Names.function(name) } else { Within.function(name) }
    }
}

/// The rows as a macro, for what is made for each of them.
fn list() -> String {
    let mut text = "
/// Hands every row to a macro: whether it is `plain` or has versions, what it computes, its inputs.
#[doc(hidden)]
#[macro_export]
macro_rules! rows {
    ($each:ident) => {
        $each! {
"
    .to_string();
    for prim in rows() {
        let how = if is_plain(prim) { "plain" } else { "versions" };
        let inputs: Vec<String> = inputs(prim).iter().map(|(x, ty)| format!("{x}: {ty}")).collect();
        let (about, name, inputs) = (about(prim), prim.name(), inputs.join(", "));
        writeln!(text, "            {how} {about:?} {name}({inputs});").unwrap();
    }
    text + "        }\n    };\n}\n"
}

#[test]
fn the_elementary_functions_are_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../wengert-math/src/generated.rs");
    let text = file();
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(path, text).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    let different = text.lines().zip(found.lines()).find(|(a, b)| a != b);
    assert!(text == found, "run with BLESS=1 to write generated.rs again: {different:?}");
}

fn printed(text: &str) -> Result<String, Unsupported> {
    let module = parse::module(text).unwrap();
    verify::module(&module).unwrap();
    rust::function(&module.funcs[0], "", &Beside)
}

#[test]
fn instructions_and_branches() {
    let text = "
        func @f(%x: f64, %n: i64) -> (f64, i64) {
          %a = fma %x, -2.0, inf
          %b = exp %a
          %c = min %b, %x
          %m = iadd %n, 1
          %s = shl %m, 52
          %t = shr %s, %n
          %k = iand %t, 0x8000000000000000
          %p = lt %c, nan
          %y, %z = if %p { yield %c, %k } else { %q = idiv %k, 70000  yield 5e-324, %q }
          return %y, %z
        }";
    let want = "\
fn f(x_0: f64, n_1: i64) -> (f64, i64) {
    let a_4 = f64::mul_add(x_0, (-2.0_f64), f64::INFINITY);
    let b_5 = exp(a_4);
    let c_6 = if b_5 < x_0 { b_5 } else { x_0 };
    let m_8 = i64::checked_add(n_1, 1_i64).expect(\"an integer result does not fit 64 bits\");
    let s_10 = i64::wrapping_shl(m_8, 52);
    let t_11 = u64::wrapping_shr(s_10 as u64, n_1 as u32) as i64;
    let k_13 = t_11 & (0x8000000000000000_u64 as i64);
    let p_15 = c_6 < f64::NAN;
    let (y_19, z_20) = if p_15 {
        (c_6, k_13)
    } else {
        let q_17 = floor_div(k_13, 0x11170_i64);
        (5e-324_f64, q_17)
    };
    (y_19, z_20)
}
";
    assert_eq!(printed(text).unwrap(), want);
}

#[test]
fn loops_and_calls() {
    let text = "
        func @f(%x: f64, %n: i64) -> f64 {
          %s, %c = for %i in 0..%n carry (%a = %x, %b = 0) {
            %big = gt %a, 9.0
            exit_if %big { %h = neg %a  yield %h, %b }
            %w = while %k carry (%d = %a) {
              %e = call @g(%d, %k) : f64
              %stop = ge %e, 2.0
              exit_if %stop { yield %e }
              yield %e
            }
            yield %w, %i
          }
          return %s
        }
        func @g(%x: f64, %k: i64) -> f64 { return %x }";
    let want = "\
fn f(x_0: f64, n_1: i64) -> f64 {
    let (s_15, c_16) = {
        let mut i_3 = 0_i64;
        let (mut a_4, mut b_5) = (x_0, 0_i64);
        loop {
            if i_3 >= n_1 {
                break (a_4, b_5);
            }
            let big_7 = a_4 > 9.0_f64;
            if big_7 {
                let h_8 = -a_4;
                break (h_8, b_5);
            }
            let w_14 = {
                let mut k_9 = 0_i64;
                let mut d_10 = a_4;
                loop {
                    let e_11 = g(d_10, k_9);
                    let stop_13 = e_11 >= 2.0_f64;
                    if stop_13 {
                        break e_11;
                    }
                    d_10 = e_11; k_9 = k_9.wrapping_add(1);
                }
            };
            (a_4, b_5) = (w_14, i_3); i_3 = i_3.wrapping_add(1);
        }
    };
    s_15
}
";
    assert_eq!(printed(text).unwrap(), want);
}

#[test]
fn what_cannot_be_printed_is_named() {
    for (text, what) in [
        ("func @f(%x: [f64]) -> f64 { %y = load %x, 0  return %y }", "[f64]"),
        ("func @f(%n: i64) -> i64 { %x = fill %n, 1.0  %k = len %x  return %k }", "fill"),
        ("func @f(%x: f64) -> f64 { %s = demote %x  %y = promote %s  return %y }", "demote"),
        ("func @f(%x: f64) -> f64 { %t = tape  %u = push %t, %x  return %x }", "tape"),
    ] {
        let error = printed(text).unwrap_err();
        assert_eq!((&*error.func, &*error.what), ("f", what));
        assert_eq!(error.to_string(), format!("`{what}` in `@f` has no Rust text"));
    }
}

/// The text of a module with arrays.
fn of_module(text: &str) -> String {
    let module = parse::module(text).unwrap();
    verify::module(&module).unwrap();
    rust::module(&module, "a::", &Beside).unwrap()
}

#[test]
fn loops_along_arrays() {
    let text = of_module(
        "func @f(%x: [f64], %y: [f64], %n: i64) -> [f64] {
          %z = for %i in 1..%n carry (%w = %x) {
            %before = wsub %i, 1
            %a = load %y, %before
            %b = load %y, %i
            %c = load %w, %i
            %d = fma %a, %b, %c
            %w2 = store %w, %i, %d
            yield %w2
          }
          return %z
        }",
    );
    // One slice for each index of what is read, one for what is written; and the loop once more, with checks.
    assert_eq!(text.matches("y_1.window([").count(), 2, "{text}");
    assert_eq!(text.matches("x_0.window_mut([").count(), 1, "{text}");
    assert_eq!(text.matches(".get([").count(), 3, "{text}");
    assert_eq!(text.matches("loop {").count(), 2, "{text}");
}

#[test]
fn loops_that_keep_their_checks() {
    // An index that no multiple of the counter is, and an array that another takes the place of.
    let text = of_module(
        "func @f(%x: [f64], %y: [f64], %n: i64) -> ([f64], [f64]) {
          %p, %q = for %i in 0..%n carry (%v = %x, %w = %y) {
            %k = wmul %i, 3
            %a = load %v, %k
            %b = load %w, %i
            %c = add %a, %b
            %w2 = store %w, %i, %c
            yield %w2, %v
          }
          return %p, %q
        }",
    );
    assert!(!text.contains("window"), "{text}");
}
