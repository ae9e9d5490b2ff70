//! Several steps in one pass give the bits of one step after the other.

use wengert_core::check::{Random, bits};
use wengert_core::generate::stencils::{Stencils, stencils};
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Func, Module, parse, verify};
use wengert_core::transform::tiles::{self, Sizes};

const SMALL: Sizes = Sizes { block: 1, blocks: 2, steps: 4 };

fn run(module: &Module, args: &[Val]) -> Vec<u64> {
    let values = Interp::new(module).call("f", args.to_vec());
    bits(&values.unwrap_or_else(|e| panic!("{e:?}\n{module}")))
}

/// Whether loops of a function take several steps in one pass.
fn is_tiled(func: &Func) -> bool {
    func.to_string().contains("hidden for")
}

/// Compares a program with what becomes of it.
fn same(text: &str, args: &[Val], sizes: &Sizes) -> bool {
    let module = parse::module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify::module(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let after = Module::of(tiles::steps_in(&module.funcs[0], sizes));
    verify::module(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
    assert_eq!(run(&module, args), run(&after, args), "{args:?}\n{module}\n{after}");
    is_tiled(&after.funcs[0])
}

#[test]
fn random_stencils() {
    let mut tiled = 0;
    for seed in 0..600 {
        let Stencils { text, arrays, integers } = stencils(seed);
        let args: Vec<Val> =
            arrays.into_iter().map(Val::shaped).chain(integers.map(Val::i64)).collect();
        let mut random = Random(seed);
        let block = 1 + random.below(3) as i64 * random.below(20) as i64;
        let sizes =
            Sizes { block, blocks: 1 + random.below(4) as i64, steps: 4 + random.below(6) as i64 };
        tiled += i32::from(same(&text, &args, &sizes));
    }
    assert!(tiled > 500, "{tiled}");
}

/// One array made of another, `body` making the number that is written, and what is yielded.
fn line(body: &str, yields: &str) -> String {
    format!(
        "func @f(%x: [f64], %z: [f64], %n: i64, %r: i64) -> ([f64], [f64]) {{
           %k = len %x
           %m = wsub 0, %r
           %b = wsub %k, %r
           %p, %q = for %t in 0..%n carry (%u = %x, %w = %z) {{
             %w1 = for %i in 0..%k carry (%v = %w) {{
               {body}
               %v1 = poke %v, %i, %e
               yield %v1
             }}
             yield {yields}
           }}
           return %p, %q
         }}"
    )
}

const NEAR: &str = "%c = peek %u, %i
    %lo = ile %r, %i
    %hi = ilt %i, %b
    %in = and %lo, %hi
    %s = if %in {
      %il = wadd %i, %m
      %l = peek %u, %il
      %ih = wadd %i, %r
      %h = peek %u, %ih
      %d = add %l, %h
      yield %d
    } else {
      yield 0.5
    }
    %e = fma 0.25, %s, %c";

#[test]
fn any_size_radius_and_number_of_steps() {
    let text = line(NEAR, "%w1, %u");
    for size in [0, 1, 2, 5, 17, 40] {
        let elements = |from: f64| (0..size).map(|k| (from + k as f64).sin()).collect::<Vec<f64>>();
        for n in -1..10 {
            for r in [0, 1, 2, 3, 7, 50] {
                let args = [
                    Val::array(elements(0.3)),
                    Val::array(elements(4.0)),
                    Val::i64(n),
                    Val::i64(r),
                ];
                assert!(same(&text, &args, &SMALL));
            }
        }
    }
}

/// A distance so large that intervals would wrap is not believed.
#[test]
fn large_numbers() {
    let body = "%above = ilt 50, %r
        %below = ilt %r, -50
        %far = or %above, %below
        %s = if %far {
          yield 0.5
        } else {
          %ih = wadd %i, %r
          %low = ile 0, %ih
          %high = ilt %ih, %k
          %in = and %low, %high
          %h = if %in {
            %h1 = peek %u, %ih
            yield %h1
          } else {
            yield 0.25
          }
          yield %h
        }
        %some = ile 1, %i
        %before = if %some {
          %il = wadd -1, %i
          %l = peek %u, %il
          yield %l
        } else {
          yield 0.125
        }
        %e = fma 0.5, %before, %s";
    let text = line(body, "%w1, %u");
    for r in [0, 3, 1 << 40, -(1 << 60) - 1, i64::MAX, i64::MIN, i64::MIN + 3] {
        let elements: Vec<f64> = (0..30).map(|k| f64::from(k).sin()).collect();
        let args = [Val::array(elements.clone()), Val::array(elements), Val::i64(9), Val::i64(r)];
        assert!(same(&text, &args, &SMALL));
    }
}

/// What depends on all of a step, can fail or be seen, or moves with time stays as it is.
#[test]
fn other_loops_stay() {
    let still = [
        line("%e = dot %u, %u", "%w1, %u"),
        line("%e = load %u, %i", "%w1, %u"),
        line("%j = imod %i, 3  %e = peek %u, %j", "%w1, %u"),
        line("%a = peek %u, %i  %o = ftoi %a  %j = wadd %o, %i  %e = peek %u, %j", "%w1, %u"),
        line(
            "%j = wsub %i, %t  %c = ile 0, %j  %e = if %c { %a = peek %u, %j yield %a } else { yield 1.0 }",
            "%w1, %u",
        ),
    ];
    for text in still {
        let module = parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert!(!is_tiled(&tiles::steps(&module.funcs[0])), "{text}");
    }
    let text = line("%e = peek %u, %i", "%w1, %u");
    let module = parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(is_tiled(&tiles::steps(&module.funcs[0])), "{text}");
}

/// An empty pass far away from the others: what is computed from its ends wraps.
#[test]
fn bounds_that_are_large() {
    let text = "func @f(%x: [f64], %z: [f64], %n: i64, %b: i64) -> ([f64], [f64]) {
          %k = len %x
          %k1 = wsub %k, 1
          %p, %q = for %t in 0..%n carry (%u = %x, %w = %z) {
            %w1 = for %i in 0..%k carry (%v = %w) {
              %c = peek %v, %i
              %e = add %c, 1.0
              %v1 = poke %v, %i, %e
              yield %v1
            }
            %u1 = for %i2 in 0..%k1 carry (%va = %u) {
              %j2 = wadd %i2, 1
              %c2 = peek %w1, %j2
              %e2 = add %c2, 1.0
              %va1 = poke %va, %i2, %e2
              yield %va1
            }
            %w2 = for %i3 in %b..%b carry (%vb = %w1) {
              %j3 = wadd %i3, 2
              %c3 = peek %u1, %j3
              %e3 = add %c3, 1.0
              %vb1 = poke %vb, %i3, %e3
              yield %vb1
            }
            yield %w2, %u1
          }
          return %p, %q
        }";
    let line = |first: u32| Val::array((first..first + 20).map(f64::from).collect());
    for far in [0, 5, -1 << 62, i64::MIN, i64::MAX, -6_148_914_691_236_517_205] {
        let args = [line(3), line(7), Val::i64(5), Val::i64(far)];
        assert!(same(text, &args, &SMALL), "not tiled");
    }
}
