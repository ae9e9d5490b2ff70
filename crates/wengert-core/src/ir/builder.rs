//! Building functions.
//!
//! A [`Builder`] appends instructions to the innermost open block. Pure scalar instructions are
//! folded as they are appended: constants are evaluated, identities that hold to the bit are
//! applied, and an instruction that already stands in an enclosing block is not appended again
//! (nor is a load of what was just loaded or stored).
//! Rebuilding a function through a builder is therefore simplification and common subexpressions.

use super::func::{Block, Func, Inst, Value};
use super::infer;
use super::parallel::{self, Conflict, ConflictKind};
use super::types::{Elem, Op, Type};
use crate::ops::{ArrayOp, Prim, Scalar};
use crate::span::Span;
use rustc_hash::FxHashMap as HashMap;
use std::sync::Arc;

/// Appends instructions to a function under construction.
#[derive(Debug)]
pub struct Builder {
    pub(super) func: Func,
    open: Vec<Block>,
    /// Per open block: the instructions appended so far that depend on their operands alone. A load is
    /// one of them, because it names the version it reads.
    known: Vec<HashMap<(Op, Vec<Value>), Value>>,
    /// How values with one simple instruction are made.
    pub(super) made: HashMap<Value, (Op, Vec<Value>)>,
    span: Span,
}

/// A place to come back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    depth: usize,
    insts: usize,
    values: usize,
}

impl Builder {
    /// Starts a function with these parameters; gives back their values.
    pub fn new(
        name: impl Into<Arc<str>>,
        params: &[(Type, Option<Arc<str>>)],
    ) -> (Self, Vec<Value>) {
        let mut builder = Builder {
            func: Func::new(name),
            open: Vec::new(),
            known: Vec::new(),
            made: HashMap::default(),
            span: Span::default(),
        };
        let values = builder.open_block(params);
        (builder, values)
    }

    /// Ends the function.
    pub fn finish(mut self, results: Vec<Value>) -> Func {
        self.func.results = results.iter().map(|r| self.func.ty(*r)).collect();
        self.func.body = self.close_block(results);
        self.func
    }

    /// The function so far (its body is still open).
    pub fn func(&self) -> &Func {
        &self.func
    }

    /// Where the following instructions come from.
    pub fn at(&mut self, span: Span) {
        self.span = span;
    }

    /// The span given to instructions now.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.func.ty(v)
    }

    /// Names a value after the user's variable, if it has no name yet.
    pub fn name(&mut self, v: Value, name: &Arc<str>) {
        let data = &mut self.func.values[v.index()];
        if data.name.is_none() && data.constant.is_none() {
            data.name = Some(name.clone());
        }
    }

    /// A float constant.
    pub fn f64(&mut self, c: f64) -> Value {
        self.func.constant(Scalar::F64(c))
    }

    /// A float constant of this kind.
    pub fn float(&mut self, elem: Elem, c: f64) -> Value {
        self.func.constant(Scalar::float(elem, c))
    }

    /// An integer constant.
    pub fn i64(&mut self, c: i64) -> Value {
        self.func.constant(Scalar::I64(c))
    }

    /// A truth constant.
    pub fn bool(&mut self, c: bool) -> Value {
        self.func.constant(Scalar::Bool(c))
    }

    /// Any constant.
    pub fn constant(&mut self, c: Scalar) -> Value {
        self.func.constant(c)
    }

    /// Opens a nested block; gives back its parameters.
    pub fn open_block(&mut self, params: &[(Type, Option<Arc<str>>)]) -> Vec<Value> {
        let values: Vec<Value> =
            params.iter().map(|(ty, name)| self.func.value(*ty, name.clone())).collect();
        self.open.push(Block { params: values.clone(), ..Block::default() });
        self.known.push(HashMap::default());
        values
    }

    /// Closes the innermost block.
    pub fn close_block(&mut self, yields: Vec<Value>) -> Block {
        self.known.pop();
        let mut block = self.open.pop().unwrap_or_default();
        block.yields = yields;
        block
    }

    /// Opens a block again that was closed, to append to it.
    pub fn reopen_block(&mut self, block: Block) {
        self.open.push(block);
        self.known.push(HashMap::default());
    }

    /// Appends an instruction with given result types, without folding.
    pub fn inst(
        &mut self,
        op: Op,
        args: Vec<Value>,
        types: &[Type],
        blocks: Vec<Block>,
    ) -> Vec<Value> {
        let results: Vec<Value> = types.iter().map(|t| self.func.value(*t, None)).collect();
        if let (true, [result]) = (blocks.is_empty(), &results[..]) {
            self.made.insert(*result, (op.clone(), args.clone()));
        }
        self.learn(&op, &args);
        let inst = Inst { op, args, results: results.clone(), blocks, span: self.span };
        if let Some(block) = self.open.last_mut() {
            block.insts.push(inst);
        }
        results
    }

    /// Where the builder is now, to come back to with [`Builder::rollback`].
    pub fn mark(&self) -> Mark {
        let insts = self.open.last().map_or(0, |block| block.insts.len());
        Mark { depth: self.open.len(), insts, values: self.func.values.len() }
    }

    /// Throws away what has been appended since. Values made since are no longer to be used; constants stay.
    pub fn rollback(&mut self, mark: &Mark) {
        self.open.truncate(mark.depth);
        self.known.truncate(mark.depth);
        if let Some(block) = self.open.last_mut() {
            block.insts.truncate(mark.insts);
        }
        let func = &self.func;
        let old = |v: &Value| v.index() < mark.values || func.as_const(*v).is_some();
        if let Some(scope) = self.known.last_mut() {
            scope.retain(|(_, args), v| old(v) && args.iter().all(old));
        }
    }

    /// Marks the loop appended last as one whose iterations can run in any order.
    pub fn mark_parallel(&mut self) {
        let last = self.open.last_mut().and_then(|block| block.insts.last_mut());
        if let Some(body) = last.and_then(|inst| inst.blocks.first_mut()) {
            body.parallel = true;
        }
    }

    /// Marks the loop appended last as one whose iterations can run in any order, if they can; otherwise says why
    /// not, and with which carry of the loop that has to do.
    pub fn try_parallel(&mut self) -> Result<(), (Conflict, Option<Value>)> {
        let last = self.open.last().and_then(|block| block.insts.last());
        if let Some(inst) = last {
            parallel::independent(&self.func, inst).map_err(|conflict| {
                let carry = match conflict.kind {
                    ConflictKind::Carry(v) | ConflictKind::Touch(v) | ConflictKind::HandsOn(v) => {
                        Some(v)
                    }
                    ConflictKind::While | ConflictKind::Exit => None,
                };
                (conflict, carry)
            })?;
        }
        self.mark_parallel();
        Ok(())
    }

    /// Appends an operation whose types follow from its operands (not a scalar row: see
    /// [`Builder::prim`]).
    pub fn op(&mut self, op: Op, args: &[Value]) -> Vec<Value> {
        let types: Vec<Type> = args.iter().map(|a| self.ty(*a)).collect();
        let results = match infer::results(&op, &types) {
            Some(Ok(results)) => results,
            // Ill-typed code is the verifier's to report.
            _ => Vec::new(),
        };
        if let Some(v) = self.known_read(&op, args) {
            return vec![v];
        }
        // A version named is a version unchanged: what reads it gives the same again.
        let reads = match &op {
            Op::Dim(_) | Op::Load => true,
            Op::Array(op) => !op.in_place(),
            _ => false,
        };
        if reads && results.len() == 1 && results[0].is_scalar() {
            return vec![self.shared(op, args, results[0])];
        }
        let read_back = match op {
            Op::Store => Some(Op::Load),
            Op::Array(ArrayOp::Poke) => Some(Op::Array(ArrayOp::Peek)),
            _ => None,
        };
        let next = self.inst(op, args.to_vec(), &results, Vec::new());
        // Loading the element just stored gives the value stored.
        if let (Some(read), Some(scope), [next]) = (read_back, self.known.last_mut(), &next[..]) {
            let (v, indices) = args[1..].split_last().unwrap_or((next, &[]));
            let load = std::iter::once(*next).chain(indices.iter().copied()).collect();
            scope.insert((read, load), *v);
        }
        next
    }

    /// The length of an axis that is asserted to be a constant is that constant from here on.
    fn learn(&mut self, op: &Op, args: &[Value]) {
        let (Op::Assert(_), [holds]) = (op, args) else { return };
        let Some((Op::Prim(Prim::IEq), sides)) = self.made.get(holds) else { return };
        let [length, constant] = sides[..] else { return };
        if let (Some((Op::Dim(axis), of)), Some(_)) =
            (self.made.get(&length), self.func.as_const(constant))
        {
            let key = (Op::Dim(*axis), of.clone());
            if let Some(scope) = self.known.last_mut() {
                scope.insert(key, constant);
            }
        }
    }

    /// Appends a scalar operation, folded where the result is known.
    pub fn prim(&mut self, prim: Prim, args: &[Value]) -> Value {
        if args.iter().all(|a| self.ty(*a).is_scalar())
            && let Some(v) = self.fold(prim, args)
        {
            return v;
        }
        let types: Vec<Type> = args.iter().map(|a| self.ty(*a)).collect();
        let ty = infer::prim_result(prim, &types).unwrap_or(Type::F64);
        if ty.is_array() {
            // Every array is a version of its own, to be taken over by one use.
            return self.inst(Op::Prim(prim), args.to_vec(), &[ty], Vec::new())[0];
        }
        self.shared(Op::Prim(prim), args, ty)
    }

    /// The value of an instruction that depends on nothing but its operands: the one that stands
    /// already, or a new one. (Equal checked arithmetic traps equally, so the first one suffices.)
    fn shared(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let key = (op.clone(), args.to_vec());
        if let Some(v) = self.standing(&key) {
            return v;
        }
        let v = self.inst(op, args.to_vec(), &[ty], Vec::new())[0];
        if let Some(scope) = self.known.last_mut() {
            scope.insert(key, v);
        }
        v
    }

    /// The value of such an instruction in an enclosing block.
    pub(super) fn standing(&self, key: &(Op, Vec<Value>)) -> Option<Value> {
        self.known.iter().rev().find_map(|scope| scope.get(key)).copied()
    }

    /// Appends the instructions of a block that was closed to the open one.
    pub fn splice(&mut self, block: Block) {
        if let Some(open) = self.open.last_mut() {
            open.insts.extend(block.insts);
        }
    }
}

/// Shorthand for the operations programs are mostly made of.
impl Builder {
    /// `a + b`
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.prim(Prim::Add, &[a, b])
    }

    /// `a - b`
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.prim(Prim::Sub, &[a, b])
    }

    /// `a * b`
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.prim(Prim::Mul, &[a, b])
    }

    /// `-a`
    pub fn neg(&mut self, a: Value) -> Value {
        self.prim(Prim::Neg, &[a])
    }

    /// `a * b + c`, rounded once
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.prim(Prim::Fma, &[a, b, c])
    }

    /// `c ? a : b`
    pub fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.prim(Prim::Select, &[c, a, b])
    }

    /// The number of elements along each axis.
    pub fn dims(&mut self, x: Value) -> Vec<Value> {
        (0..self.ty(x).rank()).map(|axis| self.op(Op::Dim(axis as u8), &[x])[0]).collect()
    }

    /// An array of equal elements; the value itself where there are no dimensions.
    pub fn filled(&mut self, dims: &[Value], v: Value) -> Value {
        if dims.is_empty() {
            return v;
        }
        let args: Vec<Value> = dims.iter().copied().chain([v]).collect();
        self.op(Op::Fill, &args)[0]
    }

    /// An array operation.
    pub fn array(&mut self, op: ArrayOp, args: &[Value]) -> Value {
        self.op(Op::Array(op), args)[0]
    }

    /// The float zero for values of this type, of its own size.
    pub fn zero(&mut self, ty: Type) -> Value {
        self.float(ty.elem().unwrap_or(Elem::F64), 0.0)
    }

    /// An element.
    pub fn load(&mut self, x: Value, i: Value) -> Value {
        self.op(Op::Load, &[x, i])[0]
    }

    /// The next version of an array.
    pub fn store(&mut self, x: Value, i: Value, v: Value) -> Value {
        self.op(Op::Store, &[x, i, v])[0]
    }

    /// An element of an array of any rank.
    pub fn element(&mut self, x: Value, index: &[Value]) -> Value {
        let args: Vec<Value> = std::iter::once(x).chain(index.iter().copied()).collect();
        self.op(Op::Load, &args)[0]
    }

    /// The next version of an array of any rank.
    pub fn with_element(&mut self, x: Value, index: &[Value], v: Value) -> Value {
        let index = index.iter().copied();
        let args: Vec<Value> = std::iter::once(x).chain(index).chain([v]).collect();
        self.op(Op::Store, &args)[0]
    }

    /// One record on the tape; nothing is pushed where there is nothing to record.
    pub fn push(&mut self, tape: Value, values: &[Value]) -> Value {
        if values.is_empty() {
            return tape;
        }
        let args: Vec<Value> = std::iter::once(tape).chain(values.iter().copied()).collect();
        self.op(Op::Push, &args)[0]
    }

    /// The last record of the tape: the tape below it, and the values.
    pub fn pop(&mut self, tape: Value, types: &[Type]) -> (Value, Vec<Value>) {
        if types.is_empty() {
            return (tape, Vec::new());
        }
        let all: Vec<Type> = std::iter::once(Type::Tape).chain(types.iter().copied()).collect();
        let mut results = self.inst(Op::Pop, vec![tape], &all, Vec::new());
        let tape = results.remove(0);
        (tape, results)
    }
}
