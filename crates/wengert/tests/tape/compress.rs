//! Compressed recordings: the same values and derivatives in fewer entries, and no variable that stands for another.

use wengert::tape::{Compressed, Compression, Error, MisuseKind, Outside, Tape, Var};

const FUSED: Compression = Compression { fuse: true, single: false };
const SINGLE: Compression = Compression { fuse: true, single: true };

/// A program with some of everything.
fn recorded(tape: &Tape, x: &[Var]) -> Var {
    let mut y = Var::from(0.0);
    for (k, x) in x.iter().enumerate() {
        let unused = x.exp() * 3.0;
        assert!(unused.value() > 0.0);
        let again = (x * 2.0).sin() + (x * 2.0).sin();
        y = y + again * 1.0 - 0.0 + -(-x.clamp(Var::from(-0.5), Var::from(0.8)));
        y = y + (y * 0.1).tanh().abs().sqrt().stop_gradient() * x.powi(k as i32 % 4);
    }
    assert!(!tape.is_empty());
    y.mul_add(y, x[0])
}

fn slopes(y: Var, x: &[Var]) -> Vec<f64> {
    y.backward().unwrap().wrt_all(x).unwrap()
}

fn close(a: &[f64], b: &[f64], within: f64) {
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= within * (1.0 + b.abs()), "{a} and {b}");
    }
}

fn compressed(how: Compression) -> (Tape, Compressed, Vec<f64>, f64) {
    let tape = Tape::new();
    let x: Vec<Var> = (0..20).map(|k| tape.var(0.1 * k as f64 - 0.7)).collect();
    let y = recorded(&tape, &x);
    let before = slopes(y, &x);
    let small = tape.compress_with(&[y], how).unwrap();
    (tape, small, before, y.value())
}

#[test]
fn values_and_derivatives_stay() {
    for (how, within) in [(Compression::default(), 1e-15), (FUSED, 1e-14), (SINGLE, 1e-6)] {
        let (tape, small, before, value) = compressed(how);
        assert_eq!(small.inputs.len(), 20);
        assert_eq!(small.outputs[0].value().to_bits(), value.to_bits());
        close(&slopes(small.outputs[0], &small.inputs), &before, within);
        let direction: Vec<(Var, f64)> = small.inputs.iter().map(|x| (*x, 1.0)).collect();
        let along = tape.forward(&direction, &small.outputs).unwrap()[0];
        close(&[along], &[before.iter().sum()], 10.0 * within);
        assert!(small.after.entries < small.before.entries, "{small}");
        assert!(small.after.bytes < small.before.bytes, "{small}");
        assert!(small.unused >= 40 && small.trivial >= 40 && small.repeated >= 20, "{small}");
        assert_eq!(small.fused > 0, how.fuse);
        assert_eq!(small.largest_error > 0.0, how.single);
        assert!(small.largest_error < 6e-8, "{small}");
        println!("{small}\n");
    }
}

#[test]
fn what_is_compressed_goes_on() {
    let (tape, small, before, _) = compressed(Compression::default());
    let (x, y) = (&small.inputs, small.outputs[0]);
    let z = y * 2.0 + x[0];
    let mut doubled: Vec<f64> = before.iter().map(|d| 2.0 * d).collect();
    doubled[0] += 1.0;
    close(&slopes(z, x), &doubled, 1e-14);
    // It is replayed, and becomes a program.
    let again: Vec<(Var, f64)> = x.iter().map(|x| (*x, x.value())).collect();
    assert_eq!(tape.replay(&again, &[y]).unwrap(), [y.value()]);
    let numbers: Vec<f64> = x.iter().map(|x| x.value()).collect();
    let program = tape.to_program(x, &[y]).unwrap();
    assert_eq!(program.value([numbers]).unwrap().values, [y.value().into()]);
    // A second time there is nothing to do.
    let twice = tape.compress(&[y]).unwrap();
    assert_eq!((twice.unused, twice.trivial, twice.repeated), (3, 0, 0), "{twice}");
}

#[test]
fn variables_of_before_are_told_apart() {
    let tape = Tape::new();
    let [x, unused] = tape.vars([0.5, 1.5]);
    let position = tape.position();
    let y = x.sin() * x;
    let seeds = tape.seeded(&[(y, 1.0)]).unwrap();
    let small = tape.compress(&[y]).unwrap();
    for before in [x, unused, y] {
        assert_eq!((before + 1.0).misuse().unwrap().kind, MisuseKind::Stale);
        assert!(matches!(before.backward(), Err(Error::Misuse(_))));
    }
    let d = small.outputs[0].backward().unwrap();
    assert!(d.wrt(x).is_err());
    assert_eq!(d.wrt(small.inputs[1]).unwrap(), 0.0);
    // Entries have other numbers, so places and adjoints of before mean nothing.
    assert!(matches!(tape.rewind(position), Err(Error::NoPosition { .. })));
    assert!(tape.reverse_to(position, &mut seeds.clone()).is_err());
    assert!(tape.reverse_to(tape.position(), &mut seeds.clone()).is_err());
    tape.clear().unwrap();
    assert!((small.inputs[0] + 1.0).misuse().is_some());
}

#[test]
fn only_what_holds_to_the_bit_is_trivial() {
    let tape = Tape::new();
    let x = tape.var(-0.0);
    // A negative zero plus zero is a positive one.
    let y = x + 0.0;
    assert!(y.value().is_sign_positive());
    let kept = tape.compress(&[y]).unwrap();
    assert_eq!(kept.trivial, 0);
    let x = kept.inputs[0];
    let y = (x.exp() + 0.0) + (x + -0.0) + (0.0 + (x + 1.0)) + x.stop_gradient();
    let small = tape.compress(&[y]).unwrap();
    assert_eq!(small.trivial, 3, "{small}");
    assert_eq!(slopes(small.outputs[0], &small.inputs), [3.0]);
}

struct Swap;

impl Outside for Swap {
    fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        Ok(vec![x[1], x[0]])
    }
    fn vjp(&self, _: &[f64], _: &[f64], dy: &[f64]) -> Result<Vec<f64>, Error> {
        Ok(vec![dy[1], dy[0]])
    }
    fn jvp(&self, _: &[f64], _: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
        Ok(vec![dx[1], dx[0]])
    }
}

#[test]
fn calls_and_comparisons_stay() {
    for how in [Compression::default(), FUSED, SINGLE] {
        let tape = Tape::new().guarded();
        let [a, b] = tape.vars([2.0, 3.0]);
        let unused = tape.call(Swap, &[a, a * 7.0]).unwrap();
        let called = tape.call(Swap, &[a * 1.0, b.sin().cos().exp()]).unwrap();
        let y = if called[0] > 0.1 { called[1] * called[1] + b } else { unused[0] };
        let before = slopes(y, &[a, b]);
        let small = tape.compress_with(&[y], how).unwrap();
        assert_eq!(small.after.comparisons, 1);
        let (x, y) = (&small.inputs, small.outputs[0]);
        close(&slopes(y, x), &before, if how.single { 1e-7 } else { 1e-15 });
        let again = tape.replay(&[(x[0], 5.0), (x[1], 3.0)], &[y]);
        if how.fuse {
            assert!(matches!(again, Err(Error::NotReplayable(_))));
            assert!(matches!(tape.to_program(x, &[y]), Err(Error::Program(_))));
        } else {
            assert_eq!(again.unwrap(), [28.0]);
        }
    }
}

#[test]
fn long_chains_and_wide_sums_are_fused_without_recursion() {
    let tape = Tape::new();
    let x = tape.var(0.5);
    let y = (0..1_000_000).fold(x, |y, k| y * (1.0 - 1e-9 * (k % 7) as f64));
    let before = slopes(y, &[x]);
    let small = tape.compress_with(&[y], FUSED).unwrap();
    assert_eq!(small.after.entries, 2, "{small}");
    close(&slopes(small.outputs[0], &small.inputs), &before, 1e-9);

    let tape = Tape::new();
    let x: Vec<Var> = (0..100_000).map(|k| tape.var(k as f64)).collect();
    let y: Var = x.iter().map(|x| x * x).sum();
    let small = tape.compress_with(&[y], SINGLE).unwrap();
    let d = slopes(small.outputs[0], &small.inputs);
    assert!(d.iter().enumerate().all(|(k, d)| *d == 2.0 * k as f64));
    println!("{small}");
}

#[test]
fn what_lies_above_another_tape_is_not_compressed() {
    let outer = Tape::new();
    let a = outer.var(2.0);
    let inner = Tape::new();
    let y = inner.var(a) * a;
    assert!(matches!(inner.compress(&[y]), Err(Error::NotReplayable(_))));
    assert!(matches!(outer.compress(&[y]), Err(Error::Misuse(_))));
    // It is as it was.
    assert_eq!(slopes(y, &[]).len(), 0);
    assert!(y.misuse().is_none());
}
