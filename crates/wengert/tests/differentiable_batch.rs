//! `#[differentiable(batch(..))]`: many members on threads, the bits of each alone.

use wengert::{Function, differentiable};

#[differentiable(batch(a))]
fn root(a: f64, x0: f64) -> f64 {
    let mut x = x0;
    while (x * x - a).abs() > 1e-12 {
        x -= (x * x - a) / (2.0 * x);
    }
    x
}

const ROOT: &str = "
def root(a, x0):
    x = x0
    while abs(x * x - a) > 1e-12:
        x -= (x * x - a) / (2.0 * x)
    return x
";

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|k| 1.5 + (k as f64 * 0.37).sin() + k as f64 * 0.01).collect()
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn members_have_the_bits_they_have_alone() {
    let a = numbers(137);
    let (values, (by_a, by_x0)) = root::batch().value_and_grad(&a, 1.0);
    let alone: Vec<(f64, (f64, f64))> = a.iter().map(|a| root::value_and_grad(*a, 1.0)).collect();
    assert_eq!(bits(&values), bits(&alone.iter().map(|m| m.0).collect::<Vec<_>>()));
    assert_eq!(bits(&by_a), bits(&alone.iter().map(|m| m.1.0).collect::<Vec<_>>()));
    let shared: f64 = alone.iter().map(|m| m.1.1).sum();
    assert!((by_x0 - shared).abs() < 1e-12);
    assert_eq!(root::batch().value(&a, 1.0), values);
    assert_eq!(root::batch().grad(&a, 1.0), (by_a, by_x0));
}

/// What is shared is summed as `Function::batch` sums it.
#[test]
fn the_same_bits_on_any_threads_and_as_text() {
    let function = Function::from_source(ROOT, "root").unwrap();
    for count in [1, 2, 3, 8, 100, 257] {
        let a = numbers(count);
        let one = root::batch().threads(1).value_and_grad(&a, 1.0);
        for threads in [2, 3, 8] {
            let some = root::batch().threads(threads).value_and_grad(&a, 1.0);
            assert_eq!(bits(&some.0), bits(&one.0));
            assert_eq!(bits(&some.1.0), bits(&one.1.0));
            assert_eq!(some.1.1.to_bits(), one.1.1.to_bits(), "{count} on {threads}");
        }
        let text = function.batch(["a"]).value_and_grad((a.clone(), 1.0), ["a", "x0"]).unwrap();
        assert_eq!(bits(&text.values), bits(&one.0));
        let own = text.get("a").and_then(|d| d.as_slice()).unwrap();
        assert_eq!(bits(own), bits(&one.1.0));
        let shared = text.get("x0").and_then(|d| d.as_f64()).unwrap();
        assert_eq!(shared.to_bits(), one.1.1.to_bits(), "{count} members");
    }
}

#[differentiable(batch(x, n, start))]
fn walk(w: &[f64], x: &[f64], n: usize, start: (f64, [f64; 2]), scale: [f64; 2]) -> f64 {
    let (mut y, v) = start;
    for i in 0..n {
        y = (w[i % w.len()] * y + x[i % x.len()] * v[i % 2]).sin() * scale[i % 2];
    }
    y
}

#[test]
fn members_of_every_kind() {
    let w = [0.7, -1.2, 0.4];
    let x = [vec![0.1, 0.2], vec![1.0], vec![-0.5, 0.25, 0.75]];
    let (n, scale) = ([5, 0, 300], [1.1, 0.9]);
    let start = [(0.5, [1.0, 2.0]), (-1.0, [0.5, 0.5]), (0.2, [0.0, 1.0])];
    let (values, (by_w, by_x, by_start, by_scale)) =
        walk::batch().threads(2).value_and_grad(&w, &x, &n, &start, scale);
    let (mut sum_w, mut sum_scale) = ([0.0; 3], [0.0; 2]);
    for k in 0..3 {
        let (value, (dw, dx, dstart, dscale)) =
            walk::value_and_grad(&w, &x[k], n[k], start[k], scale);
        assert_eq!((value, &dx, dstart), (values[k], &by_x[k], by_start[k]), "member {k}");
        sum_w.iter_mut().zip(dw).for_each(|(sum, d)| *sum += d);
        sum_scale.iter_mut().zip(dscale).for_each(|(sum, d)| *sum += d);
    }
    // Of three members the order is the one from left to right.
    assert_eq!((by_w, by_scale), (sum_w.to_vec(), sum_scale));
    let slices: Vec<&[f64]> = x.iter().map(Vec::as_slice).collect();
    assert_eq!(walk::batch().value(&w, &slices, &n, &start, scale), values);
    // In limited memory nothing changes.
    let limited = walk::batch().within("1 kB").value_and_grad(&w, &x, &n, &start, scale);
    assert_eq!(limited.1, (sum_w.to_vec(), by_x, by_start, sum_scale));
}

#[differentiable(batch(x))]
fn picked(x: f64, at: usize, table: &[f64]) -> f64 {
    assert!(x < 50.0, "too large");
    x * table[at]
}

#[test]
fn errors_name_the_member() {
    let table = [1.0, 2.0];
    let x: Vec<f64> = (0..100).map(f64::from).collect();
    for threads in [1, 3] {
        let error = picked::batch().threads(threads).try_grad(&x, 1, &table).unwrap_err();
        assert_eq!(error.member(), Some(50));
        assert!(error.to_string().contains("member 50 of the batch: "), "{error}");
        assert!(error.to_string().contains("too large"), "{error}");
    }
    let none = picked::batch().try_value(&[], 1, &table).unwrap_err();
    assert_eq!(none.to_string(), "shapes do not fit: the batch has no members: `x` is empty");
    let start = [(0.5, [1.0, 2.0])];
    let different = walk::batch().try_value(&table, &[[1.0], [2.0]], &[1, 2], &start, [1.0; 2]);
    assert_eq!(
        different.unwrap_err().to_string(),
        "shapes do not fit: `x` has 2 members, but `start` has 1"
    );
    assert!(
        walk::batch().within("a lot").try_grad(&table, &[[1.0]], &[1], &start, [1.0; 2]).is_err()
    );
}

#[differentiable(batch(n))]
fn twice(n: i64) -> i64 {
    2 * n
}

#[test]
fn functions_without_derivatives() {
    assert_eq!(twice::batch().value(&[1, 2, 3]), [2, 4, 6]);
}
