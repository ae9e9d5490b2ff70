//! What a tape keeps, forgets and is asked again.

use crate::programs::{Program, bits};
use wengert::tape::{Error, Position, Tape, Var, grad};

#[test]
fn a_variable_is_sixteen_bytes_that_go_anywhere() {
    fn anywhere<T: Copy + Send + Sync + 'static>() {}
    anywhere::<Var>();
    assert_eq!(size_of::<Var>(), 16);
}

/// What is recorded in the place of something forgotten is what it is: constants too.
#[test]
fn parts_recorded_again_give_the_bits_of_a_new_tape() {
    let tape = Tape::new();
    let x = tape.var_vec(&[0.3, -0.4, 0.5]);
    let begin = tape.position();
    for seed in 0..60 {
        let program = Program::random(seed);
        let y = program.run(&x);
        let d = y.backward().unwrap().wrt_all(&x).unwrap();
        let wanted = grad(|x| program.run(x), &[0.3, -0.4, 0.5]).unwrap();
        assert_eq!(bits(&d), bits(&wanted), "{seed}");
        tape.rewind(begin).unwrap();
        assert_eq!(tape.len(), 3);
    }
}

#[test]
fn back_part_by_part() {
    for seed in 0..30 {
        let program = Program::random(seed);
        let tape = Tape::new();
        let x = tape.var_vec(&[0.3, -0.4, 0.5]);
        let mut positions: Vec<Position> = vec![tape.position()];
        let mut y = x.clone();
        for _ in 0..5 {
            y[0] = program.run(&y);
            positions.push(tape.position());
        }
        let wanted = y[0].backward().unwrap().wrt_all(&x).unwrap();
        let mut adjoints = tape.seeded(&[(y[0], 1.0)]).unwrap();
        for position in positions.into_iter().rev() {
            tape.reverse_to(position, &mut adjoints).unwrap();
            tape.rewind(position).unwrap();
        }
        assert_eq!(bits(&adjoints.wrt_all(&x).unwrap()), bits(&wanted), "{seed}");
    }
}

/// Runs of one operation are swept by themselves. An entry at a time there are none, and adjoints have the same bits:
/// of everything, wherever the sweep is cut, and several at once.
#[test]
fn runs_have_the_bits_of_their_entries() {
    type Step = fn(Var, Var) -> Var;
    let steps: [Step; 8] = [
        |y, f| y * f,
        |y, f| y + f,
        |y, f| y - f,
        |y, f| y / f,
        |y, f| f * y,
        |y, f| f / y,
        |y, _| y * 0.5,
        |y, _| y * y,
    ];
    for (number, step) in steps.into_iter().enumerate() {
        // Factors at which adjoints keep, lose and change their sign, vanish, and are no numbers.
        for factor in [1.0625, -0.75, 0.0, -0.0, 1e-200, f64::INFINITY] {
            let tape = Tape::new();
            let start = tape.position();
            let (mut y, f) = (tape.var(1.5), tape.var(factor));
            let mut all = vec![y, f];
            let mut positions = vec![tape.position()];
            for k in 0..60 {
                // A run ends where something else is done.
                y = if k % 23 == 22 { (y + all[k / 2]).sin() } else { step(y, f) };
                all.push(y);
                positions.push(tape.position());
            }
            // A result in the middle of a run.
            let seeds = [(y, 1.0), (all[31], -0.5), (all[40], -0.0)];
            let of = |d: &wengert::tape::Adjoints| bits(&d.wrt_all(&all).unwrap());
            let mut one_by_one = tape.seeded(&seeds).unwrap();
            for position in positions.iter().rev() {
                tape.reverse_to(*position, &mut one_by_one).unwrap();
            }
            let wanted = of(&one_by_one);
            for position in positions {
                let mut cut = tape.seeded(&seeds).unwrap();
                tape.reverse_to(position, &mut cut).unwrap();
                tape.reverse_to(start, &mut cut).unwrap();
                assert_eq!(of(&cut), wanted, "{number} {factor}");
            }
            let others = [(y, -2.0), (all[50], 1.0)];
            let many = tape.reverse_many(&[&seeds, &others, &[(all[20], 1.0)]]).unwrap();
            assert_eq!(of(&many[0]), wanted, "{number} {factor}");
            assert_eq!(of(&many[1]), of(&tape.reverse(&others).unwrap()), "{number} {factor}");
        }
    }
}

/// A run is longer than what memory is asked for at once.
#[test]
fn long_runs_have_the_bits_of_their_entries() {
    let tape = Tape::new();
    let (x, f) = (tape.var(1.5), tape.var(1.0 + 1e-6));
    let mut positions = vec![tape.position()];
    let y = (0..50_000).fold(x, |y, _| {
        positions.push(tape.position());
        y * f
    });
    let whole = y.backward().unwrap().wrt_all(&[x, f]).unwrap();
    let mut one_by_one = tape.seeded(&[(y, 1.0)]).unwrap();
    for position in positions.into_iter().rev() {
        tape.reverse_to(position, &mut one_by_one).unwrap();
    }
    assert_eq!(bits(&whole), bits(&one_by_one.wrt_all(&[x, f]).unwrap()));
}

#[test]
fn several_adjoints_at_once() {
    let tape = Tape::new();
    let x = tape.var_vec(&[0.3, -0.4, 0.5]);
    let y: Vec<Var> = (0..7).map(|seed| Program::random(seed).run(&x)).collect();
    let seeds: Vec<[(Var, f64); 2]> = y.iter().map(|y| [(*y, 1.5), (x[1], 0.25)]).collect();
    let seeds: Vec<&[(Var, f64)]> = seeds.iter().map(|seeds| &seeds[..]).collect();
    let many = tape.reverse_many(&seeds).unwrap();
    assert_eq!(many.len(), 7);
    for (seeds, many) in seeds.iter().zip(&many) {
        let one = tape.reverse(seeds).unwrap().wrt_all(&x).unwrap();
        assert_eq!(bits(&one), bits(&many.wrt_all(&x).unwrap()));
    }
}

/// A replay that fails leaves the recording as it was.
#[test]
fn branches_that_go_the_other_way() {
    let tape = Tape::new().guarded();
    let x = tape.var(0.5);
    let early = (x * 3.0).sin();
    let mut y = x;
    let mut rounds = 0;
    while y < 10.0 {
        y *= 2.0;
        rounds += 1;
    }
    assert_eq!(rounds, 5);
    let z = y * early;
    assert_eq!(tape.stats().comparisons, 6);
    assert_eq!(tape.replay(&[(x, 0.6)], &[y]).unwrap(), [19.2]);
    let before = z.backward().unwrap().wrt(x).unwrap();
    let error = tape.replay(&[(x, 1.0)], &[y]).unwrap_err();
    assert_eq!(z.backward().unwrap().wrt(x).unwrap(), before);
    let Error::OtherBranch { number, was, place } = error.clone() else { panic!("{error}") };
    assert_eq!((number, was), (4, true));
    let place = place.unwrap();
    assert!(place.file().ends_with("record.rs"));
    assert!(error.to_string().contains("would have come out false"), "{error}");
    assert_eq!(tape.replay(&[(x, 0.6)], &[y]).unwrap(), [19.2]);
    assert_eq!(y.backward().unwrap().wrt(x).unwrap(), 32.0);
}

/// The memory of a recording is there for the next.
#[test]
fn memory_is_used_again() {
    let tape = Tape::new();
    let mut reserved = None;
    for _ in 0..3 {
        let x = tape.var(1.0);
        let y = (0..100_000).fold(x, |y, _| y.sin());
        assert!(y.backward().unwrap().wrt(x).unwrap() > 0.0);
        let stats = tape.stats();
        assert_eq!((stats.entries, stats.bytes), (100_001, 1_700_017));
        assert_eq!(*reserved.get_or_insert(stats.reserved), stats.reserved);
        tape.clear().unwrap();
    }
    tape.free();
    assert_eq!(tape.stats().reserved, 0);
}

/// A chain whose reverse is a loop, and no recursion.
#[test]
fn a_long_chain() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let y = (0..3_000_000).fold(x, |y, _| y * 1.0000001);
    let slope = y.backward().unwrap().wrt(x).unwrap();
    assert!((slope - 0.3f64.exp()).abs() < 1e-6, "{slope}");
}

/// Adjoints that decay into subnormal numbers take no longer, and end at zero.
#[test]
fn adjoints_that_vanish() {
    let tape = Tape::new();
    let x = tape.var(0.5);
    let y = (0..200_000).fold(x, |y, _| y * 0.5 + 0.25);
    assert_eq!(y.backward().unwrap().wrt(x).unwrap(), 0.0);
}

#[test]
fn preaccumulated_parts() {
    for seed in 0..20 {
        let program = Program::random(seed);
        let at = [0.3, -0.4, 0.5];
        let wanted = grad(|x| program.run(x) * x[0], &at).unwrap();
        let tape = Tape::new();
        let x = tape.var_vec(&at);
        let y = tape.preaccumulate(&x, |x| vec![program.run(x)]).unwrap()[0] * x[0];
        assert_eq!(tape.len(), 5);
        let d = y.backward().unwrap().wrt_all(&x).unwrap();
        for (got, want) in d.iter().zip(&wanted) {
            assert!((got - want).abs() <= 1e-14 * want.abs().max(1.0), "{seed}: {got} {want}");
        }
        assert!(matches!(tape.replay(&[(x[0], 0.1)], &[y]), Err(Error::NotReplayable(_))));
    }
    // What it uses must be named.
    let tape = Tape::new();
    let (x, hidden) = (tape.var(1.0), tape.var(2.0));
    let error = tape.preaccumulate(&[x], |x| vec![x[0] * hidden]).unwrap_err();
    assert!(error.to_string().contains("not among its inputs"), "{error}");
}
