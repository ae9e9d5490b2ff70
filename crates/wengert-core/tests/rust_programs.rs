//! Random programs and their derivatives as Rust text, compiled by rustc: the bits of the interpreter, or its faults.
//!
//! All programs of a run are one binary, which prints what each came to. `WENGERT_PROGRAMS` says how many there are.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use wengert_core::check::Derived;
use wengert_core::emit::rust::{self, Calls};
use wengert_core::fault::{Fault, FaultKind};
use wengert_core::generate;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::verify::consumes;
use wengert_core::ir::{Module, Type};
use wengert_core::ops::{Prim, Scalar};
use wengert_core::transform::{derivative, pipeline};

/// Iterations after which a `while` loop of a generated program is taken not to end.
const MAX_ITERATIONS: u64 = 200;

/// Names of what the text calls.
struct Names;

impl Calls for Names {
    fn row(&self, prim: Prim) -> String {
        format!("wengert_math::inline::{}", prim.name())
    }

    fn seldom(&self, prim: Prim) -> String {
        format!("wengert_math::{}", prim.name())
    }

    fn sine_and_cosine(&self) -> Option<String> {
        Some("wengert_math::inline::sin_cos".into())
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|n| n.parse().ok())
}

/// Small numbers in no order.
struct Random(u64);

impl Random {
    fn any(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 % 2000.0 / 500.0 - 2.0
    }
}

/// A number in the place of each float of a value.
fn like(val: &Val, random: &mut Random) -> Val {
    match val {
        Val::Array(x) => Val::shaped(x.with_floats((0..x.len()).map(|_| random.any()))),
        Val::Scalar(Scalar::F32(_)) => Val::Scalar(Scalar::F32(random.any() as f32)),
        _ => Val::f64(random.any()),
    }
}

fn scalar(x: Scalar) -> String {
    match x {
        Scalar::F64(x) => format!("f64::from_bits({})", x.to_bits()),
        Scalar::F32(x) => format!("f32::from_bits({})", x.to_bits()),
        Scalar::I64(x) => format!("({x}_i64)"),
        Scalar::Bool(x) => x.to_string(),
    }
}

/// What a program came to, as the binary prints it.
fn outcome(ran: &Result<Vec<Val>, Fault>) -> String {
    let bits = |x: Scalar| match x {
        Scalar::F64(x) if x.is_nan() => "nan".to_string(),
        Scalar::F64(x) => x.to_bits().to_string(),
        Scalar::F32(x) if x.is_nan() => "nan".to_string(),
        Scalar::F32(x) => x.to_bits().to_string(),
        Scalar::I64(x) => x.to_string(),
        Scalar::Bool(x) => x.to_string(),
    };
    match ran {
        Err(fault) => format!("fault {:?} {:?} {:?}", fault.kind, fault.span, fault.iterations),
        Ok(values) => {
            let mut text = String::new();
            for value in values {
                match value {
                    Val::Scalar(x) => text += &format!("{} ", bits(*x)),
                    Val::Array(x) => {
                        text += &format!("{:?} ", x.shape);
                        x.scalars().for_each(|x| text += &format!("{} ", bits(x)));
                    }
                    Val::Tape(_) => {}
                }
            }
            text
        }
    }
}

/// What the binary begins with.
const MAIN: &str = r#"#![allow(warnings)]
use wengert_core::ahead;

trait Shows { fn show(&self, text: &mut String); }
impl Shows for f64 {
    fn show(&self, text: &mut String) {
        if self.is_nan() { text.push_str("nan ") } else { text.push_str(&format!("{} ", self.to_bits())) }
    }
}
impl Shows for f32 {
    fn show(&self, text: &mut String) {
        if self.is_nan() { text.push_str("nan ") } else { text.push_str(&format!("{} ", self.to_bits())) }
    }
}
impl Shows for i64 { fn show(&self, text: &mut String) { text.push_str(&format!("{self} ")) } }
impl Shows for bool { fn show(&self, text: &mut String) { text.push_str(&format!("{self} ")) } }
impl<T: Shows + ahead::Element, const R: usize> Shows for ahead::Array<T, R> {
    fn show(&self, text: &mut String) {
        text.push_str(&format!("{:?} ", self.dims()));
        self.data().iter().for_each(|x| x.show(text));
    }
}
fn fault(fault: &ahead::Fault) -> String {
    format!("fault {:?} {:?} {:?}", fault.kind, fault.span, fault.iterations)
}
"#;

/// Programs to be compiled together, and what the interpreter makes of each.
#[derive(Default)]
struct Programs {
    text: String,
    calls: String,
    wanted: Vec<(String, String)>,
}

impl Programs {
    /// Adds a call; gives what it comes to.
    fn add(&mut self, module: &Module, entry: &str, vals: &[Val]) -> Result<Vec<Val>, Fault> {
        let func = module.func(entry).unwrap();
        let mut interp = Interp::new(module);
        interp.max_iterations = MAX_ITERATIONS;
        let mut given = vals.iter().cloned();
        let all = func.param_types().into_iter().map(|ty| match ty {
            Type::Tape => Val::tape(),
            _ => given.next().unwrap(),
        });
        let ran = interp.call(entry, all.collect());
        if let Err(Fault { kind: FaultKind::IterationLimit(_), .. }) = ran {
            return ran;
        }
        let finished = pipeline::finish_with(module, &pipeline::Passes::TEXT);
        let printed = rust::module(&finished, "ahead::", &Names);
        let printed = printed.unwrap_or_else(|e| panic!("{e}\n{finished}"));
        let k = self.wanted.len();
        write!(self.text, "mod p{k} {{\nuse super::*;\n{printed}").unwrap();
        // The entry after the passes, which may take over other parameters.
        let func = finished.func(entry).unwrap();
        let mut given = vals.iter();
        let mut args = Vec::new();
        for p in func.params() {
            if func.ty(*p) == Type::Tape {
                args.push("&mut ahead::Tape::new()".to_string());
                continue;
            }
            args.push(match given.next().unwrap() {
                Val::Scalar(x) => scalar(*x),
                Val::Array(x) => {
                    let elements: Vec<String> = x.scalars().map(scalar).collect();
                    let mark = if consumes(&finished, func, *p) { "" } else { "&" };
                    let (elem, rank) = (x.elem().scalar(), x.shape.len());
                    let (shape, elements) = (&x.shape, elements.join(", "));
                    format!("{mark}ahead::Array::<{elem}, {rank}>::new({shape:?}, vec![{elements}]).unwrap()")
                }
                Val::Tape(_) => unreachable!(),
            });
        }
        if rust::takes_driver(&finished, entry) {
            args.push("&mut ahead::All".into());
        }
        let results = func.results.iter().filter(|ty| **ty != Type::Tape).count();
        let results: Vec<String> = (0..results).map(|k| format!("r{k}")).collect();
        let pattern = match &results[..] {
            [one] => one.clone(),
            several => format!("({})", several.join(", ")),
        };
        let shows: String = results.iter().map(|r| format!("{r}.show(&mut text); ")).collect();
        let (name, args) = (entry.replace('.', "_"), args.join(", "));
        write!(
            self.text,
            "#[inline(never)]\npub fn run() -> String {{\nlet mut text = String::new();\nmatch {name}({args}) {{\n\
             Ok({pattern}) => {{ {shows}text }}\nErr(e) => fault(&e),\n}}\n}}\n}}\n\n"
        )
        .unwrap();
        writeln!(self.calls, "    println!(\"{{}}\", p{k}::run());").unwrap();
        self.wanted.push((format!("@{entry}{vals:?}\n{module}\n{printed}"), outcome(&ran)));
        ran
    }

    /// Compiles and runs all of them.
    fn run(&self, folder: &Path) {
        let text = format!("{MAIN}\n{}\nfn main() {{\n{}}}\n", self.text, self.calls);
        let printed = build(folder, &text);
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines.len(), self.wanted.len(), "not all programs printed a line");
        for ((program, wanted), given) in self.wanted.iter().zip(lines) {
            assert_eq!(wanted, given, "interpreted (left) and as Rust (right): {program}");
        }
    }
}

/// Builds a program in a crate of its own, and gives what it prints.
fn build(folder: &Path, main: &str) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let manifest = format!(
        "[package]\nname = \"programs\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         wengert-core = {{ path = {:?}, default-features = false }}\nwengert-math = {{ path = {:?} }}\n\n\
         [profile.dev]\ndebug = false\nincremental = false\n\n\
         [profile.dev.package.\"*\"]\nopt-level = 1\n",
        crates.join("wengert-core"),
        crates.join("wengert-math"),
    );
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(crates.join("../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    std::fs::write(folder.join("src/main.rs"), main).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--offline"]).current_dir(folder);
    command.env("CARGO_TARGET_DIR", folder.join("target"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust_programs")
}

#[test]
fn random_programs_have_the_bits_of_the_interpreter() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let start = number("WENGERT_SEED").unwrap_or(now);
    println!("WENGERT_SEED={start}");
    let count = number("WENGERT_PROGRAMS").unwrap_or(40);
    let mut programs = Programs::default();
    for k in 0..count {
        let seed = start.wrapping_mul(1 << 20).wrapping_add(k);
        let case = generate::case(seed);
        let funcs = std::iter::once(&case.func).chain(&case.callees).cloned().collect();
        let whole = Module { funcs, ..Module::default() };
        let (vals, mut random) = (&case.args, Random(seed));
        let Ok(_) = programs.add(&whole, &case.func.name, vals) else { continue };
        let derived = pipeline::run(&whole, &case.func.name)
            .and_then(|func| Derived::new(func, case.wrt.clone()))
            .unwrap_or_else(|e| panic!("program {seed}: {e}"));
        let name = &derived.func.name;
        let Ok(results) = programs.add(&derived.primal, name, vals) else { continue };

        let tangents: Vec<Val> = case.wrt.iter().map(|k| like(&vals[*k], &mut random)).collect();
        let with_tangents: Vec<Val> = vals.iter().chain(&tangents).cloned().collect();
        let _ = programs.add(&derived.forward, &format!("{name}.jvp"), &with_tangents);

        let floats = results.iter().zip(&derived.func.results).filter(|(_, t)| t.is_float());
        let adjoints: Vec<Val> = floats.map(|(r, _)| like(r, &mut random)).collect();
        let with_adjoints: Vec<Val> = vals.iter().chain(&adjoints).cloned().collect();
        let vjp = format!("{name}.vjp");
        let _ = programs.add(&derived.reverse, &vjp, &with_adjoints);

        // Forward over reverse: a program with several tapes.
        if k % 4 == 0 {
            let products = derivative::products(&derived.primal, name, &case.wrt, &case.wrt)
                .unwrap_or_else(|e| panic!("program {seed}: {e}"));
            let all: Vec<Val> = with_adjoints.iter().chain(&tangents).cloned().collect();
            let _ = programs.add(&products, &format!("{vjp}.jvp"), &all);
        }
        if programs.wanted.len() >= 300 {
            programs.run(&folder());
            programs = Programs::default();
        }
    }
    println!("{count} programs, {} calls in the last binary", programs.wanted.len());
    programs.run(&folder());
}
