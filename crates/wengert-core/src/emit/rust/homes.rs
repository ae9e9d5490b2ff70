//! Branches and loops, and the variables that arrays and tapes are in.
//!
//! An array that is changed in place is another value of the IR and the same variable of the text: its home. A loop that
//! carries an array works on the variable it was given; only an array that was made elsewhere is moved there at the end of an
//! iteration. Numbers are handed on as values. So a compiler sees arrays that stay where they are, and keeps their addresses in
//! registers.

use super::{Printer, Unsupported, tuple};
use crate::ir::{Block, Inst, Numbering, Type, Value};
use std::fmt::Write;

impl Printer<'_> {
    /// Whether a value has a variable of its own.
    fn has_home(&self, v: Value) -> bool {
        self.func.ty(v).is_array() || self.func.ty(v) == Type::Tape
    }

    /// Notes that a value is in the variable of another.
    pub(super) fn stays(&mut self, before: Value, after: Value) {
        let home = self.name(before);
        self.homes.insert(after, home);
    }

    /// That tapes are in the variables they came in.
    pub(super) fn tapes_stay(&self, given: &[Value], left: &[Value]) -> Result<(), Unsupported> {
        let names = |all: &[Value]| all.iter().map(|v| self.name(*v)).collect::<Vec<_>>();
        match names(given) == names(left) {
            true => Ok(()),
            false => self.unsupported("tapes that change places"),
        }
    }

    /// Those that are handed on as values.
    fn numbers(&self, values: &[Value]) -> Vec<Value> {
        values.iter().copied().filter(|v| !self.has_home(*v)).collect()
    }

    /// Prints a block aside, one level further in.
    fn aside(&mut self, block: &Block) -> Result<String, Unsupported> {
        let text = std::mem::take(&mut self.text);
        self.depth += 1;
        let done = self.block(block);
        self.depth -= 1;
        let made = std::mem::replace(&mut self.text, text);
        done.map(|()| made)
    }

    /// Moves arrays to where they are to be, all at once.
    fn moves(&self, to: &[Option<String>], values: &[Value]) -> String {
        let (mut targets, mut sources) = (Vec::new(), Vec::new());
        for (home, v) in to.iter().zip(values) {
            let Some(home) = home else { continue };
            let from = self.name(*v);
            if *home != from {
                targets.push(home.clone());
                sources.push(from);
            }
        }
        match targets.is_empty() {
            true => String::new(),
            false => format!("{} = {};", tuple(&targets), tuple(&sources)),
        }
    }

    pub(super) fn branch(&mut self, inst: &Inst, cond: &str) -> Result<(), Unsupported> {
        let blocks = &inst.blocks;
        let texts = [self.aside(&blocks[0])?, self.aside(&blocks[1])?];
        // An array that both ways leave in one variable is there; any other gets one.
        let mut homes = Vec::new();
        for (k, result) in inst.results.iter().enumerate() {
            if !self.has_home(*result) {
                homes.push(None);
                continue;
            }
            let [one, other] = [0, 1].map(|b| self.name(blocks[b].yields[k]));
            if one == other {
                self.homes.insert(*result, one);
                homes.push(None);
            } else if self.func.ty(*result) == Type::Tape {
                return self.unsupported("tapes that change places");
            } else {
                let (home, ty) = (self.name(*result), self.ty(self.func.ty(*result))?);
                self.line(&format!("let mut {home}: {ty};"));
                homes.push(Some(home));
            }
        }
        let results = self.pattern(&self.numbers(&inst.results), false);
        self.line(&format!("let {results} = if {cond} {{"));
        for (k, text) in texts.into_iter().enumerate() {
            self.text.push_str(&text);
            self.depth += 1;
            let moves = self.moves(&homes, &blocks[k].yields);
            if !moves.is_empty() {
                self.line(&moves);
            }
            self.line(&self.values(&self.numbers(&blocks[k].yields)));
            self.depth -= 1;
            self.line(if k == 0 { "} else {" } else { "};" });
        }
        Ok(())
    }

    /// Leaves the loop around where a condition holds.
    pub(super) fn exit(&mut self, inst: &Inst, cond: &str) -> Result<(), Unsupported> {
        self.line(&format!("if {cond} {{"));
        let text = self.aside(&inst.blocks[0])?;
        self.text.push_str(&text);
        self.depth += 1;
        let yields = &inst.blocks[0].yields;
        let homes = self.left_in.last().cloned().unwrap_or_default();
        let moves = self.moves(&homes, yields);
        if !moves.is_empty() {
            self.line(&moves);
        }
        self.line(&format!("break {};", self.values(&self.numbers(yields))));
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    /// A loop, left with its carries where its range ends.
    pub(super) fn looping(
        &mut self,
        inst: &Inst,
        start: &str,
        end: Option<&str>,
        first: &[Value],
    ) -> Result<(), Unsupported> {
        let body = &inst.blocks[0];
        let (counter, carries) = (self.name(body.params[0]), &body.params[1..]);
        let mut homes = Vec::new();
        for ((first, carry), result) in first.iter().zip(carries).zip(&inst.results) {
            if self.has_home(*carry) {
                self.stays(*first, *carry);
                self.stays(*first, *result);
                homes.push(Some(self.name(*first)));
            } else {
                homes.push(None);
            }
        }
        let results = self.pattern(&self.numbers(&inst.results), false);
        let numbers = self.numbers(carries);
        let first: Vec<String> = self.numbers(first).iter().map(|v| self.value(*v)).collect();
        let first = format!("let {} = {};", self.pattern(&numbers, true), tuple(&first));
        match body.numbering {
            Numbering::FromStart => {
                self.loops.push((inst.span, format!("{counter}.wrapping_sub({start})")));
            }
            Numbering::ByCounter => self.loops.push((inst.span, counter.clone())),
            Numbering::Hidden => {}
        }
        self.left_in.push(homes);
        let now = self.pattern(&numbers, false);
        let ended =
            |done: &str| vec![format!("if {done} {{"), format!("    break {now};"), "}".into()];
        let entry = end.and_then(|end| self.windows(inst, start, end));
        let seldom = self.seldom;
        self.seldom |= entry.is_some();
        if let Some(mut entry) = entry {
            let (around, count, at) = (entry.label(), entry.name("n"), entry.name("k"));
            self.line(&format!("let {results} = {around}: {{"));
            self.depth += 1;
            self.line("'checks: {");
            self.depth += 1;
            for check in std::mem::take(&mut entry.checks) {
                self.line(&check);
            }
            self.line(&format!("let mut {at} = {};", if entry.down { &count } else { "0_usize" }));
            self.line(&first);
            self.line(&format!("break {around} loop {{"));
            let (mut opening, steps, closing);
            if entry.down {
                opening = ended(&format!("{at} == 0"));
                opening.push(format!("{at} -= 1;"));
                (steps, closing) = (format!("{count} - 1 - {at}"), String::new());
            } else {
                opening = ended(&format!("{at} >= {count}"));
                (steps, closing) = (at.clone(), format!("{at} += 1;"));
            }
            opening.push(format!("let {counter} = {start}.wrapping_add(({steps}) as i64);"));
            entry.unchecked.recurs = !numbers.is_empty();
            self.unchecked = Some(entry.unchecked);
            let behind = std::mem::replace(&mut self.seldom, seldom);
            self.iteration(body, &opening, &closing)?;
            (self.unchecked, self.seldom) = (None, behind);
            self.line("};");
            self.depth -= 1;
            self.line("}");
        } else {
            self.line(&format!("let {results} = {{"));
            self.depth += 1;
        }
        self.line(&format!("let mut {counter} = {start};"));
        self.line(&first);
        self.line("loop {");
        let opening = end.map(|end| ended(&format!("{counter} >= {end}"))).unwrap_or_default();
        self.iteration(body, &opening, &format!("{counter} = {counter}.wrapping_add(1);"))?;
        self.line("}");
        self.depth -= 1;
        self.line("};");
        self.seldom = seldom;
        self.left_in.pop();
        if body.numbering != Numbering::Hidden {
            self.loops.pop();
        }
        Ok(())
    }

    /// What a loop does each time.
    fn iteration(
        &mut self,
        body: &Block,
        opening: &[String],
        closing: &str,
    ) -> Result<(), Unsupported> {
        self.depth += 1;
        opening.iter().for_each(|line| self.line(line));
        self.depth -= 1;
        let text = self.aside(body)?;
        self.text.push_str(&text);
        let homes = self.left_in.last().cloned().unwrap_or_default();
        let mut step = self.moves(&homes, &body.yields);
        let numbers = self.numbers(&body.params[1..]);
        let next = self.values(&self.numbers(&body.yields));
        if next != "()" {
            let _ = write!(step, "{} = {next}; ", self.pattern(&numbers, false));
        }
        self.depth += 1;
        self.line(&format!("{step}{closing}"));
        self.depth -= 1;
        Ok(())
    }
}
