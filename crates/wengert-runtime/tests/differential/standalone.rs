//! The same once more through the C that others compile: with the runtime in C instead of this one.
//!
//! Between [`Standalone::here`] and the end of a test, programs that agree are noted with their arguments and
//! outcomes. Then all are written as one library, compiled with a program that reads arguments and prints results,
//! and run by it in one go.

use crate::{Arg, Bits, Ran, cache_folder};
use std::cell::RefCell;
use std::fmt::Write;
use std::io::Write as _;
use std::process::{Command, Stdio};
use wengert_core::fault::Fault;
use wengert_core::ir::{Elem, Module, Type};
use wengert_core::ops::Scalar;
use wengert_core::span::Span;
use wengert_runtime::cc::standalone::{Function, Input, Library, Origin, Output};
use wengert_runtime::cc::toolchain::Toolchain;

thread_local! {
    static NOTED: RefCell<Option<Noted>> = const { RefCell::new(None) };
}

/// What is to be run.
#[derive(Default)]
struct Noted {
    /// Programs with their entries, and what tells them apart.
    programs: Vec<(Module, String, usize)>,
    runs: Vec<Run>,
    max_iterations: u64,
}

struct Run {
    program: usize,
    /// Its arguments, as they are read.
    input: String,
    shown: String,
    wanted: Ran,
}

/// Notes programs as long as it lives; then runs them.
pub(crate) struct Standalone;

impl Standalone {
    /// From here on, for programs with this limit of iterations.
    pub(crate) fn here(max_iterations: u64) -> Standalone {
        let noted = Noted { max_iterations, ..Noted::default() };
        NOTED.with(|all| *all.borrow_mut() = Some(noted));
        Standalone
    }
}

impl Drop for Standalone {
    fn drop(&mut self) {
        let noted = NOTED.with(|all| all.borrow_mut().take());
        if let (Some(noted), false) = (noted, std::thread::panicking()) {
            noted.check();
        }
    }
}

/// A program has run: with it come what tells it from others, and its limit of iterations.
pub(crate) fn note(
    (id, module, limit): (usize, &Module, u64),
    entry: &str,
    args: &[Arg],
    wanted: &Ran,
) {
    NOTED.with(|all| {
        let mut all = all.borrow_mut();
        let Some(noted) = all.as_mut().filter(|n| n.max_iterations == limit) else { return };
        let known = noted.programs.iter().position(|(_, e, k)| *k == id && e == entry);
        let program = known.unwrap_or_else(|| {
            noted.programs.push((module.clone(), entry.into(), id));
            noted.programs.len() - 1
        });
        let (input, shown) = (input(args), format!("@{entry}{args:?}"));
        noted.runs.push(Run { program, input, shown, wanted: wanted.clone() });
    });
}

/// Arguments as words: numbers, or dimensions and elements.
fn input(args: &[Arg]) -> String {
    let mut out = String::new();
    let bits = |s: Scalar| match s {
        Scalar::F64(x) => x.to_bits(),
        Scalar::F32(x) => u64::from(x.to_bits()),
        Scalar::I64(x) => x as u64,
        Scalar::Bool(x) => u64::from(x),
    };
    for arg in args {
        let words: Vec<u64> = match arg {
            Arg::F64(x) => vec![x.to_bits()],
            Arg::F32(x) => vec![u64::from(x.to_bits())],
            Arg::I64(x) => vec![*x as u64],
            Arg::Bool(x) => vec![u64::from(*x)],
            Arg::Array(x) => {
                std::iter::once(x.len() as u64).chain(x.iter().map(|x| x.to_bits())).collect()
            }
            Arg::Shaped(x) => {
                x.shape.iter().map(|d| *d as u64).chain(x.scalars().map(bits)).collect()
            }
            Arg::Apart(shape, x) => {
                let elements = (0..x.len()).map(|k| bits(x.get(k)));
                shape.iter().map(|d| *d as u64).chain(elements).collect()
            }
        };
        words.iter().for_each(|w| _ = write!(out, " {w:x}"));
    }
    out
}

/// Results as the driver prints them.
fn output(ran: &Ran) -> String {
    let results = match ran {
        Ok(results) => results,
        Err(fault) => return format!("! {}", told(fault)),
    };
    let mut out = String::from("=");
    for result in results {
        match result {
            Bits::Scalar(s) => _ = write!(out, " {:x}", s.key().1),
            Bits::Array(x) => {
                let _ = write!(out, " [{:x}]", x.len());
                x.iter().for_each(|x| _ = write!(out, " {x:x}"));
            }
            Bits::Shaped(_, (shape, x)) => {
                shape.iter().for_each(|d| _ = write!(out, " [{d:x}]"));
                x.iter().for_each(|x| _ = write!(out, " {x:x}"));
            }
        }
    }
    out
}

/// The message of a fault. The source is one line per byte, so that lines tell places apart.
fn told(fault: &Fault) -> String {
    let line = |span: Span, before: &str, after: &str| match span == Span::default() {
        true => String::new(),
        false => format!("{before}{}{after}", span.start + 1),
    };
    let mut out = format!("x.py:{} {fault}", line(fault.span, "", ":"));
    for (k, (span, iteration)) in fault.iterations.iter().enumerate() {
        let before = if k == 0 { " (in" } else { ", in" };
        let _ = write!(
            out,
            "{before} iteration {iteration} of the loop{}",
            line(*span, " on line ", "")
        );
    }
    if fault.iterations.is_empty() { out } else { out + ")" }
}

impl Noted {
    fn check(&self) {
        let Some(compiler) = Toolchain::get().filter(|_| !self.runs.is_empty()) else { return };
        let text = "\n".repeat(1 << 20);
        let origin = Origin { name: "x.py", text: &text, array_at: &|_| None };
        let counts = self.programs.iter().filter_map(|(m, e, _)| Some(m.func(e)?.params().len()));
        let most = counts.max().unwrap_or(0) + 1;
        let mut driver = format!("enum {{ MOST = {most} }};\n{DRIVER}");
        let mut functions = Vec::new();
        for (k, (module, entry, _)) in self.programs.iter().enumerate() {
            let func = module.func(entry).unwrap();
            let some = |t: &Type| *t != Type::Tape;
            let params: Vec<Type> = func.param_types().into_iter().filter(some).collect();
            let results: Vec<Type> = func.results.iter().copied().filter(some).collect();
            let input = |k: usize| Input::Argument { name: format!("x{k}"), units: 0 };
            functions.push(Function {
                name: format!("entry{k}"),
                about: String::new(),
                module,
                entry,
                inputs: (0..params.len()).map(input).collect(),
                outputs: (0..results.len()).map(|k| Output::Result(format!("r{k}"))).collect(),
            });
            driver.push_str(&caller(k, &params, &results));
        }
        let calls: Vec<String> = (0..functions.len()).map(|k| format!("call{k}")).collect();
        let _ = write!(
            driver,
            "static void (*const calls[])(void) = {{ {} }};\n{MAIN}",
            calls.join(", ")
        );
        let library = Library { name: "lib".into(), origin, functions };

        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = cache_folder().join(format!("standalone-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let source = library.source().unwrap_or_else(|e| panic!("{e}"));
        let files = [("lib.c", &source), ("lib.h", &library.header()), ("driver.c", &driver)];
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        let mut command = Command::new(compiler.program());
        command.current_dir(&folder).args(["-O1", "-w", "-ffp-contract=off", "lib.c", "driver.c"]);
        command.arg(format!("-DWENGERT_MAX_ITERATIONS={}ull", self.max_iterations));
        // Such as `-fsanitize=address,undefined`.
        let more = std::env::var("WENGERT_STANDALONE_FLAGS").unwrap_or_default();
        command.args(more.split_whitespace()).args(["-o", "driver", "-lm"]);
        let made = command.output().unwrap();
        assert!(made.status.success(), "{folder:?}: {}", String::from_utf8_lossy(&made.stderr));

        let mut input = String::new();
        for run in &self.runs {
            let _ = writeln!(input, "{:x}{}", run.program, run.input);
        }
        let mut child = Command::new(folder.join("driver"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let feed = std::thread::spawn(move || _ = stdin.write_all(input.as_bytes()));
        let ran = child.wait_with_output().unwrap();
        feed.join().unwrap();
        let printed = String::from_utf8_lossy(&ran.stdout);
        let mut lines = printed.lines();
        for run in &self.runs {
            let (wanted, given) = (output(&run.wanted), lines.next().unwrap_or("nothing"));
            // Messages have an end.
            let same = wanted == given
                || (wanted.len() > 300 && wanted[..300] == given[..given.len().min(300)]);
            let stderr = String::from_utf8_lossy(&ran.stderr);
            assert!(
                same,
                "{folder:?}, {}:\n{wanted} is wanted,\n{given} given\n{stderr}",
                run.shown
            );
        }
        assert!(ran.status.success(), "{folder:?}: {}", String::from_utf8_lossy(&ran.stderr));
        println!("{} runs of {} programs standalone", self.runs.len(), self.programs.len());
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Reads words, and prints results; arguments must be what they were.
const DRIVER: &str = r#"
#include "lib.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long word;
static word next(void) { word w = 0; if (scanf("%llx", &w) != 1) exit(3); return w; }
static double real(word w) { double x; memcpy(&x, &w, 8); return x; }
static float single(word w) { unsigned u = w; float x; memcpy(&x, &u, 4); return x; }
static int64_t dims[MOST][8];
static void *data[MOST], *copies[MOST];
static size_t sizes[MOST];
static const size_t size_of[4] = { 8, 4, 8, 1 };
static void array(int at, int elem, int rank) {
  size_t n = 1;
  for (int k = 0; k < rank; k++) n *= dims[at][k] = next();
  data[at] = malloc(n * size_of[elem] + 1);
  copies[at] = malloc(n * size_of[elem] + 1);
  sizes[at] = n * size_of[elem];
  for (size_t k = 0; k < n; k++) {
    word w = next();
    if (elem == 1) ((float *)data[at])[k] = single(w);
    else if (elem == 3) ((bool *)data[at])[k] = w;
    else memcpy((char *)data[at] + 8 * k, &w, 8);
  }
  memcpy(copies[at], data[at], sizes[at]);
}
static void done(int at) {
  if (memcmp(copies[at], data[at], sizes[at])) printf(" CHANGED");
  free(data[at]), free(copies[at]);
}
static void f64(double x) { word w; memcpy(&w, &x, 8); printf(" %llx", x != x ? 0x7ff8000000000000ull : w); }
static void f32(float x) { unsigned w; memcpy(&w, &x, 4); printf(" %x", x != x ? 0x7fc00000u : w); }
static void i64(int64_t x) { printf(" %llx", (word)x); }
static void boolean(bool x) { printf(" %x", x); }
static void result(struct wengert_array *x, int elem) {
  size_t n = 1;
  for (int k = 0; k < x->rank; k++) { printf(" [%llx]", (word)x->shape[k]); n *= x->shape[k]; }
  for (size_t k = 0; k < n; k++) {
    if (elem == 0) f64(((double *)x->data)[k]);
    else if (elem == 1) f32(((float *)x->data)[k]);
    else if (elem == 2) i64(((int64_t *)x->data)[k]);
    else boolean(((bool *)x->data)[k]);
  }
  lib_free(x->data);
}
"#;

const MAIN: &str = r#"
int main(void) {
  word k;
  while (scanf("%llx", &k) == 1) { calls[k](); printf("\n"); }
  return 0;
}
"#;

/// A function that calls number `k`.
fn caller(k: usize, params: &[Type], results: &[Type]) -> String {
    let number = |elem: Option<Elem>| match elem {
        Some(Elem::F32) => (1, "float", "f32"),
        Some(Elem::I64) => (2, "int64_t", "i64"),
        Some(Elem::Bool) => (3, "bool", "boolean"),
        _ => (0, "double", "f64"),
    };
    let (mut before, mut after) = (String::new(), String::new());
    let mut args = Vec::new();
    let mut freed = String::new();
    for (at, ty) in params.iter().enumerate() {
        let (elem, name, _) = number(ty.elem());
        if ty.is_array() {
            let _ = writeln!(before, "  array({at}, {elem}, {});", ty.rank());
            args.push(format!("data[{at}]"));
            args.extend((0..ty.rank()).map(|axis| format!("dims[{at}][{axis}]")));
            let _ = writeln!(freed, "  done({at});");
        } else {
            let convert = ["real(w)", "single(w)", "(int64_t)w", "w != 0"][elem];
            let _ = writeln!(before, "  w = next();\n  {name} a{at} = {convert};");
            args.push(format!("a{at}"));
        }
    }
    for (at, ty) in results.iter().enumerate() {
        let (elem, name, print) = number(ty.elem());
        if ty.is_array() {
            let _ = writeln!(before, "  struct wengert_array r{at};");
            let _ = writeln!(after, "    result(&r{at}, {elem});");
        } else {
            let _ = writeln!(before, "  {name} r{at};");
            let _ = writeln!(after, "    {print}(r{at});");
        }
        args.push(format!("&r{at}"));
    }
    format!(
        "static void call{k}(void) {{\n  word w;\n{before}  int status = entry{k}({});\n  \
         if (status) printf(\"! %s\", lib_error());\n  else {{\n    printf(\"=\");\n{after}  }}\n{freed}}}\n",
        args.join(", ")
    )
}
