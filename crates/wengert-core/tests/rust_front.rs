//! Rust that is refused, and where: what is accepted is tested by running it, in crate wengert.

use wengert_core::surface::rust;

/// Bodies of a function of `x: f64`, `n: usize`, `v: &[f64]` and `w: &mut [f64]` with a float as its result: the code of the
/// error, and the text it points to.
#[rustfmt::skip]
const BODIES: &[(&str, &str, &str)] = &[
    (r#"let s = "a"; x"#, "unsupported-syntax", r#""a""#),
    (r#"println!("{x}"); x"#, "unsupported-syntax", r#"println!("{x}");"#),
    ("let y = vec![]; x", "unsupported-syntax", "vec![]"),
    ("let mut y = vec![0.0]; y.push(x); x", "unsupported-syntax", "push"),
    ("v.first().copied().unwrap()", "unsupported-syntax", "first"),
    ("v.iter().max()", "unsupported-syntax", "max"),
    ("unsafe { x }", "unsupported-syntax", "unsafe { x }"),
    ("let p = Point { a: x }; p.a", "unsupported-type", "Point"),
    ("struct P { a: f64 } let p = P { b: x }; x", "undefined-variable", "b"),
    ("struct P { a: f64 } let p = P { a: x }; p.b", "undefined-variable", "b"),
    ("struct P { a: f64, b: f64 } let p = P { a: x }; x", "type", "P { a: x }"),
    ("struct P { a: f64 } let p = P { a: n }; x", "type", "n"),
    ("struct P(f64, f64); let p = P(x); x", "argument-count", "P(x)"),
    ("struct P(f64, f64); let P(a) = P(x, x); a", "tuple-length", "P(a)"),
    ("struct P { a: f64 } let p = P { a: x }; p + p", "unsupported-syntax", "p + p"),
    ("struct P { a: f64 } let p = P { a: x }; p", "type", "p"),
    ("struct P { a: f64 } let p = [[P { a: x }]]; x", "unsupported-syntax", "[P { a: x }]"),
    ("struct P { a: f64 } let p = vec![[P { a: x }]; n]; x", "unsupported-syntax", "vec![[P { a: x }]; n]"),
    ("struct P { a: f64 } let p = [P { a: x }, x]; x", "type", "[P { a: x }, x]"),
    ("struct P { a: f64 } let p = vec![P { a: x }; n]; p.windows(2).count() as f64", "type", "p"),
    ("struct P { a: f64 } let p = vec![P { a: x }; n]; p.split_at(1).0[0].a", "unsupported-syntax", "split_at"),
    ("struct P { a: f64 } let p = vec![P { a: x }; n]; p[0]", "type", "p[0]"),
    ("struct P { a: f64 } let p = vec![P { a: x }; n]; p[0].b", "undefined-variable", "b"),
    ("struct P { a: f64 } let p: Vec<P> = v.iter().map(|b| P { a: *b }).collect(); x", "unsupported-syntax", "v.iter().map(|b| P { a: *b })"),
    ("struct P { a: f64 } let (mut p, mut q) = (P { a: x }, P { a: x }); let mut r = &mut p; r = &mut q; x", "unsupported-syntax", "r"),
    ("let (mut a, mut b) = (x, x); let mut r = &mut a; r = &mut b; x", "unsupported-syntax", "r"),
    ("struct P { a: f64 } let p = P { a: x }; p.len()", "undefined-function", "len"),
    ("struct P { a: f64 } impl P { fn get(&self) -> f64 { self.a } } P { a: x }.gte()", "undefined-function", "gte"),
    ("struct P { a: f64 } impl P { fn new() -> f64 { 1.0 } } P { a: x }.new()", "type", "new"),
    ("struct P { a: f64 } impl P { fn get(&self) -> f64 { self.a } } P { a: x }.get(x)", "argument-count", "P { a: x }.get(x)"),
    ("struct P { a: f64 } P::new(x).a", "undefined-function", "P::new"),
    ("struct P { a: String } let p: P = q; x", "unsupported-type", "String"),
    ("struct P<'a> { a: &'a [f64] } let p: P = q; x", "unsupported-type", "<'a>"),
    ("struct P<T> { a: T } let p: P<f64> = q; x", "unsupported-type", "P<f64>"),
    ("struct P { a: P } let p: P = q; x", "nesting-too-deep", "P"),
    ("match n { Some(k) => x, _ => x }", "unsupported-syntax", "Some(k)"),
    ("x.foo()", "unsupported-function", "foo"),
    ("v.sort(); x", "unsupported-syntax", "sort"),
    ("let mut y = v.to_vec(); y.sort_by(|a, b| a.partial_cmp(b).unwrap()); y[0]", "unsupported-syntax", "sort_by"),
    ("x?", "unsupported-syntax", "x?"),
    ("async { x }", "unsupported-syntax", "async { x }"),
    ("let y = x as usize as char; x", "unsupported-type", "char"),
    ("break; x", "syntax", "break"),
    ("'a: for i in 0..n { break 'b; } x", "syntax", "break 'b"),
    ("loop { }", "unsupported-syntax", "loop"),
    ("for i in 0.. { } x", "unsupported-syntax", "0.."),
    ("let it = v.iter(); x", "unsupported-syntax", "v.iter()"),
    ("for i in 0.0..x { } x", "type", "0.0"),
    ("if let 1 = n { x } else { x }", "unsupported-syntax", "let 1 = n"),
    ("let Some(y) = v.get(0) else { return x }; y", "unsupported-syntax", "{ return x }"),
    ("match n { 0 => x, 1 => x }", "unsupported-syntax", "match n { 0 => x, 1 => x }"),
    ("match x { _ if { let t = 1.0; t > x } => x, _ => x }", "unsupported-syntax", "{ let t = 1.0; t > x }"),
    ("y + x", "undefined-variable", "y"),
    ("sinn(x)", "undefined-function", "sinn"),
    ("f(x)", "argument-count", "f(x)"),
    ("g(x)", "undefined-function", "g"),
    ("x + n", "type", "x"),
    ("x + 1", "type", "x"),
    ("n as f64 + true", "type", "n as f64"),
    ("-n as f64", "type", "-n"),
    ("!x", "type", "!x"),
    ("if x { 1.0 } else { 2.0 }", "type", "x"),
    ("if n { 1.0 } else { 2.0 }", "type", "n"),
    ("let y: u128 = 3; x", "unsupported-type", "u128"),
    ("let y = 99999999999999999999; x", "unsupported-syntax", "99999999999999999999"),
    ("x.to_bits() as f64", "unsupported-syntax", "to_bits"),
    ("n.checked_add(1).unwrap() as f64", "unsupported-syntax", "checked_add"),
    ("(n as u64).wrapping_mul(3) as f64", "unsupported-syntax", "wrapping_mul"),
    ("v[x]", "type", "x"),
    ("v[1.0]", "type", "1.0"),
    ("v[0][1]", "type", "v[0]"),
    ("x[0]", "type", "x"),
    ("x.0", "type", "x.0"),
    ("(x, x).2", "type", "(x, x).2"),
    ("(x, x)", "type", "(x, x)"),
    ("true", "type", "true"),
    ("n", "type", "n"),
    ("let (a, b) = (x, x, x); a", "tuple-length", "(a, b)"),
    ("let [a, b] = v; a", "unsupported-syntax", "[a, b]"),
    ("let y = |a| a; y", "unsupported-syntax", "y"),
    ("let y = |a: f64| a; y(x, x)", "argument-count", "y(x, x)"),
    ("let r = if n > 1 { &mut w[0] } else { &mut w[1] }; *r", "unsupported-syntax", "if n > 1 { &mut w[0] } else { &mut w[1] }"),
    ("*v = 1.0; x", "type", "1.0"),
    ("x.sin", "unsupported-syntax", "x.sin"),
    ("x = 1.0; f", "unsupported-syntax", "f"),
    ("v.iter().filter(|a| **a > x).rev().sum()", "unsupported-syntax", "rev"),
    ("v.iter().filter(|a| **a > x).collect::<Vec<f64>>()[0]", "unsupported-syntax", "v.iter().filter(|a| **a > x)"),
    ("v.iter().map(|a| v.to_vec()).collect::<Vec<_>>()[0][0]", "unsupported-syntax", "v.iter().map(|a| v.to_vec()).collect::<Vec<_>>()"),
    ("v.iter().scan(0.0, |a, b| Some(*a)).sum()", "unsupported-function", "scan"),
    ("v.iter().chain(w.iter()).sum()", "unsupported-function", "chain"),
    ("enum E { A } x", "unsupported-syntax", "E"),
    ("impl S {} x", "unsupported-type", "S"),
    ("struct S; impl<T> S { } x", "unsupported-syntax", "T"),
    ("mod m {} x", "unsupported-syntax", "m"),
    ("static mut Q: f64 = 1.0; x", "unsupported-syntax", "Q"),
    ("macro_rules! m { () => {} } x", "unsupported-syntax", "macro_rules! m { () => {} }"),
    ("use std::f64::consts::PI; PI * z", "undefined-variable", "z"),
    (r#"format!("").len() as f64"#, "unsupported-syntax", r#"format!("")"#),
    ("dbg!(x)", "unsupported-syntax", "dbg!(x)"),
    ("my_macro!(x)", "unsupported-syntax", "my_macro!(x)"),
    ("1 + 2;", "type", "1 + 2;"),
    ("Some(x)", "unsupported-syntax", "Some"),
    ("Vec::new()", "unsupported-syntax", "Vec::new"),
    ("std::process::exit(1)", "undefined-function", "std::process::exit"),
    ("x.powi(x)", "type", "x"),
    ("x.powf(2)", "type", "2"),
    ("x.max(1, 2)", "unsupported-function", "max"),
    ("_", "unsupported-syntax", "_"),
    ("const { 1.0 }", "unsupported-syntax", "const { 1.0 }"),
    ("return", "type", "return"),
    ("return (x, x)", "type", "return (x, x)"),
    ("let a = [1.0, 2]; x", "type", "2"),
    ("let a = [x; n]; x", "unsupported-syntax", "n"),
    ("w.copy_from_slice(x); x", "type", "x"),
    ("std::mem::swap(&mut w[0], &mut n); x", "type", "std::mem::swap(&mut w[0], &mut n)"),
    ("let t = (x, x); let r = &mut t; x", "unsupported-syntax", "t"),
    ("v.iter().fold(0.0, 3)", "unsupported-syntax", "3"),
    ("let mut y = x; let mut z = x; let r; if n > 1 { r = &mut y; } else { r = &mut z; } *r = 1.0; y", "unsupported-syntax", "&mut y"),
    ("let mut y = x; let mut z = x; let mut r = &mut y; *r = 1.0; r = &mut z; *r = 2.0; y", "unsupported-syntax", "r"),
    ("let mut y = x; let mut z = x; let all = [&mut y, &mut z]; *all[n] = 1.0; y", "unsupported-syntax", "&mut y"),
    ("let mut y = x; let mut z = x; let (mut r, mut s) = (&mut y, &mut z); std::mem::swap(&mut r, &mut s); *r = 1.0; y", "unsupported-syntax", "std::mem::swap(&mut r, &mut s)"),
    ("let (mut a, mut b) = ([x; 9], [1.0; 9]); let (mut r, mut s) = (&mut a, &mut b); std::mem::swap(&mut r, &mut s); r[0] = 2.0; a[0]", "unsupported-syntax", "std::mem::swap(&mut r, &mut s)"),
    ("let mut y = x; let g; if n > 1 { g = |a: f64| a; } else { g = |a: f64| a; } g(y)", "unsupported-syntax", "|a: f64| a"),
    ("f64::from_bits(3)", "unsupported-syntax", "f64::from_bits"),
    ("let g = f64::sin; g(x)", "unsupported-syntax", "f64::sin"),
    ("let all = [|a: f64| a]; x", "unsupported-syntax", "|a: f64| a"),
    ("let q; q", "undefined-variable", "q"),
    ("let y = x; let y = &mut y; *y.foo", "unsupported-syntax", "y.foo"),
];

/// Whole texts.
#[rustfmt::skip]
const TEXTS: &[(&str, &str, &str)] = &[
    ("fn f(s: &str) -> f64 { 1.0 }", "unsupported-type", "str"),
    ("fn f(s: String) -> f64 { 1.0 }", "unsupported-type", "String"),
    ("fn f<T>(x: T) -> T { x }", "unsupported-syntax", "T"),
    ("fn f<const B: bool>(x: f64) -> f64 { x }", "unsupported-syntax", "const B: bool"),
    ("fn f<const N: usize>(x: [f64; N + 1]) -> f64 { x[0] }", "unsupported-syntax", "N + 1"),
    ("fn g<const N: usize>() -> f64 { N as f64 } fn f(x: f64) -> f64 { x * g() }", "unsupported-type", "g"),
    ("fn g<const N: usize>(x: [f64; N]) -> f64 { x[0] } fn f(x: [f64; 2]) -> f64 { g(x, 1.0) }", "argument-count", "g(x, 1.0)"),
    ("fn f(x: Option<f64>) -> f64 { 1.0 }", "unsupported-type", "Option<f64>"),
    ("fn f(x: &dyn Fn(f64) -> f64) -> f64 { 1.0 }", "unsupported-type", "dyn Fn(f64) -> f64"),
    ("fn f(x: impl Fn(f64) -> f64) -> f64 { 1.0 }", "unsupported-type", "impl Fn(f64) -> f64"),
    ("fn f(x: fn(f64) -> f64) -> f64 { 1.0 }", "unsupported-type", "fn(f64) -> f64"),
    ("fn f(x: *const f64) -> f64 { 1.0 }", "unsupported-type", "*const f64"),
    ("fn f(x: Vec<Vec<f64>>) -> f64 { 1.0 }", "unsupported-type", "Vec<Vec<f64>>"),
    ("fn f(x: [(f64, f64); 2]) -> f64 { 1.0 }", "unsupported-type", "[(f64, f64); 2]"),
    ("fn f(x: Point) -> f64 { 1.0 }", "unsupported-type", "Point"),
    ("fn f(x: &[f64]) -> &f64 { &x[0] }", "unsupported-syntax", "&f64"),
    ("fn f(x: [f64]) -> f64 { 1.0 }", "unsupported-type", "[f64]"),
    ("fn f(x: [f64; N]) -> f64 { 1.0 }", "unsupported-syntax", "N"),
    ("#[nondiff] fn f(x: f64) -> f64 { x }", "unsupported-syntax", "#[nondiff]"),
    ("fn f(#[nondiff(a)] x: f64) -> f64 { x }", "unsupported-syntax", "#[nondiff(a)]"),
    ("fn f(x: Box<dyn Fn(f64) -> f64>) -> f64 { x(1.0) }", "unsupported-type", "Box<dyn Fn(f64) -> f64>"),
    ("async fn f(x: f64) -> f64 { x }", "unsupported-syntax", "f"),
    ("unsafe fn f(x: f64) -> f64 { x }", "unsupported-syntax", "f"),
    (r#"extern "C" fn f(x: f64) -> f64 { x }"#, "unsupported-syntax", "f"),
    ("fn f(&self) -> f64 { 1.0 }", "unsupported-syntax", "&self"),
    ("fn f(x: Self) -> f64 { 1.0 }", "unsupported-type", "Self"),
    ("struct P { a: f64 } fn f(x: &[[P; 2]]) -> f64 { 1.0 }", "unsupported-type", "[P; 2]"),
    ("struct P { a: Vec<f64> } fn f(x: &[P]) -> f64 { 1.0 }", "unsupported-type", "P"),
    ("struct P; fn f(x: &[P]) -> f64 { 1.0 }", "unsupported-type", "P"),
    ("fn f(x: ArrayView<f64, Ix2>) -> f64 { 1.0 }", "unsupported-type", "ArrayView<f64, Ix2>"),
    ("fn f(x: ArrayD<f64>) -> f64 { 1.0 }", "unsupported-type", "ArrayD<f64>"),
    ("fn f(x: Array2<(f64, f64)>) -> f64 { 1.0 }", "unsupported-type", "Array2<(f64, f64)>"),
    ("fn f(x: Array1) -> f64 { 1.0 }", "unsupported-type", "Array1"),
    ("fn f(x: &ArrayView2<f64>) -> f64 { 1.0 }", "unsupported-type", "&ArrayView2<f64>"),
    ("fn f(x: &[Array1<f64>]) -> f64 { 1.0 }", "unsupported-type", "Array1<f64>"),
    ("fn f(x: (ArrayView1<f64>, f64)) -> f64 { 1.0 }", "unsupported-type", "ArrayView1<f64>"),
    ("fn f(x: ArrayView1<f64>) -> ArrayView1<f64> { x }", "unsupported-syntax", "ArrayView1<f64>"),
    ("struct P { a: Array1<f64> } fn f(x: Vec<P>) -> f64 { 1.0 }", "unsupported-type", "Vec<P>"),
    ("fn f(x: ArrayView2<f64>) -> f64 { x[[1]] }", "unsupported-syntax", "x[[1]]"),
    ("fn f(x: ArrayView2<f64>) -> f64 { x[(0, 1, 2)] }", "unsupported-syntax", "x[(0, 1, 2)]"),
    ("fn f(mut x: ArrayViewMut2<f64>) { for v in x.iter_mut() { *v = 1.0; } }", "unsupported-syntax", "x"),
    ("fn f(mut x: ArrayViewMut2<f64>) { for v in x { *v = 1.0; } }", "unsupported-syntax", "*v"),
    ("fn f(x: &Array2<f64>) -> f64 { x.mapv(f64::sin).sum() }", "unsupported-function", "mapv"),
    ("fn f(x: &Array2<f64>, y: &Array1<f32>) -> f64 { x.dot(y).sum() }", "type", "y"),
    ("fn f(x: &Array2<f64>) -> f64 { (x * 2.0).sum() }", "type", "x"),
    ("fn f(x: f64) -> Array2<f64> { Array2::zeros(3) }", "unsupported-syntax", "Array2::zeros(3)"),
    ("struct P { a: Vec<Vec<f64>> } fn f(x: P) -> f64 { 1.0 }", "unsupported-type", "Vec<Vec<f64>>"),
    ("struct P { a: f64 } impl P { type Q = f64; }", "unsupported-syntax", "type Q = f64;"),
    ("struct P { a: f64 } impl P { fn f(&self) {} fn f(&self) {} }", "duplicate-definition", "f"),
    ("struct P { a: f64 } impl P { fn f(&self) -> &f64 { &self.a } }", "unsupported-syntax", "&f64"),
    (r#"#[cfg(feature = "a")] fn f(x: f64) -> f64 { x }"#, "unsupported-syntax", r#"#[cfg(feature = "a")]"#),
    ("fn f(x: Box<f64>) -> f64 { *x }", "unsupported-type", "Box<f64>"),
    ("fn f(x: i128) -> f64 { 1.0 }", "unsupported-type", "i128"),
    ("fn f(x: f64) -> ! { panic!() }", "unsupported-type", "!"),
    ("fn f(x: &(f64, f64)) -> f64 { x.0 }", "unsupported-syntax", "&(f64, f64)"),
    ("fn f(x: f64) -> f64 { x } fn f(y: f64) -> f64 { y }", "duplicate-definition", "f"),
    ("fn f(x: std::collections::HashMap<u8, f64>) -> f64 { 1.0 }", "unsupported-type", "std::collections::HashMap<u8, f64>"),
    ("trait T {}", "unsupported-syntax", "T"),
    ("const C: f64 = { let a = 1.0; a }; fn f(x: f64) -> f64 { x * C }", "unsupported-syntax", "{ let a = 1.0; a }"),
    ("fn f(x: f64) -> f64 { x + }", "syntax", "}"),
];

/// That a text is refused for this reason, at this place.
fn refused(text: &str, code: &str, place: &str) {
    let errors = match rust::parse(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(errors) => errors,
    };
    let error = &errors[0];
    assert_eq!(error.code, code, "{text}: {error:?}");
    let (span, _) = &error.labels[0];
    assert_eq!(&text[span.start as usize..span.end as usize], place, "{text}: {error:?}");
    // What Rust itself would refuse says what is needed; all else says the way out.
    let plain = ["type", "syntax", "argument-count", "tuple-length"].contains(&code);
    assert!(plain || error.help.is_some(), "{text}: {error:?}");
}

#[test]
fn bodies() {
    for (body, code, place) in BODIES {
        let text = format!("fn f(x: f64, n: usize, v: &[f64], w: &mut [f64]) -> f64 {{ {body} }}");
        refused(&text, code, place);
    }
}

#[test]
fn texts() {
    for (text, code, place) in TEXTS {
        refused(text, code, place);
    }
}

/// Deep nesting is an error, and no end of the stack.
#[test]
fn nesting() {
    let deep = format!("fn f(x: f64) -> f64 {{ {}x{} }}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(rust::parse(&deep).unwrap_err()[0].code, "nesting-too-deep");
    let blocks = format!(
        "fn f(x: f64) -> f64 {{ {}x{} }}",
        "{ if x > 0.0 { ".repeat(90),
        "} else { x } }".repeat(90)
    );
    assert_eq!(rust::parse(&blocks).unwrap_err()[0].code, "nesting-too-deep");
}

/// What comes out reads like the same program in Python.
#[test]
fn a_tree() {
    let text = "fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for (i, v) in x.iter().enumerate().rev() {
            s += if i > 2 { v.sin() } else { continue };
        }
        s
    }";
    let printed = wengert_core::surface::print::module(&rust::parse(text).unwrap().module);
    let wanted = "def f(x: npt.NDArray[np.float64]):
    s = 0.0
    for k in range(len(x)):
        t = len(x)
        t_2 = t - 1 - k
        i = t_2
        v = x[np.rust.index(t_2)]
        if i > 2:
            t_3 = np.sin(v)
        else:
            continue
        s += t_3
    return s
";
    assert!(printed.ends_with(wanted), "{printed}");
}
