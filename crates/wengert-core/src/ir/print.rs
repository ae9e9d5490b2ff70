//! The text form: printing.
//!
//! Constants are printed where they are used; every other value is `%7`, or `%h.7` where the user
//! called it `h`. `parse` reads this back.

use super::external::External;
use super::func::{Block, Func, Inst, LoopPlan, Module, Numbering, Rule, Unstep, Value};
use super::infer;
use super::types::{Op, Phase};
use std::fmt::{self, Display, Write};

impl Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for external in &self.externals {
            write!(f, "{external}")?;
        }
        for (k, func) in self.funcs.iter().enumerate() {
            if k > 0 || !self.externals.is_empty() {
                f.write_char('\n')?;
            }
            write!(f, "{func}")?;
        }
        for plan in &self.loops {
            write!(f, "\n{plan}")?;
        }
        for rule in &self.rules {
            write!(f, "\n{rule}")?;
        }
        Ok(())
    }
}

impl Display for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (params, results) = (infer::list(&self.params), infer::list(&self.results));
        write!(f, "extern @{}({params}) -> ({results})", self.name)?;
        for (mode, there) in [("jvp", self.jvp), ("vjp", self.vjp)] {
            if there {
                write!(f, " {mode}")?;
            }
        }
        f.write_char('\n')
    }
}

impl Display for LoopPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (self.parallel, self.bounded) {
            (true, _) => "parallel for",
            (false, true) => "for",
            (false, false) => "while",
        };
        write!(
            f,
            "loop @{} {kind} carries {} state {} finals (",
            self.name, self.carries, self.state
        )?;
        for (k, carry) in self.finals.iter().enumerate() {
            write!(f, "{}{carry}", if k > 0 { ", " } else { "" })?;
        }
        let (advance, record, reverse) = (&self.advance, &self.record, &self.reverse);
        write!(f, ") advance @{advance} record @{record} reverse @{reverse}")?;
        if let Some(Unstep { func, free, apart }) = &self.unstep {
            let free: Vec<String> = free.iter().map(usize::to_string).collect();
            let apart = if *apart { " apart" } else { "" };
            write!(f, " unstep @{func} free ({}){apart}", free.join(", "))?;
        }
        f.write_char('\n')
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule @{}", self.func)?;
        for (mode, by) in [("jvp", &self.jvp), ("vjp", &self.vjp)] {
            if let Some(by) = by {
                write!(f, " {mode} @{by}")?;
            }
        }
        f.write_char('\n')
    }
}

impl Display for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "func @{}(", self.name)?;
        typed_list(f, self, self.params())?;
        writeln!(f, ") -> ({}) {{", infer::list(&self.results))?;
        block(f, self, &self.body, 1)?;
        writeln!(f, "  return {}", Values(self, &self.body.yields))?;
        f.write_str("}\n")
    }
}

struct Values<'a>(&'a Func, &'a [Value]);

impl Display for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, v) in self.1.iter().enumerate() {
            if k > 0 {
                f.write_str(", ")?;
            }
            value(f, self.0, *v)?;
        }
        Ok(())
    }
}

fn value(f: &mut fmt::Formatter<'_>, func: &Func, v: Value) -> fmt::Result {
    let data = &func.values[v.index()];
    match (&data.constant, &data.name) {
        (Some(c), _) => write!(f, "{c}"),
        (None, Some(name)) => write!(f, "%{name}.{}", v.0),
        (None, None) => write!(f, "%{}", v.0),
    }
}

fn typed_list(f: &mut fmt::Formatter<'_>, func: &Func, values: &[Value]) -> fmt::Result {
    for (k, v) in values.iter().enumerate() {
        if k > 0 {
            f.write_str(", ")?;
        }
        value(f, func, *v)?;
        write!(f, ": {}", func.ty(*v))?;
    }
    Ok(())
}

fn block(f: &mut fmt::Formatter<'_>, func: &Func, b: &Block, depth: usize) -> fmt::Result {
    b.insts.iter().try_for_each(|i| inst(f, func, i, depth))
}

fn nested(f: &mut fmt::Formatter<'_>, func: &Func, b: &Block, depth: usize) -> fmt::Result {
    f.write_str(" {\n")?;
    block(f, func, b, depth + 1)?;
    let pad = "  ".repeat(depth);
    let space = if b.yields.is_empty() { "" } else { " " };
    writeln!(f, "{pad}  yield{space}{}", Values(func, &b.yields))?;
    write!(f, "{pad}}}")
}

fn inst(f: &mut fmt::Formatter<'_>, func: &Func, i: &Inst, depth: usize) -> fmt::Result {
    f.write_str(&"  ".repeat(depth))?;
    if !i.results.is_empty() {
        write!(f, "{} = ", Values(func, &i.results))?;
    }
    let args = Values(func, &i.args);
    let types = || infer::list(&i.results.iter().map(|r| func.ty(*r)).collect::<Vec<_>>());
    match &i.op {
        Op::Prim(p) => write!(f, "{} {args}", p.name())?,
        Op::Dim(0) => write!(f, "len {args}")?,
        Op::Dim(axis) => write!(f, "dim[{axis}] {args}")?,
        Op::Array(op) => write!(f, "{}{} {args}", op.name(), op.attributes())?,
        Op::Tape => write!(f, "tape")?,
        Op::Load => write!(f, "load {args}")?,
        Op::Store => write!(f, "store {args}")?,
        Op::Fill => write!(f, "fill {args}")?,
        Op::Copy => write!(f, "copy {args}")?,
        Op::Push => write!(f, "push {args}")?,
        Op::Pop => write!(f, "pop {args} : {}", types())?,
        Op::Assert(message) => write!(f, "assert {args}, {message:?}")?,
        Op::Call(name) => write!(f, "call @{name}({args}) : {}", types())?,
        Op::Drive(name, phase) => {
            let phase = match phase {
                Phase::Forward => "forward",
                Phase::Reverse => "reverse",
            };
            write!(f, "drive @{name} {phase} ({args}) : {}", types())?;
        }
        Op::If => {
            write!(f, "if {args}")?;
            nested(f, func, &i.blocks[0], depth)?;
            f.write_str(" else")?;
            nested(f, func, &i.blocks[1], depth)?;
        }
        Op::ExitIf => {
            write!(f, "exit_if {args}")?;
            nested(f, func, &i.blocks[0], depth)?;
        }
        Op::For | Op::While => {
            let body = &i.blocks[0];
            let counter = Values(func, &body.params[..1]);
            let inits = if i.op == Op::For {
                let (lo, hi) = (Values(func, &i.args[..1]), Values(func, &i.args[1..2]));
                let mark = match body.numbering {
                    _ if body.parallel => "parallel ",
                    Numbering::FromStart => "",
                    Numbering::ByCounter => "counted ",
                    Numbering::Hidden => "hidden ",
                };
                write!(f, "{mark}for {counter} in {lo}..{hi}")?;
                &i.args[2..]
            } else {
                write!(f, "while {counter}")?;
                &i.args[..]
            };
            f.write_str(" carry (")?;
            for (k, (p, init)) in body.params[1..].iter().zip(inits).enumerate() {
                if k > 0 {
                    f.write_str(", ")?;
                }
                value(f, func, *p)?;
                f.write_str(" = ")?;
                value(f, func, *init)?;
            }
            f.write_str(")")?;
            nested(f, func, body, depth)?;
        }
    }
    f.write_char('\n')
}
