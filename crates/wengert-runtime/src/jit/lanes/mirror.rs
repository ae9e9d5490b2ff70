//! In which order a group of lanes writes its records, and whether its way back reads them in the opposite one.
//!
//! Each lane takes back what it has pushed, the last record first; reverse mode sees to that. In lockstep the records of
//! lanes lie among each other, so the way back must come to the places where records are written in the opposite
//! order, too. Sides of a branch are run one after the other, each in the lanes that take it, on the way back the second
//! one first. What lanes push when they leave a loop lies after the records of all its iterations, exit by exit.
//!
//! The way back is a loop of its own, or, where an iteration has its own tape, the second part of the same one.
//!
//! Only the order is seen here. That a lane comes to a place as often on either way, and takes the same side of a branch, is
//! what reverse mode makes sure of, and programs by others do not come here (`Module::vouched`, `Module::reverses`).

use super::look::has;
use crate::jit::identity::Identity;
use wengert_core::ir::{Block, Func, Inst, Op, Type, Value};

/// A place where records are written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// A record of these fields.
    Row(Vec<Type>),
    /// In every iteration of a loop.
    Loop(Vec<Rows>),
    /// In some lanes.
    Some(Vec<Rows>),
}

impl Rows {
    fn mirrored(&self) -> Rows {
        match self {
            Rows::Row(types) => Rows::Row(types.clone()),
            Rows::Loop(rows) => Rows::Loop(mirrored(rows)),
            Rows::Some(rows) => Rows::Some(mirrored(rows)),
        }
    }
}

/// What is left of the records of a piece of code, in the order in which a group comes to them: those it reads that were
/// there before, and those that it writes and leaves there.
#[derive(Clone, Debug, Default)]
pub(super) struct Effect {
    pub(super) read: Vec<Rows>,
    pub(super) written: Vec<Rows>,
}

impl Effect {
    /// What is left after this and then that; nothing where that does not read what this has written last.
    fn then(mut self, next: Effect) -> Option<Effect> {
        for row in next.read {
            match self.written.pop() {
                Some(last) if last == row.mirrored() => {}
                Some(_) => return None,
                None => self.read.push(row),
            }
        }
        self.written.extend(next.written);
        Some(self)
    }

    /// The same within something; nothing where it both reads and writes.
    fn within(self, outer: impl Fn(Vec<Rows>) -> Vec<Rows>) -> Option<Effect> {
        let one_way = self.read.is_empty() || self.written.is_empty();
        let within = |rows: Vec<Rows>| if rows.is_empty() { rows } else { outer(rows) };
        one_way.then(|| Effect { read: within(self.read), written: within(self.written) })
    }
}

/// What a block does with records, if they can be those of a group.
pub(super) fn effect(func: &Func, identity: &Identity, block: &Block) -> Option<Effect> {
    let each = |before: Effect, inst| before.then(effect_of(func, identity, inst)?);
    block.insts.iter().try_fold(Effect::default(), each)
}

fn effect_of(func: &Func, identity: &Identity, inst: &Inst) -> Option<Effect> {
    let row = |values: &[Value]| vec![Rows::Row(values.iter().map(|v| func.ty(*v)).collect())];
    match inst.op {
        Op::Push => Some(Effect { written: row(&inst.args[1..]), ..Effect::default() }),
        Op::Pop => Some(Effect { read: row(&inst.results[1..]), ..Effect::default() }),
        // Either side takes the same ones.
        Op::If if is_swept(func, identity, inst) => effect(func, identity, &inst.blocks[1]),
        Op::If => {
            let back = takes_back(inst);
            if back && inst.blocks.iter().any(|b| has(b, Op::Push)) {
                return None;
            }
            let mut sides = [&inst.blocks[0], &inst.blocks[1]];
            if back {
                sides.reverse();
            }
            let [first, second] = sides.map(|b| effect(func, identity, b)?.within(some));
            first?.then(second?)
        }
        Op::For | Op::While => {
            let body = &inst.blocks[0];
            if count_exits(body) > 0 && has(body, Op::Pop) {
                return None;
            }
            let (mut each, mut after) = (Effect::default(), Effect::default());
            let only = inst.op == Op::While && count_exits(body) == 1;
            for inner in &body.insts {
                if inner.op != Op::ExitIf {
                    each = each.then(effect_of(func, identity, inner)?)?;
                    continue;
                }
                // The iteration in which it is left, as far as it gets.
                let last = each.clone().then(effect(func, identity, &inner.blocks[0])?)?;
                after = after.then(if only { last } else { last.within(some)? })?;
            }
            each.within(|rows| vec![Rows::Loop(rows)])?.then(after)
        }
        _ => Some(Effect::default()),
    }
}

/// Whether a branch is on the way back: then a group comes to its second side first.
pub(super) fn takes_back(inst: &Inst) -> bool {
    inst.blocks.iter().any(|b| has(b, Op::Pop))
}

/// How many ways lead out of a loop from inside.
pub(super) fn count_exits(body: &Block) -> usize {
    body.insts.iter().filter(|i| i.op == Op::ExitIf).count()
}

/// Records in some lanes.
fn some(rows: Vec<Rows>) -> Vec<Rows> {
    match rows.iter().all(|r| matches!(r, Rows::Some(_))) {
        true => rows,
        false => vec![Rows::Some(rows)],
    }
}

/// The same in the opposite order.
pub(super) fn mirrored(rows: &[Rows]) -> Vec<Rows> {
    rows.iter().rev().map(Rows::mirrored).collect()
}

/// The tape that a side of a branch is given, if it hands one on.
pub(super) fn given(func: &Func, identity: &Identity, side: &Block) -> Option<Value> {
    let is_tape = |v: &&Value| func.ty(**v) == Type::Tape;
    let used = side.insts.iter().find_map(|inst| match inst.op {
        Op::If => inst.blocks.iter().find_map(|b| given(func, identity, b)),
        _ => inst.args.iter().find(is_tape).map(|v| identity.find(*v)),
    });
    used.or_else(|| side.yields.iter().find(is_tape).map(|v| identity.find(*v)))
}

/// Whether a branch reverses a loop or drops its records, as many in either case: then all lanes do the one or the other.
/// What the second side hands on beside the tape comes from outside.
pub(super) fn is_swept(func: &Func, identity: &Identity, inst: &Inst) -> bool {
    let [swept, dropped] = [&inst.blocks[0], &inst.blocks[1]];
    let [drops] = &dropped.insts[..] else { return false };
    let mut pops_of_swept = 0;
    swept.walk(&mut |i| pops_of_swept += usize::from(i.op == Op::Pop));
    let types = |pop: &Inst| -> Vec<Type> { pop.results.iter().map(|r| func.ty(*r)).collect() };
    // Where it begins, where it ends, the tape it is given, and the record of an iteration.
    let range = |looping: &Inst| {
        let body = &looping.blocks.first()?;
        let pop = body.insts.iter().find(|i| i.op == Op::Pop)?;
        let k = body.params.iter().position(|p| *p == pop.args[0])?.checked_sub(1)?;
        let once = looping.op == Op::For && body.yields[k] == pop.results[0];
        let of = |v: Value| identity.find(v);
        let [lo, hi] = [0, 1].map(|k: usize| of(looping.args[k]));
        once.then(|| (lo, hi, of(looping.args[2 + k]), types(pop), looping.results[k]))
    };
    let Some(other) = range(drops).filter(|_| drops.blocks[0].insts.len() == 1) else {
        return false;
    };
    let same = swept.insts.iter().find_map(range).is_some_and(|found| {
        let tape = inst.results.iter().position(|r| func.ty(*r) == Type::Tape);
        let ends = tape.is_some_and(|k| swept.yields[k] == found.4 && dropped.yields[k] == other.4);
        ends && (found.0, found.1, found.2, &found.3) == (other.0, other.1, other.2, &other.3)
    });
    let outside =
        dropped.yields.iter().all(|y| func.ty(*y) == Type::Tape || !drops.results.contains(y));
    same && outside && pops_of_swept == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use wengert_core::ir::parse;

    /// What a body does with its own tape, given what is pushed and popped in it.
    fn left(code: &str) -> Option<Effect> {
        let text = format!(
            "func @f(%x: f64, %n: i64, %c: bool) -> f64 {{
              %t = tape
              {code}
              return %x
            }}"
        );
        let module = parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let func = &module.funcs[0];
        effect(func, &Identity::of(func), &func.body)
    }

    const LOOP: &str = "
      %t2 = for %k in 0..%n carry (%t1 = %t) {
        %p = push %t1, %x
        yield %p
      }";
    const BACK: &str = "
      %t5 = for %j in 0..%n carry (%t4 = %T) {
        %q, %h = pop %t4 : tape, f64
        yield %q
      }";

    fn back(tape: &str) -> String {
        BACK.replace("%T", tape)
    }

    #[test]
    fn loops_are_taken_back_as_loops() {
        let whole = left(&format!("{LOOP}{}", back("%t2"))).unwrap();
        assert!(whole.read.is_empty() && whole.written.is_empty(), "{whole:?}");
        let written = left(LOOP).unwrap().written;
        assert_eq!(written, [Rows::Loop(vec![Rows::Row(vec![Type::F64])])]);
        // A record after the loop that the way back takes in the same loop.
        assert!(left(&format!("{LOOP}\n%t3 = push %t2, %x{}", back("%t3"))).is_none());
        // And one that it takes before.
        let text =
            format!("{LOOP}\n%t3 = push %t2, %x\n%t6, %y = pop %t3 : tape, f64{}", back("%t6"));
        assert!(left(&text).is_some_and(|e| e.read.is_empty() && e.written.is_empty()));
        // Another type.
        assert!(left(&format!("{LOOP}\n%t3, %y = pop %t2 : tape, i64")).is_none());
    }

    #[test]
    fn sides_are_taken_back_the_second_first() {
        let sides = |tape: &str, first: &str, second: &str| {
            format!(
                "%u{tape} = if %c {{
                  {first}
                  yield %a{tape}
                }} else {{
                  {second}
                  yield %b{tape}
                }}\n"
            )
        };
        let push = sides("1", "%a1 = push %t, %x", "%b1 = push %t, %n");
        let pop = |a: &str, b: &str| {
            sides(
                "2",
                &format!("%a2, %y = pop %u1 : tape, {a}"),
                &format!("%b2, %z = pop %u1 : tape, {b}"),
            )
        };
        let whole = left(&(push.clone() + &pop("f64", "i64"))).unwrap();
        assert!(whole.read.is_empty() && whole.written.is_empty(), "{whole:?}");
        assert!(left(&(push.clone() + &pop("i64", "f64"))).is_none());
        assert_eq!(left(&push).unwrap().written.len(), 2);
    }
}
