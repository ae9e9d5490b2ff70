//! Batches: a function over many values of some of its parameters, as one function.
//!
//! [`values`] makes `@f.batch(x.., from, to) -> (y..)` of `@f(x..) -> (y..)`: the parameters that differ between members
//! have one more axis, the first, along which the members lie, and so has every result. The body is a parallel loop over
//! the members `from..to`, with the function in place, so whatever runs parallel loops on threads and in lanes
//! does so with batches. [`gradients`] does the same with the value and gradient of a function, after
//! differentiation: what a member records lies on a tape made in its iteration, which is empty before the next one
//! begins, and each member has the bits it has alone. Derivatives by parameters that all members share are results
//! per member as well: in which order they are summed is the caller's to say.
//!
//! Arrays among the parameters and derivatives are rows of those of the whole batch. Where only their elements are read
//! and written that happens in place ([`rows`]); otherwise a member's row is copied out, or in.
//!
//! ```
//! use wengert_core::interp::{Interp, Val};
//! use wengert_core::ir::{Module, parse};
//! use wengert_core::transform::{batch, pipeline};
//!
//! let text = "func @f(%x: f64, %k: f64) -> f64 { %y = mul %x, %k  return %y }";
//! let module = pipeline::module(&parse::module(text)?, "f")?;
//! let batch = Module::of(batch::values(&module.funcs[0], &[0]).unwrap());
//! let args = vec![Val::array(vec![1.0, 2.0, 3.0]), Val::f64(10.0), Val::i64(1), Val::i64(3)];
//! let results = Interp::new(&batch).call("f.batch", args).unwrap();
//! assert_eq!(wengert_core::check::floats(&results), [20.0, 30.0]);
//! # Ok::<(), wengert_core::span::Diagnostic>(())
//! ```

mod rows;

use super::copy::Copier;
use super::derivative;
use crate::ir::pieces::trips_code;
use crate::ir::{Block, Builder, Elem, Func, MAX_RANK, Module, Numbering, Op, Type, Value, verify};
use crate::ops::{ArrayOp, Prim, Scalar};
use crate::span::{Diagnostic, Span};
use rows::Rows;
use std::sync::Arc;

/// The name of a batch of the function of that name.
pub fn name(name: &str) -> String {
    format!("{name}.batch")
}

/// A function over many values of these parameters; nothing where that cannot be one loop: where a result is an array,
/// or calls or parallel loops are left in the function.
pub fn values(func: &Func, over: &[usize]) -> Option<Func> {
    let results = vec![None; func.results.len()];
    Batch { func, over, results: &results, ones: 0 }.make()
}

/// The values of a function and the gradient of their sum, by the parameters `by`, over many values of the parameters
/// `over`: a module of `@f.vjp.batch(x.., from, to) -> (y.., x_bar..)`. Nothing where it cannot be one loop.
pub fn gradients(
    module: &Module,
    name: &str,
    by: &[usize],
    over: &[usize],
) -> Result<Option<Module>, Diagnostic> {
    let derived = derivative::vjp_of(module, name, by)?;
    let whole = module.func(name).zip(derived.func(&format!("{name}.vjp")));
    let Some((original, func)) = whole else { return Ok(None) };
    let values = original.results.iter().map(|_| None);
    let results: Vec<Option<usize>> = values.chain(by.iter().copied().map(Some)).collect();
    let ones = original.results.iter().filter(|ty| ty.is_float()).count();
    Ok(Batch { func, over, results: &results, ones }.make().map(Module::of_reversal))
}

/// What a batch is made of.
struct Batch<'a> {
    func: &'a Func,
    /// The parameters that differ between members.
    over: &'a [usize],
    /// Per result the parameter that has its shape; numbers need none.
    results: &'a [Option<usize>],
    /// How many of the last parameters are 1: adjoints of results.
    ones: usize,
}

impl Batch<'_> {
    fn make(&self) -> Option<Func> {
        if !self.can_be() {
            return None;
        }
        let func = self.func;
        let given = func.params().len() - self.ones;
        let mut params = Vec::new();
        for (k, p) in func.params()[..given].iter().enumerate() {
            let ty = if self.over.contains(&k) { deeper(func.ty(*p))? } else { func.ty(*p) };
            params.push((ty, func.name_of(*p)));
        }
        params.extend(["from", "to"].map(|name| (Type::I64, Some(Arc::from(name)))));
        let (mut b, params) = Builder::new(name(&func.name), &params);
        let (from, to) = (params[given], params[given + 1]);
        let count = trips_code(&mut b, from, to);
        let mut carries = Vec::new();
        for (ty, like) in func.results.iter().zip(self.results) {
            let shape = match like.filter(|_| ty.is_array()) {
                Some(k) => b.dims(params[k]).split_off(usize::from(self.over.contains(&k))),
                None => Vec::new(),
            };
            let zero = zero(&mut b, ty.elem()?);
            carries.push(b.filled(&[&[count], &shape[..]].concat(), zero));
        }

        let types: Vec<Type> = carries.iter().map(|c| b.ty(*c)).collect();
        let mut inside = vec![(Type::I64, Some(Arc::from("member")))];
        inside.extend(types.iter().map(|ty| (*ty, None)));
        let inside = b.open_block(&inside);
        let ends = self.member(&mut b, &params[..given], from, &inside)?;
        let body = Block { numbering: Numbering::FromStart, ..b.close_block(ends) };
        b.at(Span::default());
        let zero = b.i64(0);
        let args = [&[zero, count], &carries[..]].concat();
        let results = b.inst(Op::For, args, &types, vec![body]);
        b.try_parallel().ok()?;
        Some(b.finish(results))
    }

    /// Whether the function can stand in a parallel loop: everything is in place, and it makes one tape at most, at its
    /// beginning, which cannot be seen from outside.
    fn can_be(&self) -> bool {
        let func = self.func;
        let (mut plain, mut tapes) = (true, 0);
        func.body.walk(&mut |inst| {
            tapes += usize::from(inst.op == Op::Tape);
            plain &= !matches!(inst.op, Op::Call(_) | Op::Drive(..));
            plain &= !inst.blocks.iter().any(|block| block.parallel);
        });
        let made = func.body.insts.iter().filter(|inst| inst.op == Op::Tape).count();
        let shaped = |(ty, like): (&Type, &Option<usize>)| !ty.is_array() || like.is_some();
        let types = func.param_types();
        plain
            && made == tapes
            && tapes <= 1
            && !types.contains(&Type::Tape)
            && !func.results.is_empty()
            && func.results.iter().all(|ty| *ty != Type::Tape && ty.rank() < MAX_RANK)
            && func.results.iter().zip(self.results).all(shaped)
    }

    /// The code of one member, in the open block, of which these are the parameters; gives back what becomes of the
    /// results of the whole batch.
    fn member(
        &self,
        b: &mut Builder,
        params: &[Value],
        from: Value,
        inside: &[Value],
    ) -> Option<Vec<Value>> {
        let (place, outs) = inside.split_first()?;
        let member = b.prim(Prim::WAdd, &[from, *place]);
        let module = Module::of(self.func.clone());
        let rows = Rows::of(self.func, self.over, self.results);
        let func = &rows.func;
        let mut copier = Copier::default();
        copier.bind(rows.member, member);
        copier.bind(rows.place, *place);
        for (k, p) in self.func.params().iter().enumerate() {
            let value = match params.get(k) {
                None => b.float(self.func.ty(*p).elem()?, 1.0),
                Some(x) if rows.read.contains(&k) => *x,
                Some(x) if self.over.contains(&k) => part(b, *x, member),
                // A member that writes into it has a copy of its own.
                Some(x) if func.ty(*p).is_array() && verify::consumes(&module, self.func, *p) => {
                    b.op(Op::Copy, &[*x])[0]
                }
                Some(x) => *x,
            };
            copier.bind(*p, value);
        }
        for (k, version) in &rows.written {
            copier.bind(*version, outs[*k]);
        }
        let results = copier.body(func, b, &mut |_, _, _| false);
        b.at(Span::default());
        let ends = results.into_iter().zip(outs).enumerate().map(|(k, (v, out))| {
            match self.func.results[k].is_array() {
                _ if rows.written.iter().any(|(row, _)| *row == k) => v,
                true => with_part(b, *out, *place, v),
                false => b.store(*out, *place, v),
            }
        });
        Some(ends.collect())
    }
}

/// The same with one more axis, if there can be one.
fn deeper(ty: Type) -> Option<Type> {
    Some(Type::of(ty.elem()?, ty.rank() + 1)).filter(|_| ty.rank() < MAX_RANK)
}

fn zero(b: &mut Builder, elem: Elem) -> Value {
    match elem {
        Elem::F64 | Elem::F32 => b.float(elem, 0.0),
        Elem::I64 => b.i64(0),
        Elem::Bool => b.constant(Scalar::Bool(false)),
    }
}

/// The sections of a row of an array, along every axis.
fn sections(b: &mut Builder, x: Value, at: Value) -> Vec<Value> {
    let (zero, one) = (b.i64(0), b.i64(1));
    let lengths = b.dims(x).split_off(1);
    let others = lengths.into_iter().flat_map(|n| [zero, n, one]);
    [at, one, one].into_iter().chain(others).collect()
}

/// A row of an array, as an array of its own, or its element.
fn part(b: &mut Builder, x: Value, at: Value) -> Value {
    if b.ty(x).rank() == 1 {
        return b.load(x, at);
    }
    let args = [&[x], &sections(b, x, at)[..]].concat();
    let row = b.array(ArrayOp::Slice, &args);
    let lengths = b.dims(x).split_off(1);
    b.array(ArrayOp::Reshape, &[&[row], &lengths[..]].concat())
}

/// The next version of an array, with another row.
fn with_part(b: &mut Builder, x: Value, at: Value, row: Value) -> Value {
    let one = b.i64(1);
    let shape: Vec<Value> = std::iter::once(one).chain(b.dims(x).split_off(1)).collect();
    let row = b.array(ArrayOp::Reshape, &[&[row], &shape[..]].concat());
    let sections = sections(b, x, at);
    b.array(ArrayOp::Put, &[&[x], &sections[..], &[row]].concat())
}

#[cfg(test)]
mod tests;
