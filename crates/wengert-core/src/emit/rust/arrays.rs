//! Arrays and tapes as Rust text: moves, elements, kernels, records.

use super::{Printer, Unsupported, name_of};
use crate::ir::{Inst, Op, Type, Value};
use crate::ops::{ArrayOp, Check, Direction, Transposed};

impl Printer<'_> {
    /// An operation on arrays or a tape.
    pub(super) fn array(&mut self, inst: &Inst, args: &[String]) -> Result<(), Unsupported> {
        let path = self.path().to_string();
        let result = inst.results.first().map(|r| self.name(*r)).unwrap_or_default();
        if let Some(element) = self.unchecked_element(inst) {
            match &inst.op {
                Op::Load | Op::Array(ArrayOp::Peek) => {
                    self.line(&format!("let {result} = {element};"));
                }
                _ => {
                    self.line(&format!("{element} = {};", args[args.len() - 1]));
                    self.stays(inst.args[0], inst.results[0]);
                }
            }
            return Ok(());
        }
        match &inst.op {
            Op::Dim(axis) => self.line(&format!("let {result} = {}.dim({axis});", args[0])),
            Op::Copy => self.line(&format!("let mut {result} = {}.clone();", args[0])),
            Op::Tape => {
                let made = match self.has_driver() {
                    true => format!("if D::ALL {{ {path}Tape::new() }} else {{ driver.tape() }}"),
                    false => format!("{path}Tape::new()"),
                };
                self.line(&format!("let mut owned_{result} = {made};"));
                self.line(&format!("let {result} = &mut owned_{result};"));
            }
            Op::Load => {
                let at = args[1..].join(", ");
                let fault = self.out_of_range(inst, &args[0], &at);
                let get = format!("{}.get([{at}])", args[0]);
                self.line(&format!(
                    "let {result} = match {get} {{ Some(value) => value, None => {fault} }};"
                ));
            }
            Op::Store => {
                let (value, at) = (&args[args.len() - 1], args[1..args.len() - 1].join(", "));
                let array = &args[0];
                let fault = self.out_of_range(inst, array, &at);
                self.line(&format!("if !{array}.set([{at}], {value}) {{ {fault}; }}"));
                self.stays(inst.args[0], inst.results[0]);
            }
            Op::Fill => {
                let (value, dims) = (&args[args.len() - 1], args[..args.len() - 1].join(", "));
                let made = self.kernel(inst, &format!("{path}fill([{dims}], {value})"));
                self.line(&format!("let mut {result} = {made};"));
            }
            Op::Push => self.push(inst, args),
            Op::Pop => self.pop(inst, args)?,
            Op::Array(op) => self.operation(op, inst, args)?,
            other => return self.unsupported(name_of(other)),
        }
        Ok(())
    }

    /// The element that an instruction reads or writes, where it needs no check.
    fn unchecked_element(&self, inst: &Inst) -> Option<String> {
        self.unchecked.as_ref()?.elements.get(inst.results.first()?).cloned()
    }

    /// The user's name of the array an instruction works on, as a literal.
    fn array_name(&self, inst: &Inst) -> String {
        let name = inst.args.first().and_then(|a| self.func.name_of(*a));
        format!("{:?}", name.as_deref().unwrap_or(""))
    }

    fn out_of_range(&self, inst: &Inst, array: &str, at: &str) -> String {
        let name = self.array_name(inst);
        // A copy: nothing is to know where the array itself is.
        self.fault(&format!("range(&{{ *{array}.dims() }}, &[{at}], {name}"), inst.span)
    }

    /// What a kernel gives, or its fault.
    fn kernel(&self, inst: &Inst, call: &str) -> String {
        let fault = self.fault(&format!("trapped(kind, {}", self.array_name(inst)), inst.span);
        format!("match {call} {{ Ok(value) => value, Err(kind) => {fault} }}")
    }

    /// Values as operands of a kernel.
    fn operands(&self, values: &[Value]) -> String {
        let path = self.path();
        let operand = |v: &Value| match self.func.ty(*v) {
            Type::Array(..) => format!("{}.operand()", self.value(*v)),
            _ => format!("{path}scalar({})", self.value(*v)),
        };
        values.iter().map(operand).collect::<Vec<_>>().join(", ")
    }

    fn operation(&mut self, op: &ArrayOp, inst: &Inst, args: &[String]) -> Result<(), Unsupported> {
        let path = self.path().to_string();
        let result = inst.results.first().map(|r| self.name(*r)).unwrap_or_default();
        let first = self.func.ty(inst.args[0]);
        let text = row(op, &path);
        match op {
            // Elements by their number in row-major order: what loops over all elements do.
            ArrayOp::Peek => {
                let call = format!("{}.peek({})", args[0], args[1]);
                let value = self.kernel(inst, &call);
                self.line(&format!("let {result} = {value};"));
            }
            ArrayOp::Poke => {
                let call = format!("{}.poke({}, {})", args[0], args[1], args[2]);
                let done = self.kernel(inst, &call);
                self.line(&format!("{done};"));
                self.stays(inst.args[0], inst.results[0]);
            }
            ArrayOp::Sum(None) if first.is_float() => {
                self.line(&format!("let {result} = {path}sum(&{});", args[0]));
            }
            ArrayOp::Dot => {
                let call = format!("{path}dot(&{}, &{})", args[0], args[1]);
                let value = self.kernel(inst, &call);
                self.line(&format!("let {result} = {value};"));
            }
            ArrayOp::Conform(check) => {
                let Some(fits) = self.fits(check, inst, args) else { return Ok(()) };
                let call = format!("{path}nothing(&{text}, &[{}])", self.operands(&inst.args));
                let done = self.kernel(inst, &call);
                self.line(&format!("if !({fits}) {{ {done}; }}"));
            }
            ArrayOp::Refill => {
                self.line(&format!("{}.data_mut().fill({});", args[0], args[1]));
                self.stays(inst.args[0], inst.results[0]);
            }
            // What nothing else needs is moved.
            ArrayOp::Reshape if self.passing.contains(&inst.args[0]) => {
                let made = format!("{}.reshaped([{}])", args[0], args[1..].join(", "));
                let made = self.kernel(inst, &made);
                self.line(&format!("let mut {result} = {made};"));
            }
            ArrayOp::Slice => {
                let slice = triples(&args[1..]);
                let otherwise = format!("{path}compute(&{text}, &[{}])", self.operands(&inst.args));
                let made = self.kernel(inst, &otherwise);
                let ty = self.ty(self.func.ty(inst.results[0]))?;
                self.line(&format!(
                    "let mut {result}: {ty} = match {}.piece({slice}) {{ Some(piece) => piece, None => {made} }};",
                    args[0]
                ));
            }
            op if op.in_place() => {
                let others = self.operands(&inst.args[1..]);
                let call = format!("{path}update(&{text}, &mut {}, &[{others}])", args[0]);
                let done = self.kernel(inst, &call);
                self.line(&format!("{done};"));
                self.stays(inst.args[0], inst.results[0]);
            }
            _ => {
                let call = format!("{path}compute(&{text}, &[{}])", self.operands(&inst.args));
                let made = self.kernel(inst, &call);
                let ty = self.ty(self.func.ty(inst.results[0]))?;
                let mark = if self.func.ty(inst.results[0]).is_array() { "mut " } else { "" };
                self.line(&format!("let {mark}{result}: {ty} = {made};"));
            }
        }
        Ok(())
    }

    /// That the operands of a check are as they should be, in a way that is fast and may say no where the check does not; none where the
    /// types say it.
    fn fits(&self, check: &Check, inst: &Inst, args: &[String]) -> Option<String> {
        let arrays = || inst.args.iter().zip(args).filter(|(v, _)| self.func.ty(**v).is_array());
        let dims = |k: usize, axis: usize| format!("{}.dim({axis})", args[k]);
        let rank = |k: usize| self.func.ty(inst.args[k]).rank();
        let all = match check {
            Check::Row(_) if arrays().next().is_none() => {
                let (one, other) = args.split_at(args.len() / 2);
                one.iter().zip(other).map(|(a, b)| format!("{a} == {b}")).collect::<Vec<_>>()
            }
            Check::Row(_) => {
                let mut arrays = arrays().map(|(_, name)| name);
                let first = arrays.next()?;
                arrays.map(|other| format!("{first}.dims() == {other}.dims()")).collect()
            }
            Check::Gemm => {
                // Operand and axis, twice: those that are as long as each other.
                let same: &[[usize; 4]] = match [0, 1, 2].map(rank) {
                    [2, 2, 2] => &[[0, 0, 1, 0], [0, 1, 2, 1], [1, 1, 2, 0]],
                    [1, 2, 1] => &[[0, 0, 1, 0], [1, 1, 2, 0]],
                    // A column times a row.
                    _ => &[[0, 0, 1, 0], [0, 1, 2, 0]],
                };
                let equal =
                    |[a, i, b, j]: &[usize; 4]| format!("{} == {}", dims(*a, *i), dims(*b, *j));
                same.iter().map(equal).collect()
            }
            Check::Slice => {
                let path = self.path();
                vec![format!("{path}has_slice({}.dims(), {})", args[0], triples(&args[1..]))]
            }
            Check::Expand => vec![format!("{} >= 0", args[1])],
        };
        (!all.is_empty()).then(|| all.join(" && "))
    }

    /// Where the record that an instruction pushes or pops stands, where that is known.
    fn own_record(&self, inst: &Inst) -> Option<String> {
        let (tape, place) = self.unchecked.as_ref()?.record.as_ref()?;
        inst.results.contains(tape).then(|| place.clone())
    }

    /// A record: numbers as words, arrays beside them.
    fn push(&mut self, inst: &Inst, args: &[String]) {
        let path = self.path().to_string();
        self.stays(inst.args[0], inst.results[0]);
        let tape = &args[0];
        let fields = || inst.args.iter().zip(args).skip(1);
        let fault = self.fault(&format!("no_room({tape}.bytes()"), inst.span);
        let mut words = Vec::new();
        for (v, arg) in fields() {
            if self.func.ty(*v).is_array() {
                self.line(&format!("if !{tape}.keep({arg}) {{ {fault}; }}"));
            } else {
                words.push(format!("{path}Word::word({arg})"));
            }
        }
        let words = words.join(", ");
        if let Some(place) = self.own_record(inst) {
            self.line(&format!("{place} = [{words}];"));
        } else if !words.is_empty() {
            self.line(&format!("if !{tape}.push([{words}]) {{ {fault}; }}"));
        }
    }

    /// The last record, its arrays from the last to the first.
    fn pop(&mut self, inst: &Inst, args: &[String]) -> Result<(), Unsupported> {
        let path = self.path().to_string();
        self.stays(inst.args[0], inst.results[0]);
        let tape = &args[0];
        let fault = self.fault(&format!("at({path}FaultKind::Record"), inst.span);
        let (arrays, numbers): (Vec<Value>, Vec<Value>) =
            inst.results[1..].iter().partition(|v| self.func.ty(**v).is_array());
        if !numbers.is_empty() {
            let words: Vec<String> = numbers.iter().map(|v| format!("word_{}", v.0)).collect();
            let all = words.join(", ");
            self.line(&match self.own_record(inst) {
                Some(place) => format!("let [{all}] = {place};"),
                None => format!("let Some([{all}]) = {tape}.pop() else {{ {fault} }};"),
            });
            for (v, word) in numbers.iter().zip(&words) {
                let (name, ty) = (self.name(*v), self.ty(self.func.ty(*v))?);
                self.line(&format!("let {name} = <{ty} as {path}Word>::number({word});"));
            }
        }
        for v in arrays.iter().rev() {
            let (name, ty) = (self.name(*v), self.ty(self.func.ty(*v))?);
            self.line(&format!("let mut {name}: {ty} = match {tape}.give() {{ Some(value) => value, None => {fault} }};"));
        }
        Ok(())
    }
}

/// Start, count and step of each axis as an expression.
fn triples(args: &[String]) -> String {
    let axes: Vec<String> = args.chunks(3).map(|axis| format!("[{}]", axis.join(", "))).collect();
    format!("[{}]", axes.join(", "))
}

/// A row of the table of array operations as an expression.
fn row(op: &ArrayOp, path: &str) -> String {
    let transposed = |t: &Transposed| match t {
        Transposed::Yes => format!("{path}Transposed::Yes"),
        Transposed::No => format!("{path}Transposed::No"),
    };
    let fields = match op {
        ArrayOp::Transpose(axes) => {
            let axes: Vec<String> = axes.iter().map(|axis| format!("{axis}_u8")).collect();
            format!("Transpose([{}].into())", axes.join(", "))
        }
        ArrayOp::Expand(axis) => format!("Expand({axis})"),
        ArrayOp::Sum(axis) => format!("Sum({axis:?})"),
        ArrayOp::CumSum(axis, direction) => {
            let direction = match direction {
                Direction::Forward => "Forward",
                Direction::Backward => "Backward",
            };
            format!("CumSum({axis}, {path}Direction::{direction})")
        }
        ArrayOp::Gemm(a, b) => format!("Gemm({}, {})", transposed(a), transposed(b)),
        ArrayOp::Conform(check) => {
            let check = match check {
                Check::Row(row) => format!("Row({path}Prim::{row:?})"),
                other => format!("{other:?}"),
            };
            format!("Conform({path}Check::{check})")
        }
        // The others have no fields, and are called as they are written.
        other => format!("{other:?}"),
    };
    format!("{path}ArrayOp::{fields}")
}
