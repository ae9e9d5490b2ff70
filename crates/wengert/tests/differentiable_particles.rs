//! Arrays of structs as parameters, results and values inside of functions with `#[differentiable]`.
// Types that functions give are public; some loops are written as one would not, to test them.
#![allow(unreachable_pub, clippy::needless_range_loop, clippy::type_complexity)]

mod model {
    use wengert::Differentiable;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Differentiable)]
    pub struct Kind {
        pub charge: f64,
        pub number: u8,
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Differentiable)]
    pub struct Particle {
        pub mass: f64,
        pub x: [f64; 2],
        pub v: [f64; 2],
        pub kind: Kind,
        #[nondiff]
        pub radius: f64,
        spin: (f64, bool),
    }

    impl Particle {
        pub fn at(x: [f64; 2], v: [f64; 2], mass: f64, number: u8) -> Particle {
            let kind = Kind { charge: 0.5 * mass, number };
            Particle { mass, x, v, kind, radius: 0.1, spin: (0.25, true) }
        }
    }

    /// A box of them, without `Clone`.
    #[derive(Debug, PartialEq, Differentiable)]
    pub struct World {
        pub all: Vec<Particle>,
        pub walls: [Kind; 2],
        pub gravity: f64,
    }
}

use model::{Kind, Particle, World};
use wengert::differentiable;

/// Reads fields by index, by reference and through iterators; every kind of field.
#[differentiable]
fn energy(ps: &[Particle], g: f64) -> f64 {
    let mut total = 0.0;
    for p in ps {
        total += 0.5 * p.mass * (p.v[0] * p.v[0] + p.v[1] * p.v[1]) + p.radius * g;
    }
    for (k, p) in ps.iter().enumerate() {
        total += g * p.mass * p.x[1] * (k as f64 + p.kind.number as f64);
    }
    for i in 0..ps.len() {
        for j in 0..i {
            let (a, b) = (&ps[i], ps[j]);
            let (dx, dy) = (a.x[0] - b.x[0], a.x[1] - b.x[1]);
            total += a.kind.charge * b.kind.charge / (dx * dx + dy * dy + a.radius).sqrt();
        }
    }
    total + ps.iter().map(|p| p.kind.charge.sin()).sum::<f64>()
}

fn several() -> Vec<Particle> {
    vec![
        Particle::at([0.5, 1.0], [0.1, -0.2], 1.5, 1),
        Particle::at([-0.25, 0.75], [0.4, 0.3], 2.0, 2),
        Particle::at([1.25, -0.5], [-0.6, 0.8], 0.5, 7),
    ]
}

/// The floats that are differentiated by, as references.
fn floats(p: &mut Particle) -> [&mut f64; 6] {
    let ([x, y], [u, v]) = (&mut p.x, &mut p.v);
    [&mut p.mass, x, y, u, v, &mut p.kind.charge]
}

#[test]
fn fields_are_read_and_have_derivatives() {
    let ps = several();
    let (value, (by_ps, by_g)) = energy::value_and_grad(&ps, 9.81);
    assert!((value - energy(&ps, 9.81)).abs() < 1e-12);
    let slope = |f: &dyn Fn(f64) -> f64| (f(1e-6) - f(-1e-6)) / 2e-6;
    assert!((by_g - slope(&|h| energy(&ps, 9.81 + h))).abs() < 1e-6);
    assert_eq!(by_ps.len(), 3);
    for k in 0..3 {
        for field in 0..6 {
            let wanted = slope(&|h| {
                let mut ps = ps.clone();
                *floats(&mut ps[k])[field] += h;
                energy(&ps, 9.81)
            });
            let mut given = by_ps[k];
            let given = *floats(&mut given)[field];
            assert!((given - wanted).abs() < 1e-6 * (1.0 + wanted.abs()), "{k} {field}: {given}");
        }
        // What has no derivative is there as it is.
        assert_eq!((by_ps[k].kind.number, by_ps[k].radius), (ps[k].kind.number, ps[k].radius));
    }
}

/// Overwrites fields by index and through `iter_mut`, whole structs, and calls methods of one.
#[differentiable]
mod motion {
    use super::model::Particle;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Ball {
        pub at: f64,
        pub speed: f64,
    }

    impl Ball {
        fn step(&mut self, h: f64) {
            self.at += h * self.speed;
            self.speed -= h * self.at.sin();
        }

        fn energy(&self) -> f64 {
            0.5 * self.speed * self.speed - self.at.cos()
        }
    }

    pub fn drift(ps: &mut [Particle], h: f64) {
        for p in ps.iter_mut() {
            p.x[0] += h * p.v[0];
            p.x[1] += h * p.v[1];
            p.kind.charge *= 1.0 - h;
        }
        for i in 1..ps.len() {
            let push = 0.1 * h * (ps[i - 1].x[0] - ps[i].x[0]);
            ps[i].v[0] += push / ps[i].mass;
            ps[i - 1].v[0] -= push / ps[i - 1].mass;
        }
        let last = ps.len() - 1;
        ps.swap(0, last);
        let mut first = ps[0];
        first.mass += h;
        ps[0] = first;
    }

    pub fn settle(mut balls: Vec<Ball>, h: f64, n: usize) -> Vec<Ball> {
        for _ in 0..n {
            for ball in &mut balls {
                ball.step(h);
            }
            balls[0].step(0.5 * h);
        }
        balls
    }

    pub fn total(start: f64, speeds: [f64; 3], n: usize) -> f64 {
        let mut balls = [Ball { at: start, speed: speeds[0] }, Ball { at: 0.0, speed: speeds[1] }];
        let mut others = vec![Ball { at: 0.5 * start, speed: speeds[2] }; n];
        for (k, other) in others.iter_mut().enumerate() {
            other.at += k as f64 * 0.1;
        }
        balls[1].at = others[n - 1].at;
        let after = settle(others, 0.1, 3);
        let mut sum = 0.0;
        for ball in after[1..].iter() {
            sum += ball.energy();
        }
        for pair in [0, 1] {
            sum += balls[pair].energy() * (after[0].at + 1.0);
        }
        sum
    }
}

use motion::Ball;

#[test]
fn structs_are_overwritten_where_they_are() {
    let mut plain = several();
    motion::drift(&mut plain, 0.25);
    let mut ps = several();
    motion::drift::value(&mut ps, 0.25);
    for (a, b) in plain.iter_mut().zip(&mut ps) {
        assert_eq!(a.kind.number, b.kind.number);
        for (a, b) in floats(a).iter().zip(floats(b)) {
            assert!((**a - *b).abs() < 1e-15);
        }
    }
    let tangent = |seed: f64| {
        let mut all = vec![Particle::default(); 3];
        for (k, p) in all.iter_mut().enumerate() {
            for (j, x) in floats(p).into_iter().enumerate() {
                *x = (seed + (6 * k + j) as f64).sin();
            }
        }
        all
    };
    let dot = |a: &[Particle], b: &[Particle]| -> f64 {
        let pairs = a.iter().zip(b).flat_map(|(a, b)| {
            let (mut a, mut b) = (*a, *b);
            let (a, b) = (floats(&mut a).map(|x| *x), floats(&mut b).map(|x| *x));
            a.into_iter().zip(b)
        });
        pairs.map(|(a, b)| a * b).sum()
    };
    let (mut x, mut dx) = (several(), tangent(1.0));
    let start = dx.clone();
    motion::drift::jvp(&mut x, 0.25, &mut dx, 0.5);
    let (mut y, mut bar) = (several(), tangent(2.0));
    let end = bar.clone();
    let ((), h_bar) = motion::drift::vjp(&mut y, 0.25, &mut bar);
    assert_eq!(x, y);
    let (forward, reverse) = (dot(&dx, &end), dot(&start, &bar) + 0.5 * h_bar);
    assert!((forward - reverse).abs() < 1e-13, "{forward} {reverse}");
}

#[test]
fn structs_are_made_and_returned() {
    let balls = vec![Ball { at: 0.5, speed: 0.0 }, Ball { at: -1.0, speed: 2.0 }];
    let settled = motion::settle::value(balls.clone(), 0.1, 5);
    for (a, b) in settled.iter().zip(motion::settle(balls.clone(), 0.1, 5)) {
        assert!((a.at - b.at).abs() < 1e-14 && (a.speed - b.speed).abs() < 1e-14);
    }
    let seed = [Ball { at: 1.0, speed: 0.0 }, Ball { at: 0.0, speed: 1.0 }];
    let (same, (bars, _)) = motion::settle::vjp(balls.clone(), 0.1, 5, &seed);
    assert_eq!((same, bars.len()), (settled, 2));
    let direction = vec![Ball { at: 0.3, speed: -0.7 }, Ball { at: 0.2, speed: 0.9 }];
    let (_, along) = motion::settle::jvp(balls, 0.1, 5, direction.clone(), 0.0);
    let reverse: f64 =
        bars.iter().zip(&direction).map(|(a, b)| a.at * b.at + a.speed * b.speed).sum();
    assert!((along[0].at + along[1].speed - reverse).abs() < 1e-14);

    let speeds = [0.4, -0.3, 0.9];
    let (value, (by_start, by_speeds)) = motion::total::value_and_grad(0.7, speeds, 4);
    assert!((value - motion::total(0.7, speeds, 4)).abs() < 1e-13);
    let slope = |f: &dyn Fn(f64) -> f64| (f(1e-6) - f(-1e-6)) / 2e-6;
    assert!((by_start - slope(&|h| motion::total(0.7 + h, speeds, 4))).abs() < 1e-7);
    for k in 0..3 {
        let wanted = slope(&|h| {
            let mut speeds = speeds;
            speeds[k] += h;
            motion::total(0.7, speeds, 4)
        });
        assert!((by_speeds[k] - wanted).abs() < 1e-7);
    }
}

/// Arrays of structs inside a struct.
#[differentiable]
fn weight(world: &World, more: [Kind; 2]) -> f64 {
    let mut sum = 0.0;
    for p in &world.all {
        sum += p.mass * world.gravity * p.x[1];
    }
    for k in 0..2 {
        sum += world.walls[k].charge * more[k].charge * world.walls[k].number as f64;
    }
    sum
}

#[differentiable]
fn fall(world: &mut World, h: f64) {
    for p in world.all.iter_mut() {
        p.v[1] -= h * world.gravity;
    }
    world.walls[1].charge += h;
    let n = world.all.len();
    world.all[n - 1].mass = world.walls[0].charge;
}

fn world() -> World {
    let walls = [Kind { charge: 2.0, number: 3 }, Kind { charge: -1.0, number: 4 }];
    World { all: several(), walls, gravity: 9.81 }
}

#[test]
fn structs_hold_arrays_of_structs() {
    let more = [Kind { charge: 0.5, number: 0 }, Kind { charge: 0.25, number: 1 }];
    let (value, (by_world, by_more)) = weight::value_and_grad(&world(), more);
    assert!((value - weight(&world(), more)).abs() < 1e-12);
    assert_eq!(by_more, [Kind { charge: 6.0, number: 0 }, Kind { charge: -4.0, number: 1 }]);
    assert_eq!(by_world.walls, [Kind { charge: 1.5, number: 3 }, Kind { charge: 1.0, number: 4 }]);
    assert!((by_world.all[1].mass - 9.81 * 0.75).abs() < 1e-14);
    assert!((by_world.all[0].x[1] - 9.81 * 1.5).abs() < 1e-14);

    let (mut plain, mut own) = (world(), world());
    fall(&mut plain, 0.5);
    let mut bar = world();
    bar.walls = [Kind::default(); 2];
    bar.gravity = 0.0;
    bar.all = vec![Particle::default(); 3];
    bar.all[2].mass = 1.0;
    bar.all[0].v[1] = 2.0;
    let ((), h_bar) = fall::vjp(&mut own, 0.5, &mut bar);
    assert!((own.all[1].v[1] - plain.all[1].v[1]).abs() < 1e-14);
    assert_eq!((own.walls, own.all[2].mass), (plain.walls, plain.all[2].mass));
    assert_eq!((bar.all[2].mass, bar.walls[0].charge, bar.gravity), (0.0, 1.0, -1.0));
    assert_eq!(h_bar, -19.62);
}

/// Functions of other modules are given structs, and arrays of them, and give some.
mod elsewhere {
    use super::model::{Kind, Particle};
    use wengert::differentiable;

    #[differentiable]
    pub fn charged(kind: &Kind, by: f64) -> Kind {
        Kind { charge: kind.charge * by, number: kind.number + 1 }
    }

    #[differentiable]
    pub fn push(p: &mut Particle, h: f64) {
        p.v[0] += h * p.kind.charge;
    }

    #[differentiable]
    pub fn heaviest(ps: &[Particle]) -> f64 {
        ps.iter().map(|p| p.mass * p.mass).sum()
    }

    #[differentiable]
    pub fn push_all(ps: &mut [Particle], h: f64) {
        for p in ps.iter_mut() {
            p.x[0] += h * p.v[0];
        }
    }
}

#[differentiable]
fn called(ps: &mut [Particle], one: &mut Particle, by: f64) -> f64 {
    let kind: Kind = elsewhere::charged(&ps[0].kind, by);
    ps[0].kind = kind;
    elsewhere::push(&mut ps[0], by);
    elsewhere::push(one, 2.0 * by);
    elsewhere::push_all(ps, by);
    let sum: f64 = elsewhere::heaviest(&*ps);
    sum + ps[0].x[0] * one.v[0] + kind.number as f64
}

#[test]
fn structs_are_given_to_functions_of_other_modules() {
    let (mut plain, mut one) = (several(), several()[1]);
    let wanted = called(&mut plain, &mut one, 0.3);
    let (mut ps, mut other) = (several(), several()[1]);
    let (value, (by_ps, by_one, by)) = called::value_and_grad(&mut ps, &mut other, 0.3);
    assert!((value - wanted).abs() < 1e-14);
    assert!((ps[0].x[0] - plain[0].x[0]).abs() < 1e-15 && (other.v[0] - one.v[0]).abs() < 1e-15);
    assert_eq!((ps[0].kind.number, by_ps[2].mass), (2, 1.0));
    let slope = |change: &dyn Fn(&mut [Particle], &mut Particle, &mut f64, f64)| {
        let run = |h: f64| {
            let (mut ps, mut one, mut by) = (several(), several()[1], 0.3);
            change(&mut ps, &mut one, &mut by, h);
            called(&mut ps, &mut one, by)
        };
        (run(1e-6) - run(-1e-6)) / 2e-6
    };
    assert!((by - slope(&|_, _, by, h| *by += h)).abs() < 1e-7);
    assert!((by_one.kind.charge - slope(&|_, one, _, h| one.kind.charge += h)).abs() < 1e-7);
    let charge = slope(&|ps, _, _, h| ps[0].kind.charge += h);
    assert!((by_ps[0].kind.charge - charge).abs() < 1e-7);
}

/// Parts of an array, references that stay, copies that do not, and a closure that takes one along.
#[differentiable]
fn parts(ps: &mut [Particle], t: f64) -> f64 {
    let n = ps.len();
    let kept = ps[1];
    let part = &mut ps[1..n];
    part[0].x = [t, 2.0 * t];
    let inner = &mut part[0];
    inner.v[1] = inner.x[1] * inner.mass;
    inner.mass *= 3.0;
    let mut pair = [ps[0], kept];
    let before = move |k: usize| pair[k].mass;
    pair[0].mass = 100.0;
    pair[1].mass += t;
    let mut sum = before(0) * t + pair[1].mass;
    for (a, b) in ps.iter().zip(pair.iter().rev()) {
        sum += a.v[1] * b.x[0] - b.mass * t;
    }
    let empty = ps[..0].is_empty() && ps.to_vec().len() == n;
    if empty { sum } else { -sum }
}

#[test]
fn parts_and_copies() {
    let mut plain = several();
    let wanted = parts(&mut plain, 0.7);
    let mut ps = several();
    let (value, (by_ps, by_t)) = parts::value_and_grad(&mut ps, 0.7);
    assert!((value - wanted).abs() < 1e-13, "{value} {wanted}");
    for (a, b) in plain.iter_mut().zip(&mut ps) {
        for (a, b) in floats(a).iter().zip(floats(b)) {
            assert!((**a - *b).abs() < 1e-15);
        }
    }
    let slope = |f: &dyn Fn(&mut [Particle], &mut f64, f64)| {
        let run = |h: f64| {
            let (mut ps, mut t) = (several(), 0.7);
            f(&mut ps, &mut t, h);
            parts(&mut ps, t)
        };
        (run(1e-6) - run(-1e-6)) / 2e-6
    };
    assert!((by_t - slope(&|_, t, h| *t += h)).abs() < 1e-6);
    for k in 0..3 {
        let wanted = slope(&|ps, _, h| ps[k].mass += h);
        assert!((by_ps[k].mass - wanted).abs() < 1e-6, "{k}");
    }
}

#[test]
fn errors_tell_of_the_array() {
    let mut ps = several();
    let mut short = ps[..2].to_vec();
    let error = motion::drift::try_vjp(&mut ps, 0.1, &mut short).unwrap_err().to_string();
    assert!(error.contains("`ps_bar[..].mass` has 2 elements"), "{error}");
}
