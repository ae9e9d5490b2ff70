//! Rust text through the front end, against the same text compiled by rustc.
use wengert_core::surface::rust;
#[test]
fn smoke() {
    let text = "
fn f(x: &[f64], k: f64) -> f64 {
    let mut s = 0.0;
    for (i, v) in x.iter().enumerate() {
        if i % 2 == 0 { s += v.sin() * k } else { s -= v / (1.0 + s * s) }
    }
    let m: f64 = x.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum();
    let g = |a: f64| { if a > 1.0 { return 2.0 * a; } a * a };
    'o: for i in 0..x.len() { for j in (0..i).rev() { if x[j] > x[i] { continue 'o; } if x[j] > 5.0 { break 'o; } s += g(x[j]); } }
    let r = loop { s *= 0.5; if s < 1.0 { break s + m } };
    match x.len() { 0 => 0.0, 1 | 2 => r, n if n > 100 => 1.0, _ => r + g(m) }
}";
    let parsed = rust::parse(text).unwrap_or_else(|e| panic!("{e:#?}"));
    println!("{}", wengert_core::surface::print::module(&parsed.module));
}
