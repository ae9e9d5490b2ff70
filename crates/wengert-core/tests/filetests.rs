//! File tests: IR programs with what parsing, a pass or a run makes of them.
//!
//! The files are `filetests/<topic>/<name>.wir`, the format is in `filetests/README.md`.
//! `BLESS=1` rewrites the expectations.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Elem, Func, Module, Op, Type, parse, verify};
use wengert_core::ops::{Array, Scalar, kernels};
use wengert_core::span::{Diagnostic, Span};
use wengert_core::transform::{
    carries, copies, dce, deferred, derivative, elementwise, fma, fuse, hoist, inline, jvp, parts,
    pipeline, raise, reuse, scalars, simplify, stores, tiles, unroll, views, vjp,
};

/// Iterations a `while` loop of a file test may take.
const MAX_ITERATIONS: u64 = 1000;

macro_rules! topics {
    ($($name:ident)*) => {
        mod topic {
            $(#[test]
            fn $name() {
                super::check_topic(stringify!($name));
            })*
        }
        const TOPICS: &[&str] = &[$(stringify!($name)),*];
    };
}

topics! {
    text verify run inline simplify unroll scalars hoist carries dce fma stores pipeline jvp vjp nest
    elementwise fuse copies reuse tiles deferred views parts unstep raise
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = read.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_folder_is_tested() {
    // `wrong` holds Python programs, not IR.
    for path in entries(&root()).iter().filter(|p| p.is_dir() && !p.ends_with("wrong")) {
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(TOPICS.contains(&&*name), "`filetests/{name}` is not in the list of topics");
    }
}

fn check_topic(topic: &str) {
    let files = entries(&root().join(topic));
    assert!(!files.is_empty(), "`filetests/{topic}` is empty");
    let mut failures = String::new();
    for path in &files {
        let name = path.file_name().unwrap().to_string_lossy();
        let checked = catch_unwind(AssertUnwindSafe(|| check_file(path)))
            .unwrap_or_else(|_| Err("panicked (see above)".into()));
        if let Err(message) = checked {
            let _ = writeln!(failures, "\nfiletests/{topic}/{name}: {}", message.trim_end());
        }
    }
    assert!(failures.is_empty(), "{failures}\n\nIf this is right, bless it: BLESS=1 cargo test");
}

type Checked<T> = Result<T, String>;

/// A test file, taken apart.
struct FileTest<'a> {
    directive: &'a str,
    /// The program, with the comments before it.
    program: String,
    expected: String,
    /// Calls such as `@f(1.0)` and their expected outcomes.
    runs: Vec<(&'a str, &'a str)>,
}

fn check_file(path: &Path) -> Checked<()> {
    let file = std::fs::read_to_string(path).unwrap();
    let test = FileTest::new(&file)?;
    let (text, module) = test.apply()?;
    let mut actual: String = text.lines().map(|l| l.trim_end().to_string() + "\n").collect();
    let mut expected = test.expected.clone();
    for (call, outcome) in &test.runs {
        let module = module.as_ref().ok_or("a program with an error cannot be run")?;
        let _ = writeln!(expected, "run {call} = {outcome}");
        let _ = writeln!(actual, "run {call} = {}", execute(module, call, &test.program)?);
    }
    if actual == expected {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(path, test.blessed(&actual)).map_err(|e| e.to_string());
    }
    Err(format!("the output differs (- expected, + found)\n{}", difference(&expected, &actual)))
}

impl<'a> FileTest<'a> {
    fn new(file: &'a str) -> Checked<FileTest<'a>> {
        let lines: Vec<&str> = file.lines().collect();
        let is_expectation = |l: &&str| *l == "// expect:" || l.starts_with("// run @");
        let end = lines.iter().position(is_expectation).unwrap_or(lines.len());
        if !lines.first().is_some_and(|l| l.starts_with("// ") && !l.contains("test:")) {
            return Err("the first line must be a comment that says what is tested".into());
        }
        let mut directives = lines[..end].iter().filter_map(|l| l.strip_prefix("// test: "));
        let (Some(directive), None) = (directives.next(), directives.next()) else {
            return Err("one line must be `// test: <directive>`".into());
        };
        let program = lines[..end].iter().fold(String::new(), |text, l| text + l + "\n");
        let mut test = FileTest { directive, program, expected: String::new(), runs: Vec::new() };
        for line in &lines[end..] {
            let Some(rest) = line.strip_prefix("//") else {
                return Err(format!("`{line}` stands after the expectation"));
            };
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            if let Some(run) = rest.strip_prefix("run ").filter(|r| r.starts_with('@')) {
                let (call, outcome) = run.split_once(" =").unwrap_or((run, ""));
                test.runs.push((call, outcome.trim()));
            } else if !test.runs.is_empty() {
                return Err("`// run` lines come last".into());
            } else if rest != "expect:" {
                test.expected += rest;
                test.expected.push('\n');
            }
        }
        Ok(test)
    }

    /// What the directive makes of the program: the text to expect, and what can be run.
    fn apply(&self) -> Checked<(String, Option<Module>)> {
        let (name, by) = self.directive.split_once(" wrt").unwrap_or((self.directive, ""));
        let wrt: Vec<usize> = (by.split_whitespace().map(|k| k.parse()))
            .collect::<Result<_, _>>()
            .map_err(|_| format!("`{}`: parameters are given by number", self.directive))?;
        // `jvp8` goes along 8 directions, `nest rf` is forward over reverse.
        let (name, number) =
            name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
        let (name, modes) = name.split_once(' ').unwrap_or((name, ""));
        if matches!(name, "jvp" | "vjp" | "unstep" | "nest") == wrt.is_empty() {
            return Err(format!(
                "`{}`: `wrt` goes with `jvp`, `vjp`, `unstep` and `nest`",
                self.directive
            ));
        }
        let refused =
            |e, wanted| if wanted { Ok((self.error(e), None)) } else { Err(self.error(e)) };
        let module = match parse::module(&self.program) {
            Ok(module) => module,
            Err(e) => return refused(&e, name == "parse-error"),
        };
        if let Err(e) = verify::module(&module) {
            return refused(&e, name == "verify-error");
        }
        let func = module.funcs.first().ok_or("there is no function")?;
        if wrt.iter().any(|k| *k >= func.params().len()) {
            return Err(format!("`{}`: there is no such parameter", self.directive));
        }
        let ready = || pipeline::module(&module, &func.name);
        let piped = || pipeline::run(&module, &func.name);
        let alone = |func: Func| Module::of(func);
        let result = match name {
            "run" if !self.runs.is_empty() => return Ok((String::new(), Some(module))),
            "run" => return Err("there is no `// run` line".into()),
            "parse-error" | "verify-error" => return Err("there is no error".into()),
            "print" => Ok(module.clone()),
            "inline" => inline::inline(&module, &func.name).map(alone),
            "carries" => Ok(alone(carries::drop_invariant(func))),
            "fma" => Ok(alone(fma::fuse(func))),
            "raise" => Ok(alone(raise::loops(func))),
            "views" => Ok(alone(views::remove(func))),
            "parts" => Ok(alone(parts::whole(func))),
            "products" => Ok(alone(views::products(func))),
            "dce" => Ok(alone(dce::remove_dead(func))),
            "stores" => Ok(alone(stores::remove_dead(func))),
            "hoist" => Ok(alone(hoist::invariants(func))),
            "hoist-before" => Ok(alone(hoist::before_differentiation(func))),
            "simplify" => Ok(alone(simplify::simplify(func))),
            "unroll" => Ok(alone(unroll::small_loops(func))),
            "group" => Ok(alone(unroll::tiny_loops(func))),
            "scalars" => Ok(alone(scalars::replace(func))),
            "elementwise" => Ok(alone(elementwise::fuse(func))),
            "fuse" => Ok(alone(fuse::loops(func))),
            "copies" => Ok(alone(copies::remove(func))),
            "reuse" => Ok(alone(reuse::storage(func))),
            "tiles" => Ok(alone(tiles::steps(func))),
            "deferred" => Ok(alone(deferred::products(func))),
            "pipeline" => piped().map(alone),
            "pipeline-module" => ready(),
            "jvp" => ready().and_then(|m| {
                let by = jvp::in_module(&m, &func.name, &wrt, number.parse().unwrap_or(1))?;
                Ok(what_is_new(&m, by))
            }),
            "vjp" => ready().and_then(|m| {
                let by = vjp::in_module(&m, &func.name, &wrt)?;
                Ok(what_is_new(&m, by))
            }),
            "unstep" => ready().and_then(|m| {
                let by = vjp::inverted_in_module(&m, &func.name, &wrt, &|_| true)?;
                Ok(only_taken_back(by))
            }),
            "nest" => ready().and_then(|m| nested(&m, &func.name, modes, &wrt)),
            _ => return Err(format!("there is no directive `{name}`")),
        };
        let module = match result {
            Err(e) => return refused(&e, true),
            Ok(module) => module,
        };
        // Whatever comes out is well-formed and can be read back, up to the numbers of values.
        let text = module.to_string();
        verify::module(&module).map_err(|e| format!("the result is wrong: {e}\n{text}"))?;
        let again = parse::module(&text).map_err(|e| format!("cannot be read: {e}\n{text}"))?;
        let again = again.to_string();
        if nameless(&again) != nameless(&text) || (name == "print" && again != text) {
            return Err(format!("reads back differently\n{}", difference(&text, &again)));
        }
        Ok((text, Some(module)))
    }

    /// An error, the source its labels cover, the main one first, and the way out.
    fn error(&self, e: &Diagnostic) -> String {
        let mut text = format!("error: {}\n", e.message);
        for (k, (span, label)) in e.labels.iter().enumerate() {
            let place = place(&self.program, *span);
            let _ = match k {
                0 => writeln!(text, "at: {place}"),
                _ => writeln!(text, "note: {place}: {label}"),
            };
        }
        if let Some(help) = &e.help {
            let _ = writeln!(text, "help: {help}");
        }
        text
    }

    fn blessed(&self, actual: &str) -> String {
        let header = if self.directive == "run" { "" } else { "// expect:\n" };
        let comment = |line| format!("// {line}").trim_end().to_string() + "\n";
        self.program.clone() + header + &actual.lines().map(comment).collect::<String>()
    }
}

/// The derivative programs alone, unless they call the functions they come from.
fn what_is_new(before: &Module, mut after: Module) -> Module {
    if before.funcs.len() == 1 {
        after.funcs.remove(0);
        after.rules.clear();
    }
    after
}

/// What runs loops forwards and backwards, without derivatives.
fn only_taken_back(mut module: Module) -> Module {
    let is_of = |name: &str| name.ends_with(".advance") || name.ends_with(".unstep");
    module.funcs.retain(|func| is_of(&func.name));
    module.loops.clear();
    module
}

/// Derivatives of derivatives by the same parameters: modes from left to right, `f` and `r`.
fn nested(module: &Module, name: &str, modes: &str, wrt: &[usize]) -> Result<Module, Diagnostic> {
    let (mut module, mut name) = (module.clone(), name.to_string());
    for mode in modes.chars() {
        if mode == 'f' {
            module = derivative::jvp_of(&module, &name, wrt, 1)?;
            name += ".jvp";
        } else {
            module = derivative::vjp_of(&module, &name, wrt)?;
            name += ".vjp";
        }
        verify::module(&module)?;
    }
    let mut calls = false;
    module.func(&name).iter().for_each(|f| {
        f.body.walk(&mut |inst| calls |= matches!(inst.op, Op::Call(_)));
    });
    if !calls {
        module.funcs.retain(|f| *f.name == *name);
        module.rules.clear();
    }
    Ok(module)
}

/// The text without the names of values.
fn nameless(text: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    text.split('%').map(|part| part.trim_start_matches(is_name)).collect()
}

/// The first line of the source in a span.
fn place(source: &str, span: Span) -> String {
    let covered = &source[span.start as usize..span.end as usize];
    match covered.split_once('\n') {
        _ if covered.is_empty() => "the end of the text".into(),
        Some((first, _)) => format!("`{first} ..`"),
        None => format!("`{covered}`"),
    }
}

/// Runs a call such as `@f(1.0, [2.0], tape)`; gives back its results or its fault.
fn execute(module: &Module, call: &str, source: &str) -> Checked<String> {
    let (name, args) = call
        .strip_prefix('@')
        .and_then(|call| call.strip_suffix(')')?.split_once('('))
        .ok_or_else(|| format!("`{call}` is not a call"))?;
    let func = module.func(name).ok_or("there is no such function")?;
    let texts = split(args).into_iter().zip(func.param_types());
    let args = texts.map(|(text, ty)| value(text, ty)).collect::<Checked<Vec<Val>>>()?;
    if args.iter().map(Val::ty).collect::<Vec<_>>() != func.param_types() {
        return Err(format!("the arguments of `{call}` do not fit its parameters"));
    }
    let mut interp = Interp::new(module);
    interp.max_iterations = MAX_ITERATIONS;
    Ok(match interp.call(name, args) {
        Ok(values) => format!("({})", values.iter().map(show).collect::<Vec<_>>().join(", ")),
        Err(fault) => {
            let mut text = format!("fault: {fault}; at {}", place(source, fault.span));
            for (k, (_, iteration)) in fault.iterations.iter().enumerate() {
                let _ = write!(
                    text,
                    "{} {iteration}",
                    if k == 0 { "; iteration" } else { " in iteration" }
                );
            }
            text
        }
    })
}

/// Splits at commas outside of brackets.
fn split(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = list.split(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// A value of this type: a number, nested lists of numbers, or an empty tape.
fn value(text: &str, ty: Type) -> Checked<Val> {
    let bad = || format!("`{text}` is not a value of type {ty}");
    if ty == Type::Tape {
        return if text == "tape" { Ok(Val::tape()) } else { Err(bad()) };
    }
    let elem = ty.elem().unwrap_or(Elem::F64);
    let (mut shape, mut scalars) = (Vec::new(), Vec::new());
    elements(text, elem, 0, &mut shape, &mut scalars).ok_or_else(bad)?;
    match (ty.is_array(), &scalars[..]) {
        (false, [scalar]) if shape.is_empty() => Ok(Val::Scalar(*scalar)),
        (true, _) if shape.len() == ty.rank() => {
            let data = kernels::collect(elem, scalars.into_iter());
            Ok(Val::shaped(Array { shape, data }))
        }
        _ => Err(bad()),
    }
}

fn elements(
    text: &str,
    elem: Elem,
    axis: usize,
    shape: &mut Vec<usize>,
    out: &mut Vec<Scalar>,
) -> Option<()> {
    let Some(list) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) else {
        out.push(match elem {
            Elem::F64 => Scalar::F64(text.parse().ok().filter(|_| text.parse::<i64>().is_err())?),
            Elem::F32 => Scalar::F32(text.parse().ok()?),
            Elem::I64 => Scalar::I64(text.parse().ok()?),
            Elem::Bool => Scalar::Bool(text.parse().ok()?),
        });
        return Some(());
    };
    let parts = split(list);
    if shape.len() == axis {
        shape.push(parts.len());
    }
    let fits = shape[axis] == parts.len();
    parts.into_iter().try_for_each(|part| elements(part, elem, axis + 1, shape, out))?;
    fits.then_some(())
}

/// A value as it is written in a call. A tape that is not empty says how many records it holds.
fn show(value: &Val) -> String {
    match value {
        Val::Scalar(s) => s.to_string(),
        Val::Array(x) => x.to_string(),
        Val::Tape(records) if records.is_empty() => "tape".into(),
        Val::Tape(records) => format!("tape of {}", records.len()),
    }
}

/// The lines between the first and the last difference, and the one before them.
fn difference(expected: &str, actual: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[same..], &b[same..]);
    let tail = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(x, y)| x == y).count();
    let before = a[same.saturating_sub(1)..same].iter().map(|line| (' ', line));
    let missing = rest_a[..rest_a.len() - tail].iter().map(|line| ('-', line));
    let found = rest_b[..rest_b.len() - tail].iter().map(|line| ('+', line));
    before.chain(missing).chain(found).map(|(mark, line)| format!("  {mark} {line}\n")).collect()
}
