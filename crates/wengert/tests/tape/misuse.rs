//! What must not be done with variables, tapes and what sweeps give: every case is an error that says what is wrong, in which line,
//! and the way out. None is a panic, a number that is wrong, or a variable taken for another one.

use crate::told::*;
use std::cell::{Cell, RefCell};
use std::sync::mpsc;
use wengert::tape::{Adjoints, Position, Tape, Var, grad, hessian, hvp, jacobian};

// Variables that are none any more.

#[test]
fn after_its_tape_was_dropped() {
    let x = {
        let tape = Tape::new();
        tape.var(1.0)
    };
    says(x.backward(), &STALE);
    says((x * 2.0).backward(), &STALE);
    says(x.sin().backward(), &STALE);
    says(x.mul_add(2.0, x).backward(), &STALE);
    assert_eq!((x * 2.0).value(), 2.0);
}

#[test]
fn after_its_tape_was_cleared() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    tape.clear().unwrap();
    says(x.backward(), &STALE);
    let y = tape.var(5.0);
    says((x * y).backward(), &STALE);
    says(tape.reverse(&[(x, 1.0)]), &STALE);
    says(tape.forward(&[(x, 1.0)], &[y]), &STALE);
    says(tape.replay(&[(x, 1.0)], &[y]), &STALE);
}

#[test]
fn after_its_tape_was_rewound() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let here = tape.position();
    let y = x * 2.0;
    tape.rewind(here).unwrap();
    says(y.backward(), &STALE);
    assert_eq!(x.backward().unwrap().wrt(x).unwrap(), 1.0);
}

#[test]
fn an_entry_recorded_anew_is_another_one() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let here = tape.position();
    let old = x * 2.0;
    tape.rewind(here).unwrap();
    let new = x * 3.0;
    says((old + new).backward(), &STALE);
    let d = new.backward().unwrap();
    says(d.wrt(old), &OTHER);
    assert_eq!(d.wrt(x).unwrap(), 3.0);
}

#[test]
fn a_new_tape_in_the_place_of_an_old_one() {
    let old = Tape::new().var(1.0);
    let tape = Tape::new();
    let new = tape.var(2.0);
    says((old * new).backward(), &STALE);
    says(new.backward().unwrap().wrt(old), &OTHER);
}

#[test]
fn what_comes_of_a_misuse_remembers_the_first_line() {
    let old = Tape::new().var(1.0);
    let tape = Tape::new();
    let x = tape.var(2.0);
    let line = line!() + 1;
    let wrong = old + 1.0;
    let y = (wrong * x).sin() + x;
    let text = y.backward().unwrap_err().to_string();
    assert!(text.contains(&format!("misuse.rs:{line}")), "{text}");
    says(tape.reverse(&[(y, 1.0)]), &STALE);
    says(tape.call(Twice, &[y]), &STALE);
    says(x.backward().unwrap().wrt(y), &STALE);
    says(tape.var(y).backward(), &STALE);
    says(tape.solve(1, &[y], &[x]), &STALE);
    assert!((y.value() - (4f64.sin() + 2.0)).abs() < 1e-15);
}

#[test]
fn variables_that_outlive_their_tape_in_a_thread_local() {
    thread_local! { static KEPT: Cell<Option<Var>> = const { Cell::new(None) }; }
    {
        let tape = Tape::new();
        KEPT.set(Some(tape.var(1.0)));
    }
    let tape = Tape::new();
    let x = tape.var(1.0);
    says((KEPT.get().unwrap() + x).backward(), &STALE);
}

#[test]
fn tapes_that_outlive_everything_in_a_thread_local() {
    thread_local! { static KEPT: RefCell<Option<(Tape, Var)>> = const { RefCell::new(None) }; }
    let there = std::thread::spawn(|| {
        let tape = Tape::new();
        let x = tape.var(3.0);
        let slope = (x * x).backward().unwrap().wrt(x).unwrap();
        KEPT.set(Some((tape, x)));
        slope
    });
    assert_eq!(there.join().unwrap(), 6.0);
}

#[test]
fn variables_in_a_static() {
    static KEPT: std::sync::Mutex<Option<Var>> = std::sync::Mutex::new(None);
    let tape = Tape::new();
    let x = tape.var(1.0);
    *KEPT.lock().unwrap() = Some(x);
    let there = std::thread::spawn(|| KEPT.lock().unwrap().unwrap().backward().map(|_| ()));
    says(there.join().unwrap(), &THREAD);
}

#[test]
fn a_tape_that_was_forgotten_records_on() {
    let tape = Tape::new();
    let x = tape.var(3.0);
    std::mem::forget(tape);
    assert_eq!((x * x).backward().unwrap().wrt(x).unwrap(), 6.0);
    let next = Tape::new();
    let y = next.var(2.0);
    assert_eq!((y * x).backward().unwrap().wrt(y).unwrap(), 3.0);
    says((y * x).backward().unwrap().wrt(x), &OTHER);
}

// Other threads.

#[test]
fn on_a_thread_that_was_spawned() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let there = std::thread::spawn(move || (x * 2.0).backward().map(|_| ()));
    says(there.join().unwrap(), &THREAD);
}

#[test]
fn on_a_scoped_thread() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let y = std::thread::scope(|scope| scope.spawn(|| x * 2.0).join().unwrap());
    // What comes back is told here.
    says(y.backward(), &THREAD);
    says((y + x).backward(), &THREAD);
}

#[test]
fn on_a_pool() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let y = pool.install(|| x.exp());
    says(y.backward(), &THREAD);
}

#[test]
fn sent_to_a_thread_with_a_tape_of_its_own() {
    let (send, receive) = mpsc::channel::<Var>();
    let there = std::thread::spawn(move || {
        let tape = Tape::new();
        let y = tape.var(2.0);
        let x = receive.recv().unwrap();
        says((x * y).backward(), &THREAD);
        says(tape.var(x).backward(), &THREAD);
        says(y.backward().unwrap().wrt(x), &OTHER);
    });
    let tape = Tape::new();
    send.send(tape.var(1.0)).unwrap();
    there.join().unwrap();
}

#[test]
fn of_a_thread_that_has_ended() {
    let x = std::thread::spawn(|| Tape::new().var(1.0)).join().unwrap();
    says(x.backward(), &THREAD);
}

// Two tapes.

#[test]
fn seeds_of_another_tape() {
    let (one, two) = (Tape::new(), Tape::new());
    let (x, y) = (one.var(1.0), two.var(2.0));
    says(one.reverse(&[(y, 1.0)]), &OTHER);
    says(two.reverse(&[(x, 1.0)]), &OTHER);
    says(two.reverse_many(&[&[(x, 1.0)]]), &OTHER);
    says(one.seeded(&[(y, 1.0)]), &OTHER);
}

#[test]
fn derivatives_by_a_variable_of_another_tape() {
    let (one, two) = (Tape::new(), Tape::new());
    let (x, y) = (one.var(1.0), two.var(2.0));
    says((y * x).backward().unwrap().wrt(x), &OTHER);
    says((x * 2.0).backward().unwrap().wrt_all(&[x, y]), &OTHER);
}

#[test]
fn derivatives_as_variables_by_one_of_an_earlier_tape() {
    let (one, two) = (Tape::new(), Tape::new());
    let (x, y) = (one.var(1.0), two.var(2.0));
    says((y * x).backward_var().unwrap().wrt(x), &OTHER);
    says((y * x).backward_var().unwrap().wrt(Var::from(2.0)), &CONSTANT);
    // What is earlier does not depend on what is later.
    assert_eq!((x * 3.0).backward_var().unwrap().wrt(y).unwrap().value(), 0.0);
}

#[test]
fn derivatives_as_variables_after_the_tape_was_rewound() {
    let tape = Tape::new();
    let x = tape.var(2.0);
    let here = tape.position();
    let old = x * x;
    let d = (old * 5.0).backward_var().unwrap();
    tape.rewind(here).unwrap();
    let new = x.sin();
    says(d.wrt(new), &OTHER);
    says(d.wrt(old), &STALE);
    assert_eq!(d.wrt(x).unwrap().value(), 20.0);
}

#[test]
fn results_and_directions_of_another_tape() {
    let (one, two) = (Tape::new(), Tape::new());
    let (x, y) = (one.var(1.0), two.var(2.0));
    says(one.forward(&[(x, 1.0)], &[y * x]), &OTHER);
    says(one.forward(&[(y, 1.0)], &[x]), &OTHER);
    says(one.replay(&[(x, 3.0)], &[y * x]), &OTHER);
    says(one.replay(&[(y, 3.0)], &[x]), &OTHER);
}

#[test]
fn an_input_made_of_a_later_variable() {
    let (one, two) = (Tape::new(), Tape::new());
    let y = two.var(2.0);
    says(one.var(y).backward(), &LATER);
    says(two.var(y * y).backward(), &LATER);
    says(one.call(Twice, &[y]), &LATER);
    says(one.checkpoint(&[y], |x| x.to_vec()), &LATER);
    says(one.preaccumulate(&[y], |x| x.to_vec()), &LATER);
    says(one.for_each(3, &[y], &[], |_, x, _| x.to_vec(), 1000), &LATER);
    assert!(one.is_empty());
}

#[test]
fn nested_tapes_dropped_in_the_wrong_order() {
    let outer = Tape::new();
    let x = outer.var(2.0);
    let inner = Tape::new();
    let y = inner.var(x);
    let z = y * y * x;
    drop(outer);
    // Its numbers are there; derivatives as variables of the outer one are not.
    assert_eq!(z.backward().unwrap().wrt(y).unwrap(), 8.0);
    let slope = z.backward_var().unwrap().wrt(y).unwrap();
    says(slope.backward(), &STALE);
    says((z * x).backward(), &STALE);
}

#[test]
fn a_gradient_in_a_gradient_that_does_not_depend_on_it() {
    // The classic case: x * d/dy (x), which is 0.
    let d = grad(|x| x[0] * grad(|_| x[0], &[1.0]).unwrap()[0], &[1.0]).unwrap();
    assert_eq!(d, [0.0]);
    let tape = Tape::new();
    let x = tape.var(2.0);
    assert_eq!(jacobian(|_| vec![x, x * x], &[1.0]).unwrap(), [[0.0], [0.0]]);
    assert_eq!(jacobian(|_| vec![x], &[1.0, 2.0]).unwrap(), [[0.0, 0.0]]);
}

// Derivatives by what has none.

#[test]
fn derivatives_by_a_constant() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let d = (x * 2.0).backward().unwrap();
    says(d.wrt(Var::from(2.0)), &CONSTANT);
    says(d.wrt(Var::constant(1.0) * 2.0), &CONSTANT);
    says(Var::from(1.0).backward().unwrap().wrt(Var::from(1.0)), &CONSTANT);
    says(tape.forward(&[(Var::from(1.0), 1.0)], &[x]), &CONSTANT);
    says(tape.replay(&[(Var::from(1.0), 1.0)], &[x]), &CONSTANT);
}

#[test]
fn the_derivative_of_a_constant_is_zero() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    assert_eq!(Var::from(3.0).backward().unwrap().wrt(x).unwrap(), 0.0);
    assert_eq!(tape.reverse(&[(Var::from(3.0), 1.0)]).unwrap().wrt(x).unwrap(), 0.0);
    assert_eq!(tape.forward(&[(x, 1.0)], &[Var::from(3.0)]).unwrap(), [0.0]);
    assert_eq!(grad(|_| Var::from(3.0), &[1.0]).unwrap(), [0.0]);
}

#[test]
fn directions_and_numbers_for_what_was_computed() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let y = x * 2.0;
    says(tape.forward(&[(y, 1.0)], &[y]), &COMPUTED);
    says(tape.replay(&[(x, 3.0), (y, 1.0)], &[y]), &COMPUTED);
    // Nothing was changed on the way.
    assert_eq!(tape.replay(&[], &[y]).unwrap(), [2.0]);
}

#[test]
fn an_intermediate_that_was_forgotten() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let here = tape.position();
    let middle = x.exp();
    let d = (middle * 2.0).backward().unwrap();
    tape.rewind(here).unwrap();
    // What was computed stays; what is to be computed anew does not go by it.
    assert_eq!(d.wrt(middle).unwrap(), 2.0);
    says((x * 3.0).backward().unwrap().wrt(middle), &OTHER);
    says(tape.reverse(&[(middle, 1.0)]), &STALE);
}

#[test]
fn stopped_gradients_stop() {
    let tape = Tape::new();
    let x = tape.var(2.0);
    assert_eq!((x * x.stop_gradient()).backward().unwrap().wrt(x).unwrap(), 2.0);
}

// Positions and adjoints.

#[test]
fn a_position_of_another_tape() {
    let (one, two) = (Tape::new(), Tape::new());
    let (x, _) = (one.var(1.0), two.var(1.0));
    says(one.rewind(two.position()), &POSITION);
    let mut d = one.seeded(&[(x, 1.0)]).unwrap();
    says(one.reverse_to(two.position(), &mut d), &POSITION);
}

#[test]
fn a_position_that_was_forgotten() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let start = tape.position();
    let _ = x * x + 3.0;
    let late = tape.position();
    tape.rewind(start).unwrap();
    says(tape.rewind(late), &POSITION);
    // Nor when as much is recorded anew.
    let y = x.sin().cos().exp().ln();
    says(tape.rewind(late), &POSITION);
    assert!(y.backward().is_ok());
    tape.rewind(start).unwrap();
    tape.rewind(start).unwrap();
}

#[test]
fn positions_hold_as_long_as_what_is_before_them() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let mut places: Vec<Position> = Vec::new();
    for _ in 0..5 {
        places.push(tape.position());
        let _ = x * 2.0;
        tape.rewind(tape.position()).unwrap();
        let _ = x.sin();
    }
    while let Some(place) = places.pop() {
        tape.rewind(place).unwrap();
        tape.rewind(place).unwrap();
    }
    tape.clear().unwrap();
    tape.clear().unwrap();
    assert!(tape.is_empty());
}

#[test]
fn adjoints_do_not_go_forward() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let early = tape.position();
    let y = x * 2.0;
    let late = tape.position();
    let z = y * y;
    let mut d = tape.seeded(&[(z, 1.0)]).unwrap();
    tape.reverse_to(late, &mut d).unwrap();
    tape.reverse_to(early, &mut d).unwrap();
    says(tape.reverse_to(late, &mut d), &["do not go forward to position", "`tape.seeded`"]);
    assert_eq!(d.wrt(x).unwrap(), 8.0);
    // A result that was there before the position has nothing to be taken back.
    let mut d = tape.seeded(&[(y, 1.0)]).unwrap();
    tape.reverse_to(late, &mut d).unwrap();
    tape.reverse_to(early, &mut d).unwrap();
    assert_eq!(d.wrt(x).unwrap(), 2.0);
}

#[test]
fn adjoints_of_what_was_forgotten_and_recorded_anew() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let here = tape.position();
    let y = x * 2.0 * x * x;
    let mut d = tape.seeded(&[(y, 1.0)]).unwrap();
    tape.rewind(here).unwrap();
    let _ = x.sin().sin().sin().sin().sin().sin();
    says(tape.reverse_to(here, &mut d), &OTHER);
}

#[test]
fn adjoints_of_another_tape() {
    let (one, two) = (Tape::new(), Tape::new());
    let (x, y) = (one.var(1.0), two.var(1.0));
    let mut d = one.seeded(&[(x * x, 1.0)]).unwrap();
    let _ = y * y;
    says(two.reverse_to(two.position(), &mut d), &OTHER);
}

#[test]
fn adjoints_of_nothing() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let mut d = Adjoints::default();
    tape.reverse_to(tape.position(), &mut d).unwrap();
    assert_eq!(d.wrt(x).unwrap(), 0.0);
    assert_eq!(tape.reverse(&[]).unwrap().wrt(x).unwrap(), 0.0);
    assert!(tape.reverse_many(&[]).unwrap().is_empty());
}

// Nothing at all.

#[test]
fn empty_tapes() {
    let tape = Tape::new();
    assert!(tape.is_empty());
    tape.rewind(tape.position()).unwrap();
    tape.free();
    assert!(tape.reverse(&[]).is_ok() && tape.forward(&[], &[]).unwrap().is_empty());
    assert!(tape.replay(&[], &[]).unwrap().is_empty());
    assert!(tape.checkpoint(&[], |_| Vec::new()).unwrap().is_empty());
    assert!(tape.preaccumulate(&[], |_| Vec::new()).unwrap().is_empty());
    assert!(tape.fixed_point(|_, _| Vec::new(), &[], &[], 1e-9, 9).unwrap().is_empty());
    assert!(tape.is_empty());
}

#[test]
fn functions_of_nothing() {
    assert!(grad(|_| Var::from(1.0), &[]).unwrap().is_empty());
    assert!(jacobian(|x| x.to_vec(), &[]).unwrap().is_empty());
    assert!(jacobian(|_| Vec::new(), &[1.0]).unwrap().is_empty());
    assert!(hessian(|_| Var::from(1.0), &[]).unwrap().is_empty());
    assert_eq!(hessian(|_| Var::from(1.0), &[1.0]).unwrap(), [[0.0]]);
    assert_eq!(hvp(|x| x[0], &[1.0], &[1.0]).unwrap(), [0.0]);
}

#[test]
fn directions_of_the_wrong_length() {
    let text = hvp(|x| x[0], &[1.0], &[1.0, 2.0]).unwrap_err().to_string();
    assert_eq!(text, "numbers of a direction: 1 are wanted, and there are 2");
}

#[test]
fn results_of_what_is_no_variable_any_more() {
    let old = Tape::new().var(1.0);
    says(grad(|_| old, &[1.0]), &STALE);
    says(jacobian(|x| vec![x[0] * old], &[1.0]), &STALE);
    says(hessian(|x| x[0] * old, &[1.0]), &STALE);
    says(hvp(|x| x[0] * old, &[1.0], &[1.0]), &STALE);
}

#[test]
fn conversions_are_counted() {
    let tape = Tape::new();
    let x = tape.var(2.0);
    let lost = f64::from(x * x);
    assert_eq!((x * lost).backward().unwrap().wrt(x).unwrap(), 4.0);
    assert_eq!(tape.stats().conversions, 1);
}
