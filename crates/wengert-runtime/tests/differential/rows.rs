//! Passes over rows: indices looked at before a loop over loops, vectors that overlap, elements beside each other.

use crate::{Arg, Both};
use wengert_core::check::Random;
use wengert_core::ops::{Array, Data};
use wengert_core::transform::{pipeline, vjp};

fn matrix(rows: usize, columns: usize, random: &mut Random) -> Array {
    let data = (0..rows * columns).map(|_| random.below(2000) as f64 / 1000.0 - 1.0).collect();
    Array { shape: vec![rows, columns], data: Data::F64(data) }
}

/// An element of `y` from those of `x` beside it, for rows and columns in some range; `more` is computed of them.
fn pass(more: &str) -> Both {
    Both::new(&format!(
        "func @f(%x: [[f64]], %y: [[f64]], %r0: i64, %r1: i64, %c0: i64, %c1: i64, %a: i64, %b: i64, %d: i64) -> [[f64]] {{
           %w = dim[1] %x
           %z = for %i in %r0..%r1 carry (%y1 = %y) {{
             %row = wmul %i, %w
             %up = wadd %i, %d
             %next = wmul %up, %w
             %y2 = for %j in %c0..%c1 carry (%y3 = %y1) {{
               %p = wadd %row, %j
               %m = peek %x, %p
               %q1 = wadd %row, %a
               %q = wadd %q1, %j
               %l = peek %x, %q
               %s1 = wadd %row, %b
               %s = wadd %s1, %j
               %r = peek %x, %s
               %t = wadd %next, %j
               %n = peek %x, %t
               %e1 = fma 0.3, %l, %r
               %e2 = fma -2.0, %m, %e1
               %e = sub %e2, %n
               {more}
               %y4 = poke %y3, %p, %o
               yield %y4
             }}
             yield %y2
           }}
           return %z
         }}"
    ))
}

/// Every place at which vectors may begin and end, elements that lie beside each other or not, and indices that are out
/// of range in some corner, or wrap.
#[test]
fn any_rectangle() {
    let asked = "%in = ile 1, %j
        %g = if %in { %v1 = wadd %p, %a  %v = peek %x, %v1  yield %v } else { yield 0.5 }
        %o = add %e, %g";
    let in_place = "%g = peek %y3, %p  %o = add %e, %g";
    let both = [pass("%o = mul 0.5, %e"), pass(asked), pass(in_place)];
    let mut random = Random(11);
    let (mut well, mut wrong) = (0, 0);
    for round in 0..3000 {
        let sizes = [1 + random.below(6) as usize, 1 + random.below(70) as usize];
        let (x, y) =
            (matrix(sizes[0], sizes[1], &mut random), matrix(sizes[0], sizes[1], &mut random));
        let up = random.below(3) as i64 - 1;
        let beside =
            [[-1, 1], [1, -1], [0, 1], [-1, -1], [1, 2], [-8, 8]][random.below(6) as usize];
        let edge = i64::from(round % 2 == 0) * 2;
        let ranges = sizes.map(|n| {
            let from = edge.min(1) + random.below(4) as i64 / 3;
            (from, n as i64 - edge.min(1) - random.below(4) as i64 / 3)
        });
        let mut ints =
            [ranges[0].0, ranges[0].1, ranges[1].0, ranges[1].1, beside[0], beside[1], up];
        if random.below(12) == 0 {
            let odd = [i64::MAX, i64::MIN, i64::MIN + 3, -5, 1 << 62, 1000];
            ints[random.below(7) as usize] = odd[random.below(6) as usize];
            // Not for years.
            if ints[1].saturating_sub(ints[0]) > 2000 && ints[3] <= ints[2] {
                continue;
            }
        }
        let mut args = vec![Arg::Shaped(&x), Arg::Shaped(&y)];
        args.extend(ints.iter().map(|k| Arg::I64(*k)));
        match both[round % 3].agree("f", &args) {
            Ok(_) => well += 1,
            Err(_) => wrong += 1,
        }
    }
    assert!(well > 1000 && wrong > 300, "{well} {wrong}");
}

/// Steps of a stencil: a part is put, others are added, as on the way there and on the way back.
#[test]
fn stencils_of_any_size() {
    let text = "func @f(%x: [[f64]], %n: i64, %g: i64) -> [[f64]] {
       %h = len %x
       %w = dim[1] %x
       %h2 = wsub %h, %g
       %w2 = wsub %w, %g
       %m = idiv %g, 2
       %r = for %k in 0..%n carry (%u = %x) {
         %c = slice %u, %m, %h2, 1, %m, %w2, 1
         %a1 = slice %u, 0, %h2, 1, %m, %w2, 1
         %a2 = slice %u, %g, %h2, 1, %m, %w2, 1
         %a3 = slice %u, %m, %h2, 1, 0, %w2, 1
         %a4 = slice %u, %m, %h2, 1, %g, %w2, 1
         %b1 = add %a1, %a2
         %b2 = add %b1, %a3
         %b3 = add %b2, %a4
         %e = fma -4.0, %c, %b3
         %v = fma 0.2, %e, %c
         %u1 = put %u, %m, %h2, 1, %m, %w2, 1, %v
         yield %u1
       }
       %s = for %l in 0..%n carry (%o = %r) {
         %p = slice %o, %m, %h2, 1, %m, %w2, 1
         %z = fill %h2, %w2, 0.0
         %o1 = put %o, %m, %h2, 1, %m, %w2, 1, %z
         %t = mul 0.2, %p
         %o2 = add_slice %o1, %m, %h2, 1, %m, %w2, 1, %p
         %o3 = add_slice %o2, %m, %h2, 1, %g, %w2, 1, %t
         %o4 = add_slice %o3, %m, %h2, 1, 0, %w2, 1, %t
         %o5 = add_slice %o4, 0, %h2, 1, 0, %w2, 1, %t
         %o6 = add_slice %o5, %g, %h2, 1, %g, %w2, 1, %t
         yield %o6
       }
       return %s
     }";
    let both = Both::new(text);
    let mut random = Random(3);
    for rows in (0..12).chain([33, 64]) {
        for columns in (0..12).chain([17, 26, 31, 63, 64, 65, 90]) {
            let x = matrix(rows, columns, &mut random);
            for (n, far) in [(3, 2), (2, 4), (1, 0)] {
                let _ = both.agree("f", &[Arg::Shaped(&x), Arg::I64(n), Arg::I64(far)]);
            }
        }
    }
}

/// States that are large enough to be written past the caches, and smaller ones.
#[test]
fn states_that_are_kept() {
    let text = "func @f(%u: [[f64]], %n: i64) -> f64 {
           %rows = len %u
           %columns = dim[1] %u
           %r = isub %rows, 2
           %c = isub %columns, 2
           %w = for %i in 0..%n carry (%v = %u) {
             %in = slice %v, 1, %r, 1, 1, %c, 1
             %left = slice %v, 1, %r, 1, 0, %c, 1
             %p = mul %in, %in
             %q = fma 0.25, %left, %p
             %s = mul 0.5, %q
             %t = put %v, 1, %r, 1, 1, %c, 1, %s
             yield %t
           }
           %y = sum %w
           return %y
         }";
    let func = pipeline::run(&crate::module(text), "f").unwrap();
    let reverse = Both::of(vjp::vjp(&func, &[0]).unwrap());
    let mut random = Random(5);
    for (rows, columns) in [(260, 140), (190, 191), (183, 183), (60, 40), (3, 3)] {
        let u = matrix(rows, columns, &mut random);
        let ran = reverse.agree("f.vjp", &[Arg::Shaped(&u), Arg::I64(3), Arg::F64(1.5)]);
        assert!(ran.is_ok());
    }
}
