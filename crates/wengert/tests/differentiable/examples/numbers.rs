//! The examples whose state is a few numbers, as one would write them in Rust.

use wengert::differentiable;

#[differentiable]
pub(crate) mod numbers {
    pub(crate) fn aliased_buffers(x: f64, y: f64) -> f64 {
        let mut a = [0.0; 3];
        a[0] = x;
        let b = &mut a;
        b[1] = y * b[0];
        b[2] = b[0] + b[1];
        a[1] * a[2]
    }

    pub(crate) fn bisection(a: f64, b: f64) -> f64 {
        let (mut low, mut high) = (-10.0, 10.0);
        while high - low > 1e-8 {
            let middle: f64 = 0.5 * (low + high);
            if middle.powi(3) + a * middle < b {
                low = middle;
            } else {
                high = middle;
            }
        }
        let x: f64 = 0.5 * (low + high);
        x - (x.powi(3) + a * x - b) / (3.0 * x * x + a)
    }

    pub(crate) fn bouncing_ball(h: f64, bounce: f64, time: f64, g: f64) -> f64 {
        let mut t = (2.0 * h / g).sqrt();
        if time < t {
            return h - 0.5 * g * time * time;
        }
        let mut v = (2.0 * g * h).sqrt();
        for _ in 0..1000 {
            v *= bounce;
            let flight = 2.0 * v / g;
            if t + flight > time {
                break;
            }
            t += flight;
        }
        v * (time - t) - 0.5 * g * (time - t).powi(2)
    }

    pub(crate) fn doubling(x: f64) -> f64 {
        let mut x = x;
        while x < 1.0 {
            x *= 2.0;
        }
        x
    }

    pub(crate) fn escape_time(cx: f64, cy: f64, limit: u32) -> f64 {
        let (mut x, mut y) = (0.0, 0.0);
        for n in 0..limit {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            let square = x * x + y * y;
            if square >= 1e6 {
                return f64::from(n + 2) - (0.5 * square.ln()).log2();
            }
        }
        f64::from(limit)
    }

    pub(crate) fn first_crossing(depth: f64, drag: f64, dt: f64, limit: usize) -> f64 {
        let (mut x, mut v) = (0.0, 0.0);
        for step in 0..limit {
            let old = x;
            v += dt * (9.81 - drag * v * v);
            x += dt * v;
            if x > depth {
                return dt * (step as f64 + (depth - old) / (x - old));
            }
        }
        -1.0
    }

    pub(crate) fn fixed_point(a: f64, x: f64, limit: usize) -> f64 {
        let mut x = x;
        for _ in 0..limit {
            let new = a * x.cos();
            if (new - x).abs() < 1e-13 {
                break;
            }
            x = new;
        }
        x
    }

    /// Chances of the normal distribution, by a series that ends when it is exact.
    fn cdf(x: f64) -> f64 {
        let (mut term, mut sum, mut k) = (x, x, 1.0);
        while term.abs() > 1e-17 * sum.abs() {
            k += 2.0;
            term *= x * x / k;
            sum += term;
        }
        0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }

    pub(crate) fn implied_volatility(
        price: f64,
        spot: f64,
        strike: f64,
        rate: f64,
        years: f64,
    ) -> f64 {
        use std::f64::consts::PI;
        let mut sigma: f64 = 0.3;
        loop {
            let root = sigma * years.sqrt();
            let d1 = ((spot / strike).ln() + (rate + 0.5 * sigma.powi(2)) * years) / root;
            let call = spot * cdf(d1) - strike * (-rate * years).exp() * cdf(d1 - root);
            let vega = spot * (years / (2.0 * PI)).sqrt() * (-0.5 * d1 * d1).exp();
            let error = call - price;
            sigma -= error / vega;
            if error.abs() <= 1e-10 {
                break sigma;
            }
        }
    }

    pub(crate) fn kepler(m: f64, e: f64, a: f64) -> (f64, f64) {
        let mut anomaly = m;
        loop {
            let step = (anomaly - e * anomaly.sin() - m) / (1.0 - e * anomaly.cos());
            anomaly -= step;
            if step.abs() <= 1e-12 {
                break;
            }
        }
        let (sin, cos) = anomaly.sin_cos();
        (a * (cos - e), a * (1.0 - e * e).sqrt() * sin)
    }

    pub(crate) fn logistic_map(r: f64, x: f64, n: usize) -> f64 {
        (0..n).fold(x, |x, _| r * x * (1.0 - x))
    }

    fn slope(x: f64, y: f64, z: f64, sigma: f64, rho: f64, beta: f64) -> (f64, f64, f64) {
        (sigma * (y - x), x * (rho - z) - y, x * y - beta * z)
    }

    pub(crate) fn lorenz(sigma: f64, rho: f64, beta: f64, dt: f64, n: usize) -> f64 {
        let (mut x, mut y, mut z) = (1.0, 1.0, 1.0);
        let mut total = 0.0;
        for _ in 0..n {
            let h = dt / 2.0;
            let (ax, ay, az) = slope(x, y, z, sigma, rho, beta);
            let (bx, by, bz) = slope(x + h * ax, y + h * ay, z + h * az, sigma, rho, beta);
            let (cx, cy, cz) = slope(x + h * bx, y + h * by, z + h * bz, sigma, rho, beta);
            let (dx, dy, dz) = slope(x + dt * cx, y + dt * cy, z + dt * cz, sigma, rho, beta);
            x += dt / 6.0 * (ax + 2.0 * bx + 2.0 * cx + dx);
            y += dt / 6.0 * (ay + 2.0 * by + 2.0 * cy + dy);
            z += dt / 6.0 * (az + 2.0 * bz + 2.0 * cz + dz);
            total += z;
        }
        total / n as f64
    }

    pub(crate) fn lotka_volterra(
        birth: f64,
        death: f64,
        eaten: f64,
        x: f64,
        y: f64,
        dt: f64,
        n: usize,
    ) -> f64 {
        let growth = 0.5 * eaten;
        let slope = |x: f64, y: f64| (birth * x - eaten * x * y, growth * x * y - death * y);
        let step = |x: f64, y: f64| {
            let (ax, ay) = slope(x, y);
            let (bx, by) = slope(x + dt / 2.0 * ax, y + dt / 2.0 * ay);
            (x + dt * bx, y + dt * by)
        };
        let (mut x, mut y) = (x, y);
        for _ in 0..n {
            (x, y) = step(x, y);
        }
        y
    }

    pub(crate) fn momentum(x: f64, y: f64, rate: f64, momentum: f64, n: usize) -> f64 {
        let (mut x, mut y, mut u, mut v) = (x, y, 0.0, 0.0);
        for _ in 0..n {
            let miss = y - x * x;
            u = momentum * u - rate * (-2.0 * (1.0 - x) - 40.0 * x * miss);
            v = momentum * v - rate * (20.0 * miss);
            x += u;
            y += v;
        }
        (1.0 - x).powi(2) + 10.0 * (y - x * x).powi(2)
    }

    pub(crate) fn newton(a: f64, x0: f64) -> f64 {
        let mut x = x0;
        while (x * x - a).abs() > 1e-12 {
            x -= (x * x - a) / (2.0 * x);
        }
        x
    }

    pub(crate) fn overwriting(x: f64, y: f64) -> f64 {
        let mut a = [x, y];
        a[0] += 1.0;
        a[0] * a[1]
    }

    pub(crate) fn pendulum(
        mut angle: f64,
        mut speed: f64,
        length: f64,
        dt: f64,
        g: f64,
        n: usize,
    ) -> (f64, f64) {
        let energy =
            |angle: f64, speed: f64| 0.5 * (length * speed).powi(2) - g * length * angle.cos();
        let start = energy(angle, speed);
        speed -= 0.5 * dt * g / length * angle.sin();
        for _ in 0..n {
            angle += dt * speed;
            speed -= dt * g / length * angle.sin();
        }
        speed += 0.5 * dt * g / length * angle.sin();
        (angle, energy(angle, speed) - start)
    }

    fn scramble(k: u32) -> u32 {
        let k = ((k >> 16) ^ k).wrapping_mul(0x45D9F3B);
        let k = ((k >> 16) ^ k).wrapping_mul(0x45D9F3B);
        (k >> 16) ^ k
    }

    pub(crate) fn random_walk(drift: f64, step: f64, seed: u32, n: u32) -> f64 {
        let (mut x, mut total) = (0.0, 0.0);
        for i in 0..n {
            let u = (f64::from(scramble(seed + i)) + 0.5) / 4_294_967_296.0;
            x = 3.0 * ((x + drift + step * (2.0 * u - 1.0)) / 3.0_f64).tanh();
            total += x * x;
        }
        total / f64::from(n)
    }

    pub(crate) fn repeated_squaring(x: f64, n: u64) -> f64 {
        let (mut x, mut n, mut result) = (x, n, 1.0);
        while n > 0 {
            if n & 1 == 1 {
                result *= x;
            }
            x *= x;
            n >>= 1;
        }
        result
    }

    fn bell(x: f64, width: f64) -> f64 {
        (-(x / width).powi(2)).exp()
    }

    fn rule(a: f64, b: f64, width: f64, n: usize) -> f64 {
        let h = (b - a) / n as f64;
        let mut total = bell(a, width) + bell(b, width);
        for i in 1..n {
            let weight = match i % 2 {
                1 => 4.0,
                _ => 2.0,
            };
            total += weight * bell(a + i as f64 * h, width);
        }
        total * h / 3.0
    }

    pub(crate) fn simpson(a: f64, b: f64, width: f64, #[nondiff] tol: f64) -> f64 {
        let mut n = 2;
        let mut value = rule(a, b, width, n);
        loop {
            n *= 2;
            let new = rule(a, b, width, n);
            let change = (new - value).abs();
            value = new;
            if change <= tol {
                return value;
            }
        }
    }

    pub(crate) fn sir(
        rate: f64,
        recovery: f64,
        infected: f64,
        threshold: f64,
        dt: f64,
        n: usize,
    ) -> (f64, f64) {
        let (mut s, mut i) = (1.0 - infected, infected);
        let mut peak = i;
        for _ in 0..n {
            let contacts = if i > threshold { 0.5 * rate } else { rate };
            let new = dt * contacts * s * i;
            s -= new;
            i += new - dt * recovery * i;
            peak = peak.max(i);
        }
        (peak, s)
    }

    pub(crate) fn tanh_recurrence(w: f64, b: f64, h: f64, n: usize) -> f64 {
        let mut h = h;
        for _ in 0..n {
            h = (w * h + b).tanh();
        }
        h
    }

    pub(crate) fn two_variable_recurrence(a: f64, mut x: f64, mut y: f64, n: usize) -> f64 {
        let (s, c) = a.sin_cos();
        for _ in 0..n {
            let old = x;
            x = c * old - s * y.sin();
            y = s * old + c * y;
        }
        x * y
    }

    pub(crate) fn workload_a(w: f64, b: f64, h0: f64, n: usize) -> f64 {
        let (mut h, mut total) = (h0, 0.0);
        for _ in 0..n {
            h = (w * h + b).tanh();
            total += h;
        }
        total / n as f64
    }

    pub(crate) fn workload_c(
        sigma: f64,
        rho: f64,
        beta: f64,
        x: f64,
        y: f64,
        z: f64,
        n: usize,
    ) -> f64 {
        let slope = |[x, y, z]: [f64; 3]| [sigma * (y - x), x * (rho - z) - y, x * y - beta * z];
        let ahead =
            |p: [f64; 3], h: f64, v: [f64; 3]| [p[0] + h * v[0], p[1] + h * v[1], p[2] + h * v[2]];
        let dt = 2.0 / n as f64;
        let mut p = [x, y, z];
        for _ in 0..n {
            let a = slope(p);
            let b = slope(ahead(p, dt / 2.0, a));
            let c = slope(ahead(p, dt / 2.0, b));
            let d = slope(ahead(p, dt, c));
            for i in 0..3 {
                p[i] += dt / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
            }
        }
        p[0]
    }

    pub(crate) fn workload_f2(m: f64, e: f64) -> f64 {
        let mut x = m;
        loop {
            let new = m + e * x.sin();
            let change = new - x;
            x = new;
            if change.abs() <= 1e-14 {
                break x;
            }
        }
    }
}
