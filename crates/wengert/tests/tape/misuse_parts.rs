//! What must not be done with functions that have derivatives of their own, replays, regions, loops, solves and fixed points: every
//! case is an error that says what is wrong, in which line, and the way out.

use crate::told::*;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use wengert::tape::{Error, Outside, Tape, Var, grad};

// Functions with derivatives of their own.

/// A function by its three parts.
struct Parts<V, B, F>(V, B, F);

impl<V, B, F> Outside for Parts<V, B, F>
where
    V: Fn(&[f64]) -> Result<Vec<f64>, Error>,
    B: Fn(&[f64]) -> Result<Vec<f64>, Error>,
    F: Fn(&[f64]) -> Result<Vec<f64>, Error>,
{
    fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        self.0(x)
    }
    fn vjp(&self, _: &[f64], _: &[f64], dy: &[f64]) -> Result<Vec<f64>, Error> {
        self.1(dy)
    }
    fn jvp(&self, _: &[f64], _: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
        self.2(dx)
    }
}

#[test]
fn functions_that_give_wrong_counts() {
    let tape = Tape::new();
    let x = tape.vars([1.0, 2.0]);
    let short = |_: &[f64]| Ok(vec![1.0]);
    let y = tape.call(Parts(double, short, short), &x).unwrap();
    says(y[0].backward(), &["1 adjoints of its inputs (`vjp`), and there are 2", "one for each"]);
    let forward = tape.forward(&[(x[0], 1.0)], &y);
    says(forward, &["1 tangents of its outputs (`jvp`), and there are 2"]);
    let first = Cell::new(true);
    let value = move |x: &[f64]| if first.replace(false) { double(x) } else { Ok(vec![]) };
    let tape = Tape::new();
    let x = tape.vars([1.0, 2.0]);
    let y = tape.call(Parts(value, double, double), &x).unwrap();
    says(tape.replay(&[(x[0], 2.0)], &y), &["0 outputs (`value`), and there are 2"]);
    assert_eq!((y[0] * x[0]).backward().unwrap().wrt(x[0]).unwrap(), 4.0);
}

#[test]
fn a_sweep_in_a_sweep() {
    let tape = Rc::new(Tape::new());
    let x = tape.var(1.0);
    // The tape keeps the function; if that kept the tape, neither would be freed.
    let (inner, seen) = (Rc::downgrade(&tape), Rc::new(RefCell::new(Vec::new())));
    let notes = seen.clone();
    let vjp = move |dy: &[f64]| {
        let inner = inner.upgrade().unwrap();
        let note = |what: Error| notes.borrow_mut().push(what);
        note(inner.rewind(inner.position()).unwrap_err());
        note(inner.clear().unwrap_err());
        note(inner.forward(&[], &[]).unwrap_err());
        note(inner.replay(&[], &[]).unwrap_err());
        note(inner.call(Twice, &[]).unwrap_err());
        note(inner.var(3.0).backward().unwrap_err());
        note((x * 2.0).backward().unwrap_err());
        note(inner.checkpoint(&[], |x| x.to_vec()).unwrap_err());
        note(inner.preaccumulate(&[], |x| x.to_vec()).unwrap_err());
        inner.reverse(&[])?;
        double(dy)
    };
    let y = tape.call(Parts(double, vjp, double), &[x]).unwrap()[0];
    says(y.backward(), &BUSY);
    let seen = seen.take();
    assert_eq!(seen.len(), 9);
    for error in seen {
        says::<()>(Err(error), &BUSY);
    }
    // Nothing was recorded meanwhile.
    assert_eq!(tape.len(), 2);
    assert_eq!((x * 5.0).backward().unwrap().wrt(x).unwrap(), 5.0);
}

#[test]
fn variables_from_before_a_rewind_in_a_sweep() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    tape.rewind(tape.position()).unwrap();
    let vjp = move |_: &[f64]| (x * 2.0).backward().map(|_| vec![0.0]);
    let y = tape.call(Parts(double, vjp, double), &[x]).unwrap()[0];
    says(y.backward(), &BUSY);
}

#[test]
fn derivatives_that_panic() {
    let tape = Tape::new();
    let x = tape.var(3.0);
    let fails = |_: &[f64]| -> Result<Vec<f64>, Error> { panic!("not today") };
    let y = tape.call(Parts(double, fails, fails), &[x]).unwrap()[0];
    let z = x * x;
    let swept = catch_unwind(AssertUnwindSafe(|| y.backward().map(|_| ())));
    assert!(swept.is_err());
    assert_eq!(z.backward().unwrap().wrt(x).unwrap(), 6.0);
    assert_eq!(tape.len(), 3);
    let swept = catch_unwind(AssertUnwindSafe(|| tape.forward(&[(x, 1.0)], &[z])));
    assert!(swept.is_err());
    assert_eq!((z * x).backward().unwrap().wrt(x).unwrap(), 27.0);
}

#[test]
fn adjoints_of_a_sweep_that_failed() {
    let tape = Tape::new();
    let x = tape.var(3.0);
    let start = tape.position();
    let fails = |_: &[f64]| Err(Error::NotConverged("not today".into()));
    let y = tape.call(Parts(double, fails, double), &[x]).unwrap()[0];
    let mut d = tape.seeded(&[(y * x, 1.0)]).unwrap();
    assert_eq!(tape.reverse_to(start, &mut d).unwrap_err().to_string(), "not today");
    let broken = ["a sweep that was broken off", "sweep again"];
    says(d.wrt(x), &broken);
    says(tape.reverse_to(start, &mut d), &broken);
    tape.reverse_into(&[(x * x, 1.0)], &mut d).unwrap();
    assert_eq!(d.wrt(x).unwrap(), 6.0);
}

#[test]
fn values_that_panic_in_a_replay() {
    let tape = Tape::new();
    let x = tape.var(3.0);
    let square = x * x;
    let value = |x: &[f64]| if x[0] > 50.0 { panic!("too large") } else { double(x) };
    let y = tape.call(Parts(value, double, double), &[square]).unwrap()[0];
    let z = y * x;
    assert!(catch_unwind(AssertUnwindSafe(|| tape.replay(&[(x, 10.0)], &[z]))).is_err());
    // As it was before.
    assert_eq!(z.backward().unwrap().wrt(x).unwrap(), 54.0);
    assert_eq!(tape.replay(&[(x, 2.0)], &[z]).unwrap(), [16.0]);
}

#[test]
fn a_tape_dropped_by_a_function_that_it_calls() {
    let place = Rc::new(RefCell::new(None));
    let (tape, inside) = (Tape::new(), place.clone());
    let x = tape.var(1.0);
    let vjp = move |dy: &[f64]| {
        inside.take();
        double(dy)
    };
    let y = tape.call(Parts(double, vjp, double), &[x]).unwrap()[0];
    *place.borrow_mut() = Some(tape);
    assert_eq!(y.backward().unwrap().wrt(x).unwrap(), 2.0);
    says(y.backward(), &STALE);
    // This thread goes on.
    assert_eq!(grad(|x| x[0] * x[0], &[2.0]).unwrap(), [4.0]);
}

#[test]
fn functions_that_hold_a_tape_are_forgotten() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let held = Tape::new();
    let value = move |x: &[f64]| {
        let _ = held.len();
        double(x)
    };
    let start = tape.position();
    tape.call(Parts(value, double, double), &[x]).unwrap();
    tape.rewind(start).unwrap();
    assert_eq!((x * 2.0).backward().unwrap().wrt(x).unwrap(), 2.0);
}

#[test]
fn a_function_that_rewinds_its_tape() {
    let tape = Rc::new(Tape::new());
    let start = tape.position();
    let x = tape.var(1.0);
    let inside = tape.clone();
    let value = move |x: &[f64]| {
        inside.rewind(start)?;
        inside.var(7.0);
        double(x)
    };
    says(tape.call(Parts(value, double, double), &[x]), &STALE);
}

#[test]
fn a_function_without_outputs_or_inputs() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let nothing = |_: &[f64]| Ok(Vec::new());
    assert!(tape.call(Parts(nothing, nothing, nothing), &[x]).unwrap().is_empty());
    let one = |_: &[f64]| Ok(vec![1.0]);
    let y = tape.call(Parts(one, nothing, one), &[]).unwrap()[0];
    assert_eq!((y * x).backward().unwrap().wrt(x).unwrap(), 1.0);
}

#[test]
fn second_derivatives_of_what_has_first_ones_only() {
    let once = ["second", "tape"];
    let (outer, inner) = (Tape::new(), Tape::new());
    let x = inner.var(outer.var(1.0));
    says(inner.call(Twice, &[x]), &once);
    says(inner.call(Twice, &[outer.var(1.0)]), &once);
    says(inner.solve(1, &[x], &[x]), &once);
    says(inner.for_each(2, &[x], &[], |_, x, _| x.to_vec(), 1000), &once);
    says(inner.preaccumulate(&[x], |x| x.to_vec()), &["second", "record it as it is"]);
}

// Replays.

#[test]
fn a_branch_that_goes_the_other_way() {
    let tape = Tape::new().guarded();
    let x = tape.var(3.0);
    let y = if x * 2.0 > 1.0 { x * x } else { -x };
    says(tape.replay(&[(x, -1.0)], &[y]), &["comparison 0", "come out false", "record anew"]);
    assert_eq!(y.backward().unwrap().wrt(x).unwrap(), 6.0);
    assert_eq!(tape.replay(&[], &[y]).unwrap(), [9.0]);
}

#[test]
fn comparisons_with_nan() {
    let tape = Tape::new().guarded();
    let x = tape.var(f64::NAN);
    assert!(x.partial_cmp(&Var::from(1.0)).is_none());
    let y = x * 2.0;
    says(tape.replay(&[(x, 0.5)], &[y]), &["would have come out true", "record anew"]);
    says(tape.replay(&[(x, 1.5)], &[y]), &["would have come out true", "record anew"]);
    let tape = Tape::new().guarded();
    let x = tape.var(0.5);
    let y = if x < 1.0 { x } else { x * x };
    says(tape.replay(&[(x, f64::NAN)], &[y]), &["would have come out false"]);
}

#[test]
fn comparisons_with_what_is_no_variable_any_more() {
    let old = Tape::new().var(1.0);
    let tape = Tape::new().guarded();
    let x = tape.var(0.5);
    assert!(x < old);
    let y = x * x;
    assert_eq!(tape.replay(&[(x, 0.25)], &[y]).unwrap(), [0.0625]);
    says(tape.replay(&[(x, 2.0)], &[y]), &["comparison 0"]);
}

#[test]
fn a_replay_of_partials() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let before = x * 3.0;
    let y = tape.preaccumulate(&[before], |x| vec![x[0].sin()]).unwrap()[0];
    let z = y * before;
    let text = tape.replay(&[(x, 2.0)], &[z]).unwrap_err().to_string();
    assert!(text.contains("parts cannot be replayed"), "{text}");
    let expected = 3.0 * (3f64.sin() + 3.0 * 3f64.cos());
    assert!((z.backward().unwrap().wrt(x).unwrap() - expected).abs() < 1e-14);
}

#[test]
fn a_replay_above_another_tape() {
    let (outer, inner) = (Tape::new(), Tape::new());
    let x = inner.var(outer.var(1.0));
    says(inner.replay(&[(x, 2.0)], &[x]), &["cannot be replayed", "replay the earlier one"]);
}

// Regions, loops, solves, fixed points.

#[test]
fn closures_that_capture_variables() {
    let tape = Tape::new();
    let (x, w) = (tape.var(1.0), tape.var(2.0));
    says(tape.checkpoint(&[x], move |x| vec![x[0] * w]), &CAPTURED);
    says(tape.checkpoint(&[x], move |_| vec![w]), &CAPTURED);
    says(tape.preaccumulate(&[x], |x| vec![x[0] * w]), &CAPTURED);
    says(tape.preaccumulate(&[x], |_| vec![w]), &CAPTURED);
    says(tape.for_each(3, &[x], &[], move |_, x, _| vec![x[0] * w], 1000), &CAPTURED);
    says(tape.fixed_point(move |x, _| vec![x[0] * 0.1 + w], &[0.0], &[x], 1e-9, 99), &CAPTURED);
    // Their numbers do no harm.
    let number = w.value();
    assert!(tape.checkpoint(&[x], move |x| vec![x[0] * number]).is_ok());
}

#[test]
fn closures_that_capture_what_is_no_variable_any_more() {
    let old = Tape::new().var(1.0);
    let tape = Tape::new();
    let x = tape.var(1.0);
    says(tape.checkpoint(&[x], move |x| vec![x[0] * old]), &STALE);
}

#[test]
fn closures_that_compute_something_else() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let count = Cell::new(0.0);
    let next = move || {
        count.set(count.get() + 1.0);
        count.get()
    };
    let step = next.clone();
    let y = tape.checkpoint(&[x], move |x| vec![x[0] * next()]).unwrap()[0];
    says(y.backward(), &AGAIN);
    says(tape.forward(&[(x, 1.0)], &[y]), &["result 0 was 1.0 and is 3.0 now"]);
    let y = tape.for_each(40, &[x], &[], move |_, x, _| vec![x[0] + step()], 500).unwrap()[0];
    says(y.backward(), &AGAIN);
}

#[test]
fn closures_with_another_number_of_results() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let count = Cell::new(0);
    let part = move |x: &[Var]| {
        count.set(count.get() + 1);
        vec![x[0]; count.get()]
    };
    let y = tape.checkpoint(&[x], part).unwrap()[0];
    says(y.backward(), &["it gave 1 results, and now 2"]);
    let grown = tape.for_each(3, &[x], &[], |_, x, _| vec![x[0], x[0]], 1000);
    says(grown, &["2 numbers of the next state, and there are 1"]);
    let grown = tape.fixed_point(|x, _| vec![x[0]; 2], &[1.0], &[x], 1e-9, 9);
    says(grown, &["2 numbers of the next point, and there are 1"]);
}

#[test]
fn closures_that_panic() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let first = Cell::new(true);
    let part = move |x: &[Var]| {
        assert!(first.replace(false), "only once");
        vec![x[0] * 2.0]
    };
    let y = tape.checkpoint(&[x], part).unwrap()[0];
    assert!(catch_unwind(AssertUnwindSafe(|| y.backward().map(|_| ()))).is_err());
    assert_eq!((x * 3.0).backward().unwrap().wrt(x).unwrap(), 3.0);
}

#[test]
fn loops_in_too_little_memory() {
    let tape = Tape::new();
    let x = tape.var_vec(&[1.0; 100]);
    let step = |_: usize, x: &[Var], _: &[Var]| x.iter().map(|x| x.sin()).collect();
    let y = tape.for_each(100, &x, &[], step, 1000).unwrap()[0];
    says(y.backward(), &["1000 bytes are too few", "allow more memory"]);
    let none = tape.for_each(100, &x, &[], step, 0).unwrap()[0];
    says(none.backward(), &["0 bytes are too few"]);
}

#[test]
fn loops_of_nothing() {
    let tape = Tape::new();
    let x = tape.var(2.0);
    assert!(tape.for_each(5, &[], &[x], |_, x, _| x.to_vec(), 1000).unwrap().is_empty());
    let y = tape.for_each(0, &[x], &[], |_, _, _| unreachable!(), 1000).unwrap()[0];
    assert_eq!((y * y).backward().unwrap().wrt(x).unwrap(), 4.0);
    let never = tape.repeat_while(|_, _, _| false, &[x], &[], |_, _, _| unreachable!(), 1000);
    assert_eq!(never.unwrap()[0].backward().unwrap().wrt(x).unwrap(), 1.0);
}

#[test]
fn matrices_that_are_singular() {
    let tape = Tape::new();
    let b = tape.vars([1.0, 2.0]);
    let matrix = |a: [f64; 4]| tape.solve(2, &tape.vars(a), &b);
    says(matrix([1.0, 2.0, 2.0, 4.0]), &["singular", "column 1", "say the same"]);
    says(matrix([0.1, 0.2, 0.3, 0.6]), &["singular"]);
    says(matrix([0.0; 4]), &["singular", "column 0"]);
    says(matrix([1.0, f64::NAN, 0.0, 1.0]), &["NaN or infinity", "computed of"]);
}

#[test]
fn matrices_of_the_wrong_size() {
    let tape = Tape::new();
    let x = tape.vars([1.0, 2.0, 3.0]);
    let text = |result: Result<Vec<Var>, Error>| result.unwrap_err().to_string();
    let a = text(tape.solve(2, &x, &x[..2]));
    assert_eq!(a, "entries of a matrix: 4 are wanted, and there are 3");
    let b = text(tape.solve(2, &[x[0]; 4], &x));
    assert!(b.contains("right-hand side") && b.contains("2 are wanted"), "{b}");
    assert!(tape.solve(0, &[], &[]).unwrap().is_empty());
    assert!(tape.solve(0, &[], &x).is_err() && tape.solve(usize::MAX, &x, &x).is_err());
    assert!(tape.solve(1, &x[..1], &[]).unwrap().is_empty());
}

#[test]
fn points_that_are_not_found() {
    let tape = Tape::new();
    let p = tape.var(1.0);
    let slow = tape.fixed_point(|x, p| vec![x[0] * 0.5 + p[0]], &[0.0], &[p], 1e-9, 3);
    says(slow, &["not found in 3 iterations", "2.5e-1", "1e-9 was allowed", "allow more"]);
    let away = tape.fixed_point(|x, p| vec![x[0] * x[0] + p[0]], &[9.0], &[p], 1e-9, 99);
    says(away, &["came to NaN or infinity", "begin nearer"]);
    let none = tape.fixed_point(|x, _| x.to_vec(), &[9.0], &[p], 1e-9, 0);
    says(none, &["not found in 0 iterations"]);
    let nan = tape.fixed_point(|x, p| vec![x[0] * 0.5 + p[0]], &[0.0], &[p], f64::NAN, 99);
    says(nan, &["not found", "NaN was allowed"]);
}

#[test]
fn points_that_have_no_derivative() {
    let tape = Tape::new();
    let p = tape.var(0.0);
    // Begun at a point that pushes away.
    let away = tape.fixed_point(|x, p| vec![x[0] * 2.0 + p[0]], &[0.0], &[p], 1e-9, 9).unwrap();
    says(away[0].backward(), &["spectral radius", "not below 1", "damp"]);
    // Every point is one.
    let any = tape.fixed_point(|x, p| vec![x[0] + p[0]], &[3.0], &[p], 1e-9, 9).unwrap();
    says(any[0].backward(), &["no derivative"]);
    says(tape.forward(&[(p, 1.0)], &any), &["no derivative"]);
}
