//! Programs as Rust text, with the bits of the interpreter.
//!
//! One `let` per instruction, so that the text reads as the IR does; loops and branches are expressions. Every row that
//! [`crate::ops::value`] has a value for is printed as that value ([`rows`]); the elementary functions and the functions of
//! the module are calls, by the names that [`Calls`] gives them.
//!
//! There are two ways to say what is an error in the IR (overflow, a failed `assert`):
//!
//! - [`function`] prints a function of doubles, integers and truth values that panics. The elementary functions of
//!   `wengert-math` are made so.
//! - [`module`] prints all functions of a module, with arrays and tapes ([`arrays`]), for code that is compiled ahead of
//!   time with [`crate::ahead`]: each returns a `Result`, whose fault has its place and the iterations of the loops around
//!   it. All versions of an array that are made in place are one variable, and so are those of a tape ([`homes`]).
//!   Loops along arrays are checked before they run ([`windows`]). Outlined loops are run whole, or by a driver ([`drives`]).
//!
//! Functions that are somewhere else are called as those of the module are, arrays by reference; the fault of one is told where it was
//! called. `while` loops run for as long as they take. What neither can print is [`Unsupported`].

mod arrays;
mod drives;
mod homes;
mod rows;
mod windows;

use crate::ir::verify::consumes;
use crate::ir::{Block, Func, Inst, Module, Op, Phase, Type, Value, uses};
use crate::ops::Prim;
use crate::span::Span;
use drives::Drives;
use rows::{Failing, literal, row};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::sync::Arc;

/// What printed functions use and Rust does not have: text that stands once beside them.
pub const SUPPORT: &str = r#"/// The bits of a float, any NaN being the same NaN.
#[inline(always)]
fn bits(x: f64) -> i64 {
    if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() as i64 }
}

/// The upper half of the product of two unsigned integers.
#[inline(always)]
fn umulh(a: i64, b: i64) -> i64 {
    ((a as u64 as u128 * b as u64 as u128) >> 64) as i64
}

/// Division rounding down.
#[inline(always)]
fn floor_div(a: i64, b: i64) -> i64 {
    assert!(b != 0, "integer division by zero");
    let q = a.checked_div(b).expect("an integer result does not fit 64 bits");
    if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q }
}

/// The remainder of that division; it has the sign of the divisor.
#[inline(always)]
fn floor_mod(a: i64, b: i64) -> i64 {
    assert!(b != 0, "integer division by zero");
    let r = a.wrapping_rem(b);
    if r != 0 && (r < 0) != (b < 0) { r + b } else { r }
}
"#;

/// What has no Rust text yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The function it stands in.
    pub func: String,
    /// The operation, or the type of a parameter or result.
    pub what: String,
}

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` in `@{}` has no Rust text", self.what, self.func)
    }
}

impl std::error::Error for Unsupported {}

/// What printed functions are called by.
pub trait Calls {
    /// The path of an elementary function.
    fn row(&self, prim: Prim) -> String {
        prim.name().to_string()
    }

    /// The path of one where it is hardly ever called, and not to be compiled into its caller.
    fn seldom(&self, prim: Prim) -> String {
        self.row(prim)
    }

    /// The path of the function that gives the sine and the cosine of an angle, where there is one.
    fn sine_and_cosine(&self) -> Option<String> {
        None
    }

    /// The path of a function of the IR.
    fn function(&self, name: &str) -> String {
        name.replace('.', "_")
    }
}

/// Every function by its own name, in the same place.
#[derive(Clone, Copy, Debug)]
pub struct Beside;

impl Calls for Beside {}

/// A function of numbers as Rust text that panics where there is an error. `opening` stands before the word `fn`: attributes
/// and visibility.
///
/// The function has been verified. The text needs [`SUPPORT`] beside it.
pub fn function(func: &Func, opening: &str, calls: &dyn Calls) -> Result<String, Unsupported> {
    printed(func, opening, calls, None)
}

/// All functions of a module as Rust text; `path` leads to [`crate::ahead`].
///
/// The module has been through [`crate::transform::pipeline`], so no operation works element by element. Parameters
/// that a function does not take over are references. Functions that do not call themselves are to be compiled into their
/// callers, for whatever processor these are compiled for.
pub fn module(module: &Module, path: &str, calls: &dyn Calls) -> Result<String, Unsupported> {
    let ahead = Ahead::new(module, path);
    let mut text = drives::types(&ahead, calls)?;
    for func in &module.funcs {
        let opening = match ahead.recursive.contains(&func.name) {
            true => "#[inline(never)]\n",
            false => "#[inline(always)]\n",
        };
        text.push_str(&printed(func, opening, calls, Some(&ahead))?);
        text.push('\n');
    }
    Ok(text)
}

/// What functions that return faults are printed with.
struct Ahead<'a> {
    module: &'a Module,
    path: &'a str,
    recursive: HashSet<Arc<str>>,
    drives: Drives,
}

impl<'a> Ahead<'a> {
    fn new(module: &'a Module, path: &'a str) -> Ahead<'a> {
        Ahead { module, path, recursive: recursive(module), drives: Drives::new(module) }
    }
}

/// Whether the text of a function takes a driver as its last argument: `&mut` of a [`Driver`](crate::ahead::Driver), which runs
/// its loops.
pub fn takes_driver(module: &Module, func: &str) -> bool {
    Drives::new(module).is_generic(func)
}

/// The functions that can come to call themselves.
fn recursive(module: &Module) -> HashSet<Arc<str>> {
    let reached = |name: &Arc<str>| {
        let (mut found, mut work) = (HashSet::default(), vec![name.clone()]);
        while let Some(func) = work.pop().and_then(|name| module.func(&name)) {
            func.body.walk(&mut |inst| {
                let callee = match &inst.op {
                    Op::Call(name) => Some(name),
                    Op::Drive(name, phase) => module.plan(name).map(|plan| match phase {
                        Phase::Forward => &plan.record,
                        Phase::Reverse => &plan.reverse,
                    }),
                    _ => None,
                };
                if let Some(callee) = callee
                    && found.insert(callee.clone())
                {
                    work.push(callee.clone());
                }
            });
        }
        found.contains(name)
    };
    module.funcs.iter().map(|func| func.name.clone()).filter(reached).collect()
}

fn printed(
    func: &Func,
    opening: &str,
    calls: &dyn Calls,
    ahead: Option<&Ahead>,
) -> Result<String, Unsupported> {
    let mut printer = Printer::new(func, calls, ahead);
    let mut params = Vec::new();
    for p in func.params() {
        let ty = printer.ty(func.ty(*p))?;
        let (before, mark) = match func.ty(*p) {
            Type::Tape => ("", "&mut "),
            Type::Array(..) if printer.is_shared(func, *p) => ("", "&"),
            Type::Array(..) => ("mut ", ""),
            _ => ("", ""),
        };
        params.push(format!("{before}{}: {mark}{ty}", printer.name(*p)));
    }
    let mut results = Vec::new();
    for ty in func.results.iter().filter(|ty| **ty != Type::Tape) {
        results.push(printer.ty(*ty)?);
    }
    let results = tuple(&results);
    if let Some(Ahead { path, recursive, .. }) = ahead
        && recursive.contains(&func.name)
    {
        printer.line(&format!("let _call = {path}enter()?;"));
    }
    printer.block(&func.body)?;
    let tapes = |values: &[Value]| -> Vec<Value> {
        values.iter().copied().filter(|v| func.ty(*v) == Type::Tape).collect()
    };
    printer.tapes_stay(&tapes(func.params()), &tapes(&func.body.yields))?;
    let numbers: Vec<Value> =
        func.body.yields.iter().copied().filter(|v| func.ty(*v) != Type::Tape).collect();
    let values = printer.values(&numbers);
    printer.line(&if ahead.is_some() { format!("Ok({values})") } else { values });
    let results = match ahead {
        Some(ahead) => format!("{}Result<{results}>", ahead.path),
        None => results,
    };
    let mut generic = String::new();
    if let Some(Ahead { path, drives, .. }) = ahead
        && drives.is_generic(&func.name)
    {
        params.push("driver: &mut D".into());
        generic = format!("<D: {path}Driver>");
    }
    let (name, params) = (calls.function(&func.name), params.join(", "));
    Ok(format!("{opening}fn {name}{generic}({params}) -> {results} {{\n{}}}\n", printer.text))
}

struct Printer<'a> {
    func: &'a Func,
    calls: &'a dyn Calls,
    ahead: Option<&'a Ahead<'a>>,
    text: String,
    depth: usize,
    /// The loops around, outermost first: where each stands, and its iteration as an expression.
    loops: Vec<(Span, String)>,
    /// The variables that arrays and tapes are in, where they are not called as the value is ([`homes`]).
    homes: HashMap<Value, String>,
    /// The variables that the results of the loops around are in, outermost first; none for numbers.
    left_in: Vec<Vec<Option<String>>>,
    /// What needs no check in the loop that is being printed ([`windows`]).
    unchecked: Option<windows::Unchecked>,
    /// Whether what is being printed runs only where something is out of range.
    seldom: bool,
    /// Arrays made anew that one instruction uses, in the block that makes them.
    passing: HashSet<Value>,
}

/// One thing alone, several in parentheses.
fn tuple(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        _ => format!("({})", parts.join(", ")),
    }
}

/// Arrays made anew that one instruction uses, in the block that makes them.
fn passing(func: &Func) -> HashSet<Value> {
    fn look(block: &Block, counts: &HashMap<Value, usize>, found: &mut HashSet<Value>) {
        let mut made: HashSet<Value> = HashSet::default();
        for inst in &block.insts {
            let used = inst.args.iter().filter(|v| counts.get(v) == Some(&1) && made.contains(*v));
            found.extend(used);
            if inst.op.takes().is_none() && inst.blocks.is_empty() {
                made.extend(&inst.results);
            }
            inst.blocks.iter().for_each(|nested| look(nested, counts, found));
        }
    }
    let mut found = HashSet::default();
    look(&func.body, &uses::counts(&func.body), &mut found);
    found
}

impl<'a> Printer<'a> {
    fn new(func: &'a Func, calls: &'a dyn Calls, ahead: Option<&'a Ahead<'a>>) -> Self {
        Printer {
            func,
            calls,
            ahead,
            text: String::new(),
            depth: 1,
            loops: Vec::new(),
            homes: HashMap::default(),
            left_in: Vec::new(),
            unchecked: None,
            seldom: false,
            passing: passing(func),
        }
    }

    fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, Unsupported> {
        Err(Unsupported { func: self.func.name.to_string(), what: what.into() })
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// The path of something in `ahead`.
    fn path(&self) -> &str {
        self.ahead.map_or("", |ahead| ahead.path)
    }

    fn ty(&self, ty: Type) -> Result<String, Unsupported> {
        match ty {
            Type::F64 => Ok("f64".into()),
            Type::I64 => Ok("i64".into()),
            Type::Bool => Ok("bool".into()),
            _ if self.ahead.is_none() => self.unsupported(ty.to_string()),
            Type::F32 => Ok("f32".into()),
            Type::Array(elem, rank) => {
                Ok(format!("{}Array<{}, {rank}>", self.path(), elem.scalar()))
            }
            Type::Tape => Ok(format!("{}Tape", self.path())),
        }
    }

    /// Whether a parameter is an array that the function leaves to its caller.
    fn is_shared(&self, func: &Func, param: Value) -> bool {
        self.ahead
            .is_some_and(|ahead| func.ty(param).is_array() && !consumes(ahead.module, func, param))
    }

    /// The identifier of a value that is no constant: the number keeps names apart, and from keywords.
    fn name(&self, v: Value) -> String {
        if let Some(home) = self.homes.get(&v) {
            return home.clone();
        }
        let letters = |name: &str| -> String {
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
        };
        match self.func.name_of(v) {
            Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                format!("{}_{}", letters(&name).to_lowercase().trim_end_matches('_'), v.0)
            }
            _ => format!("v_{}", v.0),
        }
    }

    fn value(&self, v: Value) -> String {
        self.func.as_const(v).map_or_else(|| self.name(v), literal)
    }

    /// The values a block hands on.
    fn values(&self, values: &[Value]) -> String {
        tuple(&values.iter().map(|v| self.value(*v)).collect::<Vec<_>>())
    }

    /// The pattern that takes values; `mutable` where a loop sets them anew. Arrays are written in place.
    fn pattern(&self, values: &[Value], mutable: bool) -> String {
        let name = |v: &Value| {
            let mark = if mutable || self.func.ty(*v).is_array() { "mut " } else { "" };
            format!("{mark}{}", self.name(*v))
        };
        tuple(&values.iter().map(name).collect::<Vec<_>>())
    }

    /// A place in the source.
    fn place(span: Span) -> String {
        format!("({}, {})", span.start, span.end)
    }

    /// A place and the loops around it, innermost first. A loop at the very place is what a compiler made of one instruction.
    fn surroundings(&self, span: Span) -> String {
        let around = self.loops.iter().rev().filter(|(at, _)| *at != span);
        let around: Vec<String> =
            around.map(|(at, i)| format!("({}, {i})", Self::place(*at))).collect();
        format!("{}, &[{}]", Self::place(span), around.join(", "))
    }

    /// Leaves the function with a fault, `what` being a call in `ahead` without its last arguments.
    fn fault(&self, what: &str, span: Span) -> String {
        let path = self.path();
        let comma = if what.ends_with('(') { "" } else { ", " };
        format!("return Err({path}{what}{comma}{}))", self.surroundings(span))
    }

    /// What a call that can fail gives, or the fault that it ends with.
    fn succeeded(&self, call: &str, span: Span) -> String {
        let fault = self.fault("trapped(kind, \"\"", span);
        format!("match {call} {{ Ok(value) => value, Err(kind) => {fault} }}")
    }

    fn block(&mut self, block: &Block) -> Result<(), Unsupported> {
        let (mut angles, mut computed) = (HashMap::default(), HashSet::default());
        let path = self.calls.sine_and_cosine().filter(|_| !self.seldom);
        for inst in block.insts.iter().filter(|_| path.is_some()) {
            if let Some((angle, is_sine)) = self.angle(inst) {
                let both: &mut [Option<Value>; 2] = angles.entry(angle).or_default();
                both[usize::from(!is_sine)].get_or_insert(inst.results[0]);
            }
        }
        for inst in &block.insts {
            let both = self.angle(inst).and_then(|(angle, _)| angles.get(&angle).copied());
            match (both, &path) {
                (Some([Some(sine), Some(cosine)]), Some(path))
                    if [sine, cosine].contains(&inst.results[0]) =>
                {
                    let (pattern, angle) =
                        (self.pattern(&[sine, cosine], false), self.value(inst.args[0]));
                    self.line(&format!("let {pattern} = {path}({angle});"));
                    // The other one has been computed with it.
                    angles.remove(&inst.args[0]);
                    computed.extend([sine, cosine]);
                }
                _ if inst.results.first().is_some_and(|result| computed.contains(result)) => {}
                _ => self.inst(inst)?,
            }
        }
        Ok(())
    }

    /// The angle whose sine or cosine an instruction computes, and whether it is the sine.
    fn angle(&self, inst: &Inst) -> Option<(Value, bool)> {
        let Op::Prim(prim @ (Prim::Sin | Prim::Cos)) = inst.op else { return None };
        (self.func.ty(inst.results[0]) == Type::F64).then(|| (inst.args[0], prim == Prim::Sin))
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), Unsupported> {
        let known = |v: &Value| self.ty(self.func.ty(*v)).is_ok();
        if !inst.args.iter().chain(&inst.results).all(known) {
            return self.unsupported(name_of(&inst.op));
        }
        let args: Vec<String> = inst.args.iter().map(|a| self.value(*a)).collect();
        let results = self.pattern(&inst.results, false);
        match &inst.op {
            Op::Prim(prim) => {
                let value = self.row(*prim, inst, &args)?;
                self.line(&format!("let {results} = {value};"));
            }
            Op::Call(name) => self.call(inst, name, &args)?,
            Op::Drive(name, phase) if self.ahead.is_some() => {
                self.drive(inst, name, *phase, args)?;
            }
            Op::Assert(_)
                if self.unchecked.as_ref().is_some_and(|u| u.held.contains(&inst.args[0])) => {}
            Op::Assert(message) if self.ahead.is_some() => {
                let fault = self.fault(&format!("assertion({message:?}"), inst.span);
                self.line(&format!("if !{} {{ {fault}; }}", args[0]));
            }
            Op::Assert(message) => {
                self.line(&format!("assert!({}, \"{{}}\", {message:?});", args[0]));
            }
            Op::If => self.branch(inst, &args[0])?,
            Op::ExitIf => self.exit(inst, &args[0])?,
            Op::For => self.looping(inst, &args[0], Some(&args[1]), &inst.args[2..])?,
            Op::While => self.looping(inst, "0_i64", None, &inst.args)?,
            _ if self.ahead.is_some() => self.array(inst, &args)?,
            other => return self.unsupported(name_of(other)),
        }
        Ok(())
    }

    /// The value of a row on numbers.
    fn row(&self, prim: Prim, inst: &Inst, args: &[String]) -> Result<String, Unsupported> {
        let types = inst.args.iter().chain(&inst.results).map(|v| self.func.ty(*v));
        if types.clone().any(Type::is_array) {
            return self.unsupported(format!("{} of arrays", prim.name()));
        }
        if self.unchecked.as_ref().is_some_and(|u| u.sums.contains(&inst.results[0])) {
            let name = if prim == Prim::IAdd { "add" } else { "sub" };
            return Ok(format!("i64::wrapping_{name}({}, {})", args[0], args[1]));
        }
        let single = inst.args.iter().any(|v| self.func.ty(*v) == Type::F32);
        // In a recurrence the next iteration does not wait for a branch that always goes the same way; where there
        // are vectors, there are no branches.
        let recurs = self.unchecked.as_ref().is_none_or(|u| u.recurs);
        if let (Prim::Flush, Some(_), true) = (prim, self.ahead, recurs) {
            let (x, float) = (&args[0], if single { "f32" } else { "f64" });
            return Ok(format!(
                "if {float}::abs({x}) < {float}::MIN_POSITIVE {{ ::core::hint::cold_path(); 0.0 }} else {{ {x} }}"
            ));
        }
        let failing = |how: Failing, call: String| match (how, self.ahead) {
            (Failing::Overflow, None) => {
                format!("{call}.expect(\"an integer result does not fit 64 bits\")")
            }
            (Failing::Overflow, Some(_)) => {
                let fault = self.fault("overflow(", inst.span);
                format!("match {call} {{ Some(value) => value, None => {fault} }}")
            }
            (Failing::Division, None) => call,
            (Failing::Division, Some(ahead)) => {
                let kind = format!("{}{call}.map_err({}FaultKind::from)", ahead.path, ahead.path);
                self.succeeded(&kind, inst.span)
            }
        };
        let float = if single { "f32" } else { "f64" };
        if let Some(value) = row(prim, float, args, &failing) {
            let helped = matches!(prim, Prim::Bits | Prim::UMulH) && self.ahead.is_some();
            return Ok(if helped { format!("{}{value}", self.path()) } else { value });
        }
        let path = if self.seldom { self.calls.seldom(prim) } else { self.calls.row(prim) };
        if !single {
            return Ok(format!("{path}({})", args.join(", ")));
        }
        // Elementary functions of single-precision numbers are computed in double precision.
        let widened = inst.args.iter().zip(args).map(|(v, arg)| match self.func.ty(*v) {
            Type::F32 => format!("f64::from({arg})"),
            _ => arg.clone(),
        });
        let args: Vec<String> = widened.collect();
        Ok(format!("{path}({}) as f32", args.join(", ")))
    }

    fn call(&mut self, inst: &Inst, name: &Arc<str>, args: &[String]) -> Result<(), Unsupported> {
        let value = self.called(inst, name, args);
        self.bind_call(inst, &value)
    }

    /// What a call gives, or the fault that it ends with.
    fn called(&self, inst: &Inst, name: &str, args: &[String]) -> String {
        let mut args = self.arguments(name, args);
        if self.ahead.is_some_and(|ahead| ahead.drives.is_generic(name)) {
            args.push_str(", &mut *driver");
        }
        let call = format!("{}({args})", self.calls.function(name));
        match self.ahead {
            None => call,
            Some(ahead) if self.loops.is_empty() && ahead.module.external(name).is_none() => {
                format!("{call}?")
            }
            Some(_) => {
                let fault = self.fault("within(fault", inst.span);
                format!("match {call} {{ Ok(value) => value, Err(fault) => {fault} }}")
            }
        }
    }

    /// Names the results of a call.
    fn bind_call(&mut self, inst: &Inst, value: &str) -> Result<(), Unsupported> {
        let is_tape = |v: &Value| self.func.ty(*v) == Type::Tape;
        let (tapes, results): (Vec<Value>, Vec<Value>) =
            inst.results.iter().partition(|v| is_tape(v));
        let given: Vec<Value> = inst.args.iter().copied().filter(is_tape).collect();
        self.line(&format!("let {} = {value};", self.pattern(&results, false)));
        // A tape is what it was, with other records.
        if given.len() != tapes.len() {
            return self.unsupported("a call that does not give its tapes back");
        }
        for (given, result) in given.into_iter().zip(tapes) {
            self.stays(given, result);
        }
        Ok(())
    }

    /// Arguments, arrays that the callee leaves here as references.
    fn arguments(&self, name: &str, args: &[String]) -> String {
        let module = self.ahead.map(|ahead| ahead.module);
        let here = module.and_then(|module| module.func(name));
        let external = module.and_then(|module| module.external(name));
        let shared: Vec<bool> = match (here, external) {
            (Some(callee), _) => {
                callee.params().iter().map(|p| self.is_shared(callee, *p)).collect()
            }
            (None, Some(external)) => external.params.iter().map(|ty| ty.is_array()).collect(),
            (None, None) => return args.join(", "),
        };
        let mark =
            |(arg, shared): (&String, bool)| if shared { format!("&{arg}") } else { arg.clone() };
        args.iter().zip(shared).map(mark).collect::<Vec<_>>().join(", ")
    }
}

/// An operation, as the IR calls it.
fn name_of(op: &Op) -> &'static str {
    match op {
        Op::Prim(prim) => prim.name(),
        Op::Dim(_) => "dim",
        Op::Load => "load",
        Op::Store => "store",
        Op::Fill => "fill",
        Op::Copy => "copy",
        Op::Array(op) => op.name(),
        Op::Tape => "tape",
        Op::Push => "push",
        Op::Pop => "pop",
        Op::If => "if",
        Op::For => "for",
        Op::While => "while",
        Op::ExitIf => "exit_if",
        Op::Call(_) => "call",
        Op::Drive(..) => "drive",
        Op::Assert(_) => "assert",
    }
}
