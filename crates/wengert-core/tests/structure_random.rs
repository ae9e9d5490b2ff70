//! Colourings of random patterns, and patterns of random programs.

use std::time::{SystemTime, UNIX_EPOCH};
use wengert_core::check::{self, Derived, Engine, Interpreter, Random};
use wengert_core::generate;
use wengert_core::interp::Val;
use wengert_core::ir::{Module, verify};
use wengert_core::ops::Scalar;
use wengert_core::structure::{
    Choices, Colouring, Direction, OneStep, Order, Pattern, Plan, Sparse, Sparsity, colouring,
    compressed,
};
use wengert_core::transform::pipeline;

/// The seed of a run: `WENGERT_SEED` repeats one.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let seed = std::env::var("WENGERT_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(now);
    println!("WENGERT_SEED={seed}");
    seed
}

fn random_pattern(random: &mut Random, rows: usize, cols: usize) -> Pattern {
    let density = [0.0, 0.02, 0.1, 0.3, 0.9][random.below(5) as usize];
    let mut places = Vec::new();
    for i in 0..rows {
        for j in 0..cols {
            if random.float(0.0, 1.0) < density {
                places.push((i, j));
            }
        }
    }
    // Now and then a dense row or column.
    if rows > 0 && random.below(4) == 0 {
        let i = random.below(rows as u64) as usize;
        places.extend((0..cols).map(|j| (i, j)));
    }
    if cols > 0 && random.below(4) == 0 {
        let j = random.below(cols as u64) as usize;
        places.extend((0..rows).map(|i| (i, j)));
    }
    Pattern::new(rows, cols, places).unwrap()
}

/// A matrix with a different number at every place.
fn numbered(pattern: &Pattern) -> Sparse {
    let values = (0..pattern.count()).map(|k| 1.0 + k as f64).collect();
    Sparse { pattern: pattern.clone(), values }
}

/// One more than the most columns any column shares a row with.
fn greedy_bound(pattern: &Pattern) -> usize {
    let transposed = pattern.transpose();
    let sharing = |j: usize| {
        let rows = transposed.row(j).iter();
        let mut near: Vec<u32> = rows
            .flat_map(|i| pattern.row(*i as usize))
            .copied()
            .filter(|w| *w as usize != j)
            .collect();
        near.sort_unstable();
        near.dedup();
        near.len() + 1
    };
    (0..pattern.cols()).map(sharing).max().unwrap_or(0)
}

#[test]
fn colourings_of_random_patterns() {
    let seed = seed();
    let mut random = Random(seed);
    for _ in 0..150 {
        let (rows, cols) = (random.below(40) as usize, random.below(40) as usize);
        let p = random_pattern(&mut random, rows, cols);
        let matrix = numbered(&p);
        let transposed = matrix.to_dense();
        let bound = greedy_bound(&p);
        let longest = (0..rows).map(|i| p.row(i).len()).max().unwrap_or(0);
        let mut fewest = usize::MAX;
        for order in Order::ALL {
            let columns = colouring::columns_in(&p, order);
            assert!(colouring::is_valid_for_columns(&p, &columns), "seed {seed}, {order:?}");
            assert!((longest..=bound).contains(&columns.colours()), "seed {seed}, {order:?}");
            assert_eq!(columns, colouring::columns_in(&p, order), "seed {seed}");
            fewest = fewest.min(columns.colours());
            let run = |x: &[f64]| Ok::<_, ()>(matrix.times(x));
            assert_eq!(compressed::from_columns(&p, &columns, run).unwrap(), matrix);

            let by_rows = colouring::rows_in(&p, order);
            assert!(colouring::is_valid_for_rows(&p, &by_rows), "seed {seed}, {order:?}");
            let run = |w: &[f64]| {
                let column = |j: usize| (0..rows).map(|i| w[i] * transposed[i][j]).sum();
                Ok::<_, ()>((0..cols).map(column).collect())
            };
            assert_eq!(compressed::from_rows(&p, &by_rows, run).unwrap(), matrix);
        }
        assert_eq!(colouring::columns(&p).colours(), fewest, "seed {seed}");
    }
}

#[test]
fn star_colourings_of_random_patterns() {
    let seed = seed();
    let mut random = Random(seed ^ 0x57a2);
    for _ in 0..150 {
        let n = random.below(40) as usize;
        let p = random_pattern(&mut random, n, n).symmetric().unwrap();
        let mut matrix = numbered(&p);
        let upper = matrix.clone();
        for (at, (i, j)) in p.places().enumerate() {
            matrix.values[at] = upper.get(i.min(j), i.max(j));
        }
        for order in Order::ALL {
            let star = colouring::star_in(&p, order).unwrap();
            assert!(colouring::is_valid_star(&p, &star), "seed {seed}, {order:?}\n{p}");
            assert!(star.colours() <= n, "seed {seed}");
            let run = |x: &[f64]| Ok::<_, ()>(matrix.times(x));
            assert_eq!(compressed::hessian(&p, &star, run).unwrap(), matrix, "seed {seed}");
        }
        // Columns of a pattern with a full diagonal are a star colouring too.
        let diagonal = Pattern::new(n, n, p.places().chain((0..n).map(|i| (i, i)))).unwrap();
        let columns = colouring::columns(&diagonal);
        assert!(colouring::is_valid_star(&diagonal, &columns), "seed {seed}");
    }
}

#[test]
fn colourings_of_known_patterns() {
    for order in Order::ALL {
        for (lower, upper) in [(0, 0), (1, 1), (2, 1), (0, 3)] {
            let p = Pattern::banded(50, lower, upper);
            if order == Order::Natural || order == Order::LargestFirst {
                assert_eq!(colouring::columns_in(&p, order).colours(), lower + upper + 1);
            }
            assert_eq!(colouring::columns(&p).colours(), lower + upper + 1);
            assert_eq!(colouring::rows(&p).colours(), lower + upper + 1);
        }
    }
    let arrow = |hub: usize| {
        Pattern::new(30, 30, (0..30).flat_map(|i| [(hub, i), (i, hub), (i, i)])).unwrap()
    };
    assert_eq!(colouring::star(&arrow(0)).unwrap().colours(), 2);
    assert_eq!(colouring::star(&arrow(29)).unwrap().colours(), 2);
    assert_eq!(colouring::columns(&arrow(0)).colours(), 30);
    assert_eq!(colouring::star(&Pattern::banded(50, 1, 1)).unwrap().colours(), 3);
    assert_eq!(colouring::star(&Pattern::dense(6, 6)).unwrap().colours(), 6);
    assert_eq!(colouring::star(&Pattern::diagonal(6)).unwrap().colours(), 1);
    assert_eq!(colouring::star(&Pattern::banded(6, 1, 0)), None);
    // One dense row: reverse needs two runs where forward needs all.
    let row = Pattern::new(9, 9, (0..9).flat_map(|i| [(0, i), (i, i)])).unwrap();
    assert!(matches!(Direction::of(&row), Direction::Reverse(c) if c.colours() == 2));
    let column = row.transpose();
    assert!(matches!(Direction::of(&column), Direction::Forward(c) if c.colours() == 2));
    assert_eq!(colouring::columns(&Pattern::empty(4, 5)).colours(), 0);
    assert_eq!(Plan::new(Pattern::empty(0, 0)).runs(), 0);
}

#[test]
fn wrong_colourings_are_found_out() {
    let p = Pattern::banded(4, 1, 1);
    let by_hand = |c: [u32; 4]| Colouring::new(c.iter().map(|c| Some(*c)).collect());
    assert!(colouring::is_valid_for_columns(&p, &by_hand([0, 1, 2, 0])));
    assert!(!colouring::is_valid_for_columns(&p, &by_hand([0, 1, 0, 2])));
    assert!(!colouring::is_valid_for_columns(&p, &Colouring::new(vec![None; 4])));
    assert!(colouring::is_valid_star(&p, &by_hand([0, 1, 0, 2])));
    assert!(!colouring::is_valid_star(&p, &by_hand([0, 1, 0, 1])));
    assert!(!colouring::is_valid_star(&p, &by_hand([0, 0, 1, 2])));
}

/// What must hold of the structure of every program. Gives back whether columns shared a run, and whether
/// the Hessian has zeros.
fn check_structure(seed: u64) -> (bool, bool) {
    let case = generate::case(seed);
    let engine = &mut Interpreter { max_iterations: 200 };
    let funcs = std::iter::once(case.func.clone()).chain(case.callees).collect();
    let whole = Module { funcs, ..Module::default() };
    let inlined = pipeline::run(&whole, &case.func.name).unwrap();
    let derived = Derived::new(inlined, case.wrt).unwrap();
    let (func, args) = (&derived.func, &case.args);
    let mut sparsity = Sparsity::of(func);
    sparsity.max_iterations = 200;
    let mut calling = Sparsity::of(&whole.funcs[0]).within(&whole);
    calling.max_iterations = 200;
    let pattern = match (sparsity.jacobian(&derived.wrt, args), derived.value(engine, args)) {
        (Ok(pattern), Ok(_)) => pattern,
        (Err(a), Err(b)) => {
            assert_eq!(a, b, "program {seed}\n{func}");
            return (false, false);
        }
        (a, b) => panic!("program {seed}: {a:?} but {b:?}\n{func}"),
    };
    // Calls are followed; the pipeline only takes dependences away.
    let before = calling.jacobian(&derived.wrt, args).unwrap();
    assert!(pattern.is_within(&before), "program {seed}\n{before}\n{pattern}\n{}", case.func);
    let both = sparsity.reading(Choices::Both).jacobian(&derived.wrt, args).unwrap();
    assert!(pattern.is_within(&both), "program {seed}\n{both}\n{pattern}\n{func}");
    let dense = compressed::dense_jacobian(&derived, engine, args).unwrap();
    let finite = dense.iter().flatten().all(|x| x.is_finite());
    let mut shared = false;
    if finite {
        for (i, row) in dense.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                let place = format!("program {seed}, entry {i}, {j} is {x}\n{pattern}\n{func}");
                assert!(*x == 0.0 || pattern.contains(i, j), "{place}");
            }
        }
        let forward = Direction::Forward(colouring::columns(&pattern));
        let plan = Plan::with(pattern.clone(), forward);
        shared = plan.runs() > 0 && plan.runs() < pattern.cols();
        let sparse = compressed::jacobian_by(&plan, &derived, engine, args).unwrap();
        for ((i, j), x) in pattern.places().zip(&sparse.values) {
            assert_eq!(
                x.to_bits(),
                dense[i][j].to_bits(),
                "program {seed}, entry {i}, {j}\n{func}"
            );
        }
    }
    // Second derivatives come from operations of the gradient program.
    let hessian = sparsity.hessian(&derived.wrt, args).unwrap();
    assert!(hessian.is_symmetric());
    let results = derived.value(engine, args).unwrap();
    let mut random = Random(seed);
    let weights = results.iter().filter(|v| v.ty().is_float());
    let all: Vec<Val> = args.iter().cloned().chain(weights.map(|v| random.like(v))).collect();
    let vjp = derived.reverse.func(&format!("{}.vjp", func.name)).unwrap();
    let mut reverse = Sparsity::of(vjp).within(&derived.reverse);
    reverse.max_iterations = 200;
    let gradient = reverse.jacobian(&derived.wrt, &all).unwrap();
    let values = check::floats(&results).len();
    for (i, j) in hessian.places() {
        let found = gradient.contains(values + i, j) || gradient.contains(values + j, i);
        assert!(found, "program {seed}: {i}, {j}\n{hessian}\n{gradient}\n{func}");
    }
    if finite {
        check_hessian(seed, &derived, args, &all[args.len()..], &hessian);
        check_products(seed, &derived, args, &all[args.len()..], &hessian);
    }
    check_steps(seed, &derived, args);
    (shared, hessian.count() < hessian.rows() * hessian.cols())
}

/// Every entry of the Hessian by forward over reverse: none outside the pattern, and the compressed one has
/// them all.
fn check_products(seed: u64, derived: &Derived, args: &[Val], weights: &[Val], p: &Pattern) {
    let engine = &mut Interpreter { max_iterations: 200 };
    let products = compressed::Products::of(derived).unwrap_or_else(|e| panic!("{seed}: {e}"));
    let mut column = |j: usize| {
        let (mut from, mut direction) = (0, Vec::new());
        for k in &derived.wrt {
            let n = check::floats(&args[*k..=*k]).len();
            let still = check::shifted(&args[*k], &args[*k], -1.0);
            let here = (from..from + n).contains(&j);
            direction.push(if here { nudged(&still, j - from, 1.0) } else { still });
            from += n;
        }
        check::floats(&products.along(engine, args, weights, &direction).unwrap())
    };
    let columns: Vec<Vec<f64>> = (0..p.cols()).map(&mut column).collect();
    if columns.iter().flatten().any(|x| !x.is_finite()) {
        return;
    }
    for (j, column) in columns.iter().enumerate() {
        for (i, x) in column.iter().enumerate() {
            let place = format!("program {seed}, {i}, {j} is {x}\n{p}\n{}", derived.func);
            assert!(*x == 0.0 || p.contains(i, j), "{place}");
        }
    }
    let sparse = compressed::hessian_of(derived, engine, args, weights).unwrap();
    let size = columns.iter().flatten().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    for ((i, j), x) in p.places().zip(&sparse.values) {
        let error = (x - columns[j][i]).abs() / size;
        assert!(error < 1e-9, "program {seed}, {i}, {j}: {x}, {}\n{}", columns[j][i], derived.func);
    }
}

/// Where the Hessian has no entry, moving one input leaves the adjoint of the other as it is, to the bit.
fn check_hessian(seed: u64, derived: &Derived, args: &[Val], weights: &[Val], hessian: &Pattern) {
    let engine = &mut Interpreter { max_iterations: 200 };
    let mut gradient = |args: &[Val]| {
        let gradient = derived.vjp(engine, args, weights).map(|(_, g)| check::floats(&g));
        gradient.unwrap_or_default()
    };
    let here = gradient(args);
    for j in 0..hessian.cols() {
        // A step may cross a kink or change the path: then another one is tried.
        let still = [1e-7, -1e-7, 1e-10, -1e-10].into_iter().any(|h| {
            let mut left = j;
            let mut moved = args.to_vec();
            for k in &derived.wrt {
                let n = check::floats(&moved[*k..=*k]).len();
                if left < n {
                    moved[*k] = nudged(&moved[*k], left, h);
                    break;
                }
                left -= n;
            }
            let there = gradient(&moved);
            there.len() == here.len()
                && (0..here.len())
                    .all(|i| hessian.contains(i, j) || here[i] == there[i] || !here[i].is_finite())
        });
        assert!(still, "program {seed}, column {j}\n{hessian}\n{}", derived.func);
    }
}

/// A value with one of its floats moved.
fn nudged(v: &Val, at: usize, h: f64) -> Val {
    let mut direction = vec![0.0; check::floats(std::slice::from_ref(v)).len()];
    direction[at] = 1.0;
    let direction = match v {
        Val::Array(x) => Val::shaped(x.with_floats(direction.into_iter())),
        Val::Scalar(s) => Val::Scalar(Scalar::float(s.elem(), 1.0)),
        Val::Tape(_) => return v.clone(),
    };
    check::shifted(v, &direction, h)
}

/// Every loop one iteration at a time gives the states the loop goes through.
fn check_steps(seed: u64, derived: &Derived, args: &[Val]) {
    for number in 0.. {
        let Ok(step) = OneStep::of(&derived.func, number) else { break };
        let module = Module::of(step.func.clone());
        verify::module(&module).unwrap_or_else(|e| panic!("program {seed}: {e}\n{}", step.func));
        if !step.float_carries().is_empty() {
            step.derived().unwrap_or_else(|e| panic!("program {seed}: {e}\n{}", step.func));
        }
        let engine = &mut Interpreter { max_iterations: 200 };
        let mut before: Option<Vec<Val>> = None;
        for k in 0..4 {
            let Some(at) = step.state(args, k).unwrap() else { break };
            // A loop inside a branch or a second run of it starts anew: only a step that went on counts.
            if let Some(results) = before {
                let carries = check::bits(&at[..step.carries]);
                assert_eq!(check::bits(&results[..step.carries]), carries, "program {seed}");
            }
            let results = engine.call(&module, &step.func.name, &at).unwrap();
            let went_on = check::bits(&results[step.carries..]) == [0];
            before = went_on.then_some(results);
        }
    }
}

#[test]
fn structure_of_random_programs() {
    let seed = seed();
    let count =
        std::env::var("WENGERT_PROGRAMS").ok().and_then(|s| s.parse().ok()).unwrap_or(60u64);
    let mut seeds = Random(seed ^ 0x5eed);
    let (mut shared, mut zeros) = (0, 0);
    for _ in 0..count {
        let (s, z) = check_structure(seeds.bits());
        shared += u64::from(s);
        zeros += u64::from(z);
    }
    println!("{count} programs: {shared} with shared runs, {zeros} with zeros in the Hessian");
}
