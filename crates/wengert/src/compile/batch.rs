//! Batches: a function run for many values of some of its arguments, on all cores.
//!
//! Every member of a batch is a run of its own, so it may take its own path and its own number of iterations, and
//! has the bits it has alone. Mostly all of them are one program, a parallel loop over the members ([`together`]), which runs
//! on threads and, through C, in lanes; where there is none, each is a call. Derivatives by arguments that all members share are sums over the members, in an
//! order that depends on their number only: a half of the members, and the other half (split at the greatest power
//! of two below their number), each summed the same way. So the number of threads changes no bit.

mod together;

use crate::array::Array;
use crate::compile::args::{Arg, Args, Wrt};
use crate::compile::bind;
use crate::compile::error::{Error, ErrorKind};
use crate::compile::function::{Call, Evaluation, Function, Task};
use crate::compile::memory::LoopReport;
use crate::compile::options::{Backend, Mode, Stats};
use crate::value::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use wengert_core::fault::{Fault, FaultKind};
use wengert_core::ir::Type;
use wengert_core::ops::shaped::shown;
use wengert_core::span::Diagnostic;

/// The stack of a thread, in bytes: as much as a program's first thread mostly has.
const STACK: usize = 8 << 20;

/// A function over many values of some of its arguments; see [`Function::batch`].
#[derive(Clone, Debug)]
pub struct Batch<'f> {
    function: &'f Function,
    over: Vec<String>,
}

/// The result of [`Batch::call`].
#[derive(Clone, Debug, PartialEq)]
pub struct BatchEvaluation {
    /// What the function returned, one entry per result: an array with one entry per member along its first axis.
    pub values: Vec<Value>,
    /// What it took; the tape is that of one member, or of the eight that run in lockstep.
    pub stats: Stats,
}

impl From<BatchEvaluation> for Evaluation {
    fn from(batch: BatchEvaluation) -> Evaluation {
        Evaluation { values: batch.values, stats: batch.stats }
    }
}

/// The result of [`Batch::value_and_grad`].
#[derive(Clone, Debug, PartialEq)]
pub struct BatchGradient {
    /// What the function returned, per member.
    pub values: Vec<f64>,
    /// The derivative by each parameter, in the order asked for: by one that differs between the members, their
    /// derivatives along a first axis; by one that they share, the sum of their derivatives.
    pub grad: Vec<(String, Value)>,
    /// What it took; the tape is that of one member, or of the eight that run in lockstep.
    pub stats: Stats,
}

impl BatchGradient {
    /// The derivative by a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.grad.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }
}

impl Function {
    /// The function over many values of the arguments of these names: they are given with one more axis, the
    /// first, along which the members of the batch lie.
    ///
    /// Members run on as many threads as [`Options::threads`](crate::Options::threads) says. Each may take its own path.
    /// Mostly they are compiled as one loop, of which the C compiler's code runs eight iterations in lanes; functions that return
    /// arrays, call themselves or have parallel loops of their own, and forward mode, take a call per member.
    ///
    /// ```
    /// use wengert::{Function, Wrt};
    ///
    /// let text = "
    /// def root(a, x0):
    ///     x = x0
    ///     while abs(x * x - a) > 1e-12:
    ///         x = x - (x * x - a) / (2 * x)
    ///     return x
    /// ";
    /// let root = Function::from_source(text, "root")?;
    /// let g = root.batch(["a"]).value_and_grad((vec![2.0, 100.0, 2500.0], 1.0), "a")?;
    /// assert_eq!(g.values[1..], [10.0, 50.0]);
    /// let slopes = g.get("a").and_then(|d| d.as_slice()).unwrap();
    /// assert!((slopes[1] - 0.05).abs() < 1e-12);
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn batch<S: Into<String>>(&self, over: impl IntoIterator<Item = S>) -> Batch<'_> {
        Batch { function: self, over: over.into_iter().map(Into::into).collect() }
    }
}

impl Batch<'_> {
    /// One value per parameter, in order, defaults filled in: how a call of the whole batch reads.
    pub fn bind(&self, args: impl Into<Args>) -> Result<Vec<Value>, Error> {
        bind::complete(self.function.tree(), args.into())
            .map_err(|e| self.function.error(ErrorKind::Arguments, e))
    }

    /// Runs it for every member.
    pub fn call(&self, args: impl Into<Args>) -> Result<BatchEvaluation, Error> {
        let f = self.function;
        let members = self.members(args.into())?;
        let all = Task::Batch(members.over.clone());
        let results = Results { own: vec![true; members.call.func().results.len()], like: &[] };
        let alone = || {
            let program = f.program(&members.call, Task::Value)?;
            let one = move |values: &[&Value], stats: &mut Stats| {
                Ok((f.run(&program, values, stats)?, Vec::new()))
            };
            Ok(Box::new(one) as Box<One<'_>>)
        };
        let part = self.run(&members, Some(all), &results, &alone)?;
        Ok(BatchEvaluation { values: part.own, stats: part.stats })
    }

    /// Runs it for every member and differentiates its one result by parameters.
    ///
    /// ```
    /// use wengert::{Function, Wrt};
    ///
    /// let f = Function::from_source("def f(x, k):\n    return k * x * x\n", "f")?;
    /// let g = f.batch(["x"]).value_and_grad((vec![1.0, 2.0], 3.0), Wrt::All)?;
    /// assert_eq!(g.values, [3.0, 12.0]);
    /// assert_eq!(g.get("x"), Some(&[6.0, 12.0].into()));
    /// assert_eq!(g.get("k"), Some(&5.0.into()));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn value_and_grad(
        &self,
        args: impl Into<Args>,
        wrt: impl Into<Wrt>,
    ) -> Result<BatchGradient, Error> {
        let f = self.function;
        let members = self.members(args.into())?;
        let by = f.by(&members.call, wrt.into())?;
        f.one_float(&members.call)?;
        let is_own: Vec<bool> = by.iter().map(|k| members.over.contains(k)).collect();
        // Forward mode takes a run per component of a member.
        let all = match f.options.mode {
            Mode::Reverse => Some(Task::BatchReverse(by.clone(), members.over.clone())),
            Mode::Forward => None,
        };
        let own = std::iter::once(true).chain(is_own.iter().copied()).collect();
        let results = Results { own, like: &by };
        let alone = || {
            let program = f.gradient_program(&members.call, &by)?;
            let (members, by, is_own) = (&members, &by, &is_own);
            let one = move |values: &[&Value], stats: &mut Stats| {
                let (value, grad) = f.differentiate(&members.call, &program, values, by, stats)?;
                let mut own = vec![value];
                let mut shared = Vec::new();
                for (d, is_own) in grad.into_iter().zip(is_own) {
                    if *is_own { own.push(d) } else { shared.push(d) }
                }
                Ok((own, shared))
            };
            Ok(Box::new(one) as Box<One<'_>>)
        };
        let part = self.run(&members, all, &results, &alone)?;
        let (mut own, mut shared) = (part.own.into_iter(), part.shared.into_iter());
        let values = own.next().map(|v| v.floats()).unwrap_or_default();
        let grad = by.iter().zip(is_own).filter_map(|(k, is_own)| {
            let name = f.tree().params[*k].name.text.clone();
            Some((name, if is_own { own.next() } else { shared.next() }?))
        });
        Ok(BatchGradient { values, grad: grad.collect(), stats: part.stats })
    }

    /// The members: what they share, and what each has of its own.
    fn members(&self, args: Args) -> Result<Members, Error> {
        let f = self.function;
        let refused = |e| f.error(ErrorKind::Arguments, e);
        let mut given = bind::given(f.tree(), args).map_err(refused)?;
        let mut over = Vec::new();
        for name in &self.over {
            let k = bind::parameter(f.tree(), name).map_err(refused)?;
            if !over.contains(&k) {
                over.push(k);
            }
        }
        let mut count: Option<(usize, usize)> = None;
        let mut own = Vec::new();
        for k in &over {
            let name = &f.tree().params[*k].name;
            let wrong = |message: String, help: &str| {
                let error = Diagnostic::new("batch", message).label(name.span, "this parameter");
                refused(error.help(help))
            };
            let value = given[*k].take();
            let Some(Value::Array(array)) = value else {
                let is = value.as_ref().map_or("nothing", Value::kind);
                let message =
                    format!("`{}` must have one value per member, but {is} is given", name.text);
                return Err(wrong(message, "give an array whose first axis counts the members"));
            };
            let n = array.shape()[0];
            if n == 0 {
                let message = format!("the batch has no members: `{}` is empty", name.text);
                return Err(wrong(message, "give at least one"));
            }
            match count {
                Some((before, m)) if m != n => {
                    let before = &f.tree().params[before].name.text;
                    let message = format!(
                        "`{before}` has {m} members along its first axis, but `{}` has {n}",
                        name.text
                    );
                    return Err(wrong(message, "all arguments of a batch have the same number"));
                }
                _ => count = Some((*k, n)),
            }
            given[*k] = Some(array.member(0));
            own.push(array);
        }
        let Some((_, count)) = count else {
            let error = Diagnostic::new("batch", "no argument differs between the members")
                .help("name at least one that has a value per member");
            return Err(refused(error));
        };
        let names = f.parameters().zip(given);
        let first: Vec<Arg> =
            names.filter_map(|(name, value)| Some(Arg::from((name, value?)))).collect();
        let call = f.prepare(Args(first))?;
        let mut values = call.values.clone();
        for (k, array) in over.iter().zip(own) {
            let ty = call.func().param_types()[*k];
            let wanted = Type::of(ty.elem().unwrap_or(array.elem()), array.rank());
            values[*k] = match Value::Array(array) {
                value if value.ty() == wanted => value,
                value => value.as_type(wanted).ok_or_else(|| {
                    let member = value.as_array().map_or(value.clone(), |array| array.member(0));
                    refused(bind::wrong_type(f.tree(), *k, &member, ty))
                })?,
            };
        }
        Ok(Members { call, over, values, count })
    }

    /// Runs every member: all by one program, where there is one, or one after the other.
    fn run(
        &self,
        members: &Members,
        all: Option<Task>,
        results: &Results<'_>,
        alone: &Alone<'_>,
    ) -> Result<Whole, Error> {
        let options = &self.function.options;
        if options.disk.is_some() && members.count > 1 {
            let told = Diagnostic::new("memory-budget", "members of a batch share no folder")
                .help("leave the folder out, or run members by themselves");
            return Err(self.function.error(ErrorKind::Arguments, told));
        }
        // The interpreter takes as long either way, and in limited memory each member is run again by itself.
        let is_limited = options.memory.is_some() || options.invert.is_some();
        let all = all.filter(|_| options.backend != Backend::Interp && !is_limited);
        let program = match all {
            Some(task) => self.function.program_if(&members.call, task)?,
            None => None,
        };
        if let Some(program) = program {
            let compile_seconds = members.call.elapsed();
            if let Some(whole) = self.together(members, &program, results, alone)? {
                return Ok(Whole { stats: Stats { compile_seconds, ..whole.stats }, ..whole });
            }
        }
        let one = alone()?;
        let compile_seconds = members.call.elapsed();
        let (part, stats) = self.one_by_one(members, &*one)?;
        let what = if results.like.is_empty() { "result" } else { "derivative" };
        let own = self.stacked(part.rows, what)?;
        Ok(Whole { own, shared: part.shared, stats: Stats { compile_seconds, ..stats } })
    }

    /// Runs every member by a call of its own; `one` gives what belongs to a member alone, and what is summed over them.
    fn one_by_one(&self, members: &Members, one: &One<'_>) -> Result<(Part, Stats), Error> {
        let start = Instant::now();
        let failed = AtomicUsize::new(usize::MAX);
        let leaf = |k: usize| self.member(members, one, k, &failed);
        let threads = self.function.options.threads.unwrap_or(0);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK);
        let pool = if threads == 1 { None } else { pool.build().ok() };
        let part = match pool {
            Some(pool) => pool.install(|| tree(0, members.count, &leaf, true)),
            // One thread is wanted, or no others can be had.
            None => tree(0, members.count, &leaf, false),
        };
        match part {
            Ok(part) => {
                let stats =
                    Stats { run_seconds: start.elapsed().as_secs_f64(), ..part.stats.clone() };
                Ok((part, stats))
            }
            Err(Some(error)) => Err(*error),
            Err(None) => unreachable!("members are left out behind one that fails"),
        }
    }

    fn member(
        &self,
        members: &Members,
        one: &One<'_>,
        k: usize,
        failed: &AtomicUsize,
    ) -> Result<Part, Failed> {
        if k > failed.load(Ordering::Relaxed) {
            return Err(None);
        }
        let own = members.over.iter().filter_map(|at| members.values[*at].as_array());
        let own: Vec<Value> = own.map(|array| array.member(k)).collect();
        let mut values: Vec<&Value> = members.call.values.iter().collect();
        for (at, value) in members.over.iter().zip(&own) {
            values[*at] = value;
        }
        let mut stats = Stats::default();
        // A member without a loop does not look by itself.
        let interrupt = self.function.options.interrupt.as_ref();
        let ran = match interrupt.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            true => Err(self.interrupted()),
            false => one(&values, &mut stats),
        };
        match ran {
            Ok((own, shared)) => {
                // There may be very many. Of those whose states have fewer digits, the worst are told.
                stats.loops.retain(LoopReport::is_shortened);
                Ok(Part { rows: vec![own], shared, stats })
            }
            Err(error) => {
                failed.fetch_min(k, Ordering::Relaxed);
                Err(Some(Box::new(error.in_member(k))))
            }
        }
    }

    fn interrupted(&self) -> Error {
        let span = self.function.tree().name.span;
        self.function.fault(Fault { kind: FaultKind::Interrupted, span, iterations: Vec::new() })
    }

    /// One array per column, with an axis for the members before its own.
    fn stacked(&self, rows: Vec<Vec<Value>>, what: &str) -> Result<Vec<Value>, Error> {
        let columns = rows.first().map_or(0, Vec::len);
        (0..columns)
            .map(|column| {
                let shape = rows[0][column].shape();
                let other = rows.iter().position(|row| row[column].shape() != shape);
                if let Some(k) = other {
                    let message = format!(
                        "{what} {} has shape {} for member {k} of the batch and {} for member 0",
                        column + 1,
                        shown(rows[k][column].shape()),
                        shown(shape)
                    );
                    let error = Diagnostic::new("batch", message)
                        .label(self.function.tree().name.span, "in this function")
                        .help("members whose results differ in shape are to be run one by one");
                    return Err(self.function.error(ErrorKind::Run, error));
                }
                let stacked = Array::stacked(rows.iter().map(|row| &row[column]));
                stacked.map(Value::Array).ok_or_else(|| {
                    let message = format!("{what} {} has too many dimensions", column + 1);
                    let error = Diagnostic::new("batch", message)
                        .label(self.function.tree().name.span, "in this function");
                    self.function.error(ErrorKind::Run, error)
                })
            })
            .collect()
    }
}

/// What a member gives: what is its own, and what is summed over all of them.
type One<'a> = dyn Fn(&[&Value], &mut Stats) -> Result<(Vec<Value>, Vec<Value>), Error> + Sync + 'a;

/// Makes ready to run members one by one.
type Alone<'a> = dyn Fn() -> Result<Box<One<'a>>, Error> + 'a;

/// The error of a member; none where a member before it has failed.
type Failed = Option<Box<Error>>;

/// A batch, its arguments bound.
struct Members {
    /// A call with the values of the first member.
    call: Call,
    /// The parameters that differ between members.
    over: Vec<usize>,
    /// The arguments of the whole batch.
    values: Vec<Value>,
    count: usize,
}

/// What the members give back.
struct Results<'a> {
    /// Whether a result is each member's own; otherwise it is summed over them.
    own: Vec<bool>,
    /// The parameters that derivatives have the shapes of. They are the last results.
    like: &'a [usize],
}

/// What all members gave.
struct Whole {
    /// What is their own, one array per result, members along its first axis.
    own: Vec<Value>,
    /// What is summed over them.
    shared: Vec<Value>,
    stats: Stats,
}

/// What some members gave.
struct Part {
    rows: Vec<Vec<Value>>,
    shared: Vec<Value>,
    stats: Stats,
}

impl Part {
    /// The members of this part, and behind them others.
    fn join(mut self, other: Part) -> Part {
        self.rows.extend(other.rows);
        for (sum, d) in self.shared.iter_mut().zip(&other.shared) {
            sum.add(d);
        }
        self.stats.tape_bytes = self.stats.tape_bytes.max(other.stats.tape_bytes);
        self.stats.run_again += other.stats.run_again;
        for of in other.stats.loops {
            match self.stats.loops.iter_mut().find(|own| own.line == of.line) {
                Some(own) if own.effect() < of.effect() => *own = of,
                Some(_) => {}
                None => self.stats.loops.push(of),
            }
        }
        self
    }
}

/// The members `from..to`, in two halves, on several threads or on this one.
fn tree(
    from: usize,
    to: usize,
    leaf: &(dyn Fn(usize) -> Result<Part, Failed> + Sync),
    threads: bool,
) -> Result<Part, Failed> {
    if to - from == 1 {
        return leaf(from);
    }
    let middle = from + (to - from).next_power_of_two() / 2;
    let first = || tree(from, middle, leaf, threads);
    let second = || tree(middle, to, leaf, threads);
    let (first, second) = if threads { rayon::join(first, second) } else { (first(), second()) };
    Ok(first?.join(second?))
}
