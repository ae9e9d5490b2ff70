//! The C text of a program.
//!
//! What is printed is what `jit` makes of a program before machine code is generated: blocks with
//! parameters, one operation per value. Every decision (which checks are needed, what a fault reports, when the
//! interrupt flag is looked at, who frees an array) has been taken there, for both backends alike. Here each
//! operation becomes a statement, blocks become labels and their parameters variables.
//!
//! Numbers have the bits the interpreter defines: integers are unsigned and wrap, what must not wrap is checked
//! by the code itself, floats are written in hexadecimal, and nothing is left to the compiler's libraries but
//! what is exact.
//!
//! Each kind of memory is accessed by types of its own, so that a compiler knows that a store to the
//! tape changes no array: elements as `double`, `float`, `long` and `_Bool`, tapes as `unsigned long long`, the
//! context as `void *`. Frames are read and written by types that may alias any.

use super::prelude::double;
use super::vectors;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, F64X8, I8, I32, I64, I64X8};
use cranelift_codegen::ir::{
    AtomicRmwOp, BlockCall, Function, Inst, InstructionData, MemFlags, Opcode, Signature, Type,
    Value, ValueDef,
};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::fmt::Write;

/// What a name in the code refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    /// A function of the runtime, by its place in the table handed over when code is loaded.
    Hook(usize),
    /// A function of the program.
    Own,
}

/// Kinds of memory, numbered as `Regions` in `jit` numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    Array,
    Tape,
    Context,
    Frame,
}

/// The text of one program, while it grows.
#[derive(Debug)]
pub(crate) struct Printer {
    /// What tells its names from those of other programs in the same text.
    prefix: String,
    callees: HashMap<u32, Callee>,
    declarations: String,
    definitions: String,
}

/// An operation that is not printed: the code generator has learnt something this module has not.
#[derive(Debug)]
pub(crate) struct Unknown(pub(crate) String);

impl Printer {
    /// Nothing yet.
    pub(crate) fn new(prefix: &str) -> Printer {
        Printer {
            prefix: prefix.into(),
            callees: HashMap::default(),
            declarations: String::new(),
            definitions: String::new(),
        }
    }

    /// A function that code may call, by the number it is declared with.
    pub(crate) fn declare(&mut self, id: u32, callee: Callee) {
        self.callees.insert(id, callee);
    }

    /// The name of a function of the program.
    pub(crate) fn name(&self, id: u32) -> String {
        format!("{}f{id}", self.prefix)
    }

    /// The whole text, without the prelude.
    pub(crate) fn finish(self) -> String {
        self.declarations + &self.definitions
    }

    /// Prints a function.
    pub(crate) fn function(
        &mut self,
        id: u32,
        title: &str,
        func: &Function,
    ) -> Result<(), Unknown> {
        let often = used_often(func);
        let mut body = Body { printer: self, func, often, out: String::new() };
        body.print()?;
        let out = body.out;
        let params: Vec<Value> =
            func.layout.entry_block().map_or(&[][..], |b| func.dfg.block_params(b)).to_vec();
        let mut names = params.iter().map(|p| p.to_string());
        let named = head(&self.name(id), &func.signature, &mut names);
        let _ = writeln!(self.declarations, "{named};");
        let title = title.replace("*/", "* /");
        let _ = write!(self.definitions, "\n/* {title} */\n{named} {{\n{out}}}\n");
        Ok(())
    }
}

/// `(parameters.., where results go..) -> status`.
fn head(name: &str, signature: &Signature, names: &mut dyn Iterator<Item = String>) -> String {
    let mut params: Vec<String> = signature
        .params
        .iter()
        .map(|p| format!("{} {}", ctype(p.value_type), names.next().unwrap_or_default()))
        .collect();
    let results = signature.returns.iter().skip(1).enumerate();
    params.extend(results.map(|(k, r)| format!("{} *r{k}", ctype(r.value_type))));
    let first = signature.returns.first().map_or("void", |r| ctype(r.value_type));
    format!("static {first} {name}({})", params.join(", "))
}

pub(super) fn ctype(ty: Type) -> &'static str {
    match ty {
        I8 => "u8",
        I32 => "u32",
        I64 => "u64",
        F32 => "float",
        F64X8 => "v8d",
        I64X8 => "v8u",
        _ => "double",
    }
}

pub(super) struct Body<'a> {
    printer: &'a Printer,
    pub(super) func: &'a Function,
    /// Values that are used more than once.
    often: HashSet<Value>,
    out: String,
}

/// The values of a function that are used more than once.
fn used_often(func: &Function) -> HashSet<Value> {
    let (mut once, mut often) = (HashSet::default(), HashSet::default());
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            for v in func.dfg.inst_values(inst).map(|v| func.dfg.resolve_aliases(v)) {
                if !once.insert(v) {
                    often.insert(v);
                }
            }
        }
    }
    often
}

impl Body<'_> {
    fn print(&mut self) -> Result<(), Unknown> {
        self.declare_values();
        let func = self.func;
        for block in func.layout.blocks() {
            if func.layout.entry_block() != Some(block) {
                let _ = writeln!(self.out, "{block}:;");
            }
            for inst in func.layout.block_insts(block) {
                self.inst(inst)?;
            }
        }
        Ok(())
    }

    /// Every value is a variable, but constants.
    fn declare_values(&mut self) {
        let (dfg, layout) = (&self.func.dfg, &self.func.layout);
        let mut by_type: Vec<(Type, Vec<String>)> = Vec::new();
        let mut add = |v: Value| {
            let ty = dfg.value_type(v);
            match by_type.iter_mut().find(|(t, _)| *t == ty) {
                Some((_, names)) => names.push(v.to_string()),
                None => by_type.push((ty, vec![v.to_string()])),
            }
        };
        for block in layout.blocks() {
            if layout.entry_block() != Some(block) {
                dfg.block_params(block).iter().copied().for_each(&mut add);
            }
            for inst in layout.block_insts(block) {
                if !is_constant(&dfg.insts[inst]) && !vectors::is_part(&dfg.insts[inst]) {
                    dfg.inst_results(inst).iter().copied().for_each(&mut add);
                }
            }
        }
        for (ty, names) in by_type {
            for part in names.chunks(16) {
                let _ = writeln!(self.out, "  {} {};", ctype(ty), part.join(", "));
            }
        }
        for (slot, data) in self.func.sized_stack_slots.iter() {
            let _ = writeln!(self.out, "  u64 {slot}[{}];", data.size.div_ceil(8));
        }
    }

    /// A value where it is used.
    pub(super) fn value(&self, v: Value) -> String {
        let v = self.func.dfg.resolve_aliases(v);
        self.constant(v).unwrap_or_else(|| v.to_string())
    }

    fn constant(&self, v: Value) -> Option<String> {
        let dfg = &self.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(v) else { return None };
        Some(match dfg.insts[inst] {
            InstructionData::UnaryImm { imm, .. } => match dfg.value_type(v) {
                I8 => format!("(u8){}", imm.bits() as u8),
                I32 => format!("{}u", imm.bits() as u32),
                _ => format!("{}ull", imm.bits() as u64),
            },
            InstructionData::UnaryIeee64 { imm, .. } => {
                let x = f64::from_bits(imm.bits());
                if x == 0.0 && x.is_sign_negative() {
                    "minus_zero()".into()
                } else {
                    format!("({})", double(x))
                }
            }
            InstructionData::UnaryIeee32 { imm, .. } => {
                let x = f32::from_bits(imm.bits());
                if x == 0.0 && x.is_sign_negative() {
                    "(float)minus_zero()".into()
                } else if x.is_finite() {
                    format!("({}f)", double(f64::from(x)))
                } else {
                    format!("real32(0x{:x}u)", imm.bits())
                }
            }
            _ => return None,
        })
    }

    /// The same as a signed number.
    fn signed(&self, v: Value) -> String {
        format!("(i64){}", self.value(v))
    }

    fn region(&self, flags: MemFlags) -> Region {
        let dfg = &self.func.dfg;
        let region = dfg.mem_flags[flags].alias_region();
        let number = region.and_then(|wanted| {
            dfg.alias_regions.iter().find(|(r, _)| *r == wanted).map(|(_, data)| data.user_id)
        });
        match number {
            Some(0) => Region::Array,
            Some(1) => Region::Tape,
            Some(2) => Region::Context,
            _ => Region::Frame,
        }
    }

    /// An element of an array as its address and the index it was computed from.
    fn element(&self, address: Value, ty: Type) -> Option<(Value, Value)> {
        let dfg = &self.func.dfg;
        let operands = |v: Value, wanted: Opcode| match dfg.value_def(dfg.resolve_aliases(v)) {
            ValueDef::Result(inst, _) => match dfg.insts[inst] {
                InstructionData::Binary { opcode, args } if opcode == wanted => Some(args),
                _ => None,
            },
            _ => None,
        };
        let [base, offset] = operands(address, Opcode::Iadd)?;
        if ty == I8 {
            return Some((base, offset));
        }
        let [at, shift] = operands(offset, Opcode::Ishl)?;
        let wanted = if ty == F32 { "2ull" } else { "3ull" };
        (self.value(shift) == wanted).then_some((base, at))
    }

    /// The memory at an address, as something to read or assign to; the second is what turns the bits read
    /// into the value, the third the other way round.
    fn place(
        &self,
        flags: MemFlags,
        address: Value,
        offset: i32,
        ty: Type,
    ) -> (String, &'static str, &'static str) {
        let region = self.region(flags);
        let (cell, read, write) = match (region, ty) {
            (Region::Array, F64X8) => ("v8d_at", "", ""),
            (Region::Tape, F64X8) => ("v8u_at", "(v8d)", "(v8u)"),
            (Region::Tape, I64X8) => ("v8u_at", "", ""),
            (Region::Array, F64) => ("double", "", ""),
            (Region::Array, F32) => ("float", "", ""),
            (Region::Array, I64) => ("long", "(u64)", "(long)"),
            (Region::Array, _) => ("_Bool", "(u8)", "(_Bool)"),
            (Region::Tape, F64) => ("u64", "real", "bits"),
            (Region::Tape, F32) => ("u32", "real32", "bits32"),
            (Region::Tape, ty) => (ctype(ty), "", ""),
            (Region::Context, _) => ("void *", "(u64)", "(void *)"),
            (Region::Frame, F64) => ("frame_double", "", ""),
            (Region::Frame, F32) => ("frame_float", "", ""),
            (Region::Frame, I8) => ("frame_u8", "", ""),
            (Region::Frame, I32) => ("frame_u32", "", ""),
            (Region::Frame, _) => ("frame_u64", "", ""),
        };
        if region == Region::Array
            && offset == 0
            && !ty.is_vector()
            && let Some((base, at)) = self.element(address, ty)
        {
            return (format!("(({cell} *){})[{}]", self.value(base), self.signed(at)), read, write);
        }
        let at = match offset {
            0 => self.value(address),
            _ => format!("({} + {}ull)", self.value(address), i64::from(offset) as u64),
        };
        (format!("*({cell} *){at}"), read, write)
    }

    fn inst(&mut self, inst: Inst) -> Result<(), Unknown> {
        let (func, dfg) = (self.func, &self.func.dfg);
        let data = &dfg.insts[inst];
        if is_constant(data) || vectors::is_part(data) {
            return Ok(());
        }
        match *data {
            InstructionData::Jump { destination, .. } => {
                let jump = self.jump(&destination);
                let _ = writeln!(self.out, "  {jump}");
            }
            InstructionData::Brif { arg, blocks, .. } => {
                let [then, otherwise] = [0, 1].map(|k: usize| blocks[k].block(&dfg.value_lists));
                let cold = [then, otherwise].map(|b| func.layout.is_cold(b));
                let condition = match cold {
                    [true, false] => format!("__builtin_expect({} != 0, 0)", self.value(arg)),
                    [false, true] => format!("__builtin_expect({} != 0, 1)", self.value(arg)),
                    _ => self.value(arg),
                };
                let [then, otherwise] = [0, 1].map(|k: usize| self.jump(&blocks[k]));
                let _ = writeln!(self.out, "  if ({condition}) {then}\n  else {otherwise}");
            }
            InstructionData::MultiAry { opcode: Opcode::Return, args } => {
                let args = args.as_slice(&dfg.value_lists);
                for (k, arg) in args.iter().skip(1).enumerate() {
                    let value = self.value(*arg);
                    let _ = writeln!(self.out, "  *r{k} = {value};");
                }
                let status = args.first().map(|v| self.value(*v)).unwrap_or_default();
                let _ = writeln!(self.out, "  return {status};");
            }
            InstructionData::Store { args: [value, address], flags, offset, .. } => {
                let ty = dfg.value_type(value);
                let (place, _, write) = self.place(flags, address, offset.into(), ty);
                let value = self.value(value);
                let _ = writeln!(self.out, "  {place} = {write}({value});");
            }
            // A place that compilers leave where it is.
            InstructionData::NullAry { opcode: Opcode::Nop } => {
                let _ = writeln!(self.out, "  __asm__ volatile (\"\");");
            }
            InstructionData::Call { func_ref, args, .. } => {
                let args = args.as_slice(&dfg.value_lists).to_vec();
                self.call(inst, func_ref, &args)?;
            }
            InstructionData::Binary { opcode, args } if dfg.inst_results(inst).len() == 2 => {
                let results = dfg.inst_results(inst);
                let (builtin, number) = match opcode {
                    Opcode::SaddOverflow => ("add", "i64"),
                    Opcode::SsubOverflow => ("sub", "i64"),
                    Opcode::SmulOverflow => ("mul", "i64"),
                    Opcode::UmulOverflow => ("mul", "u64"),
                    other => return Err(Unknown(other.to_string())),
                };
                let [x, y] = args.map(|v| self.value(v));
                let [r, o] = [results[0], results[1]];
                let _ = writeln!(
                    self.out,
                    "  {{ {number} t; {o} = __builtin_{builtin}_overflow(({number}){x}, ({number}){y}, &t); {r} = (u64)t; }}"
                );
            }
            _ => {
                let result = dfg.inst_results(inst)[0];
                let expression = self.expression(data, result)?;
                let _ = writeln!(self.out, "  {result} = {expression};");
                // GCC would rather load a vector again than keep it.
                let loaded = matches!(data, InstructionData::Load { .. });
                if loaded && dfg.value_type(result) == F64X8 && self.often.contains(&result) {
                    let _ = writeln!(self.out, "  KEEP({result});");
                }
            }
        }
        Ok(())
    }

    /// What a value that is the only result of an operation is.
    fn expression(&self, data: &InstructionData, result: Value) -> Result<String, Unknown> {
        let dfg = &self.func.dfg;
        let opcode = data.opcode();
        let ty = dfg.value_type(result);
        let unknown = || Err(Unknown(opcode.to_string()));
        if let Some(expression) = self.vector(data, result) {
            return expression;
        }
        Ok(match *data {
            InstructionData::Unary { arg, .. } => {
                let x = self.value(arg);
                let f = if ty == F32 { "f" } else { "" };
                match opcode {
                    Opcode::Fneg => format!("-{x}"),
                    Opcode::Fabs => format!("__builtin_fabs{f}({x})"),
                    Opcode::Floor => format!("__builtin_floor{f}({x})"),
                    Opcode::Nearest => format!("__builtin_nearbyint{f}({x})"),
                    Opcode::Sqrt => format!("__builtin_sqrt{f}({x})"),
                    Opcode::Fdemote | Opcode::Fpromote | Opcode::Uextend | Opcode::Ireduce => {
                        format!("({}){x}", ctype(ty))
                    }
                    Opcode::FcvtFromSint => format!("({}){}", ctype(ty), self.signed(arg)),
                    Opcode::FcvtToSintSat => format!("whole({x})"),
                    Opcode::Ineg => format!("0ull - {x}"),
                    _ => return unknown(),
                }
            }
            InstructionData::Binary { args, .. } => self.binary(opcode, args)?,
            InstructionData::Ternary { args, .. } => {
                let [x, y, z] = args.map(|v| self.value(v));
                match opcode {
                    Opcode::Fma if ty == F32 => format!("__builtin_fmaf({x}, {y}, {z})"),
                    Opcode::Fma => format!("__builtin_fma({x}, {y}, {z})"),
                    Opcode::Select => format!("{x} ? {y} : {z}"),
                    _ => return unknown(),
                }
            }
            InstructionData::IntCompare { args, cond, .. } => {
                let (sign, word) = match cond {
                    IntCC::Equal => (false, "=="),
                    IntCC::NotEqual => (false, "!="),
                    IntCC::SignedLessThan => (true, "<"),
                    IntCC::SignedLessThanOrEqual => (true, "<="),
                    IntCC::SignedGreaterThan => (true, ">"),
                    IntCC::SignedGreaterThanOrEqual => (true, ">="),
                    IntCC::UnsignedLessThan => (false, "<"),
                    IntCC::UnsignedLessThanOrEqual => (false, "<="),
                    IntCC::UnsignedGreaterThan => (false, ">"),
                    IntCC::UnsignedGreaterThanOrEqual => (false, ">="),
                };
                let [x, y] = args.map(|v| if sign { self.signed(v) } else { self.value(v) });
                format!("{x} {word} {y}")
            }
            InstructionData::FloatCompare { args, cond, .. } => {
                let [x, y] = args.map(|v| self.value(v));
                match cond {
                    FloatCC::LessThan => format!("{x} < {y}"),
                    FloatCC::LessThanOrEqual => format!("{x} <= {y}"),
                    FloatCC::GreaterThan => format!("{x} > {y}"),
                    FloatCC::GreaterThanOrEqual => format!("{x} >= {y}"),
                    FloatCC::Equal => format!("{x} == {y}"),
                    FloatCC::NotEqual => format!("{x} != {y}"),
                    FloatCC::Unordered => format!("__builtin_isunordered({x}, {y})"),
                    _ => return unknown(),
                }
            }
            InstructionData::Load { arg, flags, offset, .. } => {
                let (place, read, _) = self.place(flags, arg, offset.into(), ty);
                format!("{read}({place})")
            }
            InstructionData::LoadNoOffset { arg, .. } => {
                let x = self.value(arg);
                match (opcode, dfg.value_type(arg), ty) {
                    (Opcode::Bitcast, F64, I64) => format!("bits({x})"),
                    (Opcode::Bitcast, I64, F64) => format!("real({x})"),
                    (Opcode::Bitcast, F32, I32) => format!("bits32({x})"),
                    (Opcode::Bitcast, I32, F32) => format!("real32({x})"),
                    // A flag that another thread sets; nothing else is read because of it.
                    (Opcode::AtomicLoad, _, I8) => {
                        format!("__atomic_load_n((u8 *){x}, __ATOMIC_RELAXED)")
                    }
                    _ => return unknown(),
                }
            }
            // Room that threads share; nothing else is read because of it.
            InstructionData::AtomicRmw { op: AtomicRmwOp::Add, args, .. } if ty == I64 => {
                let [x, y] = args.map(|v| self.value(v));
                format!("__atomic_fetch_add((u64 *){x}, {y}, __ATOMIC_RELAXED)")
            }
            InstructionData::StackAddr { stack_slot, offset, .. } => {
                format!("(u64){stack_slot} + {}ull", i32::from(offset))
            }
            _ => return unknown(),
        })
    }

    fn binary(&self, opcode: Opcode, args: [Value; 2]) -> Result<String, Unknown> {
        let [x, y] = args.map(|v| self.value(v));
        let [sx, sy] = args.map(|v| self.signed(v));
        Ok(match opcode {
            Opcode::Fadd | Opcode::Iadd => format!("{x} + {y}"),
            Opcode::Fsub | Opcode::Isub => format!("{x} - {y}"),
            Opcode::Fmul | Opcode::Imul => format!("{x} * {y}"),
            Opcode::Fdiv | Opcode::Udiv => format!("{x} / {y}"),
            Opcode::Band => format!("{x} & {y}"),
            Opcode::Bor => format!("{x} | {y}"),
            Opcode::Bxor => format!("{x} ^ {y}"),
            Opcode::Smin => format!("{sx} < {sy} ? {x} : {y}"),
            Opcode::Smax => format!("{sx} > {sy} ? {x} : {y}"),
            Opcode::Umin => format!("{x} < {y} ? {x} : {y}"),
            Opcode::Umax => format!("{x} > {y} ? {x} : {y}"),
            // Shifts take the last bits of their second operand.
            Opcode::Ishl => format!("{x} << ({y} & {})", self.last_bit(args[0])),
            Opcode::Ushr => format!("{x} >> ({y} & {})", self.last_bit(args[0])),
            Opcode::Sshr => format!("(u64)(({sx}) >> ({y} & 63))"),
            Opcode::Umulhi => format!("(u64)(((unsigned __int128){x} * {y}) >> 64)"),
            // The code has seen to it that the quotient fits.
            Opcode::Sdiv => format!("(u64)(({sx}) / ({sy}))"),
            Opcode::Srem => format!("({sy}) == -1 ? 0 : (u64)(({sx}) % ({sy}))"),
            other => return Err(Unknown(other.to_string())),
        })
    }

    fn last_bit(&self, v: Value) -> u32 {
        self.func.dfg.value_type(v).bits() - 1
    }

    /// Goes to a block with values for its parameters.
    fn jump(&self, to: &BlockCall) -> String {
        let dfg = &self.func.dfg;
        let block = to.block(&dfg.value_lists);
        let params = dfg.block_params(block);
        let args: Vec<Value> = to
            .args(&dfg.value_lists)
            .filter_map(|a| a.as_value())
            .map(|v| dfg.resolve_aliases(v))
            .collect();
        let moves: Vec<(&Value, &Value)> =
            params.iter().zip(&args).filter(|(p, a)| p != a).collect();
        // Together: one may need what another overwrites.
        let apart = moves.iter().any(|(_, a)| moves.iter().any(|(p, _)| p == a));
        let mut out = String::from("{ ");
        if apart {
            for (k, (p, a)) in moves.iter().enumerate() {
                let ty = ctype(dfg.value_type(**p));
                let _ = write!(out, "{ty} t{k} = {}; ", self.value(**a));
            }
            for (k, (p, _)) in moves.iter().enumerate() {
                let _ = write!(out, "{p} = t{k}; ");
            }
        } else {
            for (p, a) in moves {
                let _ = write!(out, "{p} = {}; ", self.value(*a));
            }
        }
        let _ = write!(out, "goto {block}; }}");
        out
    }

    fn call(
        &mut self,
        inst: Inst,
        func_ref: cranelift_codegen::ir::FuncRef,
        args: &[Value],
    ) -> Result<(), Unknown> {
        let dfg = &self.func.dfg;
        let external = &dfg.ext_funcs[func_ref];
        let signature = &dfg.signatures[external.signature];
        let number = match &external.name {
            cranelift_codegen::ir::ExternalName::User(name) => {
                self.func.params.user_named_funcs()[*name].index
            }
            other => return Err(Unknown(format!("a call of {other:?}"))),
        };
        let mut args: Vec<String> = args.iter().map(|a| self.value(*a)).collect();
        let results = dfg.inst_results(inst).to_vec();
        let callee = match self.printer.callees.get(&number) {
            Some(Callee::Own) => self.printer.name(number),
            Some(Callee::Hook(k)) => {
                let types: Vec<&str> =
                    signature.params.iter().map(|p| ctype(p.value_type)).collect();
                let back = signature.returns.first().map_or("void", |r| ctype(r.value_type));
                format!("(({back} (*)({}))H[{k}])", types.join(", "))
            }
            None => return Err(Unknown(format!("a call of function {number}"))),
        };
        let _ = write!(self.out, "  {{ ");
        let others = results.iter().skip(1).enumerate();
        for (k, r) in others.clone() {
            let _ = write!(self.out, "{} t{k}; ", ctype(dfg.value_type(*r)));
            args.push(format!("&t{k}"));
        }
        if let Some(first) = results.first() {
            let _ = write!(self.out, "{first} = ");
        }
        let _ = write!(self.out, "{callee}({}); ", args.join(", "));
        for (k, r) in others {
            let _ = write!(self.out, "{r} = t{k}; ");
        }
        let _ = writeln!(self.out, "}}");
        Ok(())
    }
}

/// Constants are printed where they are used.
fn is_constant(data: &InstructionData) -> bool {
    matches!(
        data,
        InstructionData::UnaryImm { .. }
            | InstructionData::UnaryIeee32 { .. }
            | InstructionData::UnaryIeee64 { .. }
            | InstructionData::UnaryGlobalValue { .. }
    )
}
