//! Arrays of crate `ndarray` as parameters, results and values inside of functions with `#[differentiable]`.

use ndarray::{
    Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, arr1,
    arr2, s,
};
use wengert::differentiable;

/// Everything that is read: indices, lengths, rows, columns, iterators, sums and products.
#[differentiable]
fn energy(w: ArrayView2<f64>, x: ArrayView1<f64>) -> f64 {
    let (rows, columns) = w.dim();
    let mut total = 0.0;
    for i in 0..rows {
        let mut sum = 0.0;
        for j in 0..columns {
            sum += w[[i, j]] * x[j];
        }
        total += sum.tanh() * (i as f64 + 1.0);
    }
    let first = w.row(0).dot(&x);
    let last = w.column(w.ncols() - 1);
    for (k, v) in last.iter().enumerate() {
        total += (k as f64) * v * first;
    }
    total + w.iter().map(|v| v * v).sum::<f64>() + x.sum() * w[(w.nrows() - 1, 0)]
        - w.dot(&x).sum() * 0.25
        + w.shape()[1] as f64 * w.len() as f64 * x[x.len() - 1]
}

fn matrix() -> Array2<f64> {
    arr2(&[[0.3, -0.2, 0.5], [1.1, 0.4, -0.7]])
}

/// The slope of `f` along all elements of an array, by differences.
fn slopes(x: &Array2<f64>, f: impl Fn(&Array2<f64>) -> f64) -> Array2<f64> {
    Array2::from_shape_fn(x.dim(), |at| {
        let moved = |h: f64| {
            let mut x = x.clone();
            x[at] += h;
            f(&x)
        };
        (moved(1e-6) - moved(-1e-6)) / 2e-6
    })
}

fn assert_close(a: &Array2<f64>, b: &Array2<f64>) {
    assert_eq!(a.dim(), b.dim());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-7 * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn views_are_read_as_they_are() {
    let (w, x) = (matrix(), arr1(&[0.7, -1.3, 0.2]));
    let value = energy(w.view(), x.view());
    let (found, (dw, dx)) = energy::value_and_grad(w.view(), x.view());
    assert!((value - found).abs() < 1e-12, "{value} {found}");
    assert_close(&dw, &slopes(&w, |w| energy(w.view(), x.view())));
    let dx = dx.into_shape_with_order((1, 3)).unwrap();
    let x = x.into_shape_with_order((1, 3)).unwrap();
    assert_close(&dx, &slopes(&x, |x| energy(w.view(), x.row(0))));
}

#[test]
fn views_may_lie_in_memory_in_any_way() {
    let wide = Array2::from_shape_fn((6, 5), |(i, j)| ((3 * i + 7 * j) as f64).sin());
    let x = Array1::from_shape_fn(9, |k| (k as f64).cos());
    // Every second column, backwards; a transposed view; every third element.
    let ways = [wide.slice(s![1..3, ..;-2]), wide.slice(s![..;2, 1..3]).reversed_axes()];
    for w in ways {
        let x = x.slice(s![..;3]);
        let (owned, packed) = (w.to_owned(), x.to_owned());
        let (value, grad) = energy::value_and_grad(w, x);
        let (same, wanted) = energy::value_and_grad(owned.view(), packed.view());
        assert_eq!(value.to_bits(), same.to_bits());
        assert_eq!(grad, wanted);
    }
}

/// Arrays are overwritten where they are.
#[differentiable]
fn relax(u: &mut Array1<f64>, mut v: ArrayViewMut2<f64>, rate: f64) {
    let n = u.len();
    for i in 1..n {
        u[i] += rate * (u[i - 1] - u[i]);
    }
    for mut row in v.outer_iter_mut() {
        let before = row[0];
        row[0] += rate * before * u[n - 1];
    }
    v[[0, 1]] *= u[0];
    v.row_mut(1).fill(rate);
    let first = v.row(0).to_owned();
    v.column_mut(1)[1] = first.sum();
}

#[test]
fn what_is_behind_a_view_that_is_written_goes_in_and_comes_out() {
    let (u, v) = (arr1(&[1.0, 0.5, -0.25]), matrix());
    let (mut plain, mut plain_v) = (u.clone(), v.clone());
    relax(&mut plain, plain_v.view_mut(), 0.3);
    let (mut a, mut b) = (u.clone(), v.clone());
    // Where the view does not lie in one piece, too.
    let mut around = Array2::from_elem((4, 5), 9.0);
    around.slice_mut(s![1..3, 1..4]).assign(&v);
    relax::value(&mut a, around.slice_mut(s![1..3, 1..4]), 0.3);
    b.assign(&around.slice(s![1..3, 1..4]));
    for (a, b) in plain.iter().chain(&plain_v).zip(a.iter().chain(&b)) {
        assert!((a - b).abs() < 1e-15);
    }
    assert_eq!(around.iter().filter(|x| **x == 9.0).count(), 14);

    // Forward mode along a direction is what reverse mode gives back.
    let (du, dv) = (arr1(&[0.1, -0.4, 0.7]), arr2(&[[1.0, -0.5, 0.25], [0.3, 0.6, -0.9]]));
    let (u_bar, v_bar) = (arr1(&[0.5, 0.2, -1.0]), arr2(&[[0.4, 1.5, -0.3], [0.8, -1.2, 0.6]]));
    let (mut x, mut y, mut dx, mut dy) = (u.clone(), v.clone(), du.clone(), dv.clone());
    let ((), ()) = relax::jvp(&mut x, y.view_mut(), 0.3, &mut dx, dy.view_mut(), 0.7);
    let (mut x, mut y, mut xb, mut yb) = (u, v, u_bar.clone(), v_bar.clone());
    let ((), rate_bar) = relax::vjp(&mut x, y.view_mut(), 0.3, &mut xb, yb.view_mut());
    let forward = dx.dot(&u_bar) + (&dy * &v_bar).sum();
    let reverse = du.dot(&xb) + (&dv * &yb).sum() + 0.7 * rate_bar;
    assert!((forward - reverse).abs() < 1e-13, "{forward} {reverse}");
}

/// Arrays are made, and returned.
#[differentiable]
fn product(a: &Array2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let mut c = Array2::zeros((a.nrows(), b.ncols()));
    for i in 0..a.nrows() {
        for j in 0..b.ncols() {
            for k in 0..a.ncols() {
                c[[i, j]] += a[[i, k]] * b[[k, j]];
            }
        }
    }
    c
}

#[differentiable]
fn by_methods(a: &Array2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    a.dot(&b).t().to_owned()
}

#[test]
fn arrays_are_made_and_returned() {
    let (a, b) = (matrix(), matrix().reversed_axes().into_owned());
    let wanted = a.dot(&b);
    assert_close(&product::value(&a, b.view()), &wanted);
    assert_close(&by_methods::value(&a, b.view()), &wanted.t().to_owned());
    let seed = arr2(&[[1.0, -2.0], [0.5, 3.0]]);
    let (_, (a_bar, b_bar)) = product::vjp(&a, b.view(), &seed);
    assert_close(&a_bar, &seed.dot(&b.t()));
    assert_close(&b_bar, &a.t().dot(&seed));
    let turned = seed.t().as_standard_layout().into_owned();
    let (_, (again, _)) = by_methods::vjp(&a, b.view(), &turned);
    assert_close(&again, &a_bar);
}

/// Functions of other modules are called with them; three axes; elements that are no `f64`.
#[allow(unreachable_pub)]
mod inner {
    use wengert::differentiable;

    #[differentiable]
    pub fn squared(x: ndarray::ArrayView1<'_, f64>) -> f64 {
        x.iter().map(|v| v * v).sum()
    }
}

#[differentiable]
fn weighted(cube: ArrayView3<f64>, #[nondiff] counts: ArrayView1<i32>, x: &Array1<f32>) -> f64 {
    let mut total: f64 = 0.0;
    for k in 0..cube.shape()[0] {
        for j in 0..cube.shape()[1] {
            total += counts[j] as f64 * cube[[k, j, 0]] * cube[[k, j, cube.shape()[2] - 1]];
        }
    }
    for part in cube.outer_iter() {
        total += part[[0, 0]];
    }
    let sum: f32 = x.iter().map(|v| v * v).sum();
    total + sum as f64
}

#[differentiable]
fn singles(x: ArrayView1<f32>, n: usize) -> f32 {
    let mut y = Array1::<f32>::ones(n);
    let z: Array1<f32> = Array1::from_vec(vec![0.5; n]);
    for k in 0..n {
        y[k] *= x[k] * 0.1 + z[k];
    }
    y.sum()
}

#[differentiable]
fn calls(x: ArrayView1<f64>, scale: f64) -> f64 {
    let y: f64 = inner::squared(x);
    y * scale
}

#[test]
fn calls_three_axes_and_other_numbers() {
    let x = arr1(&[1.0, 2.0, 3.0]);
    assert_eq!(calls::grad(x.view(), 2.0), (arr1(&[4.0, 8.0, 12.0]), 14.0));
    assert_eq!(calls::hvp(x.view(), 2.0, x.view(), 1.0).1, 28.0);
    let (a, b) = (arr1(&[0.3_f32, 0.7]), arr1(&[0.1_f32, 0.1]));
    let (value, gradient) = singles::value_and_grad(a.view(), 2);
    assert!((value - singles(a.view(), 2)).abs() < 1e-6);
    assert_eq!(gradient, b);
    let cube = Array3::from_shape_fn((2, 2, 3), |(i, j, k)| (i + 2 * j + 3 * k) as f64);
    let counts = arr1(&[2, 5]);
    let singles = arr1(&[0.5_f32, 4.0]);
    let (value, (by_cube, by_singles)) =
        weighted::value_and_grad(cube.view(), counts.view(), &singles);
    assert_eq!(value, weighted(cube.view(), counts.view(), &singles));
    assert_eq!(by_singles, arr1(&[1.0_f32, 8.0]));
    assert_eq!(by_cube.dim(), (2, 2, 3));
    assert_eq!(by_cube[[1, 1, 2]], 5.0 * cube[[1, 1, 0]]);
    assert_eq!(by_cube[[1, 0, 0]], 2.0 * cube[[1, 0, 2]] + 1.0);
}

/// A result of one axis has a Jacobian; batches have views of members; a memory changes no bit.
#[differentiable(batch(x))]
fn decay(x: ArrayView1<f64>, rate: f64, steps: usize) -> f64 {
    let mut y = x.to_owned();
    for _ in 0..steps {
        for i in 0..y.len() {
            y[i] -= rate * y[i] * y[i];
        }
    }
    y.sum()
}

#[differentiable]
fn curve(x: ArrayView1<f64>, n: usize) -> Array1<f64> {
    let mut y = Array1::from_elem(x.len(), 1.0);
    for _ in 0..n {
        for i in 0..x.len() {
            y[i] = (y[i] * x[i]).sin();
        }
    }
    y
}

#[test]
fn batches_memories_and_jacobians() {
    let members = [arr1(&[0.5, 0.25]), arr1(&[1.0, -0.5, 0.75])];
    let (values, (by_x, by_rate)) = decay::batch().value_and_grad(&members, 0.01, 50);
    let mut sum = 0.0;
    for (k, x) in members.iter().enumerate() {
        let (value, (dx, rate)) = decay::value_and_grad(x.view(), 0.01, 50);
        assert_eq!((values[k], &by_x[k]), (value, &dx));
        sum += rate;
        assert_eq!(decay::within("1 kB").grad(x.view(), 0.01, 50), (dx, rate));
    }
    assert!((sum - by_rate).abs() < 1e-13);
    let x = members[1].view();
    let rows = curve::jacobian(x, 40);
    assert_eq!(rows, curve::within("1 kB").jacobian(x, 40));
    for (i, row) in rows.iter().enumerate() {
        for (j, v) in row.iter().enumerate() {
            assert_eq!(*v != 0.0, i == j);
        }
    }
}

#[differentiable]
fn first(mut x: ArrayViewMut1<f64>, k: usize) -> f64 {
    x[0] *= 2.0;
    x[k]
}

#[test]
fn errors_tell_of_the_array() {
    let mut x = arr1(&[1.0, 2.0]);
    let error = first::try_grad(x.view_mut(), 2).unwrap_err().to_string();
    assert!(error.contains("index 2 is out of range: `x` has 2 elements"), "{error}");
    let wrong = arr1(&[1.0, 2.0, 3.0]);
    let error = calls::try_jvp(x.view(), 1.0, wrong.view(), 0.0).unwrap_err().to_string();
    assert!(error.contains("`dx` has 3 elements, `x` has 2 elements"), "{error}");
}
