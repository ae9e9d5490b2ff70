//! Batches: every member has the bits and the faults it has alone, on any number of threads, in lanes or not.

use crate::lanes::element;
use crate::random::{FLOATS, Random};
use crate::uneven::{BARRIER, BRANCHES, FAILING, LEAVING, NESTED, NEWTON, SWEPT, UNEQUAL};
use crate::{Arg, Both, Ran, array, module, printed};
use std::mem::discriminant;
use wengert_core::fault::{Fault, FaultKind};
use wengert_core::generate;
use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, Type, parse};
use wengert_core::ops::{Array, Data, Scalar};
use wengert_core::span::Span;
use wengert_core::transform::{batch, derivative, pipeline};
use wengert_runtime::cc;

/// Iterations after which a `while` loop of a generated program is taken not to end.
const MAX_ITERATIONS: u64 = 200;

/// A program over members, what it is given, and what each member gives alone.
struct Case {
    both: Both,
    entry: String,
    args: Vec<Val>,
    alone: Vec<Result<Vec<Val>, Fault>>,
}

/// The values of members along a new first axis; nothing where there are none to be stacked.
fn stacked(members: &[Val]) -> Option<Val> {
    let mut shape = vec![members.len()];
    if let Some(Val::Array(x)) = members.first() {
        shape.extend(&x.shape);
    }
    let mut all: Option<Data> = None;
    for member in members {
        let data = match member {
            Val::Array(x) => x.data.clone(),
            Val::Scalar(s) => Array::filled(vec![1], *s)?.data,
            Val::Tape(_) => return None,
        };
        match (&mut all, data) {
            (None, data) => all = Some(data),
            (Some(Data::F64(all)), Data::F64(x)) => all.extend(x),
            (Some(Data::F32(all)), Data::F32(x)) => all.extend(x),
            (Some(Data::I64(all)), Data::I64(x)) => all.extend(x),
            (Some(Data::Bool(all)), Data::Bool(x)) => all.extend(x),
            _ => return None,
        }
    }
    Some(Val::shaped(Array { shape, data: all? }))
}

/// Another value of the same kind and shape: floats differ, integers now and then.
fn another(val: &Val, random: &mut Random) -> Val {
    let by_chance = random.bits().is_multiple_of(4);
    let n = (random.bits() % 7) as i64 - 3;
    let mut moved = |x: f64| match random.bits() % 40 {
        0 => FLOATS[random.bits() as usize % FLOATS.len()],
        _ => x + (random.bits() % 2000) as f64 / 1000.0 - 1.0,
    };
    match val {
        Val::Array(x) if x.elem().is_float() => {
            let floats: Vec<f64> = x.floats().into_iter().map(&mut moved).collect();
            Val::shaped(x.with_floats(floats.into_iter()))
        }
        Val::Scalar(Scalar::F64(x)) => Val::f64(moved(*x)),
        Val::Scalar(Scalar::I64(k)) if by_chance => Val::i64(k + n),
        Val::Scalar(Scalar::Bool(b)) => Val::Scalar(Scalar::Bool(*b != by_chance)),
        other => other.clone(),
    }
}

/// A function over members and one member after the other: its values, or its gradient as well.
fn case(
    module: &Module,
    name: &str,
    (by, over): (Option<&[usize]>, &[usize]),
    members: &[Vec<Val>],
) -> Option<Case> {
    let together = match by {
        Some(by) => batch::gradients(module, name, by, over).unwrap()?,
        None => Module::of(batch::values(module.func(name)?, over)?),
    };
    let (alone, one) = match by {
        Some(by) => (derivative::vjp_of(module, name, by).unwrap(), format!("{name}.vjp")),
        None => (module.clone(), name.to_string()),
    };
    let func = module.func(name)?;
    let run = |member: &Vec<Val>| {
        let mut args = member.clone();
        for ty in func.results.iter().filter(|ty| by.is_some() && ty.is_float()) {
            args.push(Val::Scalar(Scalar::float(ty.elem().unwrap(), 1.0)));
        }
        let mut interp = Interp::new(&alone);
        interp.max_iterations = MAX_ITERATIONS;
        interp.call(&one, args)
    };
    let alone = members.iter().map(run).collect();
    let mut args: Vec<Val> = members[0].clone();
    for k in over {
        args[*k] = stacked(&members.iter().map(|m| m[*k].clone()).collect::<Vec<_>>())?;
    }
    let entry = together.funcs[0].name.to_string();
    let mut both = Both::of(together);
    both.options.max_iterations = MAX_ITERATIONS;
    Some(Case { both, entry, args, alone })
}

impl Case {
    /// What some members give together: values, or which of them fails first.
    fn wanted(&self, from: usize, to: usize) -> Result<Vec<Val>, (usize, Fault)> {
        let members = self.alone[from..to].iter().enumerate();
        let members = members.map(|(k, one)| one.clone().map_err(|fault| (k, fault)));
        let members: Vec<Vec<Val>> = members.collect::<Result<_, _>>()?;
        let column = |r: usize| members.iter().map(|m| m[r].clone()).collect::<Vec<_>>();
        Ok((0..members[0].len()).map(|r| stacked(&column(r)).unwrap()).collect())
    }

    /// The arguments for some members.
    fn args(&self, from: usize, to: usize) -> Vec<Arg<'_>> {
        let ends = [from, to].map(|k| Arg::I64(k as i64));
        self.args.iter().filter_map(Arg::from_val).chain(ends).collect()
    }

    /// Runs some members all ways and compares with what each gives alone.
    fn check(&self, about: &str, from: usize, to: usize) {
        let (args, wanted) = (self.args(from, to), self.wanted(from, to));
        let about = &format!("{about}, {from}..{to}");
        let found = self.both.interpreted(&self.entry, &args);
        match (&found, &wanted) {
            (Ok(found), Ok(wanted)) => {
                let bits = wanted.iter().map(|v| match v {
                    Val::Array(x) => array(x),
                    _ => unreachable!("they are stacked"),
                });
                assert_eq!(*found, bits.collect::<Vec<_>>(), "{about}\n{}", self.both.module);
            }
            (Err(found), Err((k, wanted))) => {
                assert!(
                    same_fault(found, *k, wanted),
                    "{about}: {found:?}, member {k}: {wanted:?}"
                );
            }
            (found, wanted) => panic!("{about}: {found:?}, members: {wanted:?}"),
        }
        let (native, stats) = self.both.native(self.both.program(), &self.entry, &args);
        assert_eq!(found, native, "{about}: interpreted (left) and by Cranelift (right)");
        if let Some(printed) = self.both.printed() {
            let (through_c, more): (Ran, _) = self.both.native(printed, &self.entry, &args);
            assert_eq!(native, through_c, "{about}: by Cranelift (left) and through C (right)");
            // A group of members records at most as much as each of them would.
            assert!(more.tape_peak_bytes >= stats.tape_peak_bytes, "{about}");
            assert!(more.tape_peak_bytes <= 8 * stats.tape_peak_bytes, "{about}");
        }
    }
}

/// Whether the fault of a batch is that of a member: an index is along another axis, and has the member before it.
fn same_fault(found: &Fault, k: usize, wanted: &Fault) -> bool {
    let kinds = match (&found.kind, &wanted.kind) {
        (
            FaultKind::Index { array: a, index: i, len: n, .. },
            FaultKind::Index { array: b, index: j, len: m, .. },
        ) => (a, i, n) == (b, j, m),
        (a, b) => discriminant(a) == discriminant(b),
    };
    let around = found.iterations.split_last();
    let around = around.is_some_and(|(member, rest)| {
        *member == (Span::default(), k as i64) && rest == wanted.iterations
    });
    kinds && around && found.span == wanted.span
}

/// Many by one run of the C compiler.
fn check_all(cases: Vec<(String, Case)>) {
    let waiting = cases.iter().filter(|(_, case)| case.both.printed.get().is_none());
    for some in waiting.collect::<Vec<_>>().chunks(60) {
        let modules: Vec<&Module> = some.iter().map(|(_, case)| &case.both.module).collect();
        for ((_, case), program) in some.iter().zip(printed(&modules).into_iter().flatten()) {
            assert!(case.both.printed.set(Some(program)).is_ok());
        }
    }
    cases.iter().for_each(|(about, case)| case.check(about, 0, case.alone.len()));
}

/// Some of forty members, from a few to all, by one run of the C compiler.
fn check_ranges(cases: &[(String, Case)]) {
    let printed = printed(&cases.iter().map(|(_, case)| &case.both.module).collect::<Vec<_>>());
    for ((_, case), program) in cases.iter().zip(printed.into_iter().flatten()) {
        assert!(case.both.printed.set(Some(program)).is_ok());
    }
    for (about, case) in cases {
        for (from, to) in [(0, 1), (3, 10), (2, 10), (31, 40), (0, 19), (5, 38), (0, 40)] {
            case.check(about, from, to);
        }
    }
}

fn in_lockstep(case: &Case) -> bool {
    cc::text(&case.both.module, &[&case.entry]).unwrap().contains("\n  v8u v")
}

/// Random programs over random values of some of their parameters.
#[test]
fn members_of_random_programs() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let (seed, count) = (number("WENGERT_SEED").unwrap_or(7), number("WENGERT_PROGRAMS"));
    let count = count.map_or(60, |n| n.min(400));
    let (mut cases, mut lanes, mut tapes, mut faults, mut tried) = (Vec::new(), 0, 0, 0, 0);
    let mut seeds = Random(seed);
    while tried < count {
        let seed = seeds.bits();
        let random = &mut Random(seed);
        let generate::Case { func, callees, mut args, wrt, .. } = generate::case(seed);
        if func.results.iter().any(|ty| ty.is_array()) {
            continue;
        }
        tried += 1;
        let name = func.name.to_string();
        let funcs = std::iter::once(func).chain(callees).collect();
        // Read again, so that instructions stand somewhere.
        let text = Module { funcs, ..Module::default() }.to_string();
        let module = pipeline::module(&parse::module(&text).unwrap(), &name).unwrap();
        let mut over: Vec<usize> =
            (0..args.len()).filter(|_| random.bits().is_multiple_of(2)).collect();
        if over.is_empty() {
            over.push((random.bits() % args.len() as u64) as usize);
        }
        // Now and then an array is shorter than the program expects.
        if random.bits().is_multiple_of(6) {
            for arg in &mut args {
                if let Val::Array(x) = arg
                    && let (Data::F64(elements), [n]) = (&x.data, &x.shape[..])
                {
                    *arg = Val::array(elements[..n.saturating_sub(1)].to_vec());
                }
            }
        }
        let n = 1 + random.bits() as usize % 40;
        let members: Vec<Vec<Val>> = (0..n)
            .map(|_| {
                let mut own = args.clone();
                over.iter().for_each(|k| own[*k] = another(&args[*k], random));
                own
            })
            .collect();
        for by in [None, Some(&wrt[..])] {
            let Some(case) = case(&module, &name, (by, &over), &members) else { continue };
            let (in_lanes, fails) = (in_lockstep(&case), case.alone.iter().any(Result::is_err));
            lanes += usize::from(in_lanes);
            tapes += usize::from(case.both.module.to_string().contains(" = tape\n"));
            faults += usize::from(fails);
            // The compiler takes longer than all the rest.
            if !in_lanes && !fails && !random.bits().is_multiple_of(4) {
                assert!(case.both.printed.set(None).is_ok());
            }
            let by = by.map_or("values".into(), |by| format!("by {by:?}"));
            cases.push((format!("seed {seed}, over {over:?}, {by}, {n} members"), case));
        }
    }
    println!(
        "{} batches of {tried} programs, {lanes} in lanes, {tapes} with tapes, {faults} that fail",
        cases.len()
    );
    assert!(cases.len() as u64 > tried, "most programs can be batches: {}", cases.len());
    assert!(lanes > 0 && tapes > 5 && faults > 0, "{lanes} {tapes} {faults}");
    check_all(cases);
}

/// Programs whose gradients are to run in lanes: what is recorded by a member is on a tape of its own.
const PATH: &str = "func @f(%x: [f64], %k: f64, %s: f64, %n: i64) -> f64 {
  %v = for %i in 0..%n carry (%w = %s) {
    %a = mul %k, %w
    %e = load %x, %i
    %p = mul %a, %e
    %u = sin %p
    yield %u
  }
  %y = max %v, 0.1
  return %y
}";

fn numbers(n: usize, from: usize) -> Vec<f64> {
    (from..from + n).map(|k| (k as f64 * 1.618).sin()).collect()
}

fn paths(count: usize, steps: impl Fn(usize) -> i64) -> Vec<Vec<Val>> {
    let member = |m: usize| {
        let (k, s) = (1.0 + 0.1 * m as f64, (m as f64).cos());
        vec![Val::array(numbers(6, 10 * m)), Val::f64(k), Val::f64(s), Val::i64(steps(m))]
    };
    (0..count).map(member).collect()
}

/// How many steps a member takes.
type Steps = fn(usize) -> i64;

#[test]
fn gradients_run_in_lanes() {
    let module = pipeline::module(&module(PATH), "f").unwrap();
    let mut cases = Vec::new();
    // Rows of the members' own, and integers: loops of one length, and of several.
    let ways: [(&[usize], Steps); 4] = [
        (&[0, 1, 2, 3], |m| m as i64 % 7),
        // Beyond the end, in the 21st.
        (&[0, 2, 3], |m| if m == 20 { 9 } else { 4 }),
        (&[0, 1, 2], |_| 5),
        (&[2], |_| 6),
    ];
    for (over, steps) in ways {
        let mut members = paths(40, steps);
        let first = members[0].clone();
        for member in &mut members {
            (0..4).filter(|k| !over.contains(k)).for_each(|k| member[k] = first[k].clone());
        }
        for by in [None, Some(&[0, 1, 2][..]), Some(&[1][..])] {
            let case = case(&module, "f", (by, over), &members).unwrap();
            assert!(in_lockstep(&case), "over {over:?} by {by:?}\n{}", case.both.module);
            cases.push((format!("over {over:?} by {by:?}"), case));
        }
    }
    check_ranges(&cases);
}

/// Members whose loops run for different times, each with a tape of its own.
fn settling(body: &str) -> String {
    let params = "%p: f64, %v: f64, %w: [f64], %i: i64";
    format!("func @f({params}) -> f64 {{ %m = len %w {body}\n return %y }}")
}

fn settling_members(count: usize, width: usize) -> Vec<Vec<Val>> {
    let member = |m: usize| {
        let (p, v) = (0.5 + 0.01 * m as f64, element(m, m % 13 == 5));
        vec![Val::f64(p), Val::f64(v), Val::array(numbers(width, 3 * m)), Val::i64(m as i64)]
    };
    (0..count).map(member).collect()
}

#[test]
fn members_leave_their_loops_at_different_times() {
    let other = SWEPT.replace("max", "min");
    let texts = [NEWTON, BARRIER, UNEQUAL, BRANCHES, SWEPT, &other, NESTED, LEAVING];
    let mut cases = Vec::new();
    for text in texts {
        let module = pipeline::module(&module(&settling(text)), "f").unwrap();
        for (over, by) in [(&[0, 1, 2, 3][..], &[0, 1, 2][..]), (&[1, 3], &[0, 1])] {
            let mut members = settling_members(40, 3);
            let first = members[0].clone();
            for member in &mut members {
                (0..4).filter(|k| !over.contains(k)).for_each(|k| member[k] = first[k].clone());
            }
            for by in [None, Some(by)] {
                let case = case(&module, "f", (by, over), &members).unwrap();
                // Records before a way out are written one by one.
                let early = by.is_some() && [NESTED, LEAVING].contains(&text);
                let about = format!("over {over:?} by {by:?}{text}");
                assert_eq!(in_lockstep(&case), !early, "{about}\n{}", case.both.module);
                cases.push((about, case));
            }
        }
    }
    check_ranges(&cases);
}

/// The fault of the first member that fails, wherever the others stand in their loops.
#[test]
fn members_fail_in_their_loops() {
    let mut cases = Vec::new();
    for text in FAILING {
        let module = pipeline::module(&module(&settling(text)), "f").unwrap();
        let members = settling_members(40, 40);
        for by in [None, Some(&[0, 1][..])] {
            let case = case(&module, "f", (by, &[0, 1, 2, 3]), &members).unwrap();
            let about = format!("by {by:?}{text}");
            assert!(in_lockstep(&case), "{about}\n{}", case.both.module);
            assert!(case.alone.iter().any(Result::is_err) && case.alone[0].is_ok(), "{about}");
            cases.push((about, case));
        }
    }
    check_ranges(&cases);
}

/// What iterations record and take back by hand is run one by one: nobody vouches that each takes back what it has
/// recorded, and lanes would read each other's numbers where it does not.
#[test]
fn a_way_back_by_hand_is_run_one_by_one() {
    let text = "func @f(%x: [f64]) -> [f64] {
      %n = len %x
      %out = fill %n, 0.0
      %r = parallel for %i in 0..%n carry (%o = %out) {
        %v = load %x, %i
        %m = iand %i, 3
        %t = tape
        %t2 = for %k in 0..%m carry (%t1 = %t) {
          %f = itof %k
          %g = add %f, %v
          %p = push %t1, %g
          yield %p
        }
        %back = isub 3, %m
        %least = imin %m, %back
        %t5, %s = for %j in 0..%least carry (%t4 = %t2, %z = 0.5) {
          %q, %h = pop %t4 : tape, f64
          %w = fma %z, %h, 1.5
          yield %q, %w
        }
        %o1 = store %o, %i, %s
        yield %o1
      }
      return %r
    }";
    let both = Both::new(text);
    let x = numbers(40, 3);
    both.agree("f", &[Arg::Array(&x)]).unwrap();
    assert!(!cc::text(&both.module, &["f"]).unwrap().contains("\n  v8u v"));
}

/// What a batch gives all ways with a limit of the tape, by Cranelift on one thread first.
fn limited(case: &Case, args: &[Arg], limit: u64) -> Vec<Ran> {
    let native = |program| {
        [1, 2, 3, 8].map(|threads| {
            let options = wengert_runtime::Options {
                tape_limit: Some(limit),
                threads: std::num::NonZeroUsize::new(threads),
                ..Default::default()
            };
            let both = Both { options, ..Both::of(case.both.module.clone()) };
            both.native(program, &case.entry, args).0
        })
    };
    let printed = case.both.printed().map(native);
    native(case.both.program()).into_iter().chain(printed.into_iter().flatten()).collect()
}

/// The limit of the tape is that of a member: where eight need more, they run one by one.
#[test]
fn a_tape_for_one_member_is_enough() {
    let module = pipeline::module(&module(PATH), "f").unwrap();
    let members = paths(20, |m| if m == 17 { 6 } else { 5 });
    let case = case(&module, "f", (Some(&[0, 1]), &[0, 1, 2, 3]), &members).unwrap();
    let args = case.args(0, 20);
    let (wanted, stats) = case.both.native(case.both.program(), &case.entry, &args);
    assert!(wanted.is_ok() && stats.tape_peak_bytes > 0);
    for ran in limited(&case, &args, stats.tape_peak_bytes) {
        assert_eq!(ran, wanted);
    }
    for ran in limited(&case, &args, stats.tape_peak_bytes - 8) {
        let fault = ran.unwrap_err();
        assert!(matches!(fault.kind, FaultKind::TapeLimit(_)), "{fault:?}");
        assert_eq!(fault.iterations.last(), Some(&(Span::default(), 17)), "{fault:?}");
    }
}

/// So it is where members record for different times: the first one that needs more than there may be fails.
#[test]
fn a_tape_for_the_longest_member_is_enough() {
    for text in [NEWTON, BARRIER, UNEQUAL, BRANCHES] {
        let module = pipeline::module(&module(&settling(text)), "f").unwrap();
        let members = settling_members(20, 3);
        let case = case(&module, "f", (Some(&[0, 1]), &[0, 1, 2, 3]), &members).unwrap();
        let args = case.args(0, 20);
        let (wanted, stats) = case.both.native(case.both.program(), &case.entry, &args);
        let peak = stats.tape_peak_bytes;
        assert!(wanted.is_ok() && peak > 8);
        for limit in [8 * peak, 3 * peak, peak, peak - 8, peak / 2, 8] {
            let ran = limited(&case, &args, limit);
            assert_eq!(ran[0].is_ok(), limit >= peak, "{limit} of {peak}{text}");
            assert!(ran.iter().all(|other| *other == ran[0]), "{limit} of {peak}{text}\n{ran:?}");
            // A loop that has not run before runs on threads in any case.
            let mut fresh = Both::of(case.both.module.clone());
            fresh.options.tape_limit = Some(limit);
            fresh.options.threads = std::num::NonZeroUsize::new(2);
            assert_eq!(fresh.native(fresh.program(), &case.entry, &args).0, ran[0]);
        }
    }
}

/// Tapes that a text makes in the iterations of a parallel loop: one for each, whatever is left on it.
#[test]
fn tapes_of_iterations() {
    let text = "func @f(%x: [f64], %a: [[f64]]) -> [f64] {
      %n = len %x
      %out = fill %n, 0.0
      %r = parallel for %i in 0..%n carry (%o = %out) {
        %v = load %x, %i
        %t = tape
        %t1 = push %t, %v
        %t2 = push %t1, %i
        %t3, %j = pop %t2 : tape, i64
        %c = eq %v, 0.5
        %t4 = push %t3, %c
        %m = dim[1] %a
        %w = fill %m, %v
        %t5 = push %t4, %w
        %t6, %u = pop %t5 : tape, [f64]
        %y = load %u, 0
        %f = itof %j
        %z = add %y, %f
        %o1 = store %o, %i, %z
        yield %o1
      }
      return %r
    }";
    let both = Both::new(text);
    let a = Array::new(vec![2, 3], vec![0.0; 6]);
    for n in [0, 1, 7, 8, 40, 1000] {
        let x = numbers(n, 3);
        both.agree("f", &[Arg::Array(&x), Arg::Shaped(&a)]).unwrap();
    }
    assert_eq!(both.module.func("f").unwrap().results, [Type::VECTOR]);
    // One that pops more than it has pushed finds nothing of the iteration before.
    let text = text.replace("%t6, %u = pop %t5 : tape, [f64]", "%t6, %u = pop %t5 : tape, [f64]\n        %t7, %c1 = pop %t6 : tape, bool\n        %t8, %v1 = pop %t7 : tape, f64\n        %t9, %v2 = pop %t8 : tape, f64");
    let both = Both::new(&text);
    let x = numbers(20, 3);
    let fault = both.agree("f", &[Arg::Array(&x), Arg::Shaped(&a)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Record);
}

/// Where something has been changed before there is no room for the records of eight, nothing is run again.
#[test]
fn what_has_been_changed_is_not_changed_twice() {
    let text = "func @f(%x: [f64], %m: i64) -> [f64] {
      %n = len %x
      %out = fill %n, 1.0
      %r = parallel for %i in 0..%n carry (%o = %out) {
        %v = load %x, %i
        %e = load %o, %i
        %d = add %e, %v
        %o1 = store %o, %i, %d
        %t = tape
        %t2 = for %k in 0..%m carry (%t1 = %t) {
          %f = itof %k
          %g = mul %f, %v
          %p = push %t1, %g
          yield %p
        }
        %t4, %s = for %j in 0..%m carry (%t3 = %t2, %z = 0.0) {
          %q, %h = pop %t3 : tape, f64
          %w = fma %h, %v, %z
          yield %q, %w
        }
        %y = load %o1, %i
        %u = add %y, %s
        %o2 = store %o1, %i, %u
        yield %o2
      }
      return %r
    }";
    let mut both = Both::new(text);
    let x = numbers(40, 3);
    let args = [Arg::Array(&x), Arg::I64(10)];
    let wanted = both.interpreted("f", &args);
    assert_eq!(both.compiled("f", &args).0, wanted);
    // Enough for one.
    both.options.tape_limit = Some(80);
    assert_eq!(both.compiled("f", &args).0, wanted);
}
