//! A program that keeps running changes to the code of the C compiler, and nothing else changes.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wengert_core::ir::parse;
use wengert_runtime::cc::cache::Cache;
use wengert_runtime::cc::toolchain::Toolchain;
use wengert_runtime::tiers::WORTH;
use wengert_runtime::{Arg, Options, Tiered};

const TEXT: &str = "
    func @f(%x: f64, %n: i64) -> f64 {
      %y = for %i in 0..%n carry (%h = %x) {
        %a = sin %h
        %b = fma %a, FACTOR, %x
        yield %b
      }
      return %y
    }";

#[test]
fn the_code_changes_and_the_bits_do_not() {
    // A program that nobody has compiled before.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let module = parse::module(&TEXT.replace("FACTOR", &format!("0.5{now}"))).unwrap();
    let program = Tiered::compile(&module, &["f"]).unwrap();
    let run = |n: i64| program.call("f", &[Arg::F64(0.3), Arg::I64(n)], &Options::default());
    let wanted = run(1000).unwrap();
    // Short runs start no compiler.
    for _ in 0..10 {
        assert_eq!(run(1000).unwrap(), wanted);
    }
    std::thread::sleep(Duration::from_millis(20));
    assert!(!program.is_through_c());
    let begin = Instant::now();
    while begin.elapsed() < 2 * WORTH {
        run(1_000_000).unwrap();
    }
    if Toolchain::get().is_none() {
        return;
    }
    while !program.is_through_c() {
        assert!(begin.elapsed() < Duration::from_secs(120), "the compiler takes too long");
        assert_eq!(run(1000).unwrap(), wanted);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(run(1000).unwrap(), wanted);
    // What is there is used from the first call on.
    if Cache::of_user().is_ok() {
        let again = Tiered::compile(&module, &["f"]).unwrap();
        assert!(again.is_through_c());
        let run = again.call("f", &[Arg::F64(0.3), Arg::I64(1000)], &Options::default());
        assert_eq!(run.unwrap(), wanted);
    }
}
