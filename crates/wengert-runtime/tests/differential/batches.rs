//! Products of a matrix with rows of an array in loops, which native code computes for several iterations at once.

use crate::random::Random;
use crate::standalone::Standalone;
use crate::{Arg, Both};
use wengert_core::ops::{Array, Data};

/// A loop over rows: what it begins with, the row it takes, what is done with matrix and rows, and whether it ends early.
const LOOP: &str = "
    func @f(%u: [[f64]], %x: [[f64]], %c: [f64], %from: i64, %to: i64, %d: i64, %s: i64) -> ([f64], f64, [[f64]]) {
      %c0 = copy %c
      %u0 = copy %u
      %m = len %c
      %p, %e, %w = for %t in %from..%to carry (%a = %c0, %e0 = 0.0, %w0 = %u0) {
        %q = isub %t, 1
        %v1 = slice %x, ROW, 1, 1, START, COUNT, 1
        %v = reshape %v1, COUNT
        BODY
        %e1 = dot %b, %b
        EXIT
        yield %b, %e1, %w1
      }
      return %p, %e, %w
    }";

/// Ways to multiply, of which the first two can be done for several iterations.
const BODIES: [&str; 6] = [
    "%b = gemm %a, %u, %v  %w1 = copy %w0",
    "%z = fill %m, 0.0  %b = gemm %z, %u, %v  %w1 = copy %w0",
    // The matrix changes from iteration to iteration.
    "%b = gemm %a, %w0, %v  %w1 = store %w0, 0, 0, %e0",
    "%b = gemm[t,n] %a, %u, %v  %w1 = copy %w0",
    // Not in every iteration.
    "%odd = ilt %t, 3  %b = if %odd { %n = gemm %a, %u, %v  yield %n } else { yield %a }  %w1 = copy %w0",
    // A loop in the loop, which takes the same rows again.
    "%b = for %r in %from..%to carry (%k0 = %a) {
       %y1 = slice %x, %r, 1, 1, 0, %d, 1
       %y = reshape %y1, %d
       %k1 = gemm %k0, %u, %y
       yield %k1
     }
     %w1 = copy %w0",
];

fn matrix(m: usize, k: usize, random: &mut Random) -> Array {
    let number = |random: &mut Random| match random.bits() % 8 {
        0 => -0.0,
        1 => -1e-200,
        _ => (random.bits() >> 11) as f64 / (1u64 << 53) as f64 - 0.5,
    };
    Array { shape: vec![m, k], data: Data::F64((0..m * k).map(|_| number(random)).collect()) }
}

#[test]
fn rows_of_an_array() {
    let _standalone = Standalone::here(1_000_000_000);
    let mut random = Random(29);
    let mut texts = Vec::new();
    for body in BODIES {
        for (row, start, count) in [("%t", "0", "%d"), ("%q", "0", "%d"), ("%t", "%s", "%d")] {
            for exit in ["", "%far = igt %t, 40  exit_if %far { yield %b, %e1, %w1 }"] {
                let text = LOOP.replace("BODY", body).replace("ROW", row).replace("EXIT", exit);
                texts.push(text.replace("START", start).replace("COUNT", count));
            }
        }
    }
    let (mut faults, mut runs) = (0, 0);
    for both in Both::all(&texts) {
        for _ in 0..12 {
            let pick = |from: &[usize], random: &mut Random| {
                from[(random.bits() % from.len() as u64) as usize]
            };
            let m = pick(&[1, 3, 8, 20], &mut random);
            let k = pick(&[0, 1, 8, 10, 33], &mut random);
            let rows = pick(&[0, 1, 5, 31, 32, 33, 70], &mut random);
            let from = if random.one_in(3) { (random.bits() % 40) as i64 } else { 0 };
            // A row too far, or rows of another length, now and then.
            let to = rows as i64 + i64::from(random.one_in(8)) - (random.bits() % 3) as i64;
            let wide = k + usize::from(random.one_in(6));
            let d = k as i64 - i64::from(random.one_in(12));
            let (u, x) = (matrix(m, k, &mut random), matrix(rows, wide, &mut random));
            let c = matrix(1, m, &mut random);
            let Data::F64(c) = &c.data else { unreachable!() };
            let skipped = i64::from(random.one_in(6));
            let numbers = [from, to, d, skipped].map(Arg::I64);
            let arrays = [Arg::Shaped(&u), Arg::Shaped(&x), Arg::Array(c)];
            let args: Vec<Arg> = arrays.into_iter().chain(numbers).collect();
            faults += usize::from(both.agree("f", &args).is_err());
            runs += 1;
        }
    }
    assert!(runs / 20 < faults && faults < runs / 2, "{faults} of {runs} runs end with a fault");
}
