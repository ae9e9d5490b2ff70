//! Regions, loops, solves and fixed points on the tape: the same derivatives as where everything is recorded.

use std::cell::Cell;
use std::rc::Rc;
use wengert::tape::{Error, Outside, Tape, Var, grad, jacobian};

/// A few operations of every kind.
fn part(x: &[Var]) -> Vec<Var> {
    let s = (x[0] * x[1]).sin() + x[2].exp() / (x[0] * x[0] + 1.0);
    let t = if s > 0.5 { s.ln() * x[1] } else { s * s - x[2] };
    vec![t, s * 2.0, x[1]]
}

const AT: [f64; 3] = [0.7, -1.3, 0.4];

#[test]
fn a_region_is_what_is_recorded() {
    let kept = jacobian(part, &AT).unwrap();
    let tape = Tape::new();
    let x = tape.vars(AT);
    let y = tape.checkpoint(&x, part).unwrap();
    assert_eq!(tape.len(), 6);
    for (y, row) in y.iter().zip(&kept) {
        assert_eq!(&y.backward().unwrap().wrt_all(&x).unwrap(), row);
    }
    for (k, x) in x.iter().enumerate() {
        let column = tape.forward(&[(*x, 1.0)], &y).unwrap();
        for (d, row) in column.iter().zip(&kept) {
            assert!((d - row[k]).abs() < 1e-15);
        }
    }
    // At other inputs the closure takes the branch that holds there.
    let other = [1.7, 0.3, -0.4];
    let given: Vec<(Var, f64)> = x.into_iter().zip(other).collect();
    let values = tape.replay(&given, &y).unwrap();
    assert_eq!(values, part(&other.map(Var::from)).iter().map(|y| y.value()).collect::<Vec<_>>());
    let row = y[0].backward().unwrap().wrt_all(&x).unwrap();
    assert_eq!(row, jacobian(part, &other).unwrap()[0]);
}

#[test]
fn a_region_above_another_tape_is_recorded() {
    let outer = Tape::new();
    let x = outer.var(2.0);
    let slope = {
        let inner = Tape::new();
        let x = inner.var(x);
        let y = inner.checkpoint(&[x], |x| vec![x[0].powi(3)]).unwrap();
        y[0].backward_var().unwrap().wrt(x).unwrap()
    };
    assert_eq!(slope.backward().unwrap().wrt(x).unwrap(), 12.0);
}

#[test]
fn regions_run_twice_and_no_more() {
    let count = Rc::new(Cell::new(0));
    let seen = count.clone();
    let tape = Tape::new();
    let x = tape.var(2.0);
    let y = tape.checkpoint(&[x], move |x| {
        seen.set(seen.get() + 1);
        vec![x[0] * x[0], x[0].exp()]
    });
    let y = y.unwrap();
    assert_eq!(count.get(), 1);
    tape.reverse(&[(y[0], 1.0), (y[1], 1.0)]).unwrap();
    assert_eq!(count.get(), 2);
}

/// Damped oscillators with a force that depends on the step.
fn step(k: usize, x: &[Var], p: &[Var]) -> Vec<Var> {
    let force = (p[0] * k as f64 * 0.01).sin();
    let v = x[1] + (force - x[0] * p[1] - x[1] * x[1].tanh() * p[1]) * 0.01;
    vec![x[0] + v * 0.01, v]
}

#[test]
fn loops_have_the_bits_of_what_is_recorded() {
    let begin = [0.5, 0.1, 0.8, 1.2];
    for n in [0usize, 1, 2, 7, 8, 9, 100, 3000] {
        let everything = |x: &[Var]| {
            let mut state = x[..2].to_vec();
            for k in 0..n {
                state = step(k, &state, &x[2..]);
            }
            state[0] * state[1]
        };
        let kept = grad(everything, &begin).unwrap();
        for memory in [1000, 2000, 5000, 20_000, 1_000_000] {
            let looped = |while_: bool| {
                let tape = Tape::new();
                let x = tape.vars(begin);
                let (state, params) = x.split_at(2);
                let last = if while_ {
                    tape.repeat_while(move |k, _, _| k < n, state, params, step, memory)
                } else {
                    tape.for_each(n, state, params, step, memory)
                };
                let last = last.unwrap();
                let y = last[0] * last[1];
                let along = tape.forward(&[(x[0], 1.0), (x[3], 2.0)], &[y]).unwrap()[0];
                (y.backward().unwrap().wrt_all(&x).unwrap(), along)
            };
            for while_ in [false, true] {
                let (d, along) = looped(while_);
                assert_eq!(d, kept, "{n} steps in {memory} bytes");
                let expected = kept[0] + 2.0 * kept[3];
                assert!((along - expected).abs() <= 1e-12 * expected.abs().max(1.0));
            }
        }
    }
}

#[test]
fn loops_can_be_swept_again_and_at_other_inputs() {
    let tape = Tape::new();
    let x = tape.vars([0.5, 0.1, 0.8, 1.2]);
    let y = tape.for_each(200, &x[..2], &x[2..], step, 3000).unwrap();
    let seeds: [&[(Var, f64)]; 2] = [&[(y[0], 1.0)], &[(y[1], 1.0)]];
    let rows = tape.reverse_many(&seeds).unwrap();
    assert_eq!(rows[1].wrt(x[3]).unwrap(), y[1].backward().unwrap().wrt(x[3]).unwrap());
    tape.replay(&[(x[3], 1.3)], &y).unwrap();
    let there = y[0].backward().unwrap().wrt_all(&x).unwrap();
    let fresh = Tape::new();
    let x = fresh.vars([0.5, 0.1, 0.8, 1.3]);
    let y = fresh.for_each(200, &x[..2], &x[2..], step, 100_000).unwrap();
    assert_eq!(y[0].backward().unwrap().wrt_all(&x).unwrap(), there);
}

/// Elimination as one would write it, for comparison.
fn eliminated(n: usize, x: &[Var]) -> Vec<Var> {
    let (a, b) = x.split_at(n * n);
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] = a[i * n + j] - factor * a[k * n + j];
            }
            b[i] = b[i] - factor * b[k];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            b[i] = b[i] - a[i * n + j] * b[j];
        }
        b[i] /= a[i * n + i];
    }
    b
}

#[test]
fn a_solve_is_what_elimination_gives() {
    let n = 5;
    let numbers: Vec<f64> = (0..n * n + n)
        .map(|k| (k as f64 * 1.7).sin() + if k < n * n && k % (n + 1) == 0 { 4.0 } else { 0.0 })
        .collect();
    let recorded = jacobian(|x| eliminated(n, x), &numbers).unwrap();
    let tape = Tape::new();
    let inputs = tape.var_vec(&numbers);
    let x = tape.solve(n, &inputs[..n * n], &inputs[n * n..]).unwrap();
    for (x, row) in x.iter().zip(&recorded) {
        let d = x.backward().unwrap().wrt_all(&inputs).unwrap();
        assert!(d.iter().zip(row).all(|(a, b)| (a - b).abs() < 1e-13), "{d:?}\n{row:?}");
    }
    for (k, input) in inputs.iter().enumerate() {
        let d = tape.forward(&[(*input, 1.0)], &x).unwrap();
        assert!(d.iter().zip(&recorded).all(|(a, row)| (a - row[k]).abs() < 1e-13));
    }
    // After a replay that failed, factors are again those of the matrix that is there.
    let zeros: Vec<(Var, f64)> = inputs[..n * n].iter().map(|x| (*x, 0.0)).collect();
    assert!(matches!(tape.replay(&zeros, &x), Err(Error::Singular { .. })));
    let d = x[0].backward().unwrap().wrt_all(&inputs).unwrap();
    assert!(d.iter().zip(&recorded[0]).all(|(a, b)| (a - b).abs() < 1e-13));
}

#[test]
fn several_right_hand_sides_are_as_many_solves() {
    let tape = Tape::new();
    // A row has to change places.
    let a = tape.vars([0.0, 2.0, 3.0, 1.0]);
    let b = tape.vars([1.0, 4.0, 2.0, 5.0]);
    let both = tape.solve(2, &a, &b).unwrap();
    for k in 0..2 {
        let one = tape.solve(2, &a, &[b[k], b[2 + k]]).unwrap();
        for i in 0..2 {
            let (of_both, of_one) = (both[2 * i + k], one[i]);
            assert_eq!(of_both.value(), of_one.value());
            let all: Vec<Var> = a.iter().chain(&b).copied().collect();
            let d = [of_both, of_one].map(|y| y.backward().unwrap().wrt_all(&all).unwrap());
            assert_eq!(d[0], d[1]);
        }
    }
}

#[test]
fn fixed_points_are_differentiated_as_what_they_are() {
    // Kepler's equation, and a second number that depends on the first.
    let f = |x: &[Var], p: &[Var]| vec![p[0] + p[1] * x[0].sin(), x[0] * 0.3 + x[1] * 0.5 * p[1]];
    let at = [1.1, 0.4];
    let recorded =
        jacobian(|p| (0..200).fold(vec![Var::from(0.0), Var::from(0.0)], |x, _| f(&x, p)), &at);
    let recorded = recorded.unwrap();
    let tape = Tape::new();
    let p = tape.vars(at);
    let x = tape.fixed_point(f, &[0.0, 0.0], &p, 1e-15, 200).unwrap();
    for (x, row) in x.iter().zip(&recorded) {
        let d = x.backward().unwrap().wrt_all(&p).unwrap();
        assert!(d.iter().zip(row).all(|(a, b)| (a - b).abs() < 1e-13), "{d:?} {row:?}");
    }
    for k in 0..2 {
        let d = tape.forward(&[(p[k], 1.0)], &x).unwrap();
        assert!(d.iter().zip(&recorded).all(|(a, row)| (a - row[k]).abs() < 1e-13));
    }
    // Begun at the point itself, from any side.
    tape.replay(&[(p[0], 1.2)], &x).unwrap();
    let there = x[0].backward().unwrap().wrt(p[0]).unwrap();
    let slope = 1.0 / (1.0 - 0.4 * (tape.replay(&[(p[0], 1.2)], &x).unwrap()[0]).cos());
    assert!((there - slope).abs() < 1e-13);
}

/// A function whose derivative is known to be asked for as often as there are sweeps.
#[test]
fn calls_of_calls() {
    struct Twice(Rc<Cell<u32>>);
    impl Outside for Twice {
        fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
            Ok(x.iter().map(|x| 2.0 * x).collect())
        }
        fn vjp(&self, _: &[f64], _: &[f64], dy: &[f64]) -> Result<Vec<f64>, Error> {
            self.0.set(self.0.get() + 1);
            Ok(dy.iter().map(|d| 2.0 * d).collect())
        }
        fn jvp(&self, _: &[f64], _: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
            Ok(dx.iter().map(|d| 2.0 * d).collect())
        }
    }
    let asked = Rc::new(Cell::new(0));
    let tape = Tape::new();
    let x = tape.vars([1.0, 2.0]);
    let y = tape.call(Twice(asked.clone()), &x).unwrap();
    let z = tape.call(Twice(asked.clone()), &y).unwrap();
    let d = (z[0] * z[1]).backward().unwrap();
    assert_eq!(d.wrt_all(&x).unwrap(), [4.0 * 8.0, 4.0 * 4.0]);
    assert_eq!(asked.get(), 2);
}
