//! Recordings that become programs: the same bits, the same gradients, and loops where they repeat.

use wengert::tape::{Error, Outside, Tape, Var};
use wengert::{Function, Stage, Wrt};

/// The value to the bit, and the gradient to 1e-12.
fn agrees(tape: &Tape, inputs: &[Var], y: Var) -> Function {
    let program = tape.to_program(inputs, &[y]).unwrap();
    let x: Vec<f64> = inputs.iter().map(|x| x.value()).collect();
    let g = program.value_and_grad([x], "x").unwrap();
    assert_eq!(g.value.to_bits(), y.value().to_bits(), "{} and {}", g.value, y.value());
    let slopes = g.get("x").unwrap().as_array().unwrap().as_f64().unwrap().to_vec();
    let tape_slopes = y.backward().unwrap().wrt_all(inputs).unwrap();
    let scale = tape_slopes.iter().fold(1e-300_f64, |m, d| m.max(d.abs()));
    for (k, (a, b)) in slopes.iter().zip(&tape_slopes).enumerate() {
        assert!((a - b).abs() <= 1e-12 * scale, "by input {k}: {a} and {b}");
    }
    program
}

fn loops(program: &Function) -> usize {
    program.show(Stage::Ssa, (), Wrt::All).unwrap().matches("for %").count()
}

fn lorenz([x, y, z]: [Var; 3], [s, r, b]: [Var; 3]) -> [Var; 3] {
    [s * (y - x), x * (r - z) - y, x * y - b * z]
}

fn rk4(u: [Var; 3], p: [Var; 3], h: f64) -> [Var; 3] {
    let along = |k: [Var; 3], h: f64| [0, 1, 2].map(|i| u[i] + h * k[i]);
    let k1 = lorenz(u, p);
    let k2 = lorenz(along(k1, h / 2.0), p);
    let k3 = lorenz(along(k2, h / 2.0), p);
    let k4 = lorenz(along(k3, h), p);
    [0, 1, 2].map(|i| u[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

#[test]
fn an_orbit_of_the_lorenz_system_is_a_loop() {
    let tape = Tape::new();
    let u = tape.vars([1.0, 1.0, 20.0]);
    // Short of chaos, so that gradients do not grow without bound.
    let p = tape.vars([10.0, 14.0, 8.0 / 3.0]);
    let mut v = u;
    for _ in 0..100_000 {
        v = rk4(v, p, 0.001);
    }
    let y = v[0] * v[0] + v[2];
    let inputs = [u, p].concat();
    let begun = std::time::Instant::now();
    let program = tape.to_program(&inputs, &[y]).unwrap();
    println!("{} entries in {:?}", tape.len(), begun.elapsed());
    assert_eq!(loops(&program), 1);
    let text = program.show(Stage::Ssa, (), Wrt::All).unwrap();
    assert!(text.lines().count() < 500, "{text}");
    agrees(&tape, &inputs, y);
    let x: Vec<f64> = inputs.iter().map(|x| x.value()).collect();
    let stats = program.value_and_grad([x], "x").unwrap().stats;
    println!("compiled in {} s, run in {} s", stats.compile_seconds, stats.run_seconds);
    assert!(stats.compile_seconds < 1.0, "{stats:?}");
}

/// A tree of numbers.
enum Tree {
    Leaf(Var),
    Node(Box<Tree>, Box<Tree>),
}

fn grown(leaves: &[Var]) -> Tree {
    match leaves {
        [one] => Tree::Leaf(*one),
        many => {
            let (a, b) = many.split_at(1 + many.len() / 3);
            Tree::Node(Box::new(grown(a)), Box::new(grown(b)))
        }
    }
}

fn folded(tree: &Tree, depth: i32) -> Var {
    match tree {
        Tree::Leaf(x) => x.powi(depth % 4 + 1),
        Tree::Node(a, b) => {
            let (a, b) = (folded(a, depth + 1), folded(b, depth + 1));
            if depth % 2 == 0 { (a * b).tanh() + a } else { a.hypot(b).min(a + b) }
        }
    }
}

#[test]
fn a_recursion_over_a_tree_is_a_straight_line() {
    let tape = Tape::new();
    let leaves: Vec<Var> = (0..60).map(|k| tape.var(0.3 + 0.01 * k as f64)).collect();
    let y = folded(&grown(&leaves), 0);
    let program = agrees(&tape, &leaves, y);
    assert_eq!(loops(&program), 0);
}

#[test]
fn a_frozen_program_is_differentiated_again() {
    let tape = Tape::new();
    let [a, b] = tape.vars([1.5, 0.5]);
    let y = (a * b).exp() * a.powi(3) + b.sin() / a;
    let program = agrees(&tape, &[a, b], y);
    let second = wengert::tape::hessian(
        |x| (x[0] * x[1]).exp() * x[0].powi(3) + x[1].sin() / x[0],
        &[1.5, 0.5],
    )
    .unwrap();
    let h = program.hessian([vec![1.5, 0.5]], "x").unwrap();
    let h = h.blocks[0].1.as_array().unwrap().to_f64().unwrap();
    for (k, h) in h.iter().enumerate() {
        assert!((h - second[k / 2][k % 2]).abs() < 1e-11, "{h} and {second:?}");
    }
    // At other inputs it is the same function.
    let at = |a: f64, b: f64| program.value_and_grad([vec![a, b]], "x").unwrap().value;
    assert_eq!(at(2.0, 0.0), 8.0);
}

#[test]
fn every_part_that_repeats_is_a_loop_of_its_own() {
    let tape = Tape::new();
    let x: Vec<Var> = (0..500).map(|k| tape.var((k as f64 * 0.1).sin())).collect();
    // Inputs in turn.
    let mut sum = x[0];
    for x in &x {
        sum += (x - 0.5) * (x - 0.5);
    }
    // What two iterations before gave.
    let (mut a, mut b) = (sum, x[1]);
    for _ in 0..300 {
        (a, b) = (b, (a + b).sin());
    }
    // A loop within.
    let mut c = a * b;
    for _ in 0..50 {
        for _ in 0..12 {
            c = c + 0.01 * c.cos();
        }
        c = (c * c + 1.0).sqrt() + a;
    }
    let program = agrees(&tape, &x, c + b);
    assert_eq!(loops(&program), 3, "{}", program.show(Stage::Ssa, (), Wrt::All).unwrap());
}

#[test]
fn what_is_not_the_same_each_time_is_no_loop() {
    let tape = Tape::new();
    let x = tape.var(0.3);
    let mut y = x;
    for k in 0..200 {
        y = (y * (1.0 + 0.001 * k as f64)).sin();
    }
    assert_eq!(loops(&agrees(&tape, &[x], y)), 0);
    // Every iteration gives something that is used at the end.
    let tape = Tape::new();
    let x = tape.var(0.3);
    let mut all = vec![x];
    for k in 0..200 {
        all.push((all[k] * 1.5).sin() + x);
    }
    let y = all.iter().rev().step_by(3).fold(x, |sum, y| sum * 0.5 + y.exp());
    agrees(&tape, &[x], y);
}

#[test]
fn branches_of_a_guarded_tape_are_checked() {
    let run = |tape: &Tape, n: usize| {
        let x = tape.var(0.3);
        let mut y = x;
        for _ in 0..n {
            y = if y < 2.0 { y * 1.001 + 0.001 } else { y * 0.5 };
        }
        (x, y)
    };
    let tape = Tape::new().guarded();
    let (x, y) = run(&tape, 400);
    let program = agrees(&tape, &[x], y);
    assert_eq!(loops(&program), 1);
    let other = program.value_and_grad([vec![1.9]], "x").unwrap_err();
    assert!(other.to_string().contains("record anew"), "{other}");
    assert!(other.to_string().contains("program.rs"), "{other}");
    // Without guards it computes what was recorded.
    let tape = Tape::new();
    let (x, y) = run(&tape, 400);
    let program = tape.to_program(&[x], &[y]).unwrap();
    assert!(program.value([vec![1.9]]).is_ok());
}

#[test]
fn several_outputs_are_an_array() {
    let tape = Tape::new();
    let [a, b, c] = tape.vars([2.0, 3.0, 4.0]);
    let program = tape.to_program(&[b, a], &[a * c, a + b, Var::from(7.0), a]).unwrap();
    let run = program.value([vec![3.0, 2.0]]).unwrap();
    assert_eq!(run.values, [vec![8.0, 5.0, 7.0, 2.0].into()]);
    let jacobian = program.jacobian([vec![3.0, 2.0]], "x").unwrap();
    let rows = jacobian.blocks[0].derivative.as_array().unwrap().to_f64().unwrap();
    assert_eq!(rows, [0.0, 4.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let short = program.value([vec![3.0]]).unwrap_err();
    assert!(short.to_string().contains("must hold the 2 inputs"), "{short}");
}

struct Twice;

impl Outside for Twice {
    fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        Ok(vec![2.0 * x[0]])
    }
    fn vjp(&self, _: &[f64], _: &[f64], dy: &[f64]) -> Result<Vec<f64>, Error> {
        Ok(vec![2.0 * dy[0]])
    }
    fn jvp(&self, _: &[f64], _: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
        Ok(vec![2.0 * dx[0]])
    }
}

#[test]
fn what_cannot_become_a_program_is_refused_by_name() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let y = tape.call(Twice, &[x]).unwrap()[0];
    let refused = |tape: &Tape, x: &[Var], y: Var| match tape.to_program(x, &[y]) {
        Err(Error::Program(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(&tape, &[x], y * x).contains("calls functions"));
    // What outputs do not need is no obstacle.
    assert!(tape.to_program(&[x], &[x * x]).is_ok());
    let y = tape.preaccumulate(&[x], |x| vec![x[0].sin()]).unwrap()[0];
    assert!(refused(&tape, &[x], y).contains("preaccumulated"));
    assert!(refused(&tape, &[x, x], x * x).contains("twice"));
    let outer = Tape::new();
    let a = outer.var(2.0);
    let inner = Tape::new();
    let b = inner.var(a);
    assert!(refused(&inner, &[b], b * a).contains("earlier tape"));
    assert!(matches!(outer.to_program(&[x], &[a]), Err(Error::Misuse(_))));
    assert!(matches!(outer.to_program(&[a], &[x]), Err(Error::Misuse(_))));
    // No statement like another.
    let tape = Tape::new();
    let x = tape.var(1.0);
    let y = (0..25_000).fold(x, |y, k| y * 0.5 + k as f64);
    assert!(refused(&tape, &[x], y).contains("do not repeat"));
}

/// Numbers that look random and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
}

/// A few operations on what is there, the same each time: a state of numbers, inputs, what was before.
fn block(chance: &mut Chance, state: &mut [Var], x: &[Var], turn: usize) {
    let mut all = state.to_vec();
    for _ in 0..3 + chance.below(12) {
        let (a, b) = (all[chance.below(all.len())], all[chance.below(all.len())]);
        let from = [a, b, x[chance.below(x.len())], x[turn % x.len()]];
        let (a, b) = (from[chance.below(4)], from[chance.below(4)]);
        all.push(match chance.below(9) {
            0 => a + b,
            1 => a * b * 0.5,
            2 => a - 0.3 * b,
            3 => (a * b).sin(),
            4 => a / (b * b + 1.0),
            5 => a.tanh().mul_add(b, a),
            6 => a.max(b),
            7 => (a * a + 1.0).sqrt(),
            _ => a.clamp(Var::from(-2.0), Var::from(2.0)),
        });
    }
    for k in 0..state.len() {
        // Some are handed on as they are, so that what is read is of the turn before that.
        state[k] = match chance.below(3) {
            0 => state[(k + 1) % state.len()],
            _ => all[all.len() - 1 - chance.below(3)].tanh(),
        };
    }
}

#[test]
fn random_recordings_give_the_same_bits() {
    let mut rolled = 0;
    for seed in 0..200 {
        let mut chance = Chance(seed);
        let tape = if seed % 2 == 0 { Tape::new() } else { Tape::new().guarded() };
        let x: Vec<Var> =
            (0..24).map(|k| tape.var((k as f64 + 0.37 * seed as f64).sin())).collect();
        let mut state = x[..1 + chance.below(4)].to_vec();
        for _ in 0..1 + chance.below(3) {
            let (what, count) = (chance.below(1 << 20) as u64, chance.below(24));
            let in_turn = chance.below(2);
            for turn in 0..count {
                block(&mut Chance(what), &mut state, &x, in_turn * turn);
            }
        }
        let y = state.iter().fold(Var::from(1.0), |y, s| y * 0.7 + s);
        if y.is_constant() {
            continue;
        }
        let program = agrees(&tape, &x, y);
        rolled += loops(&program);
        let small = tape.compress(&[y]).unwrap();
        agrees(&tape, &small.inputs, small.outputs[0]);
    }
    println!("{rolled} loops");
    assert!(rolled > 60, "{rolled} loops");
}

#[test]
fn a_long_straight_line_compiles() {
    let tape = Tape::new();
    let x = tape.var(0.3);
    let y = (0..5_000).fold(x, |y, k| (y * (1.0 + 1e-5 * k as f64) + 0.01).sin());
    let begun = std::time::Instant::now();
    let program = agrees(&tape, &[x], y);
    println!("15,000 operations in {:?}", begun.elapsed());
    assert_eq!(loops(&program), 0);
}
