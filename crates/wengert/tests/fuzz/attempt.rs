//! One text through everything: parsed, lowered for some arguments, verified, prepared, differentiated, run.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use wengert_core::check::{Derived, Random};
use wengert_core::interp::{Event, Interp, Observer, Val};
use wengert_core::ir::{Elem, Module, Type, verify};
use wengert_core::lower::lower;
use wengert_core::ops::{Array, Data, Scalar};
use wengert_core::span::{Diagnostic, Span};
use wengert_core::surface::{print, python};
use wengert_core::transform::pipeline;

/// Most instructions of a run, and most elements they make.
const FUEL: u64 = 30_000;

/// Longest function that is differentiated: what is larger takes its time.
const LONG: usize = 3_000;

/// Tries a text on a thread with this much stack. An overflow ends the process.
pub(crate) fn on_a_small_stack(text: &str, seed: u64, stack: usize) -> Result<(), String> {
    let owned = text.to_string();
    let thread = std::thread::Builder::new()
        .stack_size(stack)
        .spawn(move || catch_unwind(AssertUnwindSafe(|| attempt(&owned, seed))));
    match thread.unwrap().join() {
        Ok(Ok(result)) => result,
        Ok(Err(payload)) | Err(payload) => {
            let text = payload.downcast_ref::<&str>().map(|s| s.to_string());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            Err(format!("panic: {}", text.unwrap_or_default()))
        }
    }
}

fn attempt(text: &str, seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let tree = match python::parse(text) {
        Ok(tree) => tree,
        Err(errors) => return in_text(&errors, text),
    };
    let printed = print::module(&tree);
    let again = python::parse(&printed).map_err(|e| format!("printed:\n{printed}\n{e:?}"))?;
    if print::module(&again) != printed {
        return Err(format!("printed again it is another program:\n{printed}"));
    }
    for function in tree.functions.iter().rev().take(3) {
        let args: Vec<Val> = function.params.iter().map(|_| argument(&mut random)).collect();
        let types: Vec<Type> = args.iter().map(Val::ty).collect();
        let name = &function.name.text;
        match lower(&tree, name, &types) {
            Ok(ir) => run(&ir, name, &args, text)?,
            Err(errors) => in_text(&errors, text)?,
        }
    }
    Ok(())
}

fn run(ir: &Module, name: &str, args: &[Val], text: &str) -> Result<(), String> {
    verify::module(ir).map_err(|e| format!("{e}\n{ir}"))?;
    let types = ir.funcs[0].param_types();
    let convert = |(a, ty): (&Val, &Type)| match (a, ty) {
        (Val::Scalar(Scalar::I64(k)), Type::F64) => Val::f64(*k as f64),
        (Val::Array(x), ty) if ty.elem() == Some(Elem::I64) => match &x.data {
            Data::F64(data) => {
                let data = Data::I64(data.iter().map(|x| *x as i64).collect());
                Val::shaped(Array { data, ..Array::clone(x) })
            }
            _ => a.clone(),
        },
        _ => a.clone(),
    };
    let args: Vec<Val> = args.iter().zip(&types).map(convert).collect();
    bounded_run(ir, name, &args, text)?;
    let prepared = match pipeline::module(ir, name) {
        Ok(prepared) => prepared,
        Err(error) => return in_text(&[error], text),
    };
    bounded_run(&prepared, name, &args, text)?;
    let length: usize = prepared.funcs.iter().map(|f| f.to_string().lines().count()).sum();
    let wrt: Vec<usize> = (0..types.len()).filter(|k| types[*k].is_float()).collect();
    if wrt.is_empty() || length > LONG {
        return Ok(());
    }
    match Derived::of(&prepared, name, wrt) {
        Ok(_) => Ok(()),
        Err(error) => in_text(&[error], text),
    }
}

/// Looks on, and stops what runs for long.
#[derive(Debug)]
struct Fuel(u64);

struct Spent;

impl Observer for Fuel {
    fn ran(&mut self, event: &Event<'_>) {
        let elements = event.results.iter().map(|v| match v {
            Val::Array(x) => 1 + x.len() as u64 / 100,
            _ => 1,
        });
        let cost = elements.sum::<u64>().max(1);
        self.0 = self.0.saturating_sub(cost);
        if self.0 == 0 {
            resume_unwind(Box::new(Spent));
        }
    }
}

fn bounded_run(module: &Module, name: &str, args: &[Val], text: &str) -> Result<(), String> {
    let ran = catch_unwind(AssertUnwindSafe(|| {
        let mut interp = Interp::new(module);
        interp.max_iterations = 100;
        interp.observe(Rc::new(RefCell::new(Fuel(FUEL))));
        interp.call(name, args.to_vec())
    }));
    match ran {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(fault)) => in_text(&[fault.diagnostic()], text),
        Err(payload) if payload.is::<Spent>() => Ok(()),
        Err(payload) => resume_unwind(payload),
    }
}

/// Errors have places, and these lie in the text.
fn in_text(errors: &[Diagnostic], text: &str) -> Result<(), String> {
    if errors.is_empty() {
        return Err("no error is given for what is refused".into());
    }
    for error in errors {
        for (Span { start, end }, _) in &error.labels {
            let (start, end) = (*start as usize, *end as usize);
            if start > end || !text.is_char_boundary(start) || !text.is_char_boundary(end) {
                return Err(format!("the place {start}..{end} is not in the text: {error:?}"));
            }
        }
    }
    // And they can be shown.
    let source = wengert::Source::new("f.py", text);
    if let Err(error) = wengert::Function::last_of(source) {
        let _ = error.render();
    }
    Ok(())
}

fn argument(random: &mut Random) -> Val {
    match random.below(10) {
        0..3 => Val::f64(random.float(-2.0, 2.0)),
        3..6 => Val::i64(random.below(7) as i64 - 1),
        6..8 => {
            let n = random.below(6) as usize;
            Val::array((0..n).map(|_| random.float(-2.0, 2.0)).collect())
        }
        8 => {
            let (r, c) = (random.below(4) as usize, random.below(4) as usize);
            let elements = (0..r * c).map(|_| random.float(-2.0, 2.0)).collect();
            Val::shaped(Array::new(vec![r, c], elements))
        }
        _ => Val::Scalar(Scalar::Bool(random.below(2) == 0)),
    }
}
