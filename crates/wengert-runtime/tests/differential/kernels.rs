//! Operations on whole arrays: every row, over shapes, kinds of elements and faults.

use crate::random::Random;
use crate::standalone::Standalone;
use crate::{Arg, Both, Ran};
use std::slice::from_ref;
use wengert_core::interp::Val;
use wengert_core::ops::{Array, Data, Scalar};

/// Kinds of elements as IR text writes them.
const KINDS: [&str; 4] = ["f64", "f32", "i64", "bool"];

fn nested(kind: &str, rank: usize) -> String {
    format!("{}{kind}{}", "[".repeat(rank), "]".repeat(rank))
}

/// An array of random elements, special ones among them.
fn array(kind: &str, shape: &[usize], random: &mut Random) -> Val {
    let n = 0..shape.iter().product();
    let data = match kind {
        "f64" => Data::F64(n.map(|_| random.float()).collect()),
        "f32" => Data::F32(n.map(|_| random.single()).collect()),
        "i64" => Data::I64(n.map(|_| random.int() % 4).collect()),
        _ => Data::Bool(n.map(|_| random.bits() & 1 == 1).collect()),
    };
    Val::shaped(Array { shape: shape.to_vec(), data })
}

/// Integers that index vectors; some out of range now and then.
fn indices(n: usize, below: usize, random: &mut Random) -> Val {
    let most = below as u64 + u64::from(random.one_in(4));
    let any = (0..n).map(|_| (random.bits() % most.max(1)) as i64 - i64::from(random.one_in(40)));
    Val::shaped(Array { shape: vec![n], data: Data::I64(any.collect()) })
}

fn shape(rank: usize, random: &mut Random) -> Vec<usize> {
    (0..rank).map(|_| (random.bits() % 5) as usize).collect()
}

/// A program that does one operation on its parameters. What works in place gets a copy and reads
/// the original too, so that a change of the wrong array shows.
fn program(op: &str, params: &[String], result: &str, in_place: bool) -> String {
    let list: Vec<String> = params.iter().enumerate().map(|(k, t)| format!("%x{k}: {t}")).collect();
    let names: Vec<String> = (0..params.len()).map(|k| format!("%x{k}")).collect();
    if in_place {
        let others = names[1..].join(", ");
        let (first, list) = (&params[0], list.join(", "));
        format!(
            "func @f({list}) -> ({result}, {first}) {{
               %c = copy %x0
               %d = copy %x0
               %y = {op} %c, {others}
               return %y, %d
             }}"
        )
    } else {
        format!(
            "func @f({}) -> {result} {{ %y = {op} {}  return %y }}",
            list.join(", "),
            names.join(", ")
        )
    }
}

struct Case {
    both: Both,
    faults: usize,
    runs: usize,
}

impl Case {
    fn new(op: &str, params: &[String], result: &str, in_place: bool) -> Case {
        Case { both: Both::new(&program(op, params, result, in_place)), faults: 0, runs: 0 }
    }

    fn run(&mut self, vals: &[Val]) -> Ran {
        let args: Vec<Arg> = vals.iter().filter_map(Arg::from_val).collect();
        let ran = self.both.agree("f", &args);
        self.runs += 1;
        self.faults += usize::from(ran.is_err());
        ran
    }
}

fn small(random: &mut Random) -> Val {
    Val::i64((random.bits() % 6) as i64 - i64::from(random.one_in(8)))
}

/// Start, count and step per axis: mostly ones that fit.
fn section(shape: &[usize], random: &mut Random) -> (Vec<Val>, Vec<usize>) {
    let (mut words, mut counts) = (Vec::new(), Vec::new());
    for n in shape {
        let n = *n as i64;
        let step = [1, 1, 2, -1, 0, -2, 3][(random.bits() % 7) as usize];
        let start = if n > 0 { (random.bits() % n as u64) as i64 } else { 0 };
        let room = match step {
            0 => 3,
            s if s > 0 => (n - start + s - 1) / s,
            s => start / -s + 1,
        };
        let mut count = (random.bits() % (room.max(0) as u64 + 1)) as i64;
        let wild = random.bits() % 25;
        if wild == 0 {
            count = -1;
        } else if wild == 1 {
            count += 3;
        }
        let huge = random.one_in(60);
        words.extend([start, count, if huge { i64::MIN } else { step }].map(Val::i64));
        counts.push(count.max(0) as usize);
    }
    (words, counts)
}

#[test]
fn peek_and_poke() {
    let _standalone = Standalone::here(1_000_000_000);
    let mut random = Random(11);
    for kind in KINDS {
        for rank in 1..5 {
            let x = nested(kind, rank);
            let params = [x.clone(), "i64".into()];
            let mut peek = Case::new("peek", &params, kind, false);
            let params = [x.clone(), "i64".into(), kind.into()];
            let mut poke = Case::new("poke", &params, &x, true);
            for _ in 0..60 {
                let x = array(kind, &shape(rank, &mut random), &mut random);
                let k = Val::i64(random.int() % 40);
                let _ = peek.run(&[x.clone(), k.clone()]);
                let Val::Array(one) = array(kind, &[1], &mut random) else { unreachable!() };
                let _ = poke.run(&[x, k, Val::Scalar(one.elements().get(0))]);
            }
            assert!(0 < peek.faults && peek.faults < peek.runs);
        }
    }
}

#[test]
fn load_store_fill_copy_and_dimensions() {
    let _standalone = Standalone::here(1_000_000_000);
    let mut random = Random(12);
    for kind in KINDS {
        for rank in 1..5usize {
            let x = nested(kind, rank);
            let ints: Vec<String> = (0..rank).map(|k| format!("%i{k}: i64")).collect();
            let at: Vec<String> = (0..rank).map(|k| format!("%i{k}")).collect();
            let (ints, at) = (ints.join(", "), at.join(", "));
            let last = rank - 1;
            let text = format!(
                "func @load(%x: {x}, {ints}) -> {kind} {{ %v = load %x, {at}  return %v }}
                 func @store(%x: {x}, {ints}, %v: {kind}) -> ({x}, {x}) {{
                   %y = copy %x
                   %z = store %y, {at}, %v
                   %w = copy %x
                   return %z, %w
                 }}
                 func @fill({ints}, %v: {kind}) -> ({x}, i64) {{
                   %y = fill {at}, %v
                   %n = dim[{last}] %y
                   return %y, %n
                 }}
                 func @through(%x: {x}, %b: bool) -> {x} {{
                   %y = call @same(%x) : {x}
                   %z = if %b {{ yield %y }} else {{ %c = copy %y  yield %c }}
                   %w = for %i in 0..3 carry (%a = %z) {{ %d = copy %a  yield %d }}
                   return %w
                 }}
                 func @same(%x: {x}) -> {x} {{ return %x }}"
            );
            let both = Both::new(&text);
            let mut faults = 0;
            for _ in 0..60 {
                let dims = shape(rank, &mut random);
                let x = array(kind, &dims, &mut random);
                let Val::Array(one) = array(kind, &[1], &mut random) else { unreachable!() };
                let one = Val::Scalar(one.elements().get(0));
                let at: Vec<Val> = dims
                    .iter()
                    .map(|n| match random.bits() % 12 {
                        0 => Val::i64(random.int()),
                        r => Val::i64((r % (*n as u64).max(1)) as i64),
                    })
                    .collect();
                let mut run = |entry: &str, vals: Vec<Val>| {
                    let args: Vec<Arg> = vals.iter().filter_map(Arg::from_val).collect();
                    faults += usize::from(both.agree(entry, &args).is_err());
                };
                let with = |parts: [&[Val]; 3]| parts.concat();
                run("load", with([from_ref(&x), &at, &[]]));
                run("store", with([from_ref(&x), &at, from_ref(&one)]));
                let dims: Vec<Val> = (0..rank).map(|_| small(&mut random)).collect();
                run("fill", with([&[], &dims, &[one]]));
                run("through", vec![x, Val::Scalar(Scalar::Bool(random.bits() & 1 == 1))]);
            }
            assert!(faults > 0);
            let huge = vec![Val::i64(i64::MAX); rank];
            let Val::Array(one) = array(kind, &[1], &mut random) else { unreachable!() };
            let vals = [&huge[..], &[Val::Scalar(one.elements().get(0))]].concat();
            let args: Vec<Arg> = vals.iter().filter_map(Arg::from_val).collect();
            assert!(both.agree("fill", &args).is_err());
        }
    }
}

#[test]
fn slices() {
    let _standalone = Standalone::here(1_000_000_000);
    let mut random = Random(13);
    for kind in KINDS {
        for rank in 1..4 {
            let x = nested(kind, rank);
            let ints = vec!["i64".to_string(); 3 * rank];
            let params = [&[x.clone()][..], &ints].concat();
            let mut slice = Case::new("slice", &params, &x, false);
            let params = [from_ref(&x), &ints, from_ref(&x)].concat();
            let mut put = Case::new("put", &params, &x, true);
            let float = kind.starts_with('f');
            let mut add = float.then(|| Case::new("add_slice", &params, &x, true));
            for _ in 0..80 {
                let dims = shape(rank, &mut random);
                let a = array(kind, &dims, &mut random);
                let (words, counts) = section(&dims, &mut random);
                let _ = slice.run(&[&[a.clone()][..], &words].concat());
                let counts = if random.one_in(9) { shape(rank, &mut random) } else { counts };
                let v = array(kind, &counts, &mut random);
                let vals = [&[a][..], &words, &[v]].concat();
                let _ = put.run(&vals);
                let _ = add.as_mut().map(|add| add.run(&vals));
            }
            assert!(0 < slice.faults && slice.faults < slice.runs);
            assert!(0 < put.faults && put.faults < put.runs);
        }
    }
}

#[test]
fn shapes_that_change() {
    let _standalone = Standalone::here(1_000_000_000);
    let mut random = Random(14);
    for kind in KINDS {
        for rank in 1..5usize {
            let x = nested(kind, rank);
            for to in 1..4usize {
                let params = [&[x.clone()][..], &vec!["i64".to_string(); to]].concat();
                let mut reshape = Case::new("reshape", &params, &nested(kind, to), false);
                for _ in 0..20 {
                    let dims = shape(rank, &mut random);
                    let n: usize = dims.iter().product();
                    let mut wanted = vec![1; to];
                    wanted[(random.bits() % to as u64) as usize] = n as i64;
                    wanted[0] -= i64::from(random.one_in(10));
                    let words: Vec<Val> = wanted.into_iter().map(Val::i64).collect();
                    let a = array(kind, &dims, &mut random);
                    let _ = reshape.run(&[&[a][..], &words].concat());
                }
            }
            let mut axes: Vec<usize> = (0..rank).collect();
            for _ in 0..3 {
                let (i, j) = (random.bits() as usize % rank, random.bits() as usize % rank);
                axes.swap(i, j);
                let names: Vec<String> = axes.iter().map(usize::to_string).collect();
                let op = format!("transpose[{}]", names.join(","));
                let mut transpose = Case::new(&op, from_ref(&x), &x, false);
                for _ in 0..8 {
                    let a = array(kind, &shape(rank, &mut random), &mut random);
                    transpose.run(&[a]).unwrap();
                }
            }
            for axis in 0..=rank {
                let params = [x.clone(), "i64".into()];
                let op = format!("expand[{axis}]");
                let mut expand = Case::new(&op, &params, &nested(kind, rank + 1), false);
                for _ in 0..8 {
                    let a = array(kind, &shape(rank, &mut random), &mut random);
                    let _ = expand.run(&[a, small(&mut random)]);
                }
            }
            let params = [x.clone(), "[i64]".into()];
            let mut gather = Case::new("gather", &params, &x, false);
            let params = [x.clone(), "[i64]".into(), x.clone()];
            let float = kind.starts_with('f');
            let mut scatter = float.then(|| Case::new("scatter_add", &params, &x, true));
            for _ in 0..40 {
                let dims = shape(rank, &mut random);
                let n = (random.bits() % 6) as usize;
                let picked = indices(n, dims[0], &mut random);
                let a = array(kind, &dims, &mut random);
                let _ = gather.run(&[a.clone(), picked.clone()]);
                let mut rows = dims.clone();
                rows[0] = n + usize::from(random.one_in(9));
                let v = array(kind, &rows, &mut random);
                let _ = scatter.as_mut().map(|scatter| scatter.run(&[a, picked, v]));
            }
            assert!(0 < gather.faults && gather.faults < gather.runs);
        }
    }
}

#[test]
fn sums_and_searches() {
    let _standalone = Standalone::here(1_000_000_000);
    let mut random = Random(15);
    for kind in KINDS {
        for rank in 1..5usize {
            let x = nested(kind, rank);
            let one = from_ref(&x);
            let mut cases = vec![Case::new("argmax", one, "i64", false)];
            cases.push(Case::new("argmin", one, "i64", false));
            if rank == 1 {
                cases.push(Case::new("argsort", one, "[i64]", false));
            }
            if kind.starts_with('f') {
                cases.push(Case::new("sum", one, kind, false));
                for axis in 0..rank {
                    for way in ["cumsum", "cumsum_back"] {
                        cases.push(Case::new(&format!("{way}[{axis}]"), one, &x, false));
                    }
                    if rank > 1 {
                        let less = nested(kind, rank - 1);
                        cases.push(Case::new(&format!("sum[{axis}]"), one, &less, false));
                    }
                }
            }
            for case in &mut cases {
                for _ in 0..30 {
                    let _ = case.run(&[array(kind, &shape(rank, &mut random), &mut random)]);
                }
            }
            if kind.starts_with('f') {
                let mut dot = Case::new("dot", &[x.clone(), x.clone()], kind, false);
                for _ in 0..30 {
                    let dims = shape(rank, &mut random);
                    let other =
                        if random.one_in(5) { shape(rank, &mut random) } else { dims.clone() };
                    let (a, b) =
                        (array(kind, &dims, &mut random), array(kind, &other, &mut random));
                    let _ = dot.run(&[a, b]);
                }
            }
        }
    }
}

/// Ordinary numbers: sums of them differ in their last bits where the order differs.
fn plain(kind: &str, shape: &[usize], random: &mut Random) -> Val {
    let mut any = || (random.bits() as i64 as f64) / (1u64 << 60) as f64;
    let n = 0..shape.iter().product();
    let data = match kind {
        "f64" => Data::F64(n.map(|_| any()).collect()),
        _ => Data::F32(n.map(|_| any() as f32).collect()),
    };
    Val::shaped(Array { shape: shape.to_vec(), data })
}

#[test]
fn long_sums() {
    let _standalone = Standalone::here(1_000_000_000);
    let mut random = Random(16);
    for kind in ["f64", "f32"] {
        let x = nested(kind, 1);
        let mut sum = Case::new("sum", from_ref(&x), kind, false);
        let mut dot = Case::new("dot", &[x.clone(), x.clone()], kind, false);
        for n in [7, 8, 1023, 1024, 1025, 2048, 3000, 5 * 1024, 7 * 1024 + 3, 20_001] {
            let (a, b) = (plain(kind, &[n], &mut random), plain(kind, &[n], &mut random));
            sum.run(from_ref(&a)).unwrap();
            dot.run(&[a, b]).unwrap();
        }
    }
}

#[test]
fn products() {
    let _standalone = Standalone::here(1_000_000_000);
    let mut random = Random(17);
    for kind in ["f64", "f32"] {
        let (vector, matrix) = (nested(kind, 1), nested(kind, 2));
        for (ta, tb) in [("n", "n"), ("t", "n"), ("n", "t"), ("t", "t")] {
            let op = format!("gemm[{ta},{tb}]");
            let params = [matrix.clone(), matrix.clone(), matrix.clone()];
            let mut case = Case::new(&op, &params, &matrix, true);
            for _ in 0..40 {
                let sizes = [5, 9, 20, 40][(random.bits() % 4) as usize];
                let [m, n, k] = [0; 3].map(|_: usize| (random.bits() % sizes) as usize);
                let k = if random.one_in(8) { 600 } else { k };
                let a = if ta == "t" { [k, m] } else { [m, k] };
                let b = if tb == "t" { [n, k] } else { [k, n] };
                let off = usize::from(random.one_in(10));
                let vals = [[m, n + off], a, b].map(|s| plain(kind, &s, &mut random));
                let _ = case.run(&vals);
            }
            assert!(0 < case.faults && case.faults < case.runs);
        }
        for t in ["n", "t"] {
            let params = [vector.clone(), matrix.clone(), vector.clone()];
            let mut case = Case::new(&format!("gemm[{t},n]"), &params, &vector, true);
            for _ in 0..40 {
                let [m, k] = [0; 2].map(|_: usize| (random.bits() % 50) as usize);
                let a = if t == "t" { [k, m] } else { [m, k] };
                let off = usize::from(random.one_in(10));
                let vals = [
                    plain(kind, &[m], &mut random),
                    plain(kind, &a, &mut random),
                    plain(kind, &[k + off], &mut random),
                ];
                let _ = case.run(&vals);
            }
        }
        let params = [matrix.clone(), vector.clone(), vector.clone()];
        let mut case = Case::new("gemm", &params, &matrix, true);
        for _ in 0..20 {
            let [m, n] = [0; 2].map(|_: usize| (random.bits() % 20) as usize);
            let vals = [vec![m, n], vec![m], vec![n]].map(|s| plain(kind, &s, &mut random));
            case.run(&vals).unwrap();
        }
    }
}

/// Shapes without elements whose other dimensions are as large as they can be.
#[test]
fn empty_and_huge() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%n: i64) -> (f64, [f64], [[[f64]]], [[[f64]]], i64) {
          %x = fill 0, %n, 4, 1.0
          %s = sum %x
          %y = reshape %x, 0
          %z = transpose[1,2,0] %x
          %w = slice %x, 0, 0, 1, 3, 2, 1, 1, 2, 1
          %i = fill 0, 0
          %g = gather %x, %i
          %d = dim[1] %g
          return %s, %y, %z, %w, %d
        }";
    let both = Both::new(text);
    for n in [0, 5, 1 << 62, i64::MAX, -1] {
        let _ = both.agree("f", &[Arg::I64(n)]);
    }
}

#[test]
fn faults_have_names_and_places() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%table: [[f32]], %n: i64) -> f32 {
          %s = for %i in 0..%n carry (%t = 0.0f32) {
            %v = load %table, %i, 1
            %k = peek %table, %i
            %r = slice %table, %i, 1, 1, 0, 2, 1
            %u = sum %r
            %w = add %u, %v
            yield %w
          }
          return %s
        }";
    let both = Both::new(text);
    let table = Array { shape: vec![3, 2], data: Data::F32(vec![1.5; 6]) };
    for n in 0..6 {
        let ran = both.agree("f", &[Arg::Shaped(&table), Arg::I64(n)]);
        assert_eq!(ran.is_err(), n > 3);
        if let Err(fault) = ran {
            assert_eq!(
                fault.to_string(),
                "index 3 is out of range: `table` has 3 elements along axis 0"
            );
            assert_eq!(fault.iterations[0].1, 3);
        }
    }
}

/// Loops over all elements by `peek` and `poke`: the check is left out where the counter stays below
/// the product of the dimensions, and only there.
#[test]
fn loops_over_all_elements() {
    let _standalone = Standalone::here(1_000_000_000);
    let text = "
        func @f(%x: [[f64]], %y: [[f64]]) -> [[f64]] {
          %m = dim[0] %x
          %n = dim[1] %x
          %size = imul %m, %n
          %z0 = fill %m, %n, 0.0
          %z = for %k in 0..%size carry (%a = %z0) {
            %u = peek %x, %k
            %v = peek %y, %k
            %w = fma %u, %v, 1.0
            %a1 = poke %a, %k, %w
            yield %a1
          }
          return %z
        }
        func @wrong(%x: [[f64]]) -> f64 {
          %m = dim[0] %x
          %size = imul %m, %m
          %z = for %k in 0..%size carry (%a = 0.0) {
            %u = peek %x, %k
            %v = add %a, %u
            yield %v
          }
          return %z
        }";
    let both = Both::new(text);
    let mut random = Random(18);
    for (x, y) in [([3, 4], [3, 4]), ([0, 4], [0, 4]), ([2, 3], [3, 2]), ([3, 3], [2, 3])] {
        let (x, y) = (array("f64", &x, &mut random), array("f64", &y, &mut random));
        let args: Vec<Arg> = [&x, &y].into_iter().filter_map(Arg::from_val).collect();
        let _ = both.agree("f", &args);
        let _ = both.agree("wrong", &args[..1]);
    }
}
