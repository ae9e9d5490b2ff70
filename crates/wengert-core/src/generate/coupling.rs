//! Random loops whose iterations can be taken back.
//!
//! An iteration is a few updates, each of one carry by something that depends on the others: sums, differences, factors, signs, elements
//! of arrays, parts of them, whole ones, branches, loops inside. At the end carries of one type may change places.

use crate::check::Random;
use crate::interp::Val;
use crate::ir::{Module, Op, Phase, Type, Value};
use crate::ops::Prim;
use crate::transform::copy::rebuild;
use std::fmt::Write;

/// A program in text form, and arguments for it: the last one is how often its loop runs. It returns what the loop carries.
pub fn program(seed: u64) -> (String, Vec<Val>) {
    let mut random = Random(seed);
    let length = 3 + random.below(4) as usize;
    let trips = random.below(7) as i64;
    let updates = 1 + random.below(6);
    let mut number = || random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0;
    let mut args: Vec<Val> = (0..3).map(|_| Val::f64(number())).collect();
    args.extend((0..2).map(|_| Val::array((0..length).map(|_| number()).collect())));
    args.extend([Val::i64(5), Val::f64(1.25 + 0.5 * number())]);
    args.extend([Val::array((0..length).map(|_| number()).collect()), Val::i64(trips)]);
    let mut body = Body {
        random,
        text: String::new(),
        made: 0,
        scalars: ["%s0", "%s1", "%s2"].map(String::from),
        arrays: ["%u0", "%w0"].map(String::from),
        count: "%k0".into(),
    };
    // One that has a derivative.
    let first = body.inst("sin %s1");
    body.scalars[0] = body.inst(&format!("fma %p, {first}, %s0"));
    (0..updates).for_each(|_| body.update());
    if body.random.below(3) == 0 {
        body.scalars.rotate_left(1);
    }
    if body.random.below(3) == 0 {
        body.arrays.swap(0, 1);
    }
    let Body { text, scalars: [a, b, c], arrays: [u, w], count, .. } = body;
    let text = format!(
        "func @f(%a: f64, %b: f64, %c: f64, %u: [f64], %w: [f64], %k: i64, %p: f64, %q: [f64], %n: i64) -> (f64, f64, f64, [f64], [f64], i64) {{
  %cu = copy %u
  %cw = copy %w
  %m = len %q
  %less = wsub %m, 1
  %two = wsub %m, 2
  %ra, %rb, %rc, %ru, %rw, %rk = for %i in 0..%n carry (%s0 = %a, %s1 = %b, %s2 = %c, %u0 = %cu, %w0 = %cw, %k0 = %k) {{
{text}    yield {a}, {b}, {c}, {u}, {w}, {count}
  }}
  return %ra, %rb, %rc, %ru, %rw, %rk
}}
"
    );
    (text, args)
}

/// The recording program of a function with every outlined loop run and taken back instead: what loops carry is what it was before them,
/// up to rounding.
pub fn there_and_back(module: &Module, name: &str) -> Module {
    let mut result = module.clone();
    for func in result.funcs.iter_mut().filter(|func| *func.name == *name) {
        let before = func.clone();
        *func = rebuild(&before, name, &mut |copier, b, inst| {
            let Op::Drive(plan, Phase::Forward) = &inst.op else { return false };
            let Some(plan) = module.plan(plan) else { return false };
            let Some(unstep) = &plan.unstep else { return false };
            let mut args = copier.all(&before, b, &inst.args);
            let tape = args.pop();
            let types: Vec<Type> = inst.results.iter().map(|r| before.ty(*r)).collect();
            let n = plan.carries;
            let advance = Op::Call(plan.advance.clone());
            let there = b.inst(advance, args.clone(), &types[..n + 2], Vec::new());
            args.splice(2..2 + n, there[..n].iter().copied());
            let back = b.inst(Op::Call(unstep.func.clone()), args, &types[..n], Vec::new());
            let ended = there[n..].iter().copied().chain(tape);
            let all: Vec<Value> = back.into_iter().chain(ended).collect();
            inst.results.iter().zip(all).for_each(|(r, v)| copier.bind(*r, v));
            true
        });
    }
    result
}

/// The same with loops left out.
pub fn left_out(module: &Module, name: &str) -> Module {
    let mut result = module.clone();
    for func in result.funcs.iter_mut().filter(|func| *func.name == *name) {
        let before = func.clone();
        *func = rebuild(&before, name, &mut |copier, b, inst| {
            let Op::Drive(plan, Phase::Forward) = &inst.op else { return false };
            let Some(plan) = module.plan(plan) else { return false };
            let args = copier.all(&before, b, &inst.args);
            let carried = args[2..2 + plan.carries].iter();
            let done = b.prim(Prim::IMax, &[args[0], args[1]]);
            let ended = [done, b.i64(0)].into_iter().chain(args.last().copied());
            let all: Vec<Value> = carried.copied().chain(ended).collect();
            inst.results.iter().zip(all).for_each(|(r, v)| copier.bind(*r, v));
            true
        });
    }
    result
}

struct Body {
    random: Random,
    text: String,
    made: usize,
    /// The names of what carries are by now.
    scalars: [String; 3],
    arrays: [String; 2],
    count: String,
}

impl Body {
    fn new_name(&mut self) -> String {
        self.made += 1;
        format!("%v{}", self.made)
    }

    /// An instruction, and the name of its result.
    fn inst(&mut self, of: &str) -> String {
        let name = self.new_name();
        let _ = writeln!(self.text, "    {name} = {of}");
        name
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.below(of.len() as u64) as usize]
    }

    /// A number of moderate size that does not depend on a carry.
    fn other(&mut self, scalar: Option<usize>, array: Option<usize>) -> String {
        let all: Vec<String> =
            (0..3).filter(|k| Some(*k) != scalar).map(|k| self.scalars[k].clone()).collect();
        let arrays: Vec<String> =
            (0..2).filter(|k| Some(*k) != array).map(|k| self.arrays[k].clone()).collect();
        let x = match self.random.below(6) {
            0 => {
                let sum = self.inst(&format!("sum {}", arrays[0]));
                self.inst(&format!("tanh {sum}"))
            }
            1 => self.inst(&format!("load {}, %two", arrays[arrays.len() - 1])),
            2 => {
                let i = self.inst("itof %i");
                self.inst(&format!("mul 0.125, {i}"))
            }
            3 => {
                let k = self.inst(&format!("itof {}", self.count));
                self.inst(&format!("cos {k}"))
            }
            k => all[k as usize % all.len()].clone(),
        };
        let f = self.pick(&["sin", "tanh", "neg", "cos"]);
        let y = self.inst(&format!("{f} {x}"));
        self.inst(&format!("mul %p, {y}"))
    }

    fn update(&mut self) {
        let (t, a) = (self.random.below(3) as usize, self.random.below(2) as usize);
        let (x, u, w) =
            (self.scalars[t].clone(), self.arrays[a].clone(), self.arrays[1 - a].clone());
        match self.random.below(11) {
            0 => {
                let e = self.other(Some(t), None);
                let form = self.pick(&[
                    "add X, E",
                    "sub X, E",
                    "sub E, X",
                    "add E, X",
                    "fma 0.5, E, X",
                    "fma X, 1.5, E",
                ]);
                self.scalars[t] = self.inst(&form.replace('X', &x).replace('E', &e));
            }
            1 => {
                let form =
                    self.pick(&["mul X, 0.75", "mul -1.5, X", "div X, %p", "mul %p, X", "neg X"]);
                self.scalars[t] = self.inst(&form.replace('X', &x));
            }
            2 => {
                let form =
                    self.pick(&["iadd K, 3", "isub K, 2", "isub 7, K", "ixor K, 12", "wadd %i, K"]);
                self.count = self.inst(&form.replace('K', &self.count.clone()));
            }
            3 => {
                let f = self.inst(&format!("sin {w}"));
                let form = self.pick(&[
                    "add U, F",
                    "sub U, F",
                    "fma %p, F, U",
                    "sub F, U",
                    "mul U, 0.5",
                    "fma U, %p, F",
                ]);
                self.arrays[a] = self.inst(&form.replace('U', &u).replace('F', &f));
            }
            4 => {
                let e = self.other(None, Some(a));
                self.arrays[a] = self.inst(&format!("sub {u}, {e}"));
            }
            5 => self.branch(t, &x),
            6 => self.elements(a, &u, &w),
            7 => {
                let part = self.inst(&format!("slice {u}, 1, %two, 1"));
                let added = self.inst(&format!("slice {w}, 0, %two, 1"));
                let sum = self.inst(&format!("add {part}, {added}"));
                self.arrays[a] = self.inst(&format!("put {u}, 1, %two, 1, {sum}"));
            }
            8 => {
                let e = self.other(None, Some(a));
                let old = self.inst(&format!("load {u}, 0"));
                let new = self.inst(&format!("sub {e}, {old}"));
                self.arrays[a] = self.inst(&format!("store {u}, 0, {new}"));
            }
            9 => {
                let added = self.inst(&format!("slice {w}, 1, %less, 1"));
                self.arrays[a] = self.inst(&format!("add_slice {u}, 0, %less, 1, {added}"));
            }
            _ => self.coupled(t),
        }
    }

    fn branch(&mut self, t: usize, x: &str) {
        let y = self.scalars[(t + 1) % 3].clone();
        let asked = self.inst(&format!("gt {y}, 0.125"));
        let names: Vec<String> = (0..3).map(|_| self.new_name()).collect();
        let _ = writeln!(
            self.text,
            "    {} = if {asked} {{\n      {} = add {x}, {y}\n      yield {1}\n    }} else {{\n      {} = sub 0.375, {x}\n      yield {2}\n    }}",
            names[0], names[1], names[2]
        );
        self.scalars[t] = names[0].clone();
    }

    /// A loop over the elements of an array.
    fn elements(&mut self, a: usize, u: &str, w: &str) {
        let n: Vec<String> = (0..10).map(|_| self.new_name()).collect();
        // An element of the same array that the iteration leaves alone, or one of the other.
        let from = if self.random.below(2) == 0 { &n[2] } else { w };
        let form = self.pick(&["add X, E", "sub X, E", "fma %p, E, X", "sub E, X"]);
        let form = form.replace('X', &n[4]).replace('E', &n[6]);
        let _ = writeln!(
            self.text,
            "    {0} = for {1} in 1..%less carry ({2} = {u}) {{
      {3} = wsub {1}, 1
      {4} = load {2}, {1}
      {5} = load {from}, {3}
      {6} = sin {5}
      {7} = {form}
      {8} = store {2}, {1}, {7}
      yield {8}
    }}",
            n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]
        );
        self.arrays[a] = n[0].clone();
    }

    /// A loop in which two numbers change each other, by coefficients.
    fn coupled(&mut self, t: usize) {
        let other = (t + 1) % 3;
        let (x, y) = (self.scalars[t].clone(), self.scalars[other].clone());
        let n: Vec<String> = (0..12).map(|_| self.new_name()).collect();
        let _ = writeln!(
            self.text,
            "    {0}, {1} = for {2} in 0..%m carry ({3} = {x}, {4} = {y}) {{
      {5} = load %q, {2}
      {6} = sin {4}
      {7} = fma {5}, {6}, {3}
      {8} = mul {7}, 0.25
      {9} = sub {4}, {8}
      yield {7}, {9}
    }}",
            n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]
        );
        self.scalars[t] = n[0].clone();
        self.scalars[other] = n[1].clone();
    }
}
