//! Array functions made of operations: their values against plain loops and against numpy, their derivatives in
//! both modes against finite differences.

mod errors;
mod numpy;

use wengert_core::arrays::{self, Made, Range};
use wengert_core::check::{self, Derived, Interpreter, Random, floats};
use wengert_core::interp::Val;
use wengert_core::ir::{Builder, Elem, Type, Value, verify};
use wengert_core::ops::Array;

fn tensor(random: &mut Random, shape: &[usize]) -> Array {
    let n = shape.iter().product();
    Array::new(shape.to_vec(), (0..n).map(|_| random.float(-1.0, 1.0)).collect())
}

/// Builds a function of arrays, runs it, checks its derivatives, and gives back its values.
fn run(
    inputs: &[&Array],
    build: impl FnOnce(&mut Builder, &[Value]) -> Made,
) -> Result<Vec<f64>, String> {
    let params: Vec<_> =
        inputs.iter().map(|x| (Type::of(Elem::F64, x.shape.len()), None)).collect();
    let (mut b, values) = Builder::new("f", &params);
    let result = build(&mut b, &values)?;
    let func = b.finish(vec![result]);
    let module = wengert_core::ir::Module::of(func.clone());
    verify::module(&module).map_err(|e| format!("{e}\n{func}"))?;
    let args: Vec<Val> = inputs.iter().map(|x| Val::shaped((*x).clone())).collect();
    let engine = &mut Interpreter::default();
    let derived =
        Derived::new(func.clone(), (0..inputs.len()).collect()).map_err(|e| e.to_string())?;
    let values = derived.value(engine, &args).map_err(|e| e.to_string())?;
    if func.results[0].is_float() {
        let report =
            check::derivatives(&derived, engine, &args, 2, 3).map_err(|e| e.to_string())?;
        if !report.passes() {
            return Err(format!("{report}\n{func}"));
        }
    }
    Ok(floats(&values))
}

fn close(got: Result<Vec<f64>, String>, want: &[f64]) {
    let got = got.unwrap_or_else(|e| panic!("{e}"));
    let same = got.len() == want.len()
        && got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 1e-12 * (1.0 + w.abs()));
    assert!(same, "{got:?} instead of {want:?}");
}

#[test]
fn reductions() {
    let mut r = Random(2);
    let x = tensor(&mut r, &[3, 4]);
    let at = |i: usize, j: usize| x.f64s()[4 * i + j];
    let all = x.f64s().to_vec();
    let rows = |f: fn(f64, f64) -> f64| -> Vec<f64> {
        (0..3).map(|i| (0..4).map(|j| at(i, j)).reduce(f).unwrap()).collect()
    };
    let columns = |f: fn(f64, f64) -> f64| -> Vec<f64> {
        (0..4).map(|j| (0..3).map(|i| at(i, j)).reduce(f).unwrap()).collect()
    };
    let add = |a: f64, b: f64| a + b;
    let times = |a: f64, b: f64| a * b;
    close(run(&[&x], |b, v| arrays::sum(b, v[0], None)), &[all.iter().sum()]);
    close(run(&[&x], |b, v| arrays::sum(b, v[0], Some(0))), &columns(add));
    close(run(&[&x], |b, v| arrays::sum(b, v[0], Some(1))), &rows(add));
    close(run(&[&x], |b, v| arrays::prod(b, v[0], None)), &[all.iter().product()]);
    close(run(&[&x], |b, v| arrays::prod(b, v[0], Some(1))), &rows(times));
    close(run(&[&x], |b, v| arrays::prod(b, v[0], Some(0))), &columns(times));
    close(run(&[&x], |b, v| arrays::max(b, v[0], Some(1))), &rows(f64::max));
    close(run(&[&x], |b, v| arrays::min(b, v[0], Some(0))), &columns(f64::min));
    let largest = all.iter().copied().fold(f64::MIN, f64::max);
    close(run(&[&x], |b, v| arrays::max(b, v[0], None)), &[largest]);
    let mean: Vec<f64> = rows(add).iter().map(|s| s / 4.0).collect();
    close(run(&[&x], |b, v| arrays::mean(b, v[0], Some(1))), &mean);
    close(run(&[&x], |b, v| arrays::mean(b, v[0], None)), &[all.iter().sum::<f64>() / 12.0]);
    let norm = all.iter().map(|x| x * x).sum::<f64>().sqrt();
    close(run(&[&x], |b, v| arrays::norm(b, v[0], None)), &[norm]);
    let norms: Vec<f64> =
        (0..3).map(|i| (0..4).map(|j| at(i, j).powi(2)).sum::<f64>().sqrt()).collect();
    close(run(&[&x], |b, v| arrays::norm(b, v[0], Some(1))), &norms);
    let total: f64 = all.iter().map(|x| x.exp()).sum();
    close(run(&[&x], |b, v| arrays::logsumexp(b, v[0], None)), &[total.ln()]);
    let soft: Vec<f64> = all.iter().map(|x| x.exp() / total).collect();
    close(run(&[&x], |b, v| arrays::softmax(b, v[0], None)), &soft);
}

#[test]
fn scans_and_order() {
    let x = Array::vector(vec![0.3, -0.8, 0.9, 0.1, -0.2]);
    close(run(&[&x], |b, v| arrays::cumsum(b, v[0], Some(0))), &[0.3, -0.5, 0.4, 0.5, 0.3]);
    close(
        run(&[&x], |b, v| arrays::cumprod(b, v[0], None)),
        &[0.3, -0.24, -0.216, -0.0216, 0.00432],
    );
    close(run(&[&x], |b, v| arrays::sort(b, v[0], None)), &[-0.8, -0.2, 0.1, 0.3, 0.9]);
    let (points, heights) =
        (Array::vector(vec![0.0, 1.0, 3.0, 4.0]), Array::vector(vec![1.0, 2.0, -2.0, 0.5]));
    for (at, want) in [(0.25, 1.25), (2.0, 0.0), (3.5, -0.75), (-1.0, 1.0), (9.0, 0.5)] {
        let at = Array::vector(vec![at]);
        let got = run(&[&points, &heights, &at], |b, v| {
            let zero = b.i64(0);
            let at = b.load(v[2], zero);
            arrays::interp(b, at, v[0], v[1])
        });
        close(got, &[want]);
    }
    for (v, left, right) in [(1.0, 1.0, 2.0), (0.5, 1.0, 1.0), (-3.0, 0.0, 0.0), (7.0, 4.0, 4.0)] {
        for (side, want) in [(false, left), (true, right)] {
            let at = Array::vector(vec![v]);
            let got = run(&[&points, &at], |b, p| {
                let zero = b.i64(0);
                let at = b.load(p[1], zero);
                let k = arrays::searchsorted(b, p[0], at, side);
                arrays::convert(b, k?, Elem::F64)
            });
            close(got, &[want]);
        }
    }
}

#[test]
fn slices_as_in_python() {
    let x = Array::vector((0..7).map(f64::from).collect());
    let n = 7i64;
    for start in [None, Some(-9), Some(-3), Some(0), Some(2), Some(6), Some(7), Some(12)] {
        for stop in [None, Some(-9), Some(-8), Some(-2), Some(0), Some(3), Some(7), Some(12)] {
            for step in [1, 2, 3, -1, -2, i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1]
                .into_iter()
                .map(Some)
                .chain([None])
            {
                let got = run(&[&x], |b, v| {
                    let value = |b: &mut Builder, k: Option<i64>| k.map(|k| b.i64(k));
                    let range = Range { start: value(b, start), stop: value(b, stop), step };
                    arrays::read_slice(b, v[0], &[range])
                });
                close(got, &python_slice(n, start, stop, step.unwrap_or(1)));
            }
        }
    }
}

fn python_slice(n: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<f64> {
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let bound = |v: i64| (if v < 0 { v + n } else { v }).clamp(low, high);
    let mut at = start.map_or(if step > 0 { 0 } else { n - 1 }, bound);
    let stop = stop.map_or(if step > 0 { n } else { -1 }, bound);
    let mut out = Vec::new();
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        out.push(at as f64);
        at = at.saturating_add(step);
    }
    out
}

#[test]
fn joining_and_broadcasting() {
    let mut r = Random(4);
    let (x, y, z) = (tensor(&mut r, &[2, 3]), tensor(&mut r, &[1, 3]), tensor(&mut r, &[3]));
    let rows = [x.f64s(), y.f64s()].concat();
    close(run(&[&x, &y], |b, v| arrays::concatenate(b, v, 0)), &rows);
    let stacked: Vec<f64> = (0..3).flat_map(|j| [z.f64s()[j], 2.0 * z.f64s()[j]]).collect();
    close(
        run(&[&z], |b, v| {
            let two = b.f64(2.0);
            let twice = b.mul(v[0], two);
            arrays::stack(b, &[v[0], twice], 1)
        }),
        &stacked,
    );
    let sums = |row: &[f64]| -> Vec<f64> { (0..6).map(|k| x.f64s()[k] + row[k % 3]).collect() };
    let add = wengert_core::ops::Prim::Add;
    let plus = |b: &mut Builder, v: &[Value]| arrays::elementwise(b, add, v[0], v[1]);
    close(run(&[&x, &y], plus), &sums(y.f64s()));
    close(run(&[&x, &z], plus), &sums(z.f64s()));
    close(run(&[&z, &x], plus), &sums(z.f64s()));
    let bad = tensor(&mut r, &[2]);
    let message = run(&[&x, &bad], plus).unwrap_err();
    assert!(message.contains("shapes do not broadcast"), "{message}");
    let column = tensor(&mut r, &[2, 1]);
    let want: Vec<f64> = (0..6).map(|k| column.f64s()[k / 3] + y.f64s()[k % 3]).collect();
    close(run(&[&column, &y], plus), &want);
}

#[test]
fn products() {
    let mut r = Random(6);
    let (a, c) = (tensor(&mut r, &[2, 3]), tensor(&mut r, &[3, 4]));
    let (u, v) = (tensor(&mut r, &[3]), tensor(&mut r, &[2]));
    let (a_at, c_at) =
        (|i: usize, j: usize| a.f64s()[3 * i + j], |i: usize, j: usize| c.f64s()[4 * i + j]);
    let matmul: Vec<f64> =
        (0..8).map(|k| (0..3).map(|p| a_at(k / 4, p) * c_at(p, k % 4)).sum()).collect();
    close(run(&[&a, &c], |b, v| arrays::matmul(b, v[0], v[1])), &matmul);
    close(run(&[&a, &c], |b, v| arrays::einsum(b, "ij,jk->ik", v)), &matmul);
    let transposed: Vec<f64> = (0..8).map(|k| matmul[(k % 2) * 4 + k / 2]).collect();
    close(run(&[&a, &c], |b, v| arrays::einsum(b, "ij, jk -> ki", v)), &transposed);
    let matvec: Vec<f64> = (0..2).map(|i| (0..3).map(|j| a_at(i, j) * u.f64s()[j]).sum()).collect();
    close(run(&[&a, &u], |b, v| arrays::matvec(b, v[0], v[1])), &matvec);
    close(run(&[&a, &u], |b, v| arrays::einsum(b, "ij,j->i", v)), &matvec);
    let vecmat: Vec<f64> = (0..3).map(|j| (0..2).map(|i| a_at(i, j) * v.f64s()[i]).sum()).collect();
    close(run(&[&v, &a], |b, v| arrays::vecmat(b, v[0], v[1])), &vecmat);
    let outer: Vec<f64> = (0..6).map(|k| v.f64s()[k / 3] * u.f64s()[k % 3]).collect();
    close(run(&[&v, &u], |b, v| arrays::outer(b, v[0], v[1])), &outer);
    close(run(&[&v, &u], |b, v| arrays::einsum(b, "i,j->ij", v)), &outer);
    let quadratic: f64 = (0..2).map(|i| v.f64s()[i] * matvec[i]).sum();
    close(run(&[&v, &a, &u], |b, v| arrays::einsum(b, "i,ij,j->", v)), &[quadratic]);
    let batch = tensor(&mut r, &[5, 2, 3]);
    let want: Vec<f64> =
        (0..10).map(|k| (0..3).map(|j| batch.f64s()[3 * k + j] * a_at(k % 2, j)).sum()).collect();
    close(run(&[&batch, &a], |b, v| arrays::einsum(b, "bij,ij->bi", v)), &want);
    let total: f64 = batch.f64s().iter().sum();
    close(run(&[&batch], |b, v| arrays::einsum(b, "bij->", v)), &[total]);
    for (formula, message) in [
        ("ij->i", "2 are given"),
        ("ijk,jk->i", "operand 1 has 2 axes, but 3 letters"),
        ("ij,jk->ii", "`i` occurs twice in the result"),
        ("ij,jk->q", "`q` is in the result, but in no operand"),
        ("i1,jk->i", "`1` is not a letter"),
    ] {
        let (mut b, v) =
            Builder::new("f", &[(Type::of(Elem::F64, 2), None), (Type::of(Elem::F64, 2), None)]);
        let error = arrays::einsum(&mut b, formula, &v).unwrap_err();
        assert!(error.contains(message), "{formula}: {error}");
    }
}

#[test]
fn writing_slices() {
    let mut r = Random(8);
    let (x, v) = (tensor(&mut r, &[4, 5]), tensor(&mut r, &[3]));
    let got = run(&[&x, &v], |b, p| {
        let (one, last) = (b.i64(1), b.i64(-1));
        let ranges = [
            Range { start: Some(one), stop: None, step: Some(2) },
            Range { start: Some(last), stop: None, step: Some(-2) },
        ];
        let next = b.op(wengert_core::ir::Op::Copy, &[p[0]])[0];
        let next = arrays::write_slice(b, next, &ranges, p[1])?;
        Ok(b.mul(next, p[0]))
    });
    let mut want = x.f64s().to_vec();
    for i in [1, 3] {
        for (k, j) in [4, 2, 0].into_iter().enumerate() {
            want[5 * i + j] = v.f64s()[k];
        }
    }
    let want: Vec<f64> = want.iter().zip(x.f64s()).map(|(a, b)| a * b).collect();
    close(got, &want);
}

#[test]
fn einsum_sizes_diagonals_and_implied_results() {
    let mut r = Random(10);
    let (wide, tall, square) =
        (tensor(&mut r, &[2, 3]), tensor(&mut r, &[3, 2]), tensor(&mut r, &[3, 3]));
    for (formula, x, y) in [
        ("ij,ij->", &wide, &tall),
        ("ij,ji->", &wide, &wide),
        ("ij,ij->ij", &wide, &tall),
        ("ij,jk->ik", &wide, &wide),
        ("ij,kj->", &wide, &tall),
        ("ii,ij->j", &wide, &wide),
    ] {
        let error = run(&[x, y], |b, v| arrays::einsum(b, formula, v)).unwrap_err();
        assert!(error.contains("have different sizes"), "{formula}: {error}");
    }
    let at = |i: usize, j: usize| square.f64s()[3 * i + j];
    let diagonal: Vec<f64> = (0..3).map(|i| at(i, i)).collect();
    let trace = diagonal.iter().sum();
    close(run(&[&square], |b, v| arrays::einsum(b, "ii->i", v)), &diagonal);
    close(run(&[&square], |b, v| arrays::einsum(b, "ii->", v)), &[trace]);
    close(run(&[&square], |b, v| arrays::einsum(b, "ii", v)), &[trace]);
    let transposed: Vec<f64> = (0..9).map(|k| at(k % 3, k / 3)).collect();
    close(run(&[&square], |b, v| arrays::einsum(b, "ba", v)), &transposed);
    let product: Vec<f64> = (0..4)
        .map(|k| {
            let terms = (0..3).map(|j| wide.f64s()[3 * (k / 2) + j] * tall.f64s()[2 * j + k % 2]);
            terms.sum()
        })
        .collect();
    close(run(&[&wide, &tall], |b, v| arrays::einsum(b, "ij,jk", v)), &product);
    let x = tensor(&mut r, &[2, 3, 2, 2]);
    let want: Vec<f64> =
        (0..3).map(|j| (0..2).map(|i| x.f64s()[12 * i + 4 * j + 3 * i]).sum()).collect();
    close(run(&[&x], |b, v| arrays::einsum(b, "ijii->j", v)), &want);
}

/// The values of a function of one array, and its gradient where the adjoints of the results are 1.
fn gradient(x: &Array, build: impl FnOnce(&mut Builder, Value) -> Made) -> (Vec<f64>, Vec<f64>) {
    let (mut b, v) = Builder::new("f", &[(Type::of(x.elem(), x.shape.len()), None)]);
    let result = build(&mut b, v[0]).unwrap_or_else(|e| panic!("{e}"));
    let derived = Derived::new(b.finish(vec![result]), vec![0]).unwrap_or_else(|e| panic!("{e}"));
    let (engine, args) = (&mut Interpreter::default(), [Val::shaped(x.clone())]);
    let values = derived.value(engine, &args).unwrap();
    let ones = values.iter().map(|v| match v {
        Val::Array(y) => Val::shaped(y.with_floats(y.floats().iter().map(|_| 1.0))),
        Val::Scalar(s) => Val::Scalar(wengert_core::ops::Scalar::float(s.elem(), 1.0)),
        Val::Tape(_) => unreachable!("no results are tapes"),
    });
    let ones: Vec<Val> = ones.collect();
    let (_, adjoints) = derived.vjp(engine, &args, &ones).unwrap();
    // Forward mode agrees, element by element.
    let slopes = floats(&adjoints);
    for (k, slope) in slopes.iter().enumerate() {
        let along = x.with_floats((0..x.len()).map(|j| f64::from(u8::from(j == k))));
        let (_, tangents) = derived.jvp(engine, &args, &[Val::shaped(along)]).unwrap();
        let total: f64 = floats(&tangents).iter().sum();
        let same = total == *slope || (total - slope).abs() <= 1e-12;
        let same = same || total.is_nan() && slope.is_nan();
        assert!(same, "forward {total}, reverse {slope} by element {k}");
    }
    (floats(&values), slopes)
}

#[test]
fn nan_is_an_extreme_wherever_it_is() {
    let nan = f64::NAN;
    for at in 0..3 {
        let mut data = vec![2.0, 1.0, 3.0];
        data[at] = nan;
        for shape in [vec![3], vec![3, 1], vec![1, 3]] {
            let axis = shape.iter().position(|n| *n == 3);
            let x = Array::new(shape, data.clone());
            for axis in [None, axis] {
                let (max, by) = gradient(&x, |b, v| arrays::max(b, v, axis));
                let (min, by_min) = gradient(&x, |b, v| arrays::min(b, v, axis));
                assert!(max[0].is_nan() && min[0].is_nan(), "{data:?} {axis:?}: {max:?} {min:?}");
                let first: Vec<f64> = (0..3).map(|k| f64::from(u8::from(k == at))).collect();
                assert_eq!((by, by_min), (first.clone(), first));
            }
        }
    }
    let tie = Array::new(vec![2, 3], vec![1.0, 4.0, 4.0, 0.0, 0.0, 0.0]);
    let want = vec![0.0, 1.0, 0.0, 1.0, 0.0, 0.0];
    assert_eq!(gradient(&tie, |b, v| arrays::max(b, v, Some(1))), (vec![4.0, 0.0], want));
}

#[test]
fn norms_of_any_size() {
    let near = |got: &[f64], want: &[f64]| {
        let ok = |(g, w): (&f64, &f64)| (g - w).abs() <= 1e-14 * w.abs();
        assert!(got.len() == want.len() && got.iter().zip(want).all(ok), "{got:?} for {want:?}");
    };
    for size in [1e-320, 1e-300, 1e-200, 1e-160, 1.0, 1e130, 1e160, 1e200, 1e307] {
        let x = Array::vector(vec![3.0 * size, -4.0 * size]);
        let (norm, slope) = gradient(&x, |b, v| arrays::norm(b, v, None));
        if size > 1e-310 {
            near(&norm, &[5.0 * size]);
            near(&slope, &[0.6, -0.8]);
        } else {
            assert!((norm[0] / size - 5.0).abs() < 0.01, "{norm:?}");
            assert!((slope[0] - 0.6).abs() < 0.01 && (slope[1] + 0.8).abs() < 0.01, "{slope:?}");
        }
        // Rows of every size side by side.
        let rows = [3.0, 4.0, 3.0 * size, -4.0 * size, 0.0, 0.0];
        for (axis, x) in [
            (1, Array::new(vec![3, 2], rows.to_vec())),
            (0, Array::new(vec![2, 3], [0, 2, 4, 1, 3, 5].map(|k| rows[k]).to_vec())),
        ] {
            let (norms, slopes) = gradient(&x, |b, v| arrays::norm(b, v, Some(axis)));
            let mut want = [0.6, 0.8, 0.6, -0.8, 0.0, 0.0];
            if axis == 0 {
                want = [0, 2, 4, 1, 3, 5].map(|k| want[k]);
            }
            if size > 1e-310 {
                near(&norms, &[5.0, 5.0 * size, 0.0]);
                near(&slopes, &want);
            }
        }
    }
    let single =
        |x: [f32; 2]| Array { shape: vec![2], data: wengert_core::ops::Data::F32(x.to_vec()) };
    for size in [1e-30f32, 1e-16, 1.0, 1e14, 1e30] {
        let x = single([3.0 * size, 4.0 * size]);
        let (norm, slope) = gradient(&x, |b, v| arrays::norm(b, v, None));
        assert!((norm[0] / f64::from(size) - 5.0).abs() < 1e-5, "{norm:?}");
        assert!((slope[0] - 0.6).abs() < 1e-6 && (slope[1] - 0.8).abs() < 1e-6, "{slope:?}");
    }
    for zeros in [vec![], vec![0.0, 0.0]] {
        let (norm, slopes) =
            gradient(&Array::vector(zeros.clone()), |b, v| arrays::norm(b, v, None));
        assert_eq!((norm, slopes), (vec![0.0], zeros));
    }
    // The derivative at infinity is anything.
    let inf = f64::INFINITY;
    for (x, want) in [(vec![inf, 1.0], inf), (vec![-inf], inf), (vec![f64::NAN, inf], f64::NAN)] {
        let (mut b, v) = Builder::new("f", &[(Type::VECTOR, None)]);
        let norm = arrays::norm(&mut b, v[0], None).unwrap();
        let module = wengert_core::ir::Module::of(b.finish(vec![norm]));
        let norm = wengert_core::interp::Interp::new(&module).call("f", vec![Val::array(x)]);
        let norm = floats(&norm.unwrap())[0];
        assert!(norm == want || norm.is_nan() && want.is_nan(), "{norm} for {want}");
    }
    let none = Array::new(vec![2, 0], vec![]);
    assert_eq!(gradient(&none, |b, v| arrays::norm(b, v, Some(1))).0, [0.0, 0.0]);
    assert_eq!(gradient(&none, |b, v| arrays::norm(b, v, Some(0))).0, [0.0; 0]);
}

#[test]
fn infinite_exponents() {
    let inf = f64::INFINITY;
    for (x, sum, slope, shares) in [
        (vec![-inf, -inf], -inf, vec![1.0, 0.0], vec![0.5, 0.5]),
        (vec![inf, 1.0], inf, vec![1.0, 0.0], vec![1.0, 0.0]),
        (vec![1.0, inf, inf], inf, vec![0.0, 1.0, 0.0], vec![0.0, 0.5, 0.5]),
        (vec![-inf, 3.0], 3.0, vec![0.0, 1.0], vec![0.0, 1.0]),
        (vec![-inf, 3.0, 3.0], 3.0 + 2f64.ln(), vec![0.0, 0.5, 0.5], vec![0.0, 0.5, 0.5]),
    ] {
        let x = Array::vector(x);
        assert_eq!(gradient(&x, |b, v| arrays::logsumexp(b, v, None)), (vec![sum], slope), "{x}");
        let (got, slopes) = gradient(&x, |b, v| arrays::softmax(b, v, None));
        assert_eq!(got, shares, "{x}");
        assert!(slopes.iter().all(|s| s.abs() < 1e-15), "{x}: {slopes:?}");
    }
    // A row that is masked whole, one in part, one not, along either axis.
    let rows = [-inf, -inf, -inf, 0.0, 1.0, 1.0];
    let (shares, slopes) = ([0.5, 0.5, 0.0, 1.0, 0.5, 0.5], [1.0, 0.0, 0.0, 1.0, 0.5, 0.5]);
    for axis in [1, 0] {
        let order = if axis == 1 { [0, 1, 2, 3, 4, 5] } else { [0, 2, 4, 1, 3, 5] };
        let shape = if axis == 1 { vec![3, 2] } else { vec![2, 3] };
        let pick = |x: [f64; 6]| order.map(|k| x[k]).to_vec();
        let x = Array::new(shape, pick(rows));
        assert_eq!(gradient(&x, |b, v| arrays::softmax(b, v, Some(axis))).0, pick(shares));
        let sums = vec![-inf, 0.0, 1.0 + 2f64.ln()];
        let got = gradient(&x, |b, v| arrays::logsumexp(b, v, Some(axis)));
        assert_eq!(got, (sums, pick(slopes)));
    }
}

#[test]
fn interpolation_beyond_the_ends() {
    let inf = f64::INFINITY;
    let (points, heights) = (vec![0.0, 1.0, 3.0], vec![1.0, 2.0, -2.0]);
    for (at, want, slope) in [(-inf, 1.0, 0.0), (inf, -2.0, 0.0), (3.0, -2.0, 0.0), (0.0, 1.0, 1.0)]
    {
        let all = [&points[..], &heights, &[at]].concat();
        let (got, slopes) = gradient(&Array::vector(all), |b, v| {
            let part = |b: &mut Builder, from: i64, to: i64| {
                let range = Range { start: Some(b.i64(from)), stop: Some(b.i64(to)), step: None };
                arrays::read_slice(b, v, &[range])
            };
            let (x, y, six) = (part(b, 0, 3)?, part(b, 3, 6)?, b.i64(6));
            let at = b.load(v, six);
            arrays::interp(b, at, x, y)
        });
        assert_eq!(got, [want], "{at}");
        let by_points = if at == 0.0 { [-1.0, 0.0, 0.0] } else { [0.0; 3] };
        let by_heights = if want == 1.0 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
        assert_eq!(slopes, [&by_points[..], &by_heights, &[slope]].concat(), "{at}");
    }
    let (x, y) = (Array::vector(points), Array::vector(heights[..2].to_vec()));
    let error = run(&[&x, &y], |b, v| {
        let at = b.f64(0.5);
        arrays::interp(b, at, v[0], v[1])
    });
    let error = error.unwrap_err();
    assert!(error.contains("as many heights as points"), "{error}");
}

#[test]
fn single_precision_stays_single() {
    use wengert_core::ops::Data;
    let x = Array { shape: vec![2, 2], data: Data::F32(vec![0.5, -1.5, 2.0, 0.25]) };
    type Reduction = fn(&mut Builder, Value, Option<usize>) -> Made;
    let functions: [Reduction; 10] = [
        arrays::sum,
        arrays::prod,
        arrays::mean,
        arrays::norm,
        arrays::softmax,
        arrays::logsumexp,
        arrays::cumprod,
        |b, x, axis| arrays::std(b, x, axis, 1),
        |b, x, _| {
            // Numbers beside an array of singles do not widen it.
            let (low, high) = (b.f64(-1.0), b.f64(1.0));
            arrays::clip(b, x, low, high)
        },
        |b, x, _| {
            let half = b.i64(2);
            arrays::maximum(b, x, half)
        },
    ];
    for (k, function) in functions.into_iter().enumerate() {
        for axis in [None, Some(1)] {
            let (mut b, v) = Builder::new("f", &[(Type::of(Elem::F32, 2), None)]);
            let single = function(&mut b, v[0], axis).unwrap();
            assert_eq!(b.ty(single).elem(), Some(Elem::F32), "function {k}");
            let wide = arrays::convert(&mut b, v[0], Elem::F64).unwrap();
            let double = function(&mut b, wide, axis).unwrap();
            let single = arrays::convert(&mut b, single, Elem::F64).unwrap();
            let gap = b.sub(single, double);
            let module = wengert_core::ir::Module::of(b.finish(vec![gap]));
            verify::module(&module).unwrap();
            let gap = wengert_core::interp::Interp::new(&module)
                .call("f", vec![Val::shaped(x.clone())])
                .unwrap();
            assert!(floats(&gap).iter().all(|gap| gap.abs() < 1e-6), "function {k}: {gap:?}");
        }
    }
}

#[test]
fn linspace_ends_where_it_should() {
    for n in 2..60 {
        let ends = Array::vector(vec![0.1, 0.7]);
        let (x, _) = gradient(&ends, |b, v| {
            let (zero, one, n) = (b.i64(0), b.i64(1), b.i64(n));
            let (start, stop) = (b.load(v, zero), b.load(v, one));
            arrays::linspace(b, start, stop, n, true)
        });
        assert_eq!((x.len() as i64, x[0], x[x.len() - 1]), (n, 0.1, 0.7));
    }
}
