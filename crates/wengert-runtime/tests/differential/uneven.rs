//! Loops in parallel loops that iterations run for different times: in lockstep, the same bits, records and faults as one
//! by one.

use crate::lanes::{SIZES, agree, element, faults, in_lockstep, program, ways};
use crate::{Arg, Both};
use wengert_core::fault::FaultKind;

/// Kepler's equation by Newton's method.
pub(crate) const NEWTON: &str = "
    %y, %last = while %k carry (%s = %v, %step = 1.0) {
      %size = abs %step
      %more = gt %size, 1e-12
      %done = not %more
      exit_if %done { yield %s, %step }
      %a = sin %s
      %b = mul %p, %a
      %c = sub %s, %b
      %d = sub %c, %v
      %e = cos %s
      %f = mul %p, %e
      %g = sub 1.0, %f
      %step1 = div %d, %g
      %s1 = sub %s, %step1
      yield %s1, %step1
    }";

/// A walk until a barrier or the end of the steps; the number of steps, and where it was before the last one, count.
pub(crate) const BARRIER: &str = "
    %steps = imul %m, 5
    %x1, %old1, %n1, %left1 = for %t in 0..%steps carry (%s = %v, %old = 0.0, %count = 0, %left = false) {
      %j = imod %t, %m
      %u = load %w, %j
      %z = fma %u, %p, %s
      %high = gt %z, 1.4
      exit_if %high {
        %over = sub %z, 1.4
        %half = mul %over, %over
        yield %half, %s, %t, true
      }
      %sum = iadd %count, 2
      %low = lt %z, -0.9
      exit_if %low { yield %z, %old, %sum, %left }
      %z1 = tanh %z
      %z2 = mul %z1, 1.25
      yield %z2, %s, %sum, %left
    }
    %nf = itof %n1
    %a = mul %x1, %nf
    %b = sub %a, %old1
    %c = mul %b, %b
    %y = select %left1, %c, %b";

/// Loops from and to somewhere else in each lane, one in another.
pub(crate) const UNEQUAL: &str = "
    %k = iand %i, 11
    %lo = iand %i, 2
    %y = for %t in %lo..%k carry (%s = %v) {
      %more = iadd %t, %k
      %most = imin %more, 9
      %r1 = for %q in %t..%most carry (%h = %s) {
        %f = itof %q
        %g = mul %h, %p
        %a = sin %g
        %b = fma %f, 0.01, %a
        yield %b
      }
      %at = imod %t, %m
      %u = load %w, %at
      %e = mul %r1, %u
      %z = add %e, %s
      yield %z
    }";

/// A loop that stops when its numbers have settled, in one that counts, and one that counts in it.
pub(crate) const NESTED: &str = "
    %y = for %t in 0..4 carry (%s = %v) {
      %root, %n1 = while %k carry (%h = %s, %c = 0) {
        %a = mul %h, %h
        %b = lt %a, 0.3
        exit_if %b { yield %h, %c }
        %odd = iand %k, 1
        %h1 = for %q in 0..%c carry (%z = %h) {
          %f = sin %z
          yield %f
        }
        %late = ige %k, 6
        exit_if %late {
          %less = mul %h1, 0.5
          yield %less, %c
        }
        %d = mul %h1, %p
        %c1 = iadd %c, %odd
        yield %d, %c1
      }
      %e = itof %n1
      %g = cos %root
      %next = fma %e, 0.1, %g
      yield %next
    }";

/// Branches in a loop that stops, loops in branches.
pub(crate) const BRANCHES: &str = "
    %y = while %k carry (%s = %v) {
      %done = ige %k, 5
      %far = gt %s, 3.0
      %either = or %done, %far
      exit_if %either { yield %s }
      %c = lt %s, 0.4
      %z = if %c {
        %two = iand %i, 3
        %a = for %t in 0..%two carry (%h = %s) {
          %b = exp %h
          %d = mul %b, %p
          yield %d
        }
        yield %a
      } else {
        %r1 = while %l carry (%hh = %s) {
          %g = lt %hh, 0.2
          exit_if %g { yield %hh }
          %e = mul %hh, 0.6
          yield %e
        }
        %q = add %r1, 0.15
        %small = lt %q, 0.25
        %more = if %small {
          %x2 = sin %q
          %x3 = fma %x2, %p, %q
          yield %x3
        } else {
          %x4 = sqrt %q
          yield %x4
        }
        yield %more
      }
      yield %z
    }";

/// An adjoint that only some lanes need, of a loop that lanes run for different times.
pub(crate) const SWEPT: &str = "
    %k = iand %i, 7
    %h = for %t in 0..%k carry (%s = %v) {
      %g = fma %s, %p, 0.2
      %e = sin %g
      yield %e
    }
    %y = max %h, 0.45";

/// Elements that each lane writes until it stops, at places of its own.
fn stores() -> String {
    "func @f(%p: f64, %x: [f64], %w: [f64]) -> [f64] {
       %n = len %x
       %m = len %w
       %grid = fill %n, %m, 0.5
       %r = parallel for %i in 0..%n carry (%g = %grid) {
         %v = load %x, %i
         %a, %b = while %k carry (%g1 = %g, %s = %v) {
           %over = ige %k, %m
           %big = gt %s, 1.1
           %done = or %over, %big
           exit_if %done {
             %at = imin %k, 2
             %c = mul %s, %s
             %g3 = store %g1, %i, %at, %c
             yield %g3, %s
           }
           %u = load %w, %k
           %d = fma %u, %v, %s
           %g2 = store %g1, %i, %k, %d
           %s1 = mul %d, %p
           %s2 = add %s1, 0.3
           yield %g2, %s2
         }
         yield %a
       }
       %flat = fill %n, 0.0
       %out = for %q in 0..%n carry (%o = %flat) {
         %first = load %r, %q, 0
         %last = load %r, %q, 2
         %y = mul %first, %last
         %o1 = store %o, %q, %y
         yield %o1
       }
       return %out
     }"
    .into()
}

/// Those that need it have run more iterations than the others, or fewer.
#[test]
fn adjoints_that_some_lanes_need() {
    let texts = [program(SWEPT), program(&SWEPT.replace("max", "min"))];
    agree(&texts, &[8, 17, 67], true);
}

#[test]
fn loops_that_lanes_leave_at_different_times() {
    let texts = [NEWTON, BARRIER, UNEQUAL, BRANCHES].map(program);
    agree(&texts, &SIZES, true);
}

/// All numbers of iterations of a few groups.
#[test]
fn groups_of_all_sizes() {
    let sizes: Vec<usize> = (1..=20).collect();
    agree(&[program(NEWTON), program(BARRIER)], &sizes, true);
}

#[test]
fn elements_written_until_a_lane_stops() {
    let text = stores();
    agree(std::slice::from_ref(&text), &SIZES, false);
    let [value, forward, _] = ways(&text).map(|(module, entry)| in_lockstep(&module, entry));
    assert!(value && forward);
}

/// A loop on the way out.
pub(crate) const LEAVING: &str = "
    %y = while %k carry (%s = %v) {
      %end = iand %i, 3
      %done = ige %k, %end
      exit_if %done {
        %few = iand %i, 5
        %z = for %t in 0..%few carry (%h = %s) {
          %g = sin %h
          yield %g
        }
        yield %z
      }
      %a = mul %s, %p
      %b = cos %a
      yield %b
    }";

/// Records written before a way out lie among those of lanes that go on, so with them it is run one by one; and so it is
/// where a loop on the way out writes them.
#[test]
fn records_before_a_way_out() {
    let texts = [NESTED, LEAVING].map(program);
    agree(&texts, &[9, 67], false);
    for text in &texts {
        let found = ways(text).map(|(module, entry)| in_lockstep(&module, entry));
        assert_eq!(found, [true, true, false]);
    }
}

/// Loops that fail in some iterations: 11 fails late and 13 early; from 19 on they do not end; 21 is told; 27 divides by
/// zero.
pub(crate) const FAILING: [&str; 4] = [
    "
    %late = ieq %i, 11
    %early = ieq %i, 13
    %k = iand %i, 3
    %a = select %late, 39, %k
    %b = select %early, 9, %a
    %by = select %early, 7, 1
    %y = for %t in 0..%b carry (%s = %v) {
      %place = imul %t, %by
      %at = iadd %place, 2
      %u = load %w, %at
      %z = fma %s, %p, %u
      yield %z
    }",
    "
    %late = ige %i, 19
    %lim = select %late, 1000, %i
    %y = while %k carry (%s = %v) {
      %done = ige %k, %lim
      exit_if %done { yield %s }
      %z = sin %s
      yield %z
    }",
    "
    %y = while %k carry (%s = %v) {
      %done = ige %k, %i
      exit_if %done {
        %few = ilt %k, 21
        assert %few, \"few\"
        yield %s
      }
      %z = mul %s, %p
      yield %z
    }",
    "
    %y = while %k carry (%s = %v) {
      %done = ige %k, %i
      exit_if %done { yield %s }
      %left = isub 26, %k
      %q = idiv %i, %left
      %f = itof %q
      %z = fma %f, %p, %s
      yield %z
    }",
];

/// The fault of the first iteration that fails, wherever the others stand in their loops.
#[test]
fn faults_are_those_of_one_by_one() {
    let found = FAILING.map(|body| faults(body, 100));
    assert!(matches!(found[0].0, FaultKind::Index { index: 40, len: 40, .. }), "{found:?}");
    assert!(matches!(found[1].0, FaultKind::IterationLimit { .. }), "{found:?}");
    let outer: Vec<i64> =
        found.iter().map(|(_, i)| i.last().copied().unwrap_or_default()).collect();
    assert_eq!(outer, [11, 19, 21, 27], "{found:?}");
}

/// Whether there is room on the tape does not depend on lanes: no more is written than one by one.
#[test]
fn the_tape_is_as_long_as_one_by_one() {
    for body in [NEWTON, UNEQUAL] {
        let [_, _, (reverse, entry)] = ways(&program(body));
        assert!(in_lockstep(&reverse, entry));
        let mut both = Both::of(reverse);
        let x: Vec<f64> = (0..20).map(|k| element(k, false)).collect();
        let args = [Arg::F64(0.6), Arg::Array(&x), Arg::Array(&x[..3]), Arg::Array(&x)];
        let (_, stats) = both.compiled(entry, &args);
        let words = stats.tape_peak_bytes / 8;
        for bytes in (0..=words + 1).filter(|w| *w + 40 > words || w % 13 == 0) {
            both.options.tape_limit = Some(8 * bytes);
            let (ran, _) = both.compiled(entry, &args);
            assert_eq!(ran.is_ok(), bytes >= words, "{bytes}");
        }
    }
}
