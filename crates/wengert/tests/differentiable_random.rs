//! Random Rust functions with `#[differentiable]`, compiled by rustc: the bits of the interpreter in both modes, and the values that Rust
//! itself computes.
//!
//! All functions of a run are one binary. `WENGERT_PROGRAMS` says how many there are.

#[path = "differentiable/random.rs"]
mod random;

use random::{BESIDE, Random};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use wengert_core::check::Derived;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Elem, Module, Type};
use wengert_core::lower;
use wengert_core::surface::rust;

/// Functions that stand in one module, and may call each other.
const TOGETHER: usize = 10;

/// Functions of one binary.
const AT_ONCE: usize = 200;

/// How far the value may be from that of Rust, whose elementary functions are others and which fuses nothing.
const TOLERANCE: f64 = 1e-8;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|n| n.parse().ok())
}

/// What a function is called with, and along which direction.
struct Given {
    numbers: [f64; 4],
    arrays: [Vec<f64>; 4],
    n: i64,
    adjoints: (f64, Vec<f64>),
}

impl Given {
    fn new(random: &mut Random) -> Given {
        let mut several = |n| (0..n).map(|_| random.float()).collect::<Vec<f64>>();
        let numbers = [several(1)[0], several(1)[0], several(1)[0], several(1)[0]];
        let arrays = [several(3), several(4), several(3), several(4)];
        let adjoints = (several(1)[0], several(4));
        Given { numbers, arrays, n: (adjoints.0 * 1000.0) as i64 & 3, adjoints }
    }

    /// The arguments, and those of each mode behind them.
    fn vals(&self) -> [Vec<Val>; 3] {
        let [x, y, dx, dy] = self.numbers.map(Val::f64);
        let [v, w, dv, dw] = self.arrays.clone().map(Val::array);
        let own = vec![x, y, v, w, Val::i64(self.n)];
        let tangents = [own.clone(), vec![dx, dy, dv, dw]].concat();
        let adjoints = vec![Val::f64(self.adjoints.0), Val::array(self.adjoints.1.clone())];
        let adjoints = [own.clone(), adjoints].concat();
        [own, tangents, adjoints]
    }

    /// Calls of the function and its derivatives, which print what they come to.
    fn calls(&self, path: &str) -> String {
        let bits = |x: f64| format!("b({})", x.to_bits());
        let array = |x: &[f64]| {
            let all: Vec<String> = x.iter().map(|x| bits(*x)).collect();
            format!("[{}]", all.join(", "))
        };
        let [x, y, dx, dy] = self.numbers.map(bits);
        let [v, w, dv, dw] = self.arrays.each_ref().map(|a| array(a));
        let (n, bar, w_bar) = (self.n, bits(self.adjoints.0), array(&self.adjoints.1));
        format!(
            "    {{
        let mut w = {w};
        let r = {path}({x}, {y}, &{v}, &mut w, {n});
        show(&[&[r], &w]);
        let mut w = {w};
        let r = {path}::value({x}, {y}, &{v}, &mut w, {n});
        show(&[&[r], &w]);
        let (mut w, mut dw) = ({w}, {dw});
        let (r, dr) = {path}::jvp({x}, {y}, &{v}, &mut w, {n}, {dx}, {dy}, &{dv}, &mut dw);
        show(&[&[r], &w, &[dr], &dw]);
        let (mut w, mut w_bar) = ({w}, {w_bar});
        let (r, (x, y, v)) = {path}::vjp({x}, {y}, &{v}, &mut w, {n}, {bar}, &mut w_bar);
        show(&[&[r], &w, &[x, y], &v, &w_bar]);
    }}\n"
        )
    }
}

const MAIN: &str = "#![allow(warnings)]
fn b(x: u64) -> f64 { f64::from_bits(x) }
fn show(all: &[&[f64]]) {
    let mut text = String::new();
    for x in all.iter().copied().flatten() {
        text += &if x.is_nan() { \"nan \".to_string() } else { format!(\"{} \", x.to_bits()) };
    }
    println!(\"{text}\");
}
";

/// A line of numbers as the binary prints them.
fn shown(vals: &[Val]) -> String {
    let floats = wengert_core::check::floats(vals);
    let one = |x: f64| if x.is_nan() { "nan ".into() } else { format!("{} ", x.to_bits()) };
    floats.into_iter().map(one).collect()
}

/// What the interpreter makes of a function: its value, and both modes.
fn interpreted(module: &Module, name: &str, given: &Given) -> [String; 3] {
    let func = wengert_core::transform::pipeline::run(module, name)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let derived = Derived::new(func, vec![0, 1, 2, 3]).unwrap_or_else(|e| panic!("{name}: {e}"));
    let [own, tangents, adjoints] = given.vals();
    let run = |module: &Module, entry: &str, vals: Vec<Val>| {
        let func = module.func(entry).unwrap_or_else(|| panic!("{entry} is not there"));
        let mut vals = vals.into_iter();
        let all = func.param_types().into_iter().map(|ty| match ty {
            Type::Tape => Val::tape(),
            _ => vals.next().unwrap_or_else(|| panic!("{entry} takes more")),
        });
        let ran = Interp::new(module).call(entry, all.collect());
        let ran = ran.unwrap_or_else(|e| panic!("{entry}: {e:?}"));
        shown(&ran)
    };
    let name = &derived.func.name;
    [
        run(&derived.primal, name, own),
        run(&derived.forward, &format!("{name}.jvp"), tangents),
        run(&derived.reverse, &format!("{name}.vjp"), adjoints),
    ]
}

/// A function, and the lines that its four calls should print, the first of them nearly.
struct Case {
    text: String,
    wanted: [String; 3],
}

fn floats(line: &str) -> Vec<f64> {
    let one = |word: &str| word.parse().map_or(f64::NAN, f64::from_bits);
    line.split_whitespace().map(one).collect()
}

fn check(cases: &[Case], printed: &str) {
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 4 * cases.len(), "not all functions printed what they came to");
    for (case, lines) in cases.iter().zip(lines.chunks(4)) {
        let text = &case.text;
        for (wanted, given) in case.wanted.iter().zip(&lines[1..]) {
            assert_eq!(wanted, given, "interpreted (left) and compiled (right):\n{text}");
        }
        for (plain, given) in floats(lines[0]).into_iter().zip(floats(lines[1])) {
            let close = (plain - given).abs() <= TOLERANCE * (1.0 + plain.abs());
            assert!(
                close || (plain.is_nan() && given.is_nan()) || plain == given,
                "Rust itself computes {plain}, wengert {given}:\n{text}"
            );
        }
    }
}

/// Builds a program in a crate of its own, beside that of `outside.rs`, and gives what it prints.
fn build(main: &str) -> String {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = temporary.join("random");
    let manifest = format!(
        "[package]\nname = \"random\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         wengert = {{ path = {:?} }}\n\n[profile.dev]\ndebug = false\nincremental = false\n",
        env!("CARGO_MANIFEST_DIR"),
    );
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy("../../Cargo.lock", folder.join("Cargo.lock")).unwrap();
    std::fs::write(folder.join("src/main.rs"), main).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--offline"]).current_dir(&folder);
    // What it depends on is built once for both.
    command.env("CARGO_TARGET_DIR", temporary.join("outside/target"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn random_functions_have_the_bits_of_the_interpreter() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let seed = number("WENGERT_SEED").unwrap_or(now);
    println!("WENGERT_SEED={seed}");
    let count = number("WENGERT_PROGRAMS").unwrap_or(100) as usize;
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let types = {
        let array = Type::Array(Elem::F64, 1);
        [Type::F64, Type::F64, array, array, Type::I64]
    };
    let mut done = 0;
    while done < count {
        let (mut main, mut calls, mut cases) = (MAIN.to_string(), String::new(), Vec::new());
        while done < count && cases.len() < AT_ONCE {
            let first = done;
            let texts: Vec<String> = (0..TOGETHER.min(count - done))
                .map(|k| random::function(&mut random, first + k, first))
                .collect();
            let text = format!("{BESIDE}{}", texts.concat());
            let parsed = rust::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
            write!(main, "#[wengert::differentiable]\nmod m{first} {{\n{text}}}\n").unwrap();
            for (k, own) in texts.into_iter().enumerate() {
                let name = format!("f{}", first + k);
                let lowered = lower::lower(&parsed.module, &name, &types)
                    .unwrap_or_else(|e| panic!("{e:?}\n{own}"));
                let given = Given::new(&mut random);
                calls.push_str(&given.calls(&format!("m{first}::{name}")));
                let wanted = interpreted(&lowered, &name, &given);
                cases.push(Case { text: own, wanted });
                done += 1;
            }
        }
        write!(main, "fn main() {{\n{calls}}}\n").unwrap();
        check(&cases, &build(&main));
    }
    println!("{count} functions");
}
