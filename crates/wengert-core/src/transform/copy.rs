//! Copying code into a function under construction.
//!
//! A [`Copier`] holds the map from values of the function it reads to values of the function being
//! built. A pass gives it a hook that is asked about every instruction first; what the hook leaves
//! alone is appended through the [`Builder`], so copying also folds constants and shares common
//! subexpressions. A branch on a constant becomes the branch taken; a loop from a constant up to one
//! that is not above it vanishes, and so does an assertion that holds.
//!
//! ```
//! use wengert_core::ir::{Builder, parse};
//! use wengert_core::transform::copy::Copier;
//!
//! let module = parse::module("func @twice(%x: f64) -> f64 { %y = add %x, %x  return %y }")?;
//! let twice = &module.funcs[0];
//! // four(x) = twice(twice(x))
//! let (mut b, params) = Builder::new("four", &[(twice.ty(twice.params()[0]), None)]);
//! let once = Copier::of(twice, &params).body(twice, &mut b, &mut |_, _, _| false);
//! let four = Copier::of(twice, &once).body(twice, &mut b, &mut |_, _, _| false);
//! assert_eq!(b.finish(four).body.insts.len(), 2);
//! # Ok::<(), wengert_core::span::Diagnostic>(())
//! ```

use crate::ir::{Block, Builder, Func, Inst, Op, Type, Value};
use crate::ops::Scalar;
use crate::span::Span;
use rustc_hash::FxHashMap as HashMap;
use std::sync::Arc;

/// Asked about every instruction before it is copied. A hook that deals with the instruction binds
/// its results and says `true`.
pub type Hook<'h> = dyn FnMut(&mut Copier, &mut Builder, &Inst) -> bool + 'h;

/// The function again, with what the hook makes of its instructions.
pub fn rebuild(func: &Func, name: &str, hook: &mut Hook<'_>) -> Func {
    let params: Vec<_> = func.params().iter().map(|p| (func.ty(*p), func.name_of(*p))).collect();
    let (mut b, values) = Builder::new(name, &params);
    let results = Copier::of(func, &values).body(func, &mut b, hook);
    let mut copy = b.finish(results);
    copy.body.end = func.body.end;
    copy
}

/// What stands for what in a copy.
#[derive(Clone, Debug, Default)]
pub struct Copier {
    map: HashMap<Value, Value>,
    /// Set where the copied code counts as one instruction of the function being built.
    hidden: Option<Span>,
}

impl Copier {
    /// A copier that starts with these values known.
    pub fn with(map: HashMap<Value, Value>) -> Self {
        Copier { map, hidden: None }
    }

    /// A copier of a function's code, with these values for its parameters.
    pub fn of(func: &Func, args: &[Value]) -> Self {
        Copier::with(func.params().iter().copied().zip(args.iter().copied()).collect())
    }

    /// Gives every copied instruction this place, and the copied values no names: the code counts
    /// as part of the one instruction that stands there.
    #[must_use]
    pub fn hidden_in(mut self, span: Span) -> Self {
        self.hidden = Some(span);
        self
    }

    /// Makes `to` stand for `from` in what follows.
    pub fn bind(&mut self, from: Value, to: Value) {
        self.map.insert(from, to);
    }

    /// The same, and `to` gets the name of `from`: errors name arrays.
    pub fn bind_named(&mut self, func: &Func, b: &mut Builder, from: Value, to: Value) {
        self.bind(from, to);
        if let Some(name) = self.name(func, from) {
            b.name(to, &name);
        }
    }

    /// Whether something stands for `v`.
    pub fn knows(&self, v: Value) -> bool {
        self.map.contains_key(&v)
    }

    /// The value that stands for `v`.
    ///
    /// # Panics
    /// Where `v` is defined in code that has not been copied.
    pub fn get(&self, func: &Func, b: &mut Builder, v: Value) -> Value {
        match (func.as_const(v), self.map.get(&v)) {
            (Some(c), _) => b.constant(c),
            (None, Some(to)) => *to,
            (None, None) => panic!("`%{}` of `@{}` has not been copied", v.0, func.name),
        }
    }

    /// The values that stand for these.
    pub fn all(&self, func: &Func, b: &mut Builder, values: &[Value]) -> Vec<Value> {
        values.iter().map(|v| self.get(func, b, *v)).collect()
    }

    /// Copies the whole function into the open block; gives back its results.
    pub fn body(&mut self, func: &Func, b: &mut Builder, hook: &mut Hook<'_>) -> Vec<Value> {
        self.insts_with(func, b, &func.body, hook);
        self.all(func, b, &func.body.yields)
    }

    /// Copies a block's instructions into the open block.
    pub fn insts_with(&mut self, func: &Func, b: &mut Builder, block: &Block, hook: &mut Hook<'_>) {
        for inst in &block.insts {
            self.inst_with(func, b, inst, hook);
        }
    }

    /// Copies a nested block as a nested block.
    pub fn block_with(
        &mut self,
        func: &Func,
        b: &mut Builder,
        block: &Block,
        hook: &mut Hook<'_>,
    ) -> Block {
        let params: Vec<_> =
            block.params.iter().map(|p| (func.ty(*p), self.name(func, *p))).collect();
        for (p, to) in block.params.iter().zip(b.open_block(&params)) {
            self.bind(*p, to);
        }
        self.insts_with(func, b, block, hook);
        let yields = self.all(func, b, &block.yields);
        Block {
            parallel: block.parallel,
            numbering: block.numbering,
            end: block.end,
            ..b.close_block(yields)
        }
    }

    /// Copies one instruction as it is.
    pub fn inst(&mut self, func: &Func, b: &mut Builder, inst: &Inst) {
        self.inst_with(func, b, inst, &mut |_, _, _| false);
    }

    /// Copies one instruction.
    pub fn inst_with(&mut self, func: &Func, b: &mut Builder, inst: &Inst, hook: &mut Hook<'_>) {
        b.at(self.hidden.unwrap_or(inst.span));
        if hook(self, b, inst) {
            return;
        }
        let results = self.as_it_is(func, b, inst, hook);
        for (from, to) in inst.results.iter().zip(results) {
            self.bind_named(func, b, *from, to);
        }
    }

    fn as_it_is(
        &mut self,
        func: &Func,
        b: &mut Builder,
        inst: &Inst,
        hook: &mut Hook<'_>,
    ) -> Vec<Value> {
        let args = self.all(func, b, &inst.args);
        match inst.op {
            Op::Prim(prim) => return vec![b.prim(prim, &args)],
            Op::Dim(_) | Op::Load | Op::Store | Op::Array(_) => {
                return b.op(inst.op.clone(), &args);
            }
            Op::If => {
                if let Some(Scalar::Bool(c)) = b.func().as_const(args[0]) {
                    let taken = &inst.blocks[if c { 0 } else { 1 }];
                    self.insts_with(func, b, taken, hook);
                    return self.all(func, b, &taken.yields);
                }
            }
            // What is known to hold needs no look.
            Op::Assert(_) if b.func().as_const(args[0]) == Some(Scalar::Bool(true)) => {
                return Vec::new();
            }
            Op::For => {
                let bound = |k: usize| b.func().as_const(args[k]);
                if let (Some(Scalar::I64(lo)), Some(Scalar::I64(hi))) = (bound(0), bound(1))
                    && lo >= hi
                {
                    return args[2..].to_vec();
                }
            }
            _ => {}
        }
        let blocks =
            inst.blocks.iter().map(|block| self.block_with(func, b, block, hook)).collect();
        let types: Vec<Type> = inst.results.iter().map(|r| func.ty(*r)).collect();
        // Nested code has moved the place.
        b.at(self.hidden.unwrap_or(inst.span));
        b.inst(inst.op.clone(), args, &types, blocks)
    }

    fn name(&self, func: &Func, v: Value) -> Option<Arc<str>> {
        if self.hidden.is_some() { None } else { func.name_of(v) }
    }
}
