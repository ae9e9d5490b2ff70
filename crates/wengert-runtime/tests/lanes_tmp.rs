//! Temporary.
use std::num::NonZeroUsize;
use wengert_core::interp::Val;
use wengert_core::ir::parse;
use wengert_runtime::{Arg, Options, Program};
#[test]
fn tmp() {
    let text = std::fs::read_to_string("/tmp/e_he.txt").unwrap();
    let module = parse::module(&text).unwrap();
    let c = wengert_runtime::cc::text(&module, &["price.vjp"]).unwrap();
    std::fs::write("/tmp/e_out.c", &c).unwrap();
    let _ = |v: Val| v;
    let p = Program::compile(&module, &["price.vjp"]).unwrap();
    let q = Program::compile_c(&module, &["price.vjp"]).unwrap();
    for (n, steps) in
        [(1usize, 3usize), (7, 3), (8, 3), (9, 4), (16, 1), (40, 7), (600, 3), (5000, 11)]
    {
        let z: Vec<f64> = (0..n * steps).map(|k| ((k * k + 13) % 97) as f64 / 50.0 - 0.9).collect();
        let z = wengert_core::ops::Array {
            shape: vec![n, steps],
            data: wengert_core::ops::Data::F64(z),
        };
        let args = vec![
            Arg::Shaped(&z),
            Arg::Shaped(&z),
            Arg::F64(0.04),
            Arg::F64(2.0),
            Arg::F64(0.05),
            Arg::F64(0.3),
            Arg::F64(-0.7),
            Arg::F64(0.02),
            Arg::F64(1.0),
        ];
        for threads in [1, 2] {
            let o = Options { threads: NonZeroUsize::new(threads), ..Options::default() };
            eprintln!("{n} {steps} {threads}");
            let a = p.call("price.vjp", &args, &o).unwrap();
            let b = q.call("price.vjp", &args, &o).unwrap();
            assert_eq!(a.0, b.0, "{n} {steps}");
        }
    }
}
