//! Functions of a slice that use all of the Rust there is a derivative for.

use wengert::differentiable;

#[differentiable]
pub(crate) mod programs {
    const SCALE: f64 = 1.5;
    const COUNT: usize = 3;
    const WEIGHTS: [f64; 3] = [0.5, -1.0, 2.0];
    static LIMIT: f64 = 0.25;

    pub(crate) fn shadowing(x: &[f64]) -> f64 {
        let a = x[0];
        let a = a * a + { let a = x[1]; a * 2.0 };
        let b = { let t = a + 1.0; t * t };
        a + b
    }

    pub(crate) fn tuples(x: &[f64]) -> f64 {
        let (mut a, (b, c)) = (x[0], (x[1], x[2]));
        let t = (a * b, b * c);
        (a, _) = (t.0 + t.1, 1.0);
        let (p, q) = (a, t.0);
        p * q + t.1
    }

    pub(crate) fn branches(x: &[f64]) -> f64 {
        let s = if x[0] > x[1] { x[0] * 2.0 } else if x[0] > 0.0 { x[1].sin() } else { -x[2] };
        let mut y = 0.0;
        if s > 0.5 { y += s } else { y -= s * s }
        let z;
        if y < 1.0 { z = y * 3.0 } else { z = y.sqrt() }
        s + y * z
    }

    pub(crate) fn matching(x: &[f64]) -> f64 {
        let mut total = 0.0;
        for i in 0..6_i64 {
            total += match i {
                0 => x[0],
                1 | 2 => x[1] * x[1],
                n @ 3..=4 if n % 2 == 1 => x[2] * n as f64,
                _ => match (x[0] > 0.0, x[1] > 0.0) {
                    (true, true) => x[3],
                    (true, false) => 2.0 * x[4],
                    (false, _) => -x[5],
                },
            };
        }
        match x[0] > 0.3 { true => total * total, false => total }
    }

    pub(crate) fn ranges(x: &[f64]) -> f64 {
        let n = x.len();
        let mut s = 0.0;
        for i in (0..n).rev() { s = s * 0.5 + x[i]; }
        for i in (0..n).step_by(2) { s += x[i] * x[i]; }
        for i in (1..n).rev().step_by(2) { s -= x[i] * (i as f64); }
        for i in (0..n).step_by(4).rev() { s = s.sin() + x[i]; }
        for i in 1..=COUNT { s += x[i - 1] * x[i]; }
        for k in -1..=1_i32 { s *= 1.0 + 0.1 * f64::from(k) * x[0]; }
        s
    }

    pub(crate) fn iterators(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        for (i, v) in y.iter_mut().enumerate() { *v *= 1.0 + i as f64; }
        for v in &mut y { *v = v.tanh(); }
        for (a, b) in y.iter_mut().zip(x.iter().rev()) { *a += b * b; }
        let mut s = 0.0;
        for v in &y { s += *v; }
        for v in y.iter().skip(1).take(3) { s *= v + 1.0; }
        for &v in x.iter().step_by(2) { s += v; }
        for w in x.windows(3) { s += w[0] * w[1] * w[2]; }
        for c in x.chunks(4) { s += c[0] * c[c.len() - 1]; }
        for c in y.chunks_exact_mut(2) { c[0] = c[1] * 0.5; }
        s + y[0] * y[2]
    }

    pub(crate) fn folds(x: &[f64]) -> f64 {
        let a: f64 = x.iter().map(|v| v * v).sum();
        let b: f64 = x.iter().take(3).product();
        let c = x.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let d = x.iter().copied().fold(f64::INFINITY, f64::min);
        let e: f64 = x.iter().filter(|v| **v > 0.2).map(|v| v.exp()).sum();
        let many = x.iter().filter(|v| **v > 0.0).count();
        let all = x.iter().all(|v| *v < 100.0) && !x.iter().any(|v| *v > 50.0);
        let f: Vec<f64> = x.iter().zip(WEIGHTS.iter().rev()).map(|(a, w)| a * w).collect();
        let (g, h) = x.iter().fold((0.0, 1.0), |(s, p), v| (s + v, p * (1.0 + v * v)));
        if all { a + b + c * d + e + many as f64 * f[1] + g / h } else { 0.0 }
    }

    pub(crate) fn labels(x: &[f64]) -> f64 {
        let mut s = 0.0;
        'outer: for i in 0..x.len() {
            for j in 0..x.len() {
                for k in 0..3 {
                    if k == 2 && j == 1 { continue 'outer; }
                    if i == 4 { break 'outer; }
                    if x[j] > 1.2 { break; }
                    s += x[i] * x[j] * (k as f64 + 1.0);
                }
                s *= 0.9;
            }
            s += 100.0;
        }
        let r = 'found: {
            for i in 0..x.len() {
                if x[i] > 0.4 { break 'found x[i] * 2.0; }
            }
            s
        };
        s * r
    }

    pub(crate) fn loops(x: &[f64]) -> f64 {
        let mut a = x[0] * x[0] + 2.0;
        let root = loop {
            let next = 0.5 * (a + 3.0 / a);
            if (next - a).abs() < 1e-13 { break next * x[1]; }
            a = next;
        };
        let mut n = 0;
        while { n += 1; n < 5 } { a += x[2] / n as f64; }
        while a > 1.0 && n < 20 {
            n += 1;
            if n % 2 == 0 { continue; }
            a *= 0.7 + 0.1 * x[3].sin();
        }
        root + a
    }

    pub(crate) fn early(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for (i, v) in x.iter().enumerate() {
            s += v;
            if s > 0.8 { return s * v; }
            if i == 4 { return -s; }
        }
        s
    }

    pub(crate) fn slices(x: &[f64]) -> f64 {
        let mut y = vec![0.0; 2 * x.len()];
        let (left, right) = y.split_at_mut(x.len());
        left.copy_from_slice(x);
        for (r, l) in right.iter_mut().zip(left.iter()) { *r = l * l; }
        left[0] += right[1];
        y.swap(0, 3);
        y[2..5].reverse();
        y[4..].fill(x[1]);
        let part = &y[1..=3];
        let inner = &part[1..];
        let mut z = [0.0; 2];
        z.copy_from_slice(inner);
        z[0] * part[0] + y[0] * z[1] + y.iter().sum::<f64>()
    }

    pub(crate) fn matrices(x: &[f64]) -> f64 {
        let m = [[x[0], x[1]], [x[2], x[3]]];
        let mut p = m;
        p[0][1] += 1.0;
        let mut q = [[0.0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..2 { q[i][j] += m[i][k] * p[k][j]; }
            }
        }
        let row = q[1];
        q[1][0] = 7.0;
        let mut t = 0.0;
        for r in &q { for v in r { t += v * v; } }
        for r in q.iter_mut() { r[0] *= 2.0; r.swap(0, 1); }
        t + row[0] * q[0][0] + m[0][0] * q[1][1]
    }

    pub(crate) fn references(x: &[f64]) -> f64 {
        let mut a = x[0];
        let mut y = [x[1], x[2], x[3]];
        {
            let r = &mut a;
            *r += 1.0;
            let s = &mut y[1];
            *s *= *r;
            *r *= 2.0;
        }
        let old = std::mem::replace(&mut a, x[4]);
        let mut b = y[1];
        std::mem::swap(&mut a, &mut b);
        let moved = y;
        let kept = moved[1];
        let other = &moved;
        a * b + old * other[0] + kept
    }

    fn bump(v: &mut f64, by: f64) -> f64 {
        *v += by * *v;
        *v * 0.5
    }

    fn smooth(y: &mut [f64], rate: f64) {
        for i in 1..y.len() { y[i] += rate * (y[i - 1] - y[i]); }
    }

    fn both(a: f64, b: f64) -> (f64, f64) { (a * b, a - b) }

    fn changed(mut y: [f64; 3]) -> [f64; 3] {
        y[0] *= y[1];
        y
    }

    pub(crate) fn helpers(x: &[f64]) -> f64 {
        fn inner(a: f64) -> f64 { if a > 0.0 { a.ln_1p() } else { a * a } }
        let mut a = x[0];
        let half = bump(&mut a, x[1]);
        let mut y = x.to_vec();
        smooth(&mut y, 0.3);
        smooth(&mut y[2..], x[2]);
        bump(&mut y[1], 2.0);
        let (p, q) = both(half, y[3]);
        let z = [x[0], x[1], x[2]];
        let w = changed(z);
        inner(p) + q * y[5] + a + w[0] * z[0] + inner(x[4])
    }

    pub(crate) fn closures(x: &[f64]) -> f64 {
        let k = x[0] * SCALE;
        let f = |a: f64, b: f64| a * k + b;
        let g = |v: &f64| -> f64 { if *v > 0.5 { return 2.0 * v; } v * v };
        let mut count = 0.0;
        let mut add = |v: f64| { count += v; count * 0.1 };
        let p = add(x[1]) + add(x[2]);
        let mut base = x[3];
        let held = move |t: f64| t * base;
        base += 10.0;
        let s: f64 = x.iter().map(g).sum();
        f(x[1], p) + f(s, count) + held(x[4]) + base * LIMIT
    }

    pub(crate) fn floats(x: &[f64]) -> f64 {
        let a = x[0].abs() + 0.1;
        let (s, c) = x[1].sin_cos();
        let t = [
            a.sqrt(), a.cbrt(), a.ln(), a.log2(), a.log10(), a.log(3.0), a.exp(), a.exp2(), a.exp_m1(), a.ln_1p(),
            x[2].sin(), x[2].cos(), x[2].tan(), (0.3 * x[2]).asin(), (0.3 * x[2]).acos(), x[2].atan(),
            x[3].sinh(), x[3].cosh(), x[3].tanh(), x[3].asinh(), (1.5 + a).acosh(), (0.2 * x[3]).atanh(),
            x[4].atan2(a), x[4].hypot(x[5]), a.powf(x[5]), x[4].powi(3), a.powi(-2), x[5].powf(2.0),
            x[4].mul_add(x[5], s), c.min(x[0]), c.max(x[0]), x[1].clamp(-0.25, 0.75), a.recip(),
            x[5].to_degrees(), x[5].to_radians(), x[0].copysign(x[1]), x[2].fract(), (x[3] * 3.0).rem_euclid(1.7),
            (x[3] * 5.0) % 1.3,
        ];
        let flat = x[2].floor() + x[2].ceil() + x[2].round() + x[2].trunc() + x[2].signum() + (x[3] * 4.0).div_euclid(1.5);
        let mut total = flat;
        for (i, v) in t.iter().enumerate() { total += v * (1.0 + 0.01 * i as f64); }
        if total.is_nan() || total.is_infinite() || !s.is_finite() || x[0].is_sign_negative() { total * 0.5 } else { total }
    }

    pub(crate) fn integers(x: &[f64]) -> f64 {
        let n = x.len();
        let mut state: u32 = 12345;
        let mut s = 0.0;
        for _ in 0..10 {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            s += x[state as usize % n] * (state >> 28) as f64;
        }
        let i = (x[0] * 3.7) as i64;
        let j = -7_i64 / 2 + -7_i64 % 3 + (-7_i64).rem_euclid(3) + i.pow(2).min(9) - i.abs().max(1);
        let k = (x[1] * 1e30) as i32 as f64 * 1e-12 + f64::from((300_i32 as u8).min(50)) + (-1_i32 as u8) as f64;
        let m = n.saturating_sub(10) + n.abs_diff(9) + n.div_ceil(4) + (n & 5 | 8 ^ 3) + (!7_i64 & 15) as usize;
        let b = (n > 3) as i32 as f64 + (n == 6 || n / (n - 6) > 1) as u8 as f64;
        s * j as f64 + k * x[2] + m as f64 * x[3] + b
    }

    pub(crate) fn rk4(x: &[f64]) -> f64 {
        let f = |t: f64, y: f64| x[1] * y * (1.0 - y / (2.0 + x[2] * x[2])) + 0.1 * t.sin();
        let (mut t, mut y, h) = (0.0, 0.5 + x[0] * x[0], 0.1);
        while t < 2.0 {
            let k1 = f(t, y);
            let k2 = f(t + h / 2.0, y + h / 2.0 * k1);
            let k3 = f(t + h / 2.0, y + h / 2.0 * k2);
            let k4 = f(t + h, y + h * k3);
            y += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
            t += h;
        }
        y
    }

    pub(crate) fn thomas(x: &[f64]) -> f64 {
        let n = x.len();
        let mut c = vec![0.0; n];
        let mut d = vec![0.0; n];
        let b = 3.0 + x[0] * x[0];
        c[0] = 1.0 / b;
        d[0] = x[0] / b;
        for i in 1..n {
            let m = b - c[i - 1];
            c[i] = 1.0 / m;
            d[i] = (x[i] - d[i - 1]) / m;
        }
        for i in (0..n - 1).rev() { d[i] -= c[i] * d[i + 1]; }
        d.iter().zip(x).map(|(a, b)| a * b).sum()
    }

    pub(crate) fn lu(x: &[f64]) -> f64 {
        let mut m = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 { m[i][j] = x[(i * 3 + j) % 6] + if i == j { 4.0 } else { 0.0 }; }
        }
        for k in 0..3 {
            for i in k + 1..3 {
                m[i][k] /= m[k][k];
                for j in k + 1..3 { m[i][j] -= m[i][k] * m[k][j]; }
            }
        }
        m[0][0] * m[1][1] * m[2][2]
    }

    pub(crate) fn sorting(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        let n = y.len();
        for i in 0..n {
            for j in 0..n - 1 - i {
                if y[j] > y[j + 1] { y.swap(j, j + 1); }
            }
        }
        let mut s = 0.0;
        for (i, v) in y.iter().enumerate() { s += v * v * (i + 1) as f64; }
        s
    }

    pub(crate) fn knapsack(x: &[f64]) -> f64 {
        const SIZES: [usize; 6] = [2, 3, 1, 4, 2, 3];
        let mut best = [0.0; 8];
        for i in 0..6 {
            for w in (SIZES[i]..8).rev() {
                let with = best[w - SIZES[i]] + x[i] + 1.0;
                if with > best[w] { best[w] = with; }
            }
        }
        best[7]
    }

    pub(crate) fn softmax(x: &[f64]) -> f64 {
        let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let e: Vec<f64> = x.iter().map(|v| (v - top).exp()).collect();
        let sum: f64 = e.iter().sum();
        e.iter().enumerate().map(|(i, v)| v / sum * i as f64).sum::<f64>()
    }

    pub(crate) fn kahan(x: &[f64]) -> f64 {
        let (mut sum, mut c) = (0.0, 0.0);
        for v in x {
            let y = v * v - c;
            let t = sum + y;
            c = (t - sum) - y;
            sum = t;
        }
        sum + prefix(x)[4]
    }

    fn prefix(x: &[f64]) -> Vec<f64> {
        let mut y = x.to_vec();
        for i in 1..y.len() { y[i] += y[i - 1]; }
        y
    }

    pub(crate) fn single(x: &[f64]) -> f64 {
        let a = x[0] as f32;
        let mut b = 0.5;
        for i in 0..4 { b = b * a + 0.25_f32 * i as f32; }
        let c = [0.1_f32; 3];
        f64::from(b * c[1].sqrt()) * x[1]
    }

    pub(crate) fn order(x: &[f64]) -> f64 {
        let mut a = x[0];
        let b = a * { a += 1.0; a } + a;
        let mut y = [x[1], x[2]];
        let c = y[0] + { y[0] = 5.0; y[1] } * y[0];
        let mut i = 0;
        y[{ i += 1; i }] += { i = 0; x[3] };
        b * c + y[1] + i as f64
    }

    pub(crate) fn factorial(x: &[f64]) -> f64 {
        fn power(x: f64, n: usize) -> f64 {
            if n == 0 { 1.0 } else { x * power(x, n - 1) }
        }
        power(x[0], 5) + power(x[1], 2)
    }
}
