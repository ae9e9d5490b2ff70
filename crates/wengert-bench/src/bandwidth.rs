//! How fast the machine moves memory, and how much a gradient moves.

use crate::clock::Least;
use crate::workload::Workload;
use wengert_core::check::Derived;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::Type;
use wengert_core::transform::pipeline;

/// Elements of each of three arrays, 64 MiB each: more than caches hold.
const ELEMENTS: usize = 8 << 20;

/// Bytes per second of a triad `a = b + 3 c`: two arrays read and one written.
pub fn triad() -> f64 {
    let (mut a, b, c) = (vec![0.0; ELEMENTS], vec![1.0; ELEMENTS], vec![2.0; ELEMENTS]);
    let mut best = Least::default();
    for _ in 0..10 {
        best.time(|| {
            for ((a, b), c) in a.iter_mut().zip(&b).zip(&c) {
                *a = b + 3.0 * c;
            }
        });
        std::hint::black_box(&mut a);
    }
    (3 * 8 * ELEMENTS) as f64 / best.seconds()
}

/// Bytes a gradient moves at a size: elements of arrays read and written, and the tape once there and once
/// back. The interpreter counts them in the program that native code is made of, at two small sizes, and every
/// iteration costs the same.
pub fn moved(workload: &Workload, derived: &Derived, n: usize) -> Result<f64, String> {
    let small = workload.small.last().copied().unwrap_or(1);
    let first = count(workload, derived, small)?;
    if n == small {
        return Ok(first);
    }
    let second = count(workload, derived, 2 * small)?;
    Ok(first + (second - first) * (n as f64 - small as f64) / small as f64)
}

fn count(workload: &Workload, derived: &Derived, n: usize) -> Result<f64, String> {
    let module = pipeline::finish(&derived.reverse);
    let entry = format!("{}.vjp", derived.func.name);
    let mut args = (workload.args)(n);
    args.push(Val::f64(1.0));
    if module.func(&entry).is_some_and(|f| f.param_types().contains(&Type::Tape)) {
        args.push(Val::tape());
    }
    let mut interp = Interp::new(&module);
    interp.call(&entry, args).map_err(|fault| fault.to_string())?;
    let counters = interp.counters();
    Ok((counters.moved_bytes + 2 * counters.pushed_bytes) as f64)
}
