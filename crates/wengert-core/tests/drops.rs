//! What the free passes save, counted by the interpreter.

use wengert_core::check::bits;
use wengert_core::interp::{Counters, Interp, Val};
use wengert_core::ir::{Module, parse, verify};
use wengert_core::ops::Array;
use wengert_core::transform::pipeline::{self, Passes, finish_with};
use wengert_core::transform::vjp;

/// `h = tanh(W h + b)`, some steps of it, and the adjoints of `W`, `b` and the first `h`.
const NETWORK: &str = "
    func @f(%w: [[f64]], %b: [f64], %h0: [f64], %g: [f64], %n: i64) -> ([f64], [[f64]], [f64], [f64]) {
      %t0 = tape
      %hs = copy %h0
      %h, %t = for %i in 0..%n carry (%h1 = %hs, %t1 = %t0) {
        %saved = copy %h1
        %t2 = push %t1, %saved
        %m = len %b
        %z = fill %m, 0.0
        %a = gemm %z, %w, %h1
        %s = add %a, %b
        %h2 = tanh %s
        yield %h2, %t2
      }
      %out = copy %h
      %m0 = len %w
      %k0 = dim[1] %w
      %dw0 = fill %m0, %k0, 0.0
      %db0 = fill %m0, 0.0
      %dh0 = copy %g
      %dw, %db, %dh, %hl, %tl = for %r in 0..%n carry (%dw1 = %dw0, %db1 = %db0, %dh1 = %dh0, %h3 = %h, %t3 = %t) {
        %t4, %x = pop %t3 : tape, [f64]
        %q = mul %h3, %h3
        %d = sub 1.0, %q
        %ds = mul %dh1, %d
        %dw2 = gemm %dw1, %ds, %x
        %db2 = add %db1, %ds
        %k = len %x
        %zh = fill %k, 0.0
        %dh2 = gemm[t,n] %zh, %w, %ds
        yield %dw2, %db2, %dh2, %x, %t4
      }
      return %out, %dw, %db, %dh
    }";

/// Some steps of a five-point stencil.
const STENCIL: &str = "
    func @f(%u0: [[f64]], %n: i64) -> [[f64]] {
      %rows = len %u0
      %cols = dim[1] %u0
      %h = wsub %rows, 2
      %w = wsub %cols, 2
      %u = for %i in 0..%n carry (%u1 = %u0) {
        %c = slice %u1, 1, %h, 1, 1, %w, 1
        %up = slice %u1, 0, %h, 1, 1, %w, 1
        %down = slice %u1, 2, %h, 1, 1, %w, 1
        %left = slice %u1, 1, %h, 1, 0, %w, 1
        %right = slice %u1, 1, %h, 1, 2, %w, 1
        %a = add %up, %down
        %b = add %left, %right
        %s = add %a, %b
        %q = mul %c, 4.0
        %l = sub %s, %q
        %d = mul %l, 0.1
        %v = add %c, %d
        %u2 = put %u1, 1, %h, 1, 1, %w, 1, %v
        yield %u2
      }
      return %u
    }";

/// Elementwise operations and reductions.
const CHAIN: &str = "
    func @f(%x: [f64], %y: [f64], %n: i64) -> (f64, [f64]) {
      %p0 = copy %x
      %s, %p = for %i in 0..%n carry (%s1 = 0.0, %p1 = %p0) {
        %a = mul %p1, %y
        %b = add %a, 1.0
        %c = tanh %b
        %d = mul %c, %c
        %e = sub %d, %a
        %t = sum %e
        %m = len %e
        %f = itof %m
        %mean = div %t, %f
        %z = sub %e, %mean
        %zz = mul %z, %z
        %var = sum %zz
        %r = sqrt %var
        %o = div %z, %r
        %o2 = add %o, %x
        %s2 = add %s1, %var
        yield %s2, %o2
      }
      return %s, %p
    }";

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|k| (k as f64 * 0.7).sin() * 0.2).collect()
}

fn matrix(m: usize, n: usize) -> Val {
    Val::shaped(Array::new(vec![m, n], wave(m * n)))
}

fn counted(module: &Module, entry: &str, args: &[Val]) -> (Vec<u64>, Counters) {
    let mut interp = Interp::new(module);
    let results = interp.call(entry, args.to_vec()).unwrap();
    (bits(&results), interp.counters())
}

/// Runs a program with no pass and with some, and gives back what each run cost.
fn costs(text: &str, args: &[Val], passes: Passes) -> (Counters, Counters) {
    let module = parse::module(text).unwrap();
    verify::module(&module).unwrap();
    compared(&module, "f", args, passes)
}

/// The same of the gradient of the sum of a function's one result.
fn gradient_costs(text: &str, wrt: &[usize], args: &[Val], passes: Passes) -> (Counters, Counters) {
    let module = parse::module(text).unwrap();
    let func = pipeline::run(&module, "f").unwrap();
    let gradient = vjp::vjp(&func, wrt).unwrap();
    let value = Interp::new(&Module::of(func)).call("f", args.to_vec()).unwrap();
    let seeds = value.iter().map(|v| match v {
        Val::Array(x) => Val::shaped(x.with_floats(x.floats().into_iter().map(|_| 1.0))),
        _ => Val::f64(1.0),
    });
    let args: Vec<Val> = args.iter().cloned().chain(seeds).chain([Val::tape()]).collect();
    compared(&gradient, "f.vjp", &args, passes)
}

fn compared(module: &Module, entry: &str, args: &[Val], passes: Passes) -> (Counters, Counters) {
    let after = finish_with(module, &passes);
    verify::module(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
    let before = finish_with(module, &Passes::NONE);
    let (expected, plain) = counted(&before, entry, args);
    let (found, passed) = counted(&after, entry, args);
    assert_eq!(found, expected, "{after}");
    (plain, passed)
}

/// Asserts that bytes moved, bytes allocated and the peak fall at least to these fractions.
fn assert_drops(name: &str, text: &str, args: &[Val], passes: Passes, at_most: [f64; 3]) {
    assert_ratios(name, costs(text, args, passes), at_most);
}

fn assert_ratios(name: &str, (plain, passed): (Counters, Counters), at_most: [f64; 3]) {
    let ratio = |a: u64, b: u64| b as f64 / a as f64;
    let found = [
        ratio(plain.moved_bytes, passed.moved_bytes),
        ratio(plain.allocated_bytes, passed.allocated_bytes),
        ratio(plain.peak_bytes, passed.peak_bytes),
    ];
    println!("{name}: moved, allocated, peak {found:.3?}\n  {plain:?}\n  {passed:?}");
    let fits = found.iter().zip(at_most).all(|(found, most)| *found <= most);
    assert!(fits, "{name}: {found:?} of what it was, {at_most:?} wanted");
}

#[test]
fn a_network_and_its_adjoint() {
    let n = 64;
    let args = [
        matrix(n, n),
        Val::array(wave(n)),
        Val::array(wave(n)),
        Val::array(wave(n)),
        Val::i64(100),
    ];
    // The blocks of deferred products cost some memory, and save most of the traffic.
    assert_drops("network", NETWORK, &args, Passes::ALL, [0.57, 0.5, 1.3]);
    let alone = Passes { deferred: false, ..Passes::ALL };
    assert_drops("network, nothing deferred", NETWORK, &args, alone, [0.98, 0.43, 1.0]);
}

#[test]
fn a_stencil() {
    assert_drops(
        "stencil",
        STENCIL,
        &[matrix(40, 50), Val::i64(10)],
        Passes::ALL,
        [0.31, 0.12, 0.42],
    );
}

#[test]
fn a_chain_of_operations() {
    let args = [Val::array(wave(1000)), Val::array(wave(1000)), Val::i64(10)];
    assert_drops("chain", CHAIN, &args, Passes::ALL, [0.46, 0.06, 0.81]);
}

/// Gradient descent with momentum on a matrix, written with whole arrays.
const DESCENT: &str = "
    func @f(%x0: [[f64]], %t: [[f64]], %n: i64) -> f64 {
      %rows = len %x0
      %cols = dim[1] %x0
      %v0 = fill %rows, %cols, 0.0
      %xs = copy %x0
      %x, %v = for %i in 0..%n carry (%x1 = %xs, %v1 = %v0) {
        %d = sub %x1, %t
        %s = tanh %d
        %q = mul %s, %s
        %c = sub 1.0, %q
        %g = mul %s, %c
        %step = mul %g, 0.1
        %kept = mul %v1, 0.9
        %v2 = sub %kept, %step
        %x2 = add %x1, %v2
        yield %x2, %v2
      }
      %e = sub %x, %t
      %ee = mul %e, %e
      %r = sum %ee
      return %r
    }";

#[test]
fn descent_with_momentum() {
    let args = [matrix(40, 50), matrix(40, 50), Val::i64(20)];
    assert_drops("descent", DESCENT, &args, Passes::ALL, [0.24, 0.03, 0.58]);
}

/// The gradients of the three programs, as reverse mode makes them.
#[test]
fn gradients() {
    let network = "
        func @f(%w: [[f64]], %b: [f64], %h0: [f64], %n: i64) -> [f64] {
          %h = for %i in 0..%n carry (%h1 = %h0) {
            %c = copy %b
            %a = gemm %c, %w, %h1
            %h2 = tanh %a
            yield %h2
          }
          return %h
        }";
    let vector = || Val::array(wave(64));
    let args = [matrix(64, 64), vector(), vector(), Val::i64(100)];
    let found = gradient_costs(network, &[0, 1, 2], &args, Passes::ALL);
    assert_ratios("gradient of the network", found, [0.57, 0.5, 1.3]);
    let found = gradient_costs(STENCIL, &[0], &[matrix(40, 50), Val::i64(10)], Passes::ALL);
    assert_ratios("gradient of the stencil", found, [0.53, 0.2, 0.72]);
    let args = [Val::array(wave(1000)), Val::array(wave(1000)), Val::i64(10)];
    let found = gradient_costs(CHAIN, &[0, 1], &args, Passes::ALL);
    assert_ratios("gradient of the chain", found, [0.54, 0.24, 0.99]);
}

#[test]
fn outer_products_move_a_block_at_a_time() {
    let text = "
        func @f(%c: [[f64]], %ys: [[f64]], %xs: [[f64]], %n: i64) -> [[f64]] {
          %m = len %c
          %k = dim[1] %c
          %r = for %i in 0..%n carry (%c1 = %c) {
            %yr = slice %ys, %i, 1, 1, 0, %m, 1
            %y = reshape %yr, %m
            %xr = slice %xs, %i, 1, 1, 0, %k, 1
            %x = reshape %xr, %k
            %c2 = gemm %c1, %y, %x
            yield %c2
          }
          return %r
        }";
    let only = Passes { deferred: true, ..Passes::NONE };
    for steps in [0, 1, 31, 32, 33, 200] {
        let args = [matrix(48, 32), matrix(200, 48), matrix(200, 32), Val::i64(steps)];
        let (plain, passed) = costs(text, &args, only);
        println!("{steps} steps: {} bytes became {}", plain.moved_bytes, passed.moved_bytes);
        if steps >= 31 {
            assert!(passed.moved_bytes * 3 < plain.moved_bytes, "{steps}: {passed:?} of {plain:?}");
        }
    }
}
