//! Several steps of a loop in one pass, natively; large arrays.

use super::{Both, all_or, array};
use wengert_core::generate::stencils::{Stencils, stencils};
use wengert_core::ir::{Module, parse};
use wengert_core::ops::Array;
use wengert_core::transform::tiles::{self, Sizes};
use wengert_runtime::Arg;

fn module(text: &str) -> Module {
    parse::module(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn random_stencils() {
    let sizes = Sizes { block: 5, blocks: 2, steps: 4 };
    let count = all_or(40, 16);
    let cases: Vec<Stencils> = (1000..1000 + count).map(stencils).collect();
    let tiled = |case: &Stencils| Module::of(tiles::steps_in(&module(&case.text).funcs[0], &sizes));
    let texts: Vec<String> = cases.iter().map(|case| tiled(case).to_string()).collect();
    let hidden = texts.iter().filter(|text| text.contains("hidden for")).count();
    assert!(hidden as u64 > 3 * count / 4, "{hidden}");
    for (case, both) in cases.iter().zip(Both::all(&texts)) {
        let plain = Both::new(&case.text);
        let arrays = case.arrays.iter().map(Arg::Shaped);
        let args: Vec<Arg> = arrays.chain(case.integers.iter().map(|i| Arg::I64(*i))).collect();
        assert_eq!(both.agree("f", &args), plain.interpreted("f", &args), "{}", case.text);
    }
}

/// As large as arrays must be for that, and for a place of their own in a page.
#[test]
fn a_long_line() {
    let text = "func @f(%x: [f64], %n: i64) -> [f64] {
        %k = len %x
        %z = fill %k, 0.0
        %b = wsub %k, 1
        %u, %w = for %t in 0..%n carry (%u1 = %x, %w1 = %z) {
          %w2 = for %i in 0..1 carry (%v = %w1) {
            %c = peek %u1, %i
            %v1 = poke %v, %i, %c
            yield %v1
          }
          %w3 = for %i2 in 1..%b carry (%v2 = %w2) {
            %il = wadd -1, %i2
            %l = peek %u1, %il
            %ih = wadd 1, %i2
            %h = peek %u1, %ih
            %c2 = peek %u1, %i2
            %d = add %l, %h
            %e = fma 0.3, %d, %c2
            %v3 = poke %v2, %i2, %e
            yield %v3
          }
          %w4 = for %i3 in %b..%k carry (%v4 = %w3) {
            %c3 = peek %u1, %i3
            %v5 = poke %v4, %i3, %c3
            yield %v5
          }
          yield %w4, %u1
        }
        return %u
      }";
    let plain = module(text);
    let both = Both::of(Module::of(tiles::steps(&plain.funcs[0])));
    assert!(both.module.to_string().contains("hidden for"));
    for (size, n) in [(40_001, 7), (32_768, 8), (5_000, 3)] {
        let x: Vec<f64> = (0..size).map(|k| f64::from(k).sin()).collect();
        let args = [Arg::Array(&x), Arg::I64(n)];
        let wanted = Both::of(plain.clone()).interpreted("f", &args);
        assert_eq!(both.compiled("f", &args).0, wanted);
    }
    // One element alone, to know what is compared.
    let ran = both.compiled("f", &[Arg::Array(&[2.5]), Arg::I64(1)]).0;
    assert_eq!(ran.map(|out| out[0].clone()), Ok(array(&Array::vector(vec![2.5]))));
}
