//! `#[differentiable]` in limited memory: the bits of what keeps everything, in any memory that holds a state and the record of an iteration.

use wengert::{FaultKind, Function, Memory, RunError, differentiable};

/// Runs something in less and less memory until that is too little; gives the least in which it has the bits that are wanted.
#[track_caller]
fn least(wanted: &[f64], run: impl Fn(u64) -> Result<Vec<f64>, RunError>) -> u64 {
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let (mut memory, mut least) = (1 << 22, u64::MAX);
    while memory > 0 {
        match run(memory) {
            Ok(given) => {
                assert_eq!(bits(&given), bits(wanted), "in {memory} bytes");
                least = memory;
            }
            Err(error) => {
                let is_small = matches!(error.kind(), FaultKind::Budget { too_small: true, .. });
                assert!(is_small, "in {memory} bytes: {error}");
                let told = error.to_string();
                assert!(told.contains("bytes are too few") && error.line().is_some(), "{told}");
                return least;
            }
        }
        memory = memory * 2 / 3;
    }
    panic!("no memory is too little");
}

#[differentiable]
fn counted(x0: f64, r: f64, n: usize) -> f64 {
    let mut x = x0;
    let mut sum = 0.0;
    for i in 0..n {
        x = r * x * (1.0 - x);
        sum += x * (i as f64 * 0.01).cos();
    }
    sum
}

#[test]
fn a_loop_of_numbers() {
    for n in [0, 1, 7, 500] {
        let (value, (x, r)) = counted::value_and_grad(0.3, 3.7, n);
        let run = |memory: u64| {
            let (value, (x, r)) = counted::within(memory).try_value_and_grad(0.3, 3.7, n)?;
            Ok(vec![value, x, r])
        };
        if n < 2 {
            assert_eq!(run(10_000).unwrap(), [value, x, r]);
            continue;
        }
        let least = least(&[value, x, r], run);
        assert!(n < 500 || least < 300, "{least}");
    }
    // The other functions of reverse mode, and the other ways to say how much.
    let whole = counted::grad(0.3, 3.7, 500);
    assert_eq!(counted::within("1 kB").grad(0.3, 3.7, 500), whole);
    assert_eq!(counted::within(Memory::bytes(1000)).vjp(0.3, 3.7, 500, 1.0).1, whole);
    let second = counted::hvp(0.3, 3.7, 50, 1.0, 0.5);
    assert_eq!(counted::within(2000).hvp(0.3, 3.7, 50, 1.0, 0.5), second);
}

#[differentiable]
fn decays(x0: f64, rate: f64) -> f64 {
    let (mut x, mut k) = (x0, 0);
    while x.abs() > 1e-3 {
        x -= rate * x.sin();
        k += 1;
    }
    x * k as f64
}

#[test]
fn a_loop_whose_end_nobody_knows() {
    let (value, (x, rate)) = decays::value_and_grad(2.0, 0.004);
    let (_, along) = decays::jvp(2.0, 0.004, 1.0, 0.0);
    assert!((x - along).abs() <= 1e-9 * along.abs());
    let least = least(&[value, x, rate], |memory| {
        let (value, (x, rate)) = decays::within(memory).try_value_and_grad(2.0, 0.004)?;
        Ok(vec![value, x, rate])
    });
    assert!(least < 1000, "{least}");
}

#[differentiable]
fn left_early(x0: f64, limit: f64) -> f64 {
    let mut x = x0;
    for i in 0..100_000 {
        let step = 0.01 * x.cos();
        if x + step > limit {
            x = x * x + i as f64;
            break;
        }
        x += step;
    }
    x
}

#[test]
fn a_loop_that_is_left_early() {
    for limit in [0.05, 0.7, 1.4] {
        let (value, (x, end)) = left_early::value_and_grad(0.1, limit);
        let run = |memory: u64| {
            let (value, (x, end)) = left_early::within(memory).try_value_and_grad(0.1, limit)?;
            Ok(vec![value, x, end])
        };
        assert!(least(&[value, x, end], run) < 1000);
    }
}

#[differentiable]
fn relax(u: &mut [f64], rate: f64, steps: usize) -> f64 {
    let mut largest = 0.0;
    for _ in 0..steps {
        for i in 1..u.len() - 1 {
            u[i] += rate * (u[i - 1] - 2.0 * u[i] + u[i + 1]) - 0.001 * u[i].powi(3);
        }
        if u[2] > largest {
            largest = u[2];
        }
    }
    largest
}

#[test]
fn arrays_that_are_overwritten() {
    let start: Vec<f64> = (0..40).map(|k| f64::from(k % 7) - 2.0).collect();
    let back = |memory: Option<u64>| -> Result<Vec<f64>, RunError> {
        let (mut u, mut bar) = (start.clone(), vec![0.25; 40]);
        let (value, rate) = match memory {
            None => relax::try_vjp(&mut u, 0.2, 60, 1.0, &mut bar)?,
            Some(memory) => relax::within(memory).try_vjp(&mut u, 0.2, 60, 1.0, &mut bar)?,
        };
        Ok([u, bar, vec![value, rate]].concat())
    };
    let least = least(&back(None).unwrap(), |memory| back(Some(memory)));
    // A state is forty numbers and their count, of which there is one, and the record of an iteration is about as much again.
    assert!(least < 3000, "{least}");
}

#[differentiable]
fn read_and_overwritten(a: &[f64], n: usize) -> f64 {
    let mut weights = a.to_vec();
    let mut x = 0.1;
    for i in 0..n {
        x = (weights[i % weights.len()] * x + 0.3).sin();
    }
    // What the loop has read is another array now.
    for weight in &mut weights {
        *weight *= x;
    }
    let mut y = 0.0;
    for i in 0..n {
        y += weights[i % weights.len()] * (y + x).cos();
    }
    y
}

#[test]
fn several_loops_and_arrays_changed_between() {
    let a = [0.9, -0.4, 1.3];
    let (value, grad) = read_and_overwritten::value_and_grad(&a, 300);
    let wanted: Vec<f64> = [value].into_iter().chain(grad.clone()).collect();
    let least = least(&wanted, |memory| {
        let (value, grad) = read_and_overwritten::within(memory).try_value_and_grad(&a, 300)?;
        Ok([value].into_iter().chain(grad).collect())
    });
    assert!(least < 2000, "{least}");
    for k in 0..3 {
        let mut direction = [0.0; 3];
        direction[k] = 1.0;
        let (_, along) = read_and_overwritten::jvp(&a, 300, &direction);
        assert!((along - grad[k]).abs() < 1e-9 * (1.0 + along.abs()), "{along} {}", grad[k]);
    }
}

#[differentiable]
fn days(x0: f64, k: f64, days: usize, hours: usize) -> f64 {
    let mut x = x0;
    let mut total = 0.0;
    for day in 0..days {
        let mut heat = x;
        for hour in 0..hours {
            heat += 0.01 * (k * x - heat * (hour as f64 * 0.02).cos());
        }
        let mut rest = heat;
        while rest > 0.5 {
            rest *= 0.98;
            if rest * k > 40.0 {
                break;
            }
        }
        x = heat.sin() + rest * k + 0.01 * day as f64;
        total += x;
    }
    total
}

#[test]
fn loops_in_loops() {
    let (value, (x, k)) = days::value_and_grad(0.7, 1.1, 12, 3000);
    let (_, along) = days::jvp(0.7, 1.1, 12, 3000, 1.0, 0.0);
    assert!((along - x).abs() < 1e-9 * (1.0 + along.abs()), "{along} {x}");
    let run = |memory: u64| {
        let (value, (x, k)) = days::within(memory).try_value_and_grad(0.7, 1.1, 12, 3000)?;
        Ok(vec![value, x, k])
    };
    let least = least(&[value, x, k], run);
    // The record of one day is 24 kB by itself.
    assert!(least < 8000, "{least}");
}

#[differentiable]
fn mixed(a: f32, x: &[f64], n: i64) -> f64 {
    let mut single = a;
    let mut odd = false;
    let mut count = 0;
    let mut sums = [0.0; 3];
    for i in 0..n {
        single = (single * 1.01).sin();
        odd = !odd;
        if odd {
            count += 2;
        }
        let at = (i % 3) as usize;
        sums[at] = sums[at] * 0.9 + x[at] * single as f64;
    }
    sums[0] * sums[1] + sums[2] + count as f64
}

#[test]
fn carries_of_every_kind() {
    let x = [1.0, -2.0, 0.5];
    let (value, (a, dx)) = mixed::value_and_grad(0.8, &x, 200);
    let flat = |value: f64, a: f32, dx: &[f64]| {
        [value, f64::from(a)].iter().chain(dx).copied().collect::<Vec<f64>>()
    };
    let least = least(&flat(value, a, &dx), |memory| {
        let (value, (a, dx)) = mixed::within(memory).try_value_and_grad(0.8, &x, 200)?;
        Ok(flat(value, a, &dx))
    });
    assert!(least < 1500, "{least}");
}

#[differentiable]
fn picks(x: &[f64], stride: usize, n: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..3 {
            sum = sum * 0.5 + x[i * stride + j];
        }
    }
    sum
}

#[test]
fn faults_are_those_of_everything() {
    let x: Vec<f64> = (0..200).map(f64::from).collect();
    let whole = picks::try_grad(&x, 2, 150).unwrap_err();
    assert!(whole.to_string().contains("iteration 99"), "{whole}");
    for memory in [400, 2000, 1 << 20] {
        assert_eq!(picks::within(memory).try_grad(&x, 2, 150).unwrap_err(), whole, "in {memory}");
    }
}

#[test]
fn what_is_no_memory() {
    let told = |error: RunError| error.to_string();
    assert_eq!(
        told(counted::within("plenty").try_grad(0.3, 3.7, 5).unwrap_err()),
        "`plenty` is not a size such as `500000`, `64MiB` or `2GB`"
    );
    assert_eq!(
        told(counted::within(-1).try_grad(0.3, 3.7, 5).unwrap_err()),
        "-1 is not a number of bytes"
    );
    let small = counted::within(20).try_grad(0.3, 3.7, 500).unwrap_err();
    assert!(small.to_string().contains("20 bytes are too few: a state takes"), "{small}");
}

#[differentiable(memory = "2 kB")]
fn bounded(x0: f64, n: usize) -> f64 {
    let mut x = x0;
    for _ in 0..n {
        x = (x * 1.3).sin() + 0.1;
    }
    x
}

#[differentiable(memory = 100)]
fn too_bounded(x: &[f64], n: usize) -> f64 {
    let mut y = x.to_vec();
    for i in 0..n {
        let k = i % y.len();
        y[k] = (y[k] * 1.3).sin();
    }
    y.iter().sum()
}

#[test]
fn what_the_attribute_says() {
    let wanted = bounded::within(1 << 20).value_and_grad(0.4, 5000);
    assert_eq!(bounded::value_and_grad(0.4, 5000), wanted);
    assert_eq!(bounded::grad(0.4, 5000), wanted.1);
    assert_eq!(bounded::hvp(0.4, 30, 1.0), bounded::within("1 MiB").hvp(0.4, 30, 1.0));
    let x = [0.5; 30];
    let small = too_bounded::try_grad(&x, 100).unwrap_err();
    assert!(matches!(small.kind(), FaultKind::Budget { too_small: true, .. }), "{small}");
    assert_eq!(too_bounded::within("10 kB").grad(&x, 100).len(), 30);
}

#[test]
fn states_on_disk() {
    let folder = std::env::temp_dir().join(format!("wengert-disk-{}", std::process::id()));
    let memory = Memory::bytes(400).with_disk(&folder, 1 << 20);
    assert_eq!(counted::within(&memory).grad(0.3, 3.2, 3000), counted::grad(0.3, 3.2, 3000));
    let left = std::fs::read_dir(&folder).map_or(0, Iterator::count);
    assert_eq!(left, 0, "files of states stay in {}", folder.display());
    let _ = std::fs::remove_dir_all(&folder);
}

const LOGISTIC: &str = "
import math
def counted(x0, r, n):
    x = x0
    sum = 0.0
    for i in range(n):
        x = r * x * (1.0 - x)
        sum += x * math.cos(i * 0.01)
    return sum
";

/// The plan has the numbers of the one for the same loop as text.
#[test]
fn plans_are_those_of_the_command_line() {
    let plan = counted::plan(0.3, 3.7, 100_000);
    let [of] = plan.loops[..] else { panic!("{plan}") };
    let function = Function::from_source(LOGISTIC, "counted").unwrap();
    let other = function.plan((0.3, 3.7, ("n", 100_000)), ["x0", "r"]).unwrap();
    let (ours, theirs) = (of.measured.unwrap(), other[0].measured.unwrap());
    assert_eq!((of.steps, other[0].steps), (Some(100_000), Some(100_000)));
    assert_eq!(
        (ours.state_bytes, ours.record_bytes, of.everything()),
        (theirs.state_bytes, theirs.record_bytes, other[0].everything())
    );
    let line = of.line;
    let text = plan.to_string();
    assert!(
        text.starts_with(&format!("the loop of line {line}: 100000 iterations; a state takes")),
        "{text}"
    );
    assert!(
        text.contains("everything,") && text.contains("evaluations of each, at most"),
        "{text}"
    );
    let tight = counted::within("10 kB").plan(0.3, 3.7, 100_000);
    assert_eq!(tight.memory, Some(10_000));
    assert!(tight.to_string().contains("in 10.0 kB"), "{tight}");
    let forecast = of.forecast(10_000).unwrap();
    assert!(forecast.peak_bytes <= 10_000 && forecast.evaluations < 300_000, "{forecast:?}");
    // Where nobody knows how many iterations there are, nobody knows what they take.
    let text = decays::plan(2.0, 0.004).to_string();
    assert!(text.contains("nobody knows how many iterations"), "{text}");
    assert_eq!(counted::plan(0.3, 3.7, 0).loops[0].measured, None);
    // All loops are seen, but for the one that is an operation on an array, and errors before the last of them.
    assert_eq!(read_and_overwritten::plan(&[1.0, 2.0], 40).loops.len(), 2);
    assert!(picks::try_plan(&[1.0], 1, 10).is_err());
}
