//! `#[differentiable]` and structs: parameters, results, values, methods.

use wengert::{Differentiable, differentiable};

/// That two numbers differ by no more than rounding.
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs().max(b.abs())), "{a} {b}");
}

/// That a derivative agrees with a difference.
fn near(derivative: f64, f: impl Fn(f64) -> f64) {
    let difference = (f(1e-6) - f(-1e-6)) / 2e-6;
    let size = 1.0 + derivative.abs().max(difference.abs());
    assert!((derivative - difference).abs() <= 1e-7 * size, "{derivative} {difference}");
}

mod shapes {
    use wengert::Differentiable;

    /// What an oscillator is made of.
    #[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
    pub struct Params {
        pub stiffness: f64,
        pub damping: (f64, [f64; 2]),
        pub order: u32,
        pub driven: bool,
    }

    /// Not of the same module as what uses it, and with a field that cannot be named there.
    #[derive(Clone, Debug, PartialEq, Differentiable)]
    pub(crate) struct State {
        pub(crate) x: Vec<f64>,
        pub(crate) v: Vec<f64>,
        pub(crate) inner: Inner,
        seed: i32,
    }

    #[derive(Clone, Debug, PartialEq, Differentiable)]
    pub(crate) struct Inner {
        pub(crate) time: f64,
        pub(crate) steps: Steps,
    }

    #[derive(Clone, Debug, PartialEq, Differentiable)]
    pub(crate) struct Steps(pub(crate) usize, pub(crate) f64);

    impl State {
        pub(crate) fn at(x: &[f64], v: &[f64]) -> State {
            let inner = Inner { time: 0.5, steps: Steps(0, 0.25) };
            State { x: x.to_vec(), v: v.to_vec(), inner, seed: -7 }
        }

        pub(crate) fn seed(&self) -> i32 {
            self.seed
        }
    }
}

use shapes::{Params, State};

/// By its path, and with the attribute twice.
#[differentiable]
fn doubled(p: shapes::Params, steps: (crate::shapes::Steps, f64)) -> (shapes::Params, f64) {
    let shapes::Steps(n, h) = steps.0;
    (Params { stiffness: 2.0 * p.stiffness * h, ..p }, steps.1 * n as f64)
}

#[test]
fn paths() {
    let steps = || (shapes::Steps(3, 0.5), 2.0);
    let ((p, x), (dp, dx)) = doubled::jvp(PARAMS, steps(), PARAMS, (shapes::Steps(9, 1.0), 4.0));
    assert_eq!((p, x), doubled(PARAMS, steps()));
    assert_eq!((dp.stiffness, dp.damping, dp.order), (1.5 + 3.0, PARAMS.damping, 3));
    assert_eq!(dx, 12.0);
    let (_, (back, (by_steps, by_x))) = doubled::vjp(PARAMS, steps(), (PARAMS, 1.0));
    assert_eq!(back.stiffness, 1.5);
    assert_eq!((by_steps, by_x), (shapes::Steps(3, 2.0 * 1.5 * 1.5), 3.0));
}

const PARAMS: Params =
    Params { stiffness: 1.5, damping: (0.3, [0.2, -0.4]), order: 3, driven: true };

/// Fields of every kind, read.
#[differentiable]
fn force(p: &Params, x: f64, v: f64) -> f64 {
    let [linear, cubic] = p.damping.1;
    let mut f = -p.stiffness * x.powi(p.order as i32) - p.damping.0 * v;
    f -= linear * v + cubic * v * v * v;
    if p.driven { f + x.sin() } else { f }
}

#[test]
fn fields() {
    let (value, (dp, dx, dv)) = force::value_and_grad(&PARAMS, 0.7, -0.6);
    close(value, force(&PARAMS, 0.7, -0.6));
    // What there is no derivative by is that of the argument.
    assert_eq!((dp.order, dp.driven), (3, true));
    near(dp.stiffness, |h| force(&Params { stiffness: 1.5 + h, ..PARAMS }, 0.7, -0.6));
    near(dp.damping.0, |h| {
        force(&Params { damping: (0.3 + h, PARAMS.damping.1), ..PARAMS }, 0.7, -0.6)
    });
    near(dp.damping.1[1], |h| {
        force(&Params { damping: (0.3, [0.2, -0.4 + h]), ..PARAMS }, 0.7, -0.6)
    });
    near(dx, |h| force(&PARAMS, 0.7 + h, -0.6));
    near(dv, |h| force(&PARAMS, 0.7, -0.6 + h));
    let direction =
        Params { stiffness: 0.5, damping: (-1.0, [2.0, 0.25]), order: 0, driven: false };
    let (same, tangent) = force::jvp(&PARAMS, 0.7, -0.6, &direction, 1.0, -2.0);
    assert_eq!(same.to_bits(), value.to_bits());
    let along = 0.5 * dp.stiffness - dp.damping.0 + 2.0 * dp.damping.1[0] + 0.25 * dp.damping.1[1];
    close(tangent, along + dx - 2.0 * dv);
    let (_, seeded) = force::vjp(&PARAMS, 0.7, -0.6, 1.0);
    assert_eq!(seeded, (dp, dx, dv));
    let (hp, hx, _) = force::hvp(&PARAMS, 0.7, -0.6, &direction, 1.0, -2.0);
    let moved = |h: f64| {
        let p = Params {
            stiffness: 1.5 + 0.5 * h,
            damping: (0.3 - h, [0.2 + 2.0 * h, -0.4 + 0.25 * h]),
            ..PARAMS
        };
        force::grad(&p, 0.7 + h, -0.6 - 2.0 * h)
    };
    near(hp.stiffness, |h| moved(h).0.stiffness);
    near(hx, |h| moved(h).1);
}

/// A struct that is changed, with vectors, and others in it.
#[differentiable]
fn step(s: &mut State, p: Params, h: f64) {
    let before = s.clone();
    for i in 0..s.x.len() {
        s.v[i] += h * (-p.stiffness * s.x[i] - p.damping.0 * s.v[i]);
    }
    for i in 0..s.x.len() {
        s.x[i] += h * s.v[i] * s.inner.time;
    }
    s.inner.time += h * before.x[0];
    let inner = &mut s.inner;
    inner.steps.0 += 1;
    inner.steps.1 *= inner.time;
}

fn flat(s: &State) -> Vec<f64> {
    [s.x.clone(), s.v.clone(), vec![s.inner.time, s.inner.steps.1]].concat()
}

#[test]
fn a_struct_behind_a_mutable_reference() {
    let start = State::at(&[1.0, -0.5], &[0.25, 2.0]);
    let (mut plain, mut made) = (start.clone(), start.clone());
    step(&mut plain, PARAMS, 0.1);
    step::value(&mut made, PARAMS, 0.1);
    flat(&plain).iter().zip(flat(&made)).for_each(|(a, b)| close(*a, b));
    assert_eq!((made.inner.steps.0, made.seed()), (1, -7));

    let bar = State::at(&[0.3, 0.7], &[-1.0, 0.5]);
    let mut adjoint = bar.clone();
    let mut again = start.clone();
    let ((), (dp, dh)) = step::vjp(&mut again, PARAMS, 0.1, &mut adjoint);
    assert_eq!(again, made);
    let mut tangent = State::at(&[1.0, 2.0], &[3.0, 4.0]);
    let dots = |a: &State, b: &State| flat(a).iter().zip(flat(b)).map(|(a, b)| a * b).sum::<f64>();
    let back = dots(&adjoint, &tangent) + 0.5 * dp.stiffness + 0.25 * dh;
    let dparams = Params { stiffness: 0.5, damping: (0.0, [0.0; 2]), ..PARAMS };
    let mut again = start.clone();
    step::jvp(&mut again, PARAMS, 0.1, &mut tangent, dparams, 0.25);
    close(back, dots(&tangent, &bar));
    near(dp.stiffness, |h| {
        let mut s = start.clone();
        step(&mut s, Params { stiffness: 1.5 + h, ..PARAMS }, 0.1);
        dots(&s, &bar)
    });
    near(adjoint.inner.time, |h| {
        let mut s = start.clone();
        s.inner.time += h;
        step(&mut s, PARAMS, 0.1);
        dots(&s, &bar)
    });

    let short = State::at(&[1.0], &[1.0, 1.0]);
    let error = step::try_jvp(&mut start.clone(), PARAMS, 0.1, &mut short.clone(), PARAMS, 0.0);
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "shapes do not fit: `ds.x` has 1 element, `s.x` has 2 elements");
    let error = step::try_value(&mut State::at(&[1.0, 2.0], &[]), PARAMS, 0.1).unwrap_err();
    assert!(error.to_string().contains("`s.v` has 0 elements"), "{error}");
    assert_eq!(error.line(), Some(line!() - 54), "{error}");
    assert!(error.to_string().contains("differentiable_structs.rs"), "{error}");
}

/// Structs that are made, taken apart, chosen between and returned.
#[differentiable]
mod points {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Point {
        pub(crate) x: f64,
        pub(crate) y: f64,
        pub(crate) id: i32,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Pair(pub(crate) Point, pub(crate) [f64; 2]);

    /// Nothing that a program could have, and no function has it.
    #[allow(dead_code)]
    pub(crate) struct Label {
        text: String,
    }

    type P = Point;

    fn turned(p: P, angle: f64) -> P {
        let (s, c) = angle.sin_cos();
        P { x: c * p.x - s * p.y, y: s * p.x + c * p.y, ..p }
    }

    fn push(p: &mut Point, by: &Point) {
        p.x += by.x * by.y;
        p.y -= by.x;
        p.id += 1;
    }

    pub(crate) fn walk(pair: Pair, angle: f64, n: usize) -> Pair {
        let Pair(mut p, mut a) = pair;
        let old = p;
        let mut moved = pair;
        for k in 0..n {
            let Point { x, .. } = p;
            let mut q = if x > 0.0 { turned(p, angle) } else { Point { id: 9, ..p } };
            push(&mut q, &old);
            moved.0 = q;
            moved.1[k % 2] += q.x;
            moved.1 = [moved.1[1], moved.1[0]];
            let r = &mut a;
            r[0] *= q.y;
            p = match q {
                Point { id: 9, x, .. } => Point { x: -x, y: x * x, id: 1 },
                Point { x, y, id } => Point { x: x * 0.9, y: y + old.y, id },
            };
        }
        moved.1[0] += a[0] * pair.1[1];
        std::mem::swap(&mut moved.0, &mut p);
        *(&mut moved) = Pair(moved.0, [moved.1[0], p.y]);
        moved
    }
}

use points::{Pair, Point};

#[test]
fn values() {
    let pair = Pair(Point { x: 0.8, y: -0.4, id: 4 }, [1.5, 0.7]);
    let numbers = |p: &Pair| [p.0.x, p.0.y, p.1[0], p.1[1]];
    let bar = Pair(Point { x: 1.0, y: -0.5, id: 0 }, [0.25, 2.0]);
    let dots = |p: &Pair| numbers(p).iter().zip(numbers(&bar)).map(|(a, b)| a * b).sum::<f64>();
    for n in 0..5 {
        let plain = points::walk(pair, 0.3, n);
        let made = points::walk::value(pair, 0.3, n);
        numbers(&plain).into_iter().zip(numbers(&made)).for_each(|(a, b)| close(a, b));
        assert_eq!(plain.0.id, made.0.id);
        let (same, (dpair, dangle)) = points::walk::vjp(pair, 0.3, n, &bar);
        assert_eq!(same, made);
        assert_eq!(dpair.0.id, 4);
        let moves: [&dyn Fn(f64) -> Pair; 4] = [
            &|h| Pair(Point { x: 0.8 + h, ..pair.0 }, pair.1),
            &|h| Pair(Point { y: -0.4 + h, ..pair.0 }, pair.1),
            &|h| Pair(pair.0, [1.5 + h, 0.7]),
            &|h| Pair(pair.0, [1.5, 0.7 + h]),
        ];
        for (derivative, moved) in numbers(&dpair).into_iter().zip(moves) {
            near(derivative, |h| dots(&points::walk(moved(h), 0.3, n)));
        }
        near(dangle, |h| dots(&points::walk(pair, 0.3 + h, n)));
        let direction = Pair(Point { x: 0.3, y: 1.0, id: 77 }, [-1.0, 0.5]);
        let (same, tangent) = points::walk::jvp(pair, 0.3, n, direction, -2.0);
        assert_eq!(same, made);
        // Of a result, too: what has no derivative is what it is.
        assert_eq!(tangent.0.id, made.0.id);
        let back: f64 = numbers(&dpair).iter().zip(numbers(&direction)).map(|(a, b)| a * b).sum();
        close(dots(&tangent), back - 2.0 * dangle);
    }
}

/// What is copied, and what is another name for the same.
#[differentiable]
mod copies {
    #[derive(Clone, Copy)]
    pub(crate) struct Small {
        pub(crate) a: [f64; 2],
        pub(crate) x: f64,
    }

    #[derive(Clone)]
    pub(crate) struct Large {
        pub(crate) v: Vec<f64>,
        pub(crate) w: Vec<f64>,
    }

    fn first(s: &Small) -> [f64; 2] {
        s.a
    }

    fn behind(s: &mut Small) -> [f64; 2] {
        s.a[0] *= 2.0;
        s.a
    }

    fn exchanged(l: &mut Large) {
        *l = Large { v: l.w.clone(), w: l.v.clone() };
    }

    fn identity(x: &[f64; 2]) -> [f64; 2] {
        *x
    }

    pub(crate) fn all(mut s: Small, l: Large, x: [f64; 2]) -> f64 {
        let mut y = first(&s);
        y[0] += 10.0;
        let mut z = behind(&mut s);
        z[1] += 100.0;
        let copy = s;
        s.x += 1.0;
        s.a[1] = 5.0;
        let r = &mut s;
        let old = r.x;
        let olds = r.a;
        r.x *= 3.0;
        r.a = [r.a[1], r.a[0]];
        let add = move |k: f64| k + copy.x + s.x;
        s.x = 0.125;
        let mut l2 = l.clone();
        l2.v[0] = 0.5;
        exchanged(&mut l2);
        let Large { mut v, w } = l;
        v[0] += w[0];
        let both = (v.clone(), 1.0);
        let mut other = both.clone();
        other.0[0] = 3.0;
        let mut i = identity(&x);
        i[0] = 9.0;
        let sum = |a: [f64; 2]| a[0] + 1.5 * a[1];
        sum(y)
            + sum(z) * 2.0
            + sum(s.a) * 4.0
            + sum(copy.a) * 8.0
            + sum(olds) * 16.0
            + old
            + add(2.0) * x[0]
            + s.x
            + l2.v[0] * v[0]
            + l2.w[0]
            + both.0[0]
            + other.0[0]
            + i[0] * x[1]
    }
}

#[test]
fn copies_are_copies() {
    use copies::{Large, Small, all};
    let s = Small { a: [0.3, 0.6], x: 2.0 };
    let l = Large { v: vec![1.5, 2.0], w: vec![-0.5, 4.0] };
    let x = [0.2, 0.9];
    let (value, (ds, dl, dx)) = all::value_and_grad(s, l.clone(), x);
    close(value, all(s, l.clone(), x));
    near(ds.a[0], |h| all(Small { a: [0.3 + h, 0.6], ..s }, l.clone(), x));
    near(ds.a[1], |h| all(Small { a: [0.3, 0.6 + h], ..s }, l.clone(), x));
    near(ds.x, |h| all(Small { x: 2.0 + h, ..s }, l.clone(), x));
    near(dl.v[0], |h| all(s, Large { v: vec![1.5 + h, 2.0], ..l.clone() }, x));
    near(dl.w[0], |h| all(s, Large { w: vec![-0.5 + h, 4.0], ..l.clone() }, x));
    near(dx[0], |h| all(s, l.clone(), [0.2 + h, 0.9]));
    near(dx[1], |h| all(s, l.clone(), [0.2, 0.9 + h]));
    let (same, tangent) =
        all::jvp(s, l, x, s, Large { v: vec![1.0, 0.0], w: vec![2.0, 0.0] }, [0.5, -0.5]);
    assert_eq!(same, value);
    let back = ds.a[0] * 0.3 + ds.a[1] * 0.6 + ds.x * 2.0 + dl.v[0] + 2.0 * dl.w[0];
    close(tangent, back + 0.5 * dx[0] - 0.5 * dx[1]);
}

/// A struct with methods.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Pendulum {
    length: f64,
    gravity: f64,
    angle: f64,
    speed: f64,
}

#[differentiable]
impl Pendulum {
    const SCALE: f64 = 0.5;

    fn new(length: f64, angle: f64) -> Self {
        Self { length, gravity: 9.81, angle, speed: 0.0 }
    }

    fn energy(&self, mass: f64) -> f64 {
        let v = self.length * self.speed;
        Self::SCALE * mass * v * v - mass * self.gravity * self.length * self.angle.cos()
    }

    fn accelerated(self, h: f64) -> Self {
        let speed = self.speed - h * self.gravity / self.length * self.angle.sin();
        Pendulum { speed, ..self }
    }

    fn step(&mut self, h: f64) {
        *self = self.accelerated(h);
        self.angle += h * self.speed;
    }

    fn swing(&mut self, h: f64, n: usize) -> f64 {
        for _ in 0..n {
            self.step(h);
        }
        self.accelerated(h).energy(2.0)
    }

    fn from_rest(length: f64, angle: f64, n: usize) -> f64 {
        let mut p = Pendulum::new(length, angle);
        p.swing(0.01, n) + Self::new(length, angle).energy(1.0)
    }
}

#[test]
fn methods() {
    let start = Pendulum { length: 1.2, gravity: 9.81, angle: 0.8, speed: -0.3 };
    let (value, (dp, dm)) = pendulum::energy::value_and_grad(&start, 1.5);
    close(value, start.energy(1.5));
    near(dp.length, |h| Pendulum { length: 1.2 + h, ..start }.energy(1.5));
    near(dp.speed, |h| Pendulum { speed: -0.3 + h, ..start }.energy(1.5));
    near(dm, |h| start.energy(1.5 + h));

    let mut p = start;
    let mut bar = Pendulum { length: 0.0, gravity: 0.0, angle: 2.0, speed: -1.0 };
    let (value, dh) = pendulum::swing::vjp(&mut p, 0.01, 20, 1.0, &mut bar);
    let run = |mut p: Pendulum, h: f64| {
        let energy = p.swing(h, 20);
        (energy, energy + 2.0 * p.angle - p.speed)
    };
    close(value, run(start, 0.01).0);
    near(bar.length, |h| run(Pendulum { length: 1.2 + h, ..start }, 0.01).1);
    near(bar.angle, |h| run(Pendulum { angle: 0.8 + h, ..start }, 0.01).1);
    near(bar.gravity, |h| run(Pendulum { gravity: 9.81 + h, ..start }, 0.01).1);
    near(dh, |h| run(start, 0.01 + h).1);
    let mut tangent = Pendulum { length: 1.0, gravity: 0.5, angle: -1.0, speed: 0.25 };
    let along = bar.length + 0.5 * bar.gravity - bar.angle + 0.25 * bar.speed + 3.0 * dh;
    let (_, dvalue) = pendulum::swing::jvp(&mut start.clone(), 0.01, 20, &mut tangent, 3.0);
    close(dvalue + 2.0 * tangent.angle - tangent.speed, along);

    let (value, (dl, da)) = pendulum::from_rest::value_and_grad(1.2, 0.8, 10);
    close(value, Pendulum::from_rest(1.2, 0.8, 10));
    near(dl, |h| Pendulum::from_rest(1.2 + h, 0.8, 10));
    near(da, |h| Pendulum::from_rest(1.2, 0.8 + h, 10));
    let (made, tangent) = pendulum::new::jvp(1.2, 0.8, 1.0, 2.0);
    assert_eq!(made, Pendulum::new(1.2, 0.8));
    assert_eq!(tangent, Pendulum { length: 1.0, gravity: 0.0, angle: 2.0, speed: 0.0 });
}

/// Methods in a module with the functions that call them, and a field that is not differentiated by.
#[differentiable]
pub mod fits {
    /// A line through points.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Line {
        pub slope: f64,
        pub offset: f64,
        #[nondiff]
        pub at: Vec<f64>,
    }

    impl Line {
        fn value(&self, k: usize) -> f64 {
            self.slope * self.at[k] + self.offset
        }

        pub fn misfit(&self, data: &[f64]) -> f64 {
            let mut sum = 0.0;
            for (k, y) in data.iter().enumerate() {
                sum += (self.value(k) - y).powi(2);
            }
            sum
        }
    }

    impl Default for Line {
        fn default() -> Line {
            Line { slope: 0.0, offset: 0.0, at: Vec::new() }
        }
    }

    pub fn both(lines: (Line, Line), #[nondiff] data: &[f64]) -> f64 {
        let (a, b) = lines;
        a.misfit(data) * b.misfit(data)
    }
}

#[test]
fn a_module_with_methods() {
    use fits::Line;
    let line = Line { slope: 0.5, offset: 1.0, at: vec![0.0, 1.0, 3.0] };
    let data = [1.0, 2.0, 0.5];
    let (value, (dline, _)) = fits::line::misfit::value_and_grad(&line, &data);
    close(value, line.misfit(&data));
    // Marked fields are those of the argument.
    assert_eq!(dline.at, line.at);
    near(dline.slope, |h| Line { slope: 0.5 + h, ..line.clone() }.misfit(&data));
    let other = Line { slope: -1.0, ..line.clone() };
    let (_, (da, db)) = fits::both::value_and_grad((line.clone(), other.clone()), &data);
    near(da.offset, |h| {
        fits::both((Line { offset: 1.0 + h, ..line.clone() }, other.clone()), &data)
    });
    near(db.slope, |h| {
        fits::both((line.clone(), Line { slope: -1.0 + h, ..other.clone() }), &data)
    });
    assert_eq!(Line::default().at, Vec::<f64>::new());
}

/// All derivatives of several numbers by a struct that is passed by value and has no `Clone`.
#[derive(Differentiable)]
struct Gains {
    up: f64,
    down: [f64; 2],
}

#[differentiable]
fn filtered(g: Gains, x: f64) -> [f64; 2] {
    [g.up * x + g.down[0], g.down[1] * x * x]
}

#[test]
fn a_jacobian() {
    let (by_gains, by_x) = filtered::jacobian(Gains { up: 2.0, down: [1.0, 3.0] }, 0.5);
    assert_eq!((by_gains[0].up, by_gains[0].down), (0.5, [1.0, 0.0]));
    assert_eq!((by_gains[1].up, by_gains[1].down), (0.0, [0.0, 0.25]));
    assert_eq!(by_x, [2.0, 3.0]);
}
