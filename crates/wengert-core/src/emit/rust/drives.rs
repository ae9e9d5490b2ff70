//! Outlined loops: types that say what their functions are, and the places where they are run.
//!
//! A loop that can be run in pieces is a type for the way forward and one for each way back
//! ([`Forward`](crate::ahead::Forward), [`Backward`](crate::ahead::Backward)). Where it is driven there are two ways: its function over all
//! iterations, as any other call, or the driver, which is given the functions and what they carry. Which of them is known when the text is
//! compiled for a driver, or when it runs. Functions from which such a place can be reached are generic over the driver.

use super::{Ahead, Calls, Printer, Unsupported};
use crate::ir::driven::{self, Driven};
use crate::ir::verify::consumes;
use crate::ir::{Func, Inst, LoopPlan, Module, Op, Phase, Type, Value};
use crate::span::Span;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::fmt::Write;
use std::sync::Arc;

/// The loops of a module that can be run in pieces.
#[derive(Debug, Default)]
pub(super) struct Drives {
    /// By the names of their plans.
    loops: HashMap<Arc<str>, Driven>,
    /// The functions from which a place can be reached where one of them is run.
    generic: HashSet<Arc<str>>,
}

impl Drives {
    pub(super) fn new(module: &Module) -> Drives {
        let funcs: Vec<&Func> = module.funcs.iter().collect();
        let plans: Vec<&LoopPlan> = module.loops.iter().collect();
        let by_driver = driven::by_driver(&funcs, &plans);
        let own = plans.iter().filter(|plan| by_driver.contains(&*plan.name));
        let mut loops: HashMap<Arc<str>, Driven> = own
            .filter_map(|plan| {
                Some((plan.name.clone(), driven::driven(module, &funcs, &plans, plan)?))
            })
            .collect();
        // What goes forward in pieces goes all ways back so.
        let apart = |plan: &LoopPlan| {
            let alike = plans.iter().filter(|other| other.record == plan.record);
            alike.into_iter().all(|other| loops.contains_key(&other.name))
        };
        let apart: HashSet<Arc<str>> =
            plans.iter().filter(|plan| apart(plan)).map(|plan| plan.name.clone()).collect();
        loops.retain(|name, _| apart.contains(name));
        let mut drives = Drives { loops, generic: HashSet::default() };
        while let Some(func) = funcs
            .iter()
            .find(|func| !drives.generic.contains(&func.name) && drives.reaches(module, func))
        {
            drives.generic.insert(func.name.clone());
        }
        drives
    }

    /// Whether a loop is run by a function, or by one that it calls.
    fn reaches(&self, module: &Module, func: &Func) -> bool {
        let mut found = false;
        func.body.walk(&mut |inst| match &inst.op {
            Op::Call(name) => found |= self.generic.contains(name),
            Op::Drive(name, phase) => {
                let entry = module.plan(name).map(|plan| entry(plan, *phase));
                found |= self.loops.contains_key(name)
                    || entry.is_some_and(|name| self.generic.contains(name));
            }
            _ => {}
        });
        found
    }

    /// Whether a function is given a driver.
    pub(super) fn is_generic(&self, func: &str) -> bool {
        self.generic.contains(func)
    }
}

/// The function of one phase.
fn entry(plan: &LoopPlan, phase: Phase) -> &Arc<str> {
    match phase {
        Phase::Forward => &plan.record,
        Phase::Reverse => &plan.reverse,
    }
}

/// Values as pairs in pairs.
fn paired(all: &[String]) -> String {
    let mut text = "()".to_string();
    for one in all.iter().rev() {
        text = format!("({one}, {text})");
    }
    text
}

/// The type of the way forward of a loop.
fn forward_type(plan: &LoopPlan, calls: &dyn Calls) -> String {
    format!("Forward_{}", calls.function(&plan.record))
}

/// The type of its way back.
fn backward_type(plan: &LoopPlan, calls: &dyn Calls) -> String {
    format!("Backward_{}", calls.function(&plan.name))
}

/// The types of all loops that can be run in pieces.
pub(super) fn types(ahead: &Ahead, calls: &dyn Calls) -> Result<String, Unsupported> {
    let (mut text, mut made) = (String::new(), HashSet::default());
    for plan in &ahead.module.loops {
        let Some(driven) = ahead.drives.loops.get(&plan.name) else { continue };
        let of = Of { ahead, calls, plan };
        if made.insert(&plan.record) {
            text.push_str(&of.forward(driven)?);
        }
        text.push_str(&of.backward()?);
    }
    Ok(text)
}

/// A loop, on the way to text.
struct Of<'a> {
    ahead: &'a Ahead<'a>,
    calls: &'a dyn Calls,
    plan: &'a LoopPlan,
}

impl Of<'_> {
    fn func(&self, name: &str) -> Result<&Func, Unsupported> {
        let found = self.ahead.module.func(name);
        found.ok_or_else(|| Unsupported { func: name.into(), what: "drive".into() })
    }

    /// The types of some parameters, as pairs.
    fn kinds(&self, func: &Func, params: &[Value]) -> Result<String, Unsupported> {
        let printer = Printer::new(func, self.calls, Some(self.ahead));
        let kinds: Result<Vec<String>, Unsupported> =
            params.iter().map(|p| printer.ty(func.ty(*p))).collect();
        Ok(paired(&kinds?))
    }

    /// The call of a function: `ranged` words of the range, values handed on called `c0`, `c1`, values that are read `k0`, `k1`.
    fn call(&self, func: &Func, range: &[&str], carried: usize, tape: bool) -> String {
        let params = func.params();
        let mut args: Vec<String> = range.iter().map(|name| (*name).to_string()).collect();
        for (k, p) in params[range.len()..range.len() + carried].iter().enumerate() {
            let lent = func.ty(*p).is_array() && !consumes(self.ahead.module, func, *p);
            args.push(format!("{}c{k}", if lent { "&" } else { "" }));
        }
        let read = params.len() - range.len() - carried - usize::from(tape);
        args.extend((0..read).map(|k| format!("k{k}")));
        if tape {
            args.push("tape".into());
        }
        if self.ahead.drives.is_generic(&func.name) {
            args.push("driver".into());
        }
        format!("{}({})?", self.calls.function(&func.name), args.join(", "))
    }

    /// Where the loop is in the source.
    fn place(&self) -> Span {
        let mut found = None;
        for func in &self.ahead.module.funcs {
            func.body.walk(&mut |inst| match &inst.op {
                Op::Drive(name, Phase::Forward) if **name == *self.plan.name => {
                    _ = found.get_or_insert(inst.span);
                }
                _ => {}
            });
        }
        found.unwrap_or_default()
    }

    fn forward(&self, driven: &Driven) -> Result<String, Unsupported> {
        let (path, plan) = (self.ahead.path, self.plan);
        let (advance, record) = (self.func(&plan.advance)?, self.func(&plan.record)?);
        let params = record.params();
        let carries = self.kinds(record, &params[2..2 + plan.carries])?;
        let captures = self.kinds(record, &params[2 + plan.carries..params.len() - 1])?;
        let Driven { counted, cut_apart, beside, inside } = driven;
        let mut text = format!(
            "struct {name};\nimpl {path}Forward for {name} {{\n    type Carries = {carries};\n    \
             type Captures = {captures};\n    const PLACE: (u32, u32) = {place};\n    \
             const COUNTED: bool = {counted};\n    const CUT_APART: bool = {cut_apart};\n    \
             const BESIDE: u64 = {beside};\n    const NESTED: bool = {};\n",
            *inside > 0,
            name = forward_type(plan, self.calls),
            place = Printer::place(self.place()),
        );
        for (name, func, tape) in [("advance", advance, false), ("record", record, true)] {
            let values: Vec<String> = (0..plan.carries).map(|k| format!("c{k}")).collect();
            let mutable: Vec<String> = values.iter().map(|name| format!("mut {name}")).collect();
            let read = func.params().len() - 2 - plan.carries - usize::from(tape);
            let read: Vec<String> = (0..read).map(|k| format!("k{k}")).collect();
            let results = values.iter().map(String::as_str).chain(["done", "exit"]);
            let results = results.collect::<Vec<_>>().join(", ");
            let _ = write!(
                text,
                "    #[inline(always)]\n    fn {name}<D: {path}Driver>(driver: &mut D, [from, to]: [i64; 2], \
                 carries: Self::Carries, captures: <Self::Captures as {path}Values>::Lent<'_>{tape_param}) -> \
                 {path}Ran<Self::Carries> {{\n        let {mutable} = carries;\n        let {read} = captures;\n        \
                 let ({results}) = {call};\n        Ok(({paired}, done, exit))\n    }}\n",
                tape_param = if tape { format!(", tape: &mut {path}Tape") } else { String::new() },
                mutable = paired(&mutable),
                read = paired(&read),
                call = self.call(func, &["from", "to"], plan.carries, tape),
                paired = paired(&values),
            );
        }
        text.push_str("}\n");
        Ok(text)
    }

    fn backward(&self) -> Result<String, Unsupported> {
        let (path, plan) = (self.ahead.path, self.plan);
        let reverse = self.func(&plan.reverse)?;
        let params = reverse.params();
        let state = self.kinds(reverse, &params[3..3 + plan.state])?;
        let fixed = self.kinds(reverse, &params[3 + plan.state..params.len() - 1])?;
        let values: Vec<String> = (0..plan.state).map(|k| format!("c{k}")).collect();
        let read: Vec<String> =
            (0..params.len() - 4 - plan.state).map(|k| format!("k{k}")).collect();
        Ok(format!(
            "struct {name};\nimpl {path}Backward for {name} {{\n    type Of = {of};\n    type State = {state};\n    \
             type Fixed = {fixed};\n    #[inline(always)]\n    \
             fn reverse<D: {path}Driver>(driver: &mut D, [from, to, exit]: [i64; 3], state: Self::State, \
             fixed: <Self::Fixed as {path}Values>::Lent<'_>, tape: &mut {path}Tape) -> {path}Result<Self::State> {{\n        \
             let {pattern} = state;\n        let {read} = fixed;\n        let {results} = {call};\n        \
             Ok({pattern})\n    }}\n}}\n",
            name = backward_type(plan, self.calls),
            of = forward_type(plan, self.calls),
            pattern = paired(&values),
            read = paired(&read),
            results = super::tuple(&values),
            call = self.call(reverse, &["from", "to", "exit"], plan.state, true),
        ))
    }
}

impl Printer<'_> {
    /// Whether the function is given a driver.
    pub(super) fn has_driver(&self) -> bool {
        self.ahead.is_some_and(|ahead| ahead.drives.is_generic(&self.func.name))
    }

    /// An outlined loop: by its function over all iterations, or by the driver.
    pub(super) fn drive(
        &mut self,
        inst: &Inst,
        name: &Arc<str>,
        phase: Phase,
        mut args: Vec<String>,
    ) -> Result<(), Unsupported> {
        let Some((ahead, plan)) =
            self.ahead.and_then(|ahead| Some((ahead, ahead.module.plan(name)?)))
        else {
            return self.unsupported("drive");
        };
        let entry = entry(plan, phase);
        if phase == Phase::Forward && !plan.bounded {
            args[1] = "i64::MAX".into();
        }
        let whole = self.called(inst, entry, &args);
        if !ahead.drives.loops.contains_key(name) {
            return self.bind_call(inst, &whole);
        }
        let (range, carried) = match phase {
            Phase::Forward => (2, plan.carries),
            Phase::Reverse => (3, plan.state),
        };
        let read = range + carried..args.len() - 1;
        let lent = |(v, arg): (&Value, &String)| match self.func.ty(*v) {
            Type::Array(..) => format!("&{arg}"),
            _ => arg.clone(),
        };
        let lent: Vec<String> = inst.args[read.clone()].iter().zip(&args[read]).map(lent).collect();
        let given = format!(
            "[{}], {}, {}, {}",
            args[..range].join(", "),
            paired(&args[range..range + carried]),
            paired(&lent),
            args[args.len() - 1],
        );
        let values: Vec<String> = (0..carried).map(|k| format!("c{k}")).collect();
        let (call, made, flat) = match phase {
            Phase::Forward => {
                let flat = values.iter().map(String::as_str).chain(["done", "exit"]);
                let flat = format!("({})", flat.collect::<Vec<_>>().join(", "));
                let call = format!("driver.forward::<{}>", forward_type(plan, self.calls));
                (call, format!("({}, done, exit)", paired(&values)), flat)
            }
            Phase::Reverse => {
                let call = format!("driver.backward::<{}>", backward_type(plan, self.calls));
                (call, paired(&values), super::tuple(&values))
            }
        };
        let in_pieces = self.or_fault(inst, &format!("{call}({given})"), &made, &flat);
        let value = format!("if D::ALL || driver.is_shut() {{ {whole} }} else {{ {in_pieces} }}");
        self.bind_call(inst, &value)
    }

    /// What a call gives, as another expression, or the fault that it ends with.
    fn or_fault(&self, inst: &Inst, call: &str, made: &str, value: &str) -> String {
        let fault = match self.loops.is_empty() {
            true => "return Err(fault)".to_string(),
            false => self.fault("within(fault", inst.span),
        };
        format!("match {call} {{ Ok({made}) => {value}, Err(fault) => {fault} }}")
    }
}
