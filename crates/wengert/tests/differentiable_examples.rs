//! All examples as plain Rust functions with `#[differentiable]`: the bits of the interpreter run on the same text, in both modes and in
//! second derivatives; the values and gradients of `examples/expected.json`.
#![allow(
    clippy::needless_range_loop,
    clippy::unused_unit,
    reason = "loops over indices and small macros are what is tested"
)]

use serde_json::Value as Json;

#[path = "differentiable/examples/arrays.rs"]
mod arrays_file;
#[path = "differentiable/given.rs"]
mod given;
#[path = "differentiable/interpreted.rs"]
mod interpreted;
#[path = "differentiable/examples/matrices.rs"]
mod matrices_file;
#[path = "differentiable/examples/models.rs"]
mod models_file;
#[path = "differentiable/examples/numbers.rs"]
mod numbers_file;

use arrays_file::arrays;
use given::{Data, Held, Numbers, Pass, all};
use interpreted::{Given, Program, Source};
use matrices_file::matrices;
use models_file::models;
use numbers_file::numbers;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// The files, by the names of their modules.
const FILES: [(&str, &str); 4] = [
    ("arrays", include_str!("differentiable/examples/arrays.rs")),
    ("matrices", include_str!("differentiable/examples/matrices.rs")),
    ("models", include_str!("differentiable/examples/models.rs")),
    ("numbers", include_str!("differentiable/examples/numbers.rs")),
];

/// A point, and what the functions are given there.
struct Point<'r> {
    record: &'r Json,
    /// Arguments, directions and adjoints, in the order of the parameters.
    params: Vec<[Numbers; 3]>,
    /// The adjoint of the result.
    result: Numbers,
}

impl Point<'_> {
    fn given(&self, which: usize) -> Vec<Given<'_>> {
        self.params.iter().map(|p| (&p[which].shape[..], &p[which].data[..])).collect()
    }

    fn seed(&self) -> Given<'_> {
        (&self.result.shape, &self.result.data)
    }

    /// What holds a parameter.
    fn held<T: Data>(&self, k: usize) -> Held<T> {
        let [arg, dot, bar] = self.params[k].each_ref().map(made);
        Held { arg, dot, bar }
    }
}

fn made<T: Data>(from: &Numbers) -> T {
    T::of(&from.shape, &mut from.data.iter())
}

/// Results of functions made by the attribute, as those of programs are: see [`Program`].
struct Ran {
    value: Vec<f64>,
    jvp: Vec<f64>,
    vjp: Vec<f64>,
    /// The value and the gradient of a function with one result, and the gradient alone.
    gradient: Option<[Vec<f64>; 2]>,
    /// The change of the gradient.
    hvp: Option<Vec<f64>>,
}

/// An example and what runs it.
struct Example {
    file: &'static str,
    name: &'static str,
    /// Names of the parameters, and how many axes each has.
    params: &'static [(&'static str, usize)],
    run: fn(&Point<'_>) -> Ran,
}

macro_rules! when {
    (yes $code:expr) => {
        Some($code)
    };
    (no $code:expr) => {
        None
    };
}

/// An example by its parameters: those behind `&mut`, those that are differentiated by, and the others; then its result, and an array as
/// its adjoint is passed.
macro_rules! example {
    (@run $file:ident $name:ident
        ($($w:ident: $wt:ty),*; $($a:ident: $at:ty),*; $($r:ident: $rt:ty),*) [$($out:ty)?] $scalar:ident) => {
        Example {
            file: stringify!($file),
            name: stringify!($name),
            params: &[
                $((stringify!($w), <<$wt as Pass<'_>>::Held as Data>::RANK),)*
                $((stringify!($a), <<$at as Pass<'_>>::Held as Data>::RANK),)*
                $((stringify!($r), <<$rt as Pass<'_>>::Held as Data>::RANK),)*
            ],
            #[allow(unused_mut, unused_variables, unused_assignments)]
            run: |point| {
                use $file::$name as f;
                let mut k = 0..;
                $(let $w: Held<<$wt as Pass<'_>>::Held> = point.held(k.next().unwrap());)*
                $(let $a: Held<<$at as Pass<'_>>::Held> = point.held(k.next().unwrap());)*
                $(let $r: Held<<$rt as Pass<'_>>::Held> = point.held(k.next().unwrap());)*
                let value = {
                    $(let mut $w = $w.clone();)* $(let mut $a = $a.clone();)* $(let mut $r = $r.clone();)*
                    let y = f::value(
                        $(<$wt>::pass(&mut $w.arg),)* $(<$at>::pass(&mut $a.arg),)* $(<$rt>::pass(&mut $r.arg),)*
                    );
                    [all(&y), $(all(&$w.arg)),*].concat()
                };
                let jvp = {
                    $(let mut $w = $w.clone();)* $(let mut $a = $a.clone();)* $(let mut $r = $r.clone();)*
                    let (y, dy) = f::jvp(
                        $(<$wt>::pass(&mut $w.arg),)* $(<$at>::pass(&mut $a.arg),)* $(<$rt>::pass(&mut $r.arg),)*
                        $(<$wt>::pass(&mut $w.dot),)* $(<$at>::pass(&mut $a.dot),)*
                    );
                    [all(&y), $(all(&$w.arg),)* all(&dy), $(all(&$w.dot)),*].concat()
                };
                let vjp = {
                    $(let mut $w = $w.clone();)* $(let mut $a = $a.clone();)* $(let mut $r = $r.clone();)*
                    let mut seed: ($(<$out as Pass<'_>>::Held,)?) = made(&point.result);
                    let (y, bars) = f::vjp(
                        $(<$wt>::pass(&mut $w.arg),)* $(<$at>::pass(&mut $a.arg),)* $(<$rt>::pass(&mut $r.arg),)*
                        $(<$out as Pass<'_>>::pass(&mut seed.0),)?
                        $(<$wt>::pass(&mut $w.bar),)*
                    );
                    [all(&y), $(all(&$w.arg),)* $(all(&$w.bar),)* all(&bars)].concat()
                };
                let gradient = when!($scalar {
                    $(let mut $w = $w.clone();)* $(let mut $a = $a.clone();)* $(let mut $r = $r.clone();)*
                    let (y, bars) = {
                        $(let mut $w = $w.clone();)*
                        let both = f::value_and_grad(
                            $(<$wt>::pass(&mut $w.arg),)* $(<$at>::pass(&mut $a.arg),)* $(<$rt>::pass(&mut $r.arg),)*
                        );
                        ([vec![both.0], $(all(&$w.arg)),*].concat(), both.1)
                    };
                    let alone = f::grad(
                        $(<$wt>::pass(&mut $w.arg),)* $(<$at>::pass(&mut $a.arg),)* $(<$rt>::pass(&mut $r.arg),)*
                    );
                    [[y, all(&bars)].concat(), all(&alone)]
                });
                let hvp = when!($scalar {
                    $(let mut $w = $w.clone();)* $(let mut $a = $a.clone();)* $(let mut $r = $r.clone();)*
                    let products = f::hvp(
                        $(<$wt>::pass(&mut $w.arg),)* $(<$at>::pass(&mut $a.arg),)* $(<$rt>::pass(&mut $r.arg),)*
                        $(&$w.dot,)* $(<$at>::pass(&mut $a.dot),)*
                    );
                    all(&products)
                });
                Ran { value, jvp, vjp, gradient, hvp }
            },
        }
    };
    ($file:ident $name:ident $params:tt [f64]) => {
        example!(@run $file $name $params [f64] yes)
    };
    ($file:ident $name:ident $params:tt [()]) => {
        example!(@run $file $name $params [] no)
    };
    ($file:ident $name:ident $params:tt [$out:ty]) => {
        example!(@run $file $name $params [$out] no)
    };
}

macro_rules! examples {
    ($($file:ident::$name:ident $params:tt -> $out:tt;)*) => {
        &[$(example!($file $name $params $out)),*]
    };
}

type Plate = [[f64; 12]; 12];

#[rustfmt::skip]
const EXAMPLES: &[Example] = examples! {
    arrays::adam(; x: &[f64], curvature: &[f64], rate: f64, beta1: f64, beta2: f64; n: i32) -> [f64];
    arrays::array_map(; x: &[f64];) -> [&[f64]];
    arrays::bellman_ford(; length: &[f64]; tail: &[usize], head: &[usize], nodes: usize) -> [f64];
    arrays::binomial_tree(; spot: f64, strike: f64, rate: f64, sigma: f64, years: f64; n: usize) -> [f64];
    arrays::clenshaw(; c: &[f64], xs: &[f64], ys: &[f64];) -> [f64];
    arrays::cubic_spline(; xs: &[f64], ys: &[f64], x: f64;) -> [f64];
    arrays::double_buffer(; u: &[f64], speed: f64; n: usize) -> [f64];
    arrays::doubling_in_place(x: &mut [f64];; n: usize) -> [f64];
    arrays::edit_distance(; x: &[f64], y: &[f64], gap: f64, t: f64;) -> [f64];
    arrays::heat(u: &mut [f64]; k: f64; n: usize) -> [f64];
    arrays::horner(; coefficients: &[f64], x: f64;) -> [f64];
    arrays::kalman_filter(; y: &[f64], q: f64, r: f64; seen: &[u8]) -> [f64];
    arrays::linear_interpolation(; xs: &[f64], ys: &[f64], x: f64;) -> [f64];
    arrays::prefix_sum(x: &mut [f64];;) -> [()];
    arrays::red_black(u: &mut [f64]; f: &[f64], omega: f64; sweeps: usize) -> [f64];
    arrays::sum_of_squares(; x: &[f64];) -> [f64];
    arrays::thomas(diagonal: &mut [f64], x: &mut [f64]; lower: &[f64], upper: &[f64];) -> [()];
    arrays::trimmed_mean(; x: &[f64]; k: usize) -> [f64];
    arrays::workload_f3(; a: f64, b: &[f64];) -> [f64];
    arrays::workload_h(x: &mut [f64];;) -> [f64];
    matrices::cholesky(a: &mut [[f64; 4]];;) -> [f64];
    matrices::conjugate_gradients(; a: &[[f64; 4]], b: &[f64];) -> [f64];
    matrices::convolution(; image: &[[f64; 5]; 4], kernel: &[[f64; 3]; 2];) -> [&[[f64; 3]; 3]];
    matrices::floyd_warshall(d: &mut [[f64; 4]; 4];;) -> [f64];
    matrices::gauss_seidel(x: &mut [f64]; a: &[f64], b: &[f64]; sweeps: usize) -> [()];
    matrices::gaussian_elimination(a: &mut [f64];; n: usize) -> [f64];
    matrices::gram_schmidt(a: &mut [[f64; 4]];;) -> [f64];
    matrices::heat_2d(u: &mut [[f64; 6]]; k: f64; n: usize) -> [f64];
    matrices::jacobi(; a: &[[f64; 4]], b: &[f64]; tol: f64) -> [f64];
    matrices::markov_chain(; p: &[f64; 3], matrix: &[[f64; 3]; 3], cost: &[f64; 3], discount: f64; n: usize) -> [f64];
    matrices::matrix_exponential(; a: &[[f64; 2]; 2];) -> [&[[f64; 2]; 2]];
    matrices::n_body(x: &mut [[f64; 2]], v: &mut [[f64; 2]]; m: &[f64], dt: f64; n: usize) -> [f64];
    matrices::power_iteration(; a: &[f64]; size: usize, n: usize) -> [f64];
    matrices::tensor_contraction(; t: &[[[f64; 3]; 3]; 3], v: &[f64; 3]; n: usize) -> [f64];
    matrices::while_norm(; a: &[[f64; 3]; 3], b: &[f64; 3], rate: f64; tol: f64) -> [f64];
    matrices::workload_d(u: &mut Plate;; n: usize) -> [f64];
    matrices::workload_d2(u: &mut Plate;; n: usize) -> [f64];
    matrices::workload_f1(; a: &[[f64; 5]]; v: &[f64], tol: f64) -> [f64];
    models::attention(; x: &[[f64; 3]], q: &[[f64; 2]; 3], k: &[[f64; 2]; 3], v: &[[f64; 2]; 3];) -> [f64];
    models::hidden_markov(; start: &[f64; 3], step: &[[f64; 3]; 3], emit: &[[f64; 2]; 3]; observed: &[usize]) -> [f64];
    models::k_means(centres: &mut [[f64; 2]]; points: &[[f64; 2]];) -> [f64];
    models::lstm(; inputs: &[[f64; 2]], wf: &[[f64; 5]; 3], wi: &[[f64; 5]; 3], wo: &[[f64; 5]; 3], wc: &[[f64; 5]; 3], bias: f64;) -> [f64];
    models::relu_network(; x: &[f64; 3], weights: &[[[f64; 3]; 3]], biases: &[[f64; 3]];) -> [f64];
    models::rnn(; inputs: &[[f64; 2]], target: &[f64; 2], w: &[[f64; 3]; 3], u: &[[f64; 2]; 3], v: &[[f64; 3]; 2], b: &[f64; 3];) -> [f64];
    models::softmax_regression(; x: &[[f64; 3]], w: &[[f64; 3]; 3], b: &[f64; 3], decay: f64; labels: &[usize]) -> [f64];
    models::viterbi(; start: &[f64; 3], step: &[[f64; 3]; 3], emit: &[[f64; 2]; 3]; observed: &[usize]) -> [f64];
    models::workload_b(; w: &[[f64; 8]; 8], u: &[[f64; 8]; 8], b: &[f64; 8], x: &[[f64; 8]];) -> [f64];
    models::workload_e(; z1: &[[f64; 12]], v0: f64, kappa: f64, theta: f64, xi: f64, rho: f64; z2: &[[f64; 12]], r: f64) -> [f64];
    models::workload_g(; a: &[[f64; 3]], y: &[f64], lr: f64, b1: f64, b2: f64; n: usize) -> [f64];
    numbers::aliased_buffers(; x: f64, y: f64;) -> [f64];
    numbers::bisection(; a: f64, b: f64;) -> [f64];
    numbers::bouncing_ball(; h: f64, bounce: f64, time: f64, g: f64;) -> [f64];
    numbers::doubling(; x: f64;) -> [f64];
    numbers::escape_time(; cx: f64, cy: f64; limit: u32) -> [f64];
    numbers::first_crossing(; depth: f64, drag: f64, dt: f64; limit: usize) -> [f64];
    numbers::fixed_point(; a: f64, x: f64; limit: usize) -> [f64];
    numbers::implied_volatility(; price: f64, spot: f64, strike: f64, rate: f64, years: f64;) -> [f64];
    numbers::kepler(; m: f64, e: f64, a: f64;) -> [(f64, f64)];
    numbers::logistic_map(; r: f64, x: f64; n: usize) -> [f64];
    numbers::lorenz(; sigma: f64, rho: f64, beta: f64, dt: f64; n: usize) -> [f64];
    numbers::lotka_volterra(; birth: f64, death: f64, eaten: f64, x: f64, y: f64, dt: f64; n: usize) -> [f64];
    numbers::momentum(; x: f64, y: f64, rate: f64, momentum: f64; n: usize) -> [f64];
    numbers::newton(; a: f64, x0: f64;) -> [f64];
    numbers::overwriting(; x: f64, y: f64;) -> [f64];
    numbers::pendulum(; angle: f64, speed: f64, length: f64, dt: f64, g: f64; n: usize) -> [(f64, f64)];
    numbers::random_walk(; drift: f64, step: f64; seed: u32, n: u32) -> [f64];
    numbers::repeated_squaring(; x: f64; n: u64) -> [f64];
    numbers::simpson(; a: f64, b: f64, width: f64; tol: f64) -> [f64];
    numbers::sir(; rate: f64, recovery: f64, infected: f64, threshold: f64, dt: f64; n: usize) -> [(f64, f64)];
    numbers::tanh_recurrence(; w: f64, b: f64, h: f64; n: usize) -> [f64];
    numbers::two_variable_recurrence(; a: f64, x: f64, y: f64; n: usize) -> [f64];
    numbers::workload_a(; w: f64, b: f64, h0: f64; n: usize) -> [f64];
    numbers::workload_c(; sigma: f64, rho: f64, beta: f64, x: f64, y: f64, z: f64; n: usize) -> [f64];
    numbers::workload_f2(; m: f64, e: f64;) -> [f64];
};

/// The shape of nested lists, and their numbers.
fn flat(json: &Json) -> Numbers {
    let Json::Array(items) = json else {
        return Numbers { shape: Vec::new(), data: vec![json.as_f64().unwrap()] };
    };
    let inner: Vec<Numbers> = items.iter().map(flat).collect();
    let mut shape = vec![items.len()];
    shape.extend(inner.first().map_or(Vec::new(), |of| of.shape.clone()));
    Numbers { shape, data: inner.into_iter().flat_map(|of| of.data).collect() }
}

/// What a record says of a parameter: names may be larger there, and the length of a matrix is a parameter where that is one slice.
fn named(of: &Json, name: &str, rank: usize) -> Option<Numbers> {
    let found = of
        .as_object()
        .unwrap()
        .iter()
        .find(|(n, _)| n.to_lowercase() == name || (name == "matrix" && *n == "P"));
    let mut found = flat(found?.1);
    if rank == 1 {
        found.shape = vec![found.data.len()];
    }
    Some(found)
}

impl Example {
    /// The place of a record; directions and adjoints are any.
    fn at<'r>(&self, record: &'r Json) -> Point<'r> {
        let mut seed = 12345;
        let params = self.params.iter().map(|(name, rank)| {
            let arg = named(&record["args"], name, *rank).unwrap_or_else(|| {
                let length = flat(&record["args"]["A"]).shape[0] as f64;
                Numbers { shape: Vec::new(), data: vec![length] }
            });
            assert_eq!(arg.shape.len(), *rank, "{}: {name}", self.name);
            let dot = arg.any_like(&mut seed);
            let bar = arg.any_like(&mut seed);
            [arg, dot, bar]
        });
        let params = params.collect();
        Point { record, params, result: flat(&record["value"]).any_like(&mut seed) }
    }

    fn program<'s>(&self, sources: &'s [(&str, Source)]) -> Program<'s> {
        sources.iter().find(|(file, _)| *file == self.file).unwrap().1.program(self.name)
    }

    fn records<'r>(&self, records: &'r [Json]) -> Vec<&'r Json> {
        records
            .iter()
            .filter(|r| r["file"].as_str() == Some(&format!("{}.py", self.name)))
            .collect()
    }
}

fn records() -> Vec<Json> {
    let text = std::fs::read_to_string(format!("{FOLDER}/expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn sources() -> Vec<(&'static str, Source)> {
    FILES.iter().map(|(name, text)| (*name, Source::new(text))).collect()
}

/// Runs `look` at every point of every example.
fn everywhere(look: impl Fn(&str, &Example, &Program<'_>, &mut Point<'_>)) {
    let (sources, records) = (sources(), records());
    for example in EXAMPLES {
        let program = example.program(&sources);
        let own = example.records(&records);
        assert!(!own.is_empty(), "{} is no example", example.name);
        for record in own {
            let what = format!("{} {}", example.name, record["args"]);
            look(&what, example, &program, &mut example.at(record));
        }
    }
}

fn same(what: &str, got: &[f64], want: &[f64]) {
    let bits = |x: &f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let equal = got.len() == want.len() && got.iter().map(bits).eq(want.iter().map(bits));
    assert!(equal, "{what}: compiled {got:?}\n interpreted {want:?}");
}

fn close(what: &str, got: &[f64], want: &[f64], most: f64) {
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= most;
    let all = got.len() == want.len() && got.iter().zip(want).all(close);
    assert!(all, "{what}: {got:?}\n for {want:?}");
}

fn largest(all: &[f64]) -> f64 {
    all.iter().fold(0.0, |m, x| x.abs().max(m))
}

#[test]
fn all_examples_are_there() {
    let files = std::fs::read_dir(FOLDER).unwrap().map(|e| e.unwrap().file_name());
    let files: Vec<String> = files.filter_map(|f| f.into_string().ok()).collect();
    for name in files.iter().filter_map(|f| f.strip_suffix(".py")) {
        assert_eq!(EXAMPLES.iter().filter(|e| e.name == name).count(), 1, "{name}");
    }
}

#[test]
fn bits_are_those_of_the_interpreter() {
    everywhere(|what, example, program, point| {
        let ran = (example.run)(point);
        let [args, dots, bars] = [0, 1, 2].map(|k| point.given(k));
        let value = program.value(&args);
        same(&format!("{what}: value"), &ran.value, &value);
        same(&format!("{what}: jvp"), &ran.jvp, &program.jvp(&args, &dots));
        same(&format!("{what}: vjp"), &ran.vjp, &program.vjp(&args, point.seed(), &bars));
        assert_eq!(program.is_scalar(), ran.gradient.is_some() && ran.hvp.is_some());
        if let (Some([both, alone]), Some(hvp)) = (&ran.gradient, &ran.hvp) {
            let zeros: Vec<Numbers> = point.params.iter().map(|p| p[2].zeros_like()).collect();
            let zeros: Vec<Given<'_>> = zeros.iter().map(|z| (&z.shape[..], &z.data[..])).collect();
            let gradient = program.vjp(&args, (&[], &[1.0]), &zeros);
            same(&format!("{what}: value and gradient"), both, &gradient);
            same(&format!("{what}: gradient"), alone, &gradient[value.len()..]);
            let products = program.products(&args, (&[], &[1.0]), &zeros, &dots);
            let first = products.len() - hvp.len();
            assert_eq!(first, gradient.len() + value.len(), "{what}");
            same(&format!("{what}: second derivatives"), hvp, &products[first..]);
        }
    });
}

#[test]
fn both_modes_agree() {
    everywhere(|what, example, program, point| {
        let ran = (example.run)(point);
        let n = ran.value.len();
        let diff = point.params.iter().zip(&program.leaves).filter(|(_, leaf)| leaf.diff);
        let dots: Vec<f64> = diff.flat_map(|(p, _)| p[1].data.clone()).collect();
        let written = point.params.iter().zip(&program.leaves).filter(|(_, leaf)| leaf.written);
        let mut bars = if program.is_unit() { Vec::new() } else { point.result.data.clone() };
        bars.extend(written.flat_map(|(p, _)| p[2].data.clone()));
        let along = |a: &[f64], b: &[f64]| -> (f64, f64) {
            assert_eq!(a.len(), b.len(), "{what}");
            let terms = || a.iter().zip(b).map(|(a, b)| a * b);
            (terms().sum(), terms().map(f64::abs).sum())
        };
        let (forward, one) = along(&ran.jvp[n..], &bars);
        let (reverse, two) = along(&ran.vjp[n..], &dots);
        assert!((forward - reverse).abs() <= 1e-10 * one.max(two), "{what}: {forward} {reverse}");
    });
}

#[test]
fn values_and_gradients_are_those_of_the_examples() {
    everywhere(|what, example, program, point| {
        let record = point.record;
        point.result = match record.get("seed") {
            Some(seed) => flat(seed),
            None => Numbers { shape: Vec::new(), data: vec![1.0] },
        };
        let written: Vec<usize> =
            (0..point.params.len()).filter(|k| program.leaves[*k].written).collect();
        for k in &written {
            point.params[*k][2] = point.params[*k][2].zeros_like();
        }
        if let (true, Some(last)) = (program.is_unit(), written.last()) {
            point.params[*last][2] = point.result.clone();
        }
        let ran = (example.run)(point);
        let wanted = flat(&record["value"]).data;
        // What is not returned is in the last array behind `&mut`.
        let first = if program.is_unit() { ran.value.len() - wanted.len() } else { 0 };
        let tolerance = record["tolerance"].as_f64().unwrap();
        let value = &ran.value[first..first + wanted.len()];
        close(&format!("{what}: value"), value, &wanted, tolerance * largest(&wanted));
        let gradient: Vec<f64> =
            record["grad"].as_object().unwrap().values().flat_map(|g| flat(g).data).collect();
        let mut rest = &ran.vjp[ran.value.len()..];
        for ((param, (name, rank)), leaf) in
            point.params.iter().zip(example.params).zip(&program.leaves)
        {
            if !leaf.diff {
                assert!(record["grad"].get(name).is_none(), "{what}: by {name}");
                continue;
            }
            let (own, others) = rest.split_at(param[0].data.len());
            rest = others;
            if let Some(wanted) = named(&record["grad"], name, *rank) {
                let most = tolerance * largest(&gradient);
                close(&format!("{what}: by {name}"), own, &wanted.data, most);
            }
        }
        assert!(rest.is_empty(), "{what}");
    });
}
