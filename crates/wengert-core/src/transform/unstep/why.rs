//! Why an iteration cannot be taken back.

use super::solve::{Solution, Solver};
use crate::ir::{Block, Inst, Op, Type, Value};
use crate::ops::{ArrayOp, Prim};
use crate::span::{Diagnostic, Span};
use rustc_hash::FxHashSet as HashSet;

const CODE: &str = "not-invertible";

/// The way out of all of these.
const HELP: &str = "take back another loop, by its line; or leave taking back out, and limit the memory instead: then states are stored, and parts of the loop run again";

/// Of a loop that can be left early.
pub(super) fn exit(span: Span, at: Span) -> Diagnostic {
    Diagnostic::new(
        CODE,
        "this loop cannot be taken back: it may be left before its last iteration",
    )
    .label(span, "this loop")
    .label(at, "it is left here")
    .help(HELP)
}

/// Of a loop that is at no such line.
pub fn no_such_loop(line: usize) -> Diagnostic {
    let what = format!("there is no loop to be taken back at line {line}");
    Diagnostic::new(CODE, what).help(
        "name the line of an outermost loop that the result depends on and that is not parallel",
    )
}

/// Of carries that do not follow from what an iteration ends with.
pub(super) fn unsolved(solver: &Solver, of: &Solution, all: &[usize], span: Span) -> Diagnostic {
    // What is lost tells more than what needs it.
    let lost = all.iter().find(|k| is_overwritten(solver, of, **k));
    let carry = lost.or(all.first()).copied().unwrap_or(0);
    let name = called(solver, of, carry);
    let (reason, at) = reason(solver, of, carry);
    let error = Diagnostic::new(CODE, format!("this loop cannot be taken back: {name} {reason}"));
    error.label(at.unwrap_or(span), "here").label(span, "this loop").help(HELP)
}

fn called(solver: &Solver, of: &Solution, carry: usize) -> String {
    let name = |v: Value| solver.func.name_of(v);
    match name(of.block.params[carry + 1]).or(name(of.block.yields[carry])) {
        Some(name) => format!("`{name}`"),
        None => "a value that it carries".into(),
    }
}

fn maker(block: &Block, v: Value) -> Option<&Inst> {
    block.insts.iter().find(|inst| inst.results.contains(&v))
}

/// What depends on a value in a block.
fn depending(solver: &Solver, block: &Block, from: Value) -> HashSet<Value> {
    let mut on: HashSet<Value> = HashSet::from_iter([from]);
    for inst in &block.insts {
        let captures = inst.blocks.iter().flat_map(|b| b.captures(solver.func));
        if inst.args.iter().copied().chain(captures).any(|v| on.contains(&v)) {
            on.extend(&inst.results);
        }
    }
    on
}

/// Whether the body makes a carry anew, of others.
fn is_overwritten(solver: &Solver, of: &Solution, carry: usize) -> bool {
    let (block, y) = (of.block, of.block.yields[carry]);
    let on = depending(solver, block, block.params[carry + 1]);
    maker(block, y).is_some() && !on.contains(&y)
}

/// What is wrong with a carry, and where.
fn reason(solver: &Solver, of: &Solution, carry: usize) -> (String, Option<Span>) {
    let (block, from) = (of.block, of.block.params[carry + 1]);
    let made = |v: Value| maker(block, v).map(|inst| inst.span);
    let on = depending(solver, block, from);
    if !block.yields.iter().any(|y| on.contains(y)) || is_overwritten(solver, of, carry) {
        let text = "is overwritten by something that does not contain it";
        return (text.into(), made(block.yields[carry]));
    }
    let is_known = |v: &Value| solver.is_outside(*v) || of.how.contains_key(v);
    let is_stuck = |inst: &&Inst| {
        let captures = inst.blocks.iter().flat_map(|b| b.captures(solver.func));
        let mut uses = inst.args.iter().copied().chain(captures);
        inst.results.iter().any(is_known) && uses.any(|v| on.contains(&v) && !is_known(&v))
    };
    // What makes its next value tells more than what uses it elsewhere.
    let own = maker(block, block.yields[carry]).filter(is_stuck);
    let stuck = own.or_else(|| block.insts.iter().rev().find(is_stuck));
    let Some(stuck) = stuck else {
        return (
            "does not follow from what an iteration ends with".into(),
            made(block.yields[carry]),
        );
    };
    (stopped(solver, of, stuck, &on), Some(stuck.span))
}

/// Why an instruction whose result is known does not give the operand.
fn stopped(solver: &Solver, of: &Solution, inst: &Inst, on: &HashSet<Value>) -> String {
    let block = of.block;
    let is_known = |v: &Value| solver.is_outside(*v) || of.how.contains_key(v);
    let unknown: Vec<Value> = inst.args.iter().copied().filter(|v| !is_known(v)).collect();
    if inst.op == Op::For {
        let outs: Vec<usize> =
            (0..inst.results.len()).filter(|k| is_known(&inst.results[*k])).collect();
        let body = &inst.blocks[0];
        let inside = solver.solve(body, &outs, &|v| is_known(&v), false);
        let unsolved = outs.iter().find(|k| !inside.how.contains_key(&body.params[**k + 1]));
        return match unsolved {
            Some(k) => {
                let (name, (why, _)) = (called(solver, &inside, *k), reason(solver, &inside, *k));
                format!("is changed by a loop that cannot be run backwards, because {name} {why}")
            }
            None => "is changed by a loop that cannot be run backwards".into(),
        };
    }
    if unknown.iter().filter(|v| on.contains(v)).count() > 1 {
        return "is changed by something that depends on it in more than one place".into();
    }
    if unknown.len() > 1 {
        let carries = (0..block.yields.len()).filter(|k| !is_known(&block.params[k + 1]));
        let others = carries.filter(|k| !on.contains(&block.params[k + 1]));
        let names: Vec<String> = others.map(|k| called(solver, of, k)).collect();
        return match names.first() {
            Some(other) => {
                format!(
                    "is changed by something that depends on {other}, which does not follow from what an iteration ends with either"
                )
            }
            None => "is changed by something that does not follow from what an iteration ends with"
                .into(),
        };
    }
    let is_written = matches!(inst.op, Op::Store | Op::Array(ArrayOp::Poke | ArrayOp::Put));
    match &inst.op {
        _ if is_written => {
            "is overwritten in a place by something that does not contain what was there".into()
        }
        Op::Prim(Prim::Mul | Prim::Div | Prim::Fma) => {
            "is multiplied by something that depends on the state, or divided by it".into()
        }
        Op::Prim(prim) => format!("cannot be taken back through `{}`", prim.name()),
        Op::If => "is changed in a branch that cannot be taken back".into(),
        _ if solver.func.ty(inst.results[0]) == Type::Tape => "is on a tape".into(),
        _ => "is changed by an operation that cannot be taken back".into(),
    }
}
