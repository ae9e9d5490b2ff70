//! Loops whose stored states have fewer digits: what is lost, and that it is told.

use std::ops::Range;
use std::time::{Duration, Instant};
use wengert_checkpoint::{Disk, Done, Error, Folder, Precision, Run, Shortened, Steps};

/// A step of one number with its neighbour and a parameter: what comes out, and its derivatives by the three.
type Rule = fn(f64, f64, f64) -> [f64; 4];

/// Numbers in a ring, a parameter, and how many steps were taken.
#[derive(Clone)]
struct Ring {
    rule: Rule,
    p: f64,
    x: Vec<f64>,
    at: u64,
    /// It ends after so many steps, or where the first number gets to a bound.
    ends: u64,
    bound: f64,
    tape: Vec<Vec<f64>>,
    adjoint: Vec<f64>,
    by_p: f64,
    /// Something that must not differ, and does where the first number does by more than this.
    count: f64,
    /// Whether it says where its floats are, and can save its adjoint.
    tells: bool,
    saves: bool,
    /// How many more steps it takes.
    left: u64,
    drift: f64,
    /// Where it ended the first time.
    ended: Option<u64>,
    /// What a step takes at least.
    pause: Duration,
}

impl Ring {
    fn new(rule: Rule, p: f64, width: usize, ends: u64) -> Ring {
        let x = |k: usize| 0.3 + 0.4 * ((k * k * 7 + 3 * k) % 11) as f64 / 11.0;
        Ring {
            rule,
            p,
            x: (0..width).map(x).collect(),
            at: 0,
            ends,
            bound: f64::INFINITY,
            tape: Vec::new(),
            adjoint: vec![0.0; width],
            by_p: 0.0,
            count: 0.0,
            tells: true,
            saves: true,
            left: u64::MAX,
            drift: 0.0,
            ended: None,
            pause: Duration::ZERO,
        }
    }

    fn step(&mut self) -> Result<(), String> {
        self.left = self.left.checked_sub(1).ok_or("it is over")?;
        let mut before = self.x[self.x.len() - 1];
        for x in &mut self.x {
            let [next, ..] = (self.rule)(*x, before, self.p);
            before = *x;
            *x = next + self.drift;
        }
        self.at += 1;
        let begin = Instant::now();
        while begin.elapsed() < self.pause {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.at >= self.ends || self.x[0] >= self.bound
    }

    /// Where it is: a step further than its end, if it is there and goes on.
    fn reached(&self) -> u64 {
        self.at + u64::from(self.ended == Some(self.at) && !self.is_over())
    }

    fn gradient(&self) -> Vec<f64> {
        self.adjoint.iter().copied().chain([self.by_p]).collect()
    }

    fn seed(&mut self) {
        self.adjoint.iter_mut().enumerate().for_each(|(k, a)| *a = 1.0 + 0.1 * (k % 3) as f64);
        self.by_p = 0.0;
    }
}

fn put(words: impl Iterator<Item = u64>, to: &mut [u8]) {
    for (to, word) in to.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}

fn words(from: &[u8]) -> Vec<u64> {
    from.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect()
}

impl Steps for Ring {
    type Error = String;

    fn advance(&mut self, range: Range<u64>) -> Result<u64, String> {
        assert_eq!(self.at, range.start);
        while self.at < range.end && !self.is_over() {
            self.step()?;
        }
        Ok(self.reached())
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, String> {
        assert_eq!(self.at, range.start);
        let before = self.tape.len();
        while self.at < range.end && !self.is_over() {
            self.tape.push(self.x.clone());
            if (self.tape.len() - before) as u64 * 8 * self.x.len() as u64 > room {
                self.tape.truncate(before);
                self.x.fill(f64::NAN);
                return Ok(None);
            }
            self.step()?;
        }
        Ok(Some(self.reached()))
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<(), String> {
        for _ in range {
            let x = self.tape.pop().expect("a record");
            let mut next = vec![0.0; x.len()];
            for k in 0..x.len() {
                let before = (k + x.len() - 1) % x.len();
                let [_, by_x, by_n, by_p] = (self.rule)(x[k], x[before], self.p);
                next[k] += by_x * self.adjoint[k];
                next[before] += by_n * self.adjoint[k];
                self.by_p += by_p * self.adjoint[k];
            }
            self.adjoint = next;
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.tape.clear();
    }

    fn record_bytes(&self) -> u64 {
        8 * (self.tape.len() * self.x.len()) as u64
    }

    fn state_bytes(&self) -> u64 {
        8 * (self.x.len() as u64 + 2)
    }

    fn save(&self, to: &mut [u8]) {
        let count = if self.count > 0.0 { (self.x[0] / self.count) as u64 } else { 0 };
        put([self.at, count].into_iter().chain(self.x.iter().map(|x| x.to_bits())), to);
    }

    fn load(&mut self, from: &[u8]) -> Result<(), String> {
        let words = words(from);
        self.at = words[0];
        self.x = words[2..].iter().map(|x| f64::from_bits(*x)).collect();
        Ok(())
    }

    fn floats(&self) -> Vec<Range<usize>> {
        // In two pieces.
        let end = 8 * (self.x.len() + 2);
        if self.tells { vec![16..24, 24..end] } else { Vec::new() }
    }

    fn adjoint_bytes(&self) -> u64 {
        if self.saves { 8 * (self.x.len() as u64 + 1) } else { 0 }
    }

    fn adjoint_floats(&self) -> Vec<Range<usize>> {
        let end = 8 * self.x.len();
        vec![0..end, end..end + 8]
    }

    fn save_adjoint(&self, to: &mut [u8]) {
        put(self.gradient().iter().map(|x| x.to_bits()), to);
    }

    fn load_adjoint(&mut self, from: &[u8]) -> Result<(), String> {
        let words: Vec<f64> = words(from).into_iter().map(f64::from_bits).collect();
        (self.adjoint, self.by_p) = (words[..self.x.len()].to_vec(), words[self.x.len()]);
        Ok(())
    }
}

/// A wave of growth, which comes to rest.
const GROWTH: Rule = |x, n, p| {
    let next = x + 0.2 * (n - x) + p * x * (1.0 - x);
    [next, 0.8 + p * (1.0 - 2.0 * x), 0.2, x * (1.0 - x)]
};

/// A recurrence that forgets where it began.
const TANH: Rule = |x, n, p| {
    let t = (p * x + 0.3 * n + 0.1).tanh();
    let slope = 1.0 - t * t;
    [t, p * slope, 0.3 * slope, x * slope]
};

/// Phases that pull each other together, whatever was between them.
const PHASES: Rule = |x, n, p| {
    let push = (n - x + p).sin();
    let slope = 0.01 * (n - x + p).cos();
    [x + 0.01 * push, 1.0 - slope, slope, slope]
};

/// The logistic map: regular or chaotic, as its parameter says.
const LOGISTIC: Rule = |x, n, p| {
    let next = 0.99 * p * x * (1.0 - x) + 0.01 * n;
    [next, 0.99 * p * (1.0 - 2.0 * x), 0.01, 0.99 * x * (1.0 - x)]
};

/// Numbers that push each other to and fro.
const PUSH: Rule = |x, n, p| {
    let push = 0.01 * (p * n).sin();
    let slope = 0.01 * (p * n).cos();
    [x + push, 1.0, p * slope, n * slope]
};

/// A root that is approached, and reached never.
const ROOT: Rule = |x, n, p| [x + 0.01 * (2.0 + p * n - x).max(0.1), 0.99, 0.01 * p, 0.01 * n];

struct Ran {
    result: Vec<f64>,
    gradient: Vec<f64>,
    done: Done,
}

fn run(mut ring: Ring, mut run: Run) -> Result<Ran, Error<String>> {
    run.forward(&mut ring)?;
    ring.ended = Some(ring.at);
    let result = ring.x.clone();
    ring.seed();
    run.backward(&mut ring)?;
    assert!(ring.tape.is_empty());
    let done = *run.done();
    assert!(done.peak_bytes <= run.memory(), "{} of {}", done.peak_bytes, run.memory());
    Ok(Ran { result, gradient: ring.gradient(), done })
}

/// The largest difference relative to the largest number.
fn apart(now: &[f64], then: &[f64]) -> f64 {
    let largest = then.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    now.iter().zip(then).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / largest
}

fn bits(of: &[f64]) -> Vec<u64> {
    of.iter().map(|x| x.to_bits()).collect()
}

const BOTH: [Precision; 2] = [Precision::F32, Precision::Bf16];

/// What is told of the gradient is what happened to it, within a factor of ten; of a loop that forgets differences it may be more.
#[test]
fn the_effect_that_is_told_is_the_true_one() {
    // Whether it forgets differences, or takes them back.
    let rules: [(&str, Rule, f64, bool); 6] = [
        ("growth", GROWTH, 0.05, false),
        ("tanh", TANH, 0.8, false),
        ("slow tanh", TANH, 0.69, false),
        ("regular", LOGISTIC, 3.2, false),
        ("push", PUSH, 0.4, true),
        ("phases", PHASES, 0.4, true),
    ];
    let (mut worst, mut least) = (1.0f64, f64::INFINITY);
    for (name, rule, p, forgets) in rules {
        for (width, ends) in [(41, 1000), (7, 3000)] {
            for known in [true, false] {
                let steps = known.then_some(ends);
                let ring = || Ring::new(rule, p, width, ends);
                let exact = run(ring(), Run::new(u64::MAX, steps, None)).unwrap();
                for (precision, states) in BOTH.into_iter().flat_map(|p| [20, 60].map(|s| (p, s))) {
                    let memory = states * 8 * (width as u64 + 8);
                    let ran =
                        run(ring(), Run::new(memory, steps, None).keeping(precision)).unwrap();
                    assert_eq!(bits(&ran.result), bits(&exact.result), "results are exact");
                    let short = ran.done.shortened.unwrap();
                    let (truth, told) =
                        (apart(&ran.gradient, &exact.gradient), short.effect.unwrap());
                    let digits = if precision == Precision::F32 { 24 } else { 8 };
                    assert!(short.rounding <= 2f64.powi(-digits) && short.rounding > 0.0);
                    assert!(short.states > 0 && short.compared > 0 && short.too_large == 0);
                    if truth.max(told) < 1e-14 {
                        // No more than rounding of the gradient itself.
                        continue;
                    }
                    println!(
                        "{name} {width} {known} {precision} {states}: {truth:.1e}, told {told:.1e}"
                    );
                    least = least.min(told / truth);
                    if !forgets {
                        worst = worst.max(told / truth);
                    }
                }
            }
        }
    }
    println!("told is between {least:.2} and {worst:.1} times the true effect");
    assert!(worst < 10.0 && least > 0.1, "{least} {worst}");
}

/// A gradient that is of no use is not taken for one that is.
#[test]
fn chaos_is_told() {
    let (ends, steps) = (400, Some(400));
    let ring = || Ring::new(LOGISTIC, 3.9, 9, ends);
    let exact = run(ring(), Run::new(u64::MAX, steps, None)).unwrap();
    for precision in BOTH {
        let ran = run(ring(), Run::new(2_500, steps, None).keeping(precision)).unwrap();
        let truth = apart(&ran.gradient, &exact.gradient);
        let told = ran.done.shortened.unwrap().effect.unwrap();
        println!("{precision}: {truth:.1e}, told {told:.1e}");
        assert!(truth < 0.1 || told > 0.02, "{precision}: {truth} {told}");
    }
}

/// More states fit, so fewer steps are run again; never more memory than allowed, whatever the width.
#[test]
fn more_states_in_the_same_memory() {
    for (width, ends) in [(33, 20_000), (257, 5_000), (1001, 3_000)] {
        for known in [true, false] {
            let steps = known.then_some(ends);
            let mut again = Vec::new();
            for precision in [Precision::Exact, Precision::F32, Precision::Bf16] {
                let memory = 24 * 8 * (width as u64 + 2);
                let begun = Run::new(memory, steps, None).keeping(precision);
                let ran = run(Ring::new(TANH, 0.6, width, ends), begun).unwrap();
                again.push(ran.done.evaluations());
                let asked = ran.done.shortened.map(|short| short.precision);
                assert_eq!(asked, Some(precision).filter(|p| *p != Precision::Exact));
            }
            println!("{width} numbers, {ends} steps, known {known}: {again:?} evaluations");
            assert!(again[1] < again[0] && again[2] < again[1], "{again:?}");
        }
    }
    for width in [1, 2, 3, 5, 17] {
        for (known, precision) in [(true, Precision::F32), (false, Precision::Bf16)] {
            for memory in (0..40).map(|k| 8 * (width as u64 + 2) * (4 + k) + 100) {
                let begun = Run::new(memory, known.then_some(150), None).keeping(precision);
                run(Ring::new(PUSH, 0.4, width, 150), begun)
                    .unwrap_or_else(|e| panic!("{e}: {width} in {memory}"));
            }
        }
    }
}

/// Nothing is changed, and that is told.
#[test]
fn what_is_not_shortened_is_exact() {
    let ring = || Ring::new(PUSH, 0.4, 5, 300);
    let exact = run(ring(), Run::new(u64::MAX, Some(300), None)).unwrap();
    assert_eq!(exact.done.shortened, None);
    let silent = run(
        Ring { tells: false, ..ring() },
        Run::new(800, Some(300), None).keeping(Precision::Bf16),
    );
    let silent = silent.unwrap();
    assert_eq!(bits(&silent.gradient), bits(&exact.gradient));
    let short = Shortened { precision: Precision::Bf16, effect: Some(0.0), ..Shortened::default() };
    assert_eq!(silent.done.shortened, Some(short));
    // Everything fits.
    let begun = Run::new(u64::MAX, Some(300), None).keeping(Precision::F32);
    let all = run(ring(), begun).unwrap();
    assert_eq!(
        (bits(&all.gradient), all.done.shortened.unwrap().effect),
        (bits(&exact.gradient), Some(0.0))
    );
    // Numbers that lose nothing: quarters.
    let quarters: Rule = |x, n, _| [(n - x).abs().min(8.0) + 0.25, 1.0, 0.5, 0.25];
    let ring = || Ring { x: vec![0.25, 1.5, 7.0, 2.0, 0.5], ..Ring::new(quarters, 0.4, 5, 300) };
    let exact = run(ring(), Run::new(u64::MAX, Some(300), None)).unwrap();
    let ran = run(ring(), Run::new(900, Some(300), None).keeping(Precision::F32)).unwrap();
    let short = ran.done.shortened.unwrap();
    assert_eq!(bits(&ran.gradient), bits(&exact.gradient));
    assert!(short.states > 0 && short.rounding == 0.0 && short.effect == Some(0.0), "{short:?}");
}

/// A loop without an adjoint that can be saved: what states lose is told.
#[test]
fn without_an_adjoint_only_states_are_told_of() {
    let ring = Ring { saves: false, ..Ring::new(PUSH, 0.4, 5, 300) };
    let ran = run(ring, Run::new(1500, Some(300), None).keeping(Precision::F32)).unwrap();
    let short = ran.done.shortened.unwrap();
    assert!(short.compared == 0 && short.effect.is_none() && short.reversals > 0, "{short:?}");
    assert!(short.rounding > 0.0 && short.rounding < 6e-8);
}

/// States that become too large for the shorter kind, from the first step on or later, or only in the middle.
#[test]
fn numbers_that_are_too_large_stay() {
    let large: Rule = |x, n, _| [1e300 * (x / 1e300).sin() + 0.1 * n.min(1e299), 0.9, 0.1, 1e-3];
    let later: Rule = |x, n, _| [1.7 * x + 0.1 * n, 1.7, 0.1, 1e-3];
    let swings: Rule =
        |x, n, _| [if x > 1e80 { 1.0 + n * 1e-300 } else { 1e5 * x }, 1.0, 0.1, 1e-3];
    for (name, rule, start) in
        [("large", large, 1e300), ("later", later, 1.0), ("swings", swings, 1.0)]
    {
        let mut too_large = 0;
        for (known, precision) in [true, false].into_iter().flat_map(|k| BOTH.map(|p| (k, p))) {
            // Small states, and such that take much more when they are not shortened.
            for (width, memory) in
                [(7, 600), (7, 900), (7, 2_000), (7, 5_000), (101, 8_000), (101, 20_000)]
            {
                let ring = || {
                    let mut ring = Ring::new(rule, 0.1, width, 300);
                    ring.x.iter_mut().for_each(|x| *x *= start);
                    ring
                };
                let steps = known.then_some(300);
                let exact = run(ring(), Run::new(u64::MAX, steps, None)).unwrap();
                let ran = run(ring(), Run::new(memory, steps, None).keeping(precision));
                let ran = ran.unwrap_or_else(|e| panic!("{e}: {name} in {memory}"));
                let short = ran.done.shortened.unwrap();
                too_large += short.too_large;
                assert_eq!(bits(&ran.result), bits(&exact.result));
                assert!(ran.gradient.iter().all(|x| x.is_finite()));
                if name == "large" {
                    assert_eq!((short.states, bits(&ran.gradient)), (0, bits(&exact.gradient)));
                }
            }
        }
        assert!(too_large > 20, "{name}: {too_large}");
    }
}

#[test]
fn what_is_no_number_survives() {
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut ring = Ring::new(TANH, 0.5, 5, 200);
        ring.x[2] = x;
        let steps = Some(200);
        let exact = run(ring.clone(), Run::new(u64::MAX, steps, None)).unwrap();
        let ran = run(ring, Run::new(700, steps, None).keeping(Precision::F32)).unwrap();
        let pairs = ran.gradient.iter().zip(&exact.gradient);
        assert!(pairs.clone().all(|(a, b)| a.is_nan() == b.is_nan()), "{x}");
        assert!(pairs.clone().all(|(a, b)| b.is_nan() || (a - b).abs() < 1e-5), "{x}");
    }
}

/// A loop whose end depends on what it computes: the same end, or an error that says where and what to do.
#[test]
fn a_loop_that_ends_elsewhere_is_an_error() {
    let (mut astray, mut fine) = (0, 0);
    for k in 0..40 {
        for precision in BOTH {
            let mut ring = Ring::new(ROOT, 0.05, 5, 5_000);
            // Where the exact loop comes to after some steps, to the last bits; or just beyond where it came to before.
            ring.advance(0..299 + k).unwrap();
            let mut bound = ring.x[0] * (1.0 + 1e-10);
            if k % 2 == 0 {
                ring.advance(299 + k..300 + k).unwrap();
                bound = ring.x[0];
            }
            let ring = || Ring { bound, ..Ring::new(ROOT, 0.05, 5, 5_000) };
            match run(ring(), Run::new(900, None, None).keeping(precision)) {
                Ok(ran) => {
                    fine += 1;
                    assert_eq!(ran.done.steps, 300 + k);
                }
                Err(Error::Astray { precision: of, step }) => {
                    astray += 1;
                    assert!(of == precision && step <= 300 + k && step > 200, "{step}");
                    let said = Error::<String>::Astray { precision, step }.to_string();
                    assert!(said.contains(&format!("before step {step}")), "{said}");
                    assert!(said.contains(&precision.to_string()) && said.contains("or exactly"));
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    println!("{astray} ended elsewhere, {fine} did not");
    assert!(astray > 5 && fine > 5, "{astray} {fine}");
}

/// A counter that differs where one range of steps joins the next.
#[test]
fn a_counter_that_differs_is_an_error() {
    // One that any difference of the first number changes.
    let ring = || Ring { count: 1e-14, ..Ring::new(PUSH, 0.4, 5, 300) };
    let exact = run(ring(), Run::new(1_000, Some(300), None)).unwrap();
    assert_eq!(exact.done.shortened, None);
    for known in [Some(300), None] {
        let e = run(ring(), Run::new(1_000, known, None).keeping(Precision::F32)).err().unwrap();
        assert!(matches!(e, Error::Astray { precision: Precision::F32, step: 1..=300 }), "{e}");
    }
}

/// Where a state is reached exactly, it must be the one that it was.
#[test]
fn a_loop_that_changes_is_found_out() {
    for known in [Some(1000), None] {
        let mut ring = Ring::new(TANH, 0.5, 5, 1000);
        let mut run = Run::new(20_000, known, None).keeping(Precision::F32);
        run.forward(&mut ring).unwrap();
        ring.seed();
        ring.drift = 1e-13;
        let e = run.backward(&mut ring).unwrap_err();
        assert!(matches!(e, Error::OtherState(1..=1000)), "{e}");
    }
}

/// The last step is reversed by somebody else; the results are exact all the same.
#[test]
fn the_last_record_is_left() {
    for known in [Some(200), None] {
        let ring = || Ring::new(PUSH, 0.4, 5, 200);
        let exact = run(ring(), Run::new(u64::MAX, known, None)).unwrap();
        for memory in [500, 1_000, 3_000] {
            let (mut ring, mut run) =
                (ring(), Run::new(memory, known, None).keeping(Precision::Bf16));
            run.forward(&mut ring).unwrap();
            run.leave_last(&mut ring).unwrap();
            assert_eq!(bits(&ring.x), bits(&exact.result));
            ring.seed();
            ring.reverse(199..200).unwrap();
            run.backward(&mut ring).unwrap();
            assert!(apart(&ring.gradient(), &exact.gradient) < 1e-2);
            assert!(run.done().peak_bytes <= memory);
        }
    }
}

/// Memory that becomes less while the loop runs.
#[test]
fn less_memory_in_the_middle() {
    use std::sync::atomic::Ordering;
    for known in [Some(500), None] {
        let ring = || Ring::new(PUSH, 0.4, 5, 500);
        let exact = run(ring(), Run::new(u64::MAX, known, None)).unwrap();
        for (memory, before) in [(u64::MAX, false), (8_000, true), (8_000, false), (2_000, false)] {
            let (mut ring, mut run) =
                (ring(), Run::new(memory, known, None).keeping(Precision::F32));
            if before {
                run.allowed().store(600, Ordering::Relaxed);
            }
            run.forward(&mut ring).unwrap();
            assert_eq!(bits(&ring.x), bits(&exact.result));
            run.allowed().store(600, Ordering::Relaxed);
            ring.seed();
            run.backward(&mut ring).unwrap();
            assert!(apart(&ring.gradient(), &exact.gradient) < 1e-6);
        }
    }
}

#[test]
fn a_disk_beside_little_memory() {
    let folder = std::env::temp_dir().join(format!("wengert-short-{}", std::process::id()));
    let mut written = 0;
    for (known, precision) in [true, false].into_iter().flat_map(|k| BOTH.map(|p| (k, p))) {
        let steps = known.then_some(50);
        let pause = Duration::from_millis(1);
        let ring = || Ring { pause, ..Ring::new(TANH, 0.69, 41, 50) };
        let exact = run(ring(), Run::new(u64::MAX, steps, None)).unwrap();
        for on_disk in [1, 5, 50] {
            let disk = Disk::new(&folder, on_disk * 240, 5).unwrap();
            let begun = Run::new(2_600, steps, None).keeping(precision).with_disk(disk);
            let ran = run(ring(), begun).unwrap();
            let bound = if precision == Precision::F32 { 1e-6 } else { 0.1 };
            assert!(apart(&ran.gradient, &exact.gradient) < bound);
            written += ran.done.written;
            assert!(!folder.exists());
        }
    }
    // While others write, a disk is worth it for slower steps only.
    for pause in [4, 16, 64].map(Duration::from_millis) {
        if written == 0 {
            let disk = Disk::new(&folder, 50 * 240, 5).unwrap();
            let ring = Ring { pause, ..Ring::new(TANH, 0.69, 41, 50) };
            let begun = Run::new(2_600, None, None).keeping(Precision::F32).with_disk(disk);
            written += run(ring, begun).unwrap().done.written;
        }
    }
    assert!(written > 0);
}

/// A run that ends anywhere is gone on with: the results to the bit, and the gradient about as far from the exact one as that of a run
/// that was not left. Where states are stored depends on where it went on.
#[test]
fn a_run_that_was_left_is_gone_on_with() {
    let folder = std::env::temp_dir().join(format!("wengert-short-left-{}", std::process::id()));
    let of = |owner| Folder { path: folder.clone(), bytes: 20_000, owner, synced: false };
    let ends = 500;
    let mut resumed = 0;
    for (known, precision) in [true, false].into_iter().flat_map(|k| BOTH.map(|p| (k, p))) {
        let steps = known.then_some(ends);
        let ring = || Ring::new(PUSH, 0.4, 11, ends);
        let exact = run(ring(), Run::new(u64::MAX, steps, None)).unwrap();
        let whole = run(ring(), Run::new(1_500, steps, None).keeping(precision)).unwrap();
        let usual = apart(&whole.gradient, &exact.gradient);
        let begin = |precision| Run::new(1_500, steps, None).keeping(precision);
        for life in [350, 700, 1100, 100_000] {
            let _ = std::fs::remove_dir_all(&folder);
            let (mut attempts, mut total) = (0, 0);
            let (result, gradient) = loop {
                attempts += 1;
                assert!(attempts < 100, "nothing is gained");
                let run = match attempts {
                    1 => begin(precision).in_folder(&of(9)),
                    _ => begin(precision).resumed(&of(9)),
                };
                let mut run = run.unwrap().noted_every(Duration::ZERO);
                let mut ring = Ring { left: life, ..ring() };
                let ran = run.forward(&mut ring).and_then(|()| {
                    let result = ring.x.clone();
                    ring.seed();
                    run.backward(&mut ring).map(|()| result)
                });
                total += run.done().evaluations();
                match ran {
                    Ok(result) => break (result, ring.gradient()),
                    Err(e) => assert_eq!(e, Error::Step("it is over".into())),
                }
                drop(run);
                // Others do not take it up, nor the same one with other digits.
                assert!(begin(precision).resumed(&of(8)).is_err());
                if folder.join("journal").exists() {
                    let mut other = begin(Precision::Exact).resumed(&of(9)).unwrap();
                    let e = other.forward(&mut Ring::new(PUSH, 0.4, 11, ends)).unwrap_err();
                    assert!(e.to_string().contains("ask for the same precision"), "{e}");
                }
            };
            resumed += attempts - 1;
            assert_eq!(bits(&result), bits(&exact.result), "{known} {precision} {life}");
            let far = apart(&gradient, &exact.gradient);
            assert!(
                far < 20.0 * usual && usual < 0.01,
                "{known} {precision} {life}: {far} {usual}"
            );
            assert!(total < 40 * ends, "{total}");
        }
    }
    assert!(!folder.exists() && resumed > 10, "{resumed}");
}
