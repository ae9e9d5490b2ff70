//! Functions of numbers as Rust text, with the bits of the interpreter.
//!
//! One `let` per instruction, so that the text reads as the IR does; loops and branches are expressions.
//! Every row that [`crate::ops::value`] has a value for is printed as that value; the elementary functions
//! and the functions of the module are calls, by the names that [`Calls`] gives them.
//!
//! What is an error in the IR (overflow, a failed `assert`) panics in the text. `while` loops run for as long
//! as they take. Arrays, tapes and single precision cannot be printed: [`Unsupported`] says which
//! operation that was.

use crate::ir::{Block, Func, Inst, Op, Type, Value};
use crate::ops::{Prim, Scalar};
use std::fmt::Write;

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

    /// The path of a function of the IR.
    fn function(&self, name: &str) -> String {
        name.replace('.', "_")
    }
}

/// Every function by its own name, in the same place.
#[derive(Clone, Copy, Debug)]
pub struct Beside;

impl Calls for Beside {}

/// A function as Rust text. `opening` stands before the word `fn`: attributes and visibility.
///
/// The function has been verified. The text needs [`SUPPORT`] beside it.
pub fn function(func: &Func, opening: &str, calls: &dyn Calls) -> Result<String, Unsupported> {
    let mut printer = Printer { func, calls, text: String::new(), depth: 1 };
    let mut params = Vec::new();
    for p in func.params() {
        params.push(format!("{}: {}", printer.name(*p), printer.ty(func.ty(*p))?));
    }
    let mut results = Vec::new();
    for ty in &func.results {
        results.push(printer.ty(*ty)?.to_string());
    }
    printer.block(&func.body)?;
    printer.line(&printer.values(&func.body.yields));
    let (name, params) = (calls.function(&func.name), params.join(", "));
    Ok(format!("{opening}fn {name}({params}) -> {} {{\n{}}}\n", tuple(&results), printer.text))
}

struct Printer<'a> {
    func: &'a Func,
    calls: &'a dyn Calls,
    text: String,
    depth: usize,
}

/// One thing alone, several in parentheses.
fn tuple(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        _ => format!("({})", parts.join(", ")),
    }
}

impl Printer<'_> {
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

    fn ty(&self, ty: Type) -> Result<&'static str, Unsupported> {
        match ty {
            Type::F64 => Ok("f64"),
            Type::I64 => Ok("i64"),
            Type::Bool => Ok("bool"),
            Type::F32 | Type::Array(..) | Type::Tape => self.unsupported(ty.to_string()),
        }
    }

    /// The identifier of a value that is no constant: the number keeps names apart, and from keywords.
    fn name(&self, v: Value) -> String {
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

    /// The pattern that takes values; `mutable` where a loop sets them anew.
    fn pattern(&self, values: &[Value], mutable: bool) -> String {
        let mark = if mutable { "mut " } else { "" };
        let names: Vec<String> =
            values.iter().map(|v| format!("{mark}{}", self.name(*v))).collect();
        tuple(&names)
    }

    fn block(&mut self, block: &Block) -> Result<(), Unsupported> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    /// A block and, as its last line, what it hands on.
    fn nested(
        &mut self,
        block: &Block,
        last: impl Fn(String) -> String,
    ) -> Result<(), Unsupported> {
        self.depth += 1;
        self.block(block)?;
        self.line(&last(self.values(&block.yields)));
        self.depth -= 1;
        Ok(())
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), Unsupported> {
        let numbers = |v: &Value| self.ty(self.func.ty(*v)).is_ok();
        if !inst.args.iter().chain(&inst.results).all(numbers) {
            return self.unsupported(name_of(&inst.op));
        }
        let args: Vec<String> = inst.args.iter().map(|a| self.value(*a)).collect();
        let results = self.pattern(&inst.results, false);
        match &inst.op {
            Op::Prim(prim) => {
                let value = row(*prim, &args)
                    .unwrap_or_else(|| format!("{}({})", self.calls.row(*prim), args.join(", ")));
                self.line(&format!("let {results} = {value};"));
            }
            Op::Call(name) => {
                let path = self.calls.function(name);
                self.line(&format!("let {results} = {path}({});", args.join(", ")));
            }
            Op::Assert(message) => {
                self.line(&format!("assert!({}, \"{{}}\", {message:?});", args[0]));
            }
            Op::If => {
                self.line(&format!("let {results} = if {} {{", args[0]));
                self.nested(&inst.blocks[0], |values| values)?;
                self.line("} else {");
                self.nested(&inst.blocks[1], |values| values)?;
                self.line("};");
            }
            Op::ExitIf => {
                self.line(&format!("if {} {{", args[0]));
                self.nested(&inst.blocks[0], |values| format!("break {values};"))?;
                self.line("}");
            }
            Op::For => self.looping(inst, &args[0], Some(&args[1]), &args[2..])?,
            Op::While => self.looping(inst, "0_i64", None, &args)?,
            other => return self.unsupported(name_of(other)),
        }
        Ok(())
    }

    /// A loop, left with its carries where its range ends.
    fn looping(
        &mut self,
        inst: &Inst,
        start: &str,
        end: Option<&str>,
        first: &[String],
    ) -> Result<(), Unsupported> {
        let body = &inst.blocks[0];
        let (counter, carries) = (self.name(body.params[0]), &body.params[1..]);
        self.line(&format!("let {} = {{", self.pattern(&inst.results, false)));
        self.depth += 1;
        self.line(&format!("let mut {counter} = {start};"));
        self.line(&format!("let {} = {};", self.pattern(carries, true), tuple(first)));
        self.line("loop {");
        if let Some(end) = end {
            self.depth += 1;
            let left = self.pattern(carries, false);
            self.line(&format!("if {counter} >= {end} {{"));
            self.line(&format!("    break {left};"));
            self.line("}");
            self.depth -= 1;
        }
        let next = self.pattern(carries, false);
        self.nested(body, |values| {
            let mut step = String::new();
            if values != "()" {
                let _ = write!(step, "{next} = {values}; ");
            }
            step + &format!("{counter} = {counter}.wrapping_add(1);")
        })?;
        self.line("}");
        self.depth -= 1;
        self.line("};");
        Ok(())
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

/// A constant, with its type: nothing around it need say which. Negative ones are in parentheses.
fn literal(c: Scalar) -> String {
    match c {
        Scalar::F64(x) if x.is_nan() => "f64::NAN".into(),
        Scalar::F64(f64::INFINITY) => "f64::INFINITY".into(),
        Scalar::F64(f64::NEG_INFINITY) => "f64::NEG_INFINITY".into(),
        Scalar::F64(x) if x.is_sign_negative() => format!("({x:?}_f64)"),
        Scalar::F64(x) => format!("{x:?}_f64"),
        Scalar::I64(n) if (0..0x10000).contains(&n) => format!("{n}_i64"),
        Scalar::I64(n) if (-0x10000..0).contains(&n) => format!("({n}_i64)"),
        // Masks and patterns of bits.
        Scalar::I64(n) if n > 0 => format!("0x{n:x}_i64"),
        Scalar::I64(n) => format!("(0x{n:x}_u64 as i64)"),
        Scalar::Bool(b) => b.to_string(),
        Scalar::F32(x) => format!("{x:?}_f32"),
    }
}

/// The value of a row as an expression, as [`crate::ops::value`] defines it; `None` for elementary functions.
fn row(prim: Prim, x: &[String]) -> Option<String> {
    use Prim::*;
    let infix = |sign: &str| format!("{} {sign} {}", x[0], x[1]);
    let wrapping = |name: &str| format!("i64::wrapping_{name}({}, {})", x[0], x[1]);
    let fits = |call: String| format!("{call}.expect(\"an integer result does not fit 64 bits\")");
    let checked = |name: &str| fits(format!("i64::checked_{name}({}, {})", x[0], x[1]));
    let amount = || {
        let constant = x[1].strip_suffix("_i64").and_then(|n| n.parse::<u8>().ok());
        constant.map_or_else(|| format!("{} as u32", x[1]), |n| n.to_string())
    };
    Some(match prim {
        Add => infix("+"),
        Sub => infix("-"),
        Mul => infix("*"),
        Div => infix("/"),
        Fma => format!("f64::mul_add({}, {}, {})", x[0], x[1], x[2]),
        Neg => format!("-{}", x[0]),
        Abs => format!("f64::abs({})", x[0]),
        Min => format!("if {0} < {1} {{ {0} }} else {{ {1} }}", x[0], x[1]),
        Max => format!("if {1} < {0} {{ {0} }} else {{ {1} }}", x[0], x[1]),
        Floor => format!("f64::floor({})", x[0]),
        Round => format!("f64::round_ties_even({})", x[0]),
        Flush => {
            format!("if f64::abs({0}) < f64::MIN_POSITIVE {{ 0.0 }} else {{ {0} }}", x[0])
        }
        Sqrt => format!("f64::sqrt({})", x[0]),
        StopGradient => x[0].clone(),
        Lt | ILt => infix("<"),
        Le | ILe => infix("<="),
        Gt | IGt => infix(">"),
        Ge | IGe => infix(">="),
        Eq | IEq => infix("=="),
        Ne | INe => infix("!="),
        And => infix("&"),
        Or => infix("|"),
        Not => format!("!{}", x[0]),
        Select => format!("if {} {{ {} }} else {{ {} }}", x[0], x[1], x[2]),
        IAdd => checked("add"),
        ISub => checked("sub"),
        IMul => checked("mul"),
        INeg => fits(format!("i64::checked_neg({})", x[0])),
        IDiv => format!("floor_div({}, {})", x[0], x[1]),
        IMod => format!("floor_mod({}, {})", x[0], x[1]),
        IMin => format!("i64::min({}, {})", x[0], x[1]),
        IMax => format!("i64::max({}, {})", x[0], x[1]),
        WAdd => wrapping("add"),
        WSub => wrapping("sub"),
        WMul => wrapping("mul"),
        UMulH => format!("umulh({}, {})", x[0], x[1]),
        IAnd => infix("&"),
        IOr => infix("|"),
        IXor => infix("^"),
        // Amounts count modulo 64, to `wrapping_shl` as well.
        Shl => format!("i64::wrapping_shl({}, {})", x[0], amount()),
        Sar => format!("i64::wrapping_shr({}, {})", x[0], amount()),
        Shr => format!("u64::wrapping_shr({} as u64, {}) as i64", x[0], amount()),
        IToF => format!("{} as f64", x[0]),
        FToI => format!("{} as i64", x[0]),
        Bits => format!("bits({})", x[0]),
        FromBits => format!("f64::from_bits({} as u64)", x[0]),
        Demote => format!("{} as f32", x[0]),
        Promote => format!("f64::from({})", x[0]),
        Ceil | Trunc | Sign | CopySign | Relu | Clamp | Rem => return None,
        Exp | Log | Sin | Cos | Tanh | Cbrt | Exp2 | Expm1 | Log2 | Log10 | Log1p | Tan | Asin
        | Acos | Atan | Atan2 | Sinh | Cosh | Asinh | Acosh | Atanh | Pow | PowI | Hypot
        | LogAddExp | XLogY => return None,
        Erf | Erfc | NormCdf | NormInv | LGamma | PolyGamma | Sigmoid | Softplus => return None,
    })
}
