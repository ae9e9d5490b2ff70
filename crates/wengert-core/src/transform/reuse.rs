//! Storage used again: a new array of equal elements is made in an array that nothing uses any more.
//!
//! In a block, `fill` of a shape that a dead array certainly has becomes `refill` of that array; nothing is
//! written at all where a loop overwrites every element anyway. In a loop without exits, an array made
//! by every iteration is made once before the loop and carried, if the iteration leaves an array of
//! that shape behind. Only arrays the block itself owns are used again. No bit changes, and a loop that
//! never runs needs no memory for more than arrays that exist ([`Pass::is_affordable`]).

use super::shapes::{Shapes, Size};
use crate::ir::verify::consumes_itself;
use crate::ir::{Block, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Prim, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// How many elements an array may have that is made before a loop, in case it runs.
const SMALL: i64 = 1 << 16;

/// The function with storage used again.
pub fn storage(from: &Func) -> Func {
    let mut func = from.clone();
    let body = std::mem::take(&mut func.body);
    let kept: HashSet<Value> =
        from.params().iter().copied().filter(|p| !consumes_itself(from, *p)).collect();
    let mut pass = Pass { shapes: Shapes::of_params(from), func, kept };
    let (body, _) = pass.block(body);
    pass.func.body = body;
    pass.func
}

struct Pass {
    func: Func,
    shapes: Shapes,
    /// Parameters that belong to the caller.
    kept: HashSet<Value>,
}

impl Pass {
    /// The block, and the arrays that are dead at its end.
    fn block(&mut self, block: Block) -> (Block, Vec<Value>) {
        let dying = uses::dying(&self.func, &block);
        let mut taken: HashSet<Value> = self.kept.clone();
        uses::each_in(&block, &mut |v, takes| {
            if takes {
                taken.insert(v);
            }
        });
        let counts = uses::counts(&block);
        let (mut out, mut free): (Vec<Inst>, Vec<Value>) = (Vec::new(), Vec::new());
        let mut instead: HashMap<Value, Value> = HashMap::default();
        let mut block = block;
        let rest: Vec<Inst> = std::mem::take(&mut block.insts);
        for (at, inst) in rest.iter().enumerate() {
            let mut inst = inst.clone();
            for a in &mut inst.args {
                *a = instead.get(a).copied().unwrap_or(*a);
            }
            let mut buffers = Vec::new();
            if inst.blocks.is_empty() {
                self.shapes.note(&self.func, &inst);
            } else {
                for mut made in self.nested(&mut inst, &mut buffers) {
                    self.shapes.note(&self.func, &made);
                    self.refill(&mut made, &mut free);
                    out.push(made);
                }
                self.shapes.note(&self.func, &inst);
            }
            let z = inst.results.first().copied();
            if inst.op == Op::Fill {
                let once = z.is_some_and(|z| counts.get(&z) == Some(&1));
                let blank = once
                    && z.is_some_and(|z| {
                        is_overwritten(&self.shapes, &self.func, &rest[at + 1..], z)
                    });
                match (z, blank) {
                    (Some(z), true) if self.dead_like(z, &free).is_some() => {
                        if let Some(k) = self.dead_like(z, &free) {
                            instead.insert(z, free.remove(k));
                        }
                        continue;
                    }
                    _ => self.refill(&mut inst, &mut free),
                }
            }
            out.push(inst);
            free.extend(dying[at].iter().filter(|v| !taken.contains(v)));
            free.extend(buffers);
        }
        (Block { insts: out, ..block }, free)
    }

    /// Nested blocks; gives back what goes before the instruction.
    fn nested(&mut self, inst: &mut Inst, buffers: &mut Vec<Value>) -> Vec<Inst> {
        let mut before = Vec::new();
        for k in 0..inst.blocks.len() {
            let looping = matches!(inst.op, Op::For | Op::While);
            if looping {
                self.shapes.enter_loop(&self.func, inst);
            } else {
                self.shapes.enter();
            }
            let block = std::mem::take(&mut inst.blocks[k]);
            let (block, free) = self.block(block);
            let exits = block.insts.iter().any(|i| i.op == Op::ExitIf);
            let pairs = if looping && !exits { self.pairs(&block, free) } else { Vec::new() };
            inst.blocks[k] = block;
            self.shapes.leave();
            for (fill, left) in pairs {
                before.extend(self.carry(inst, fill, left, buffers));
            }
        }
        before
    }

    /// Arrays that a loop body makes, each with one of its shape that the body leaves behind.
    fn pairs(&self, body: &Block, mut free: Vec<Value>) -> Vec<(Value, Value)> {
        let mut pairs = Vec::new();
        for inst in body.insts.iter().filter(|i| i.op == Op::Fill) {
            // The array that is left may be a later version of the one made, or the very same.
            if let Some(k) = self.dead_like(inst.results[0], &free) {
                pairs.push((inst.results[0], free.remove(k)));
            }
        }
        pairs
    }

    fn dead_like(&self, z: Value, free: &[Value]) -> Option<usize> {
        free.iter().position(|x| self.func.ty(*x) == self.func.ty(z) && self.shapes.same(*x, z))
    }

    /// `fill` becomes `refill` of a dead array.
    fn refill(&mut self, inst: &mut Inst, free: &mut Vec<Value>) {
        if inst.op == Op::Fill
            && let Some(k) = self.dead_like(inst.results[0], free)
        {
            let v = inst.args[inst.args.len() - 1];
            inst.op = Op::Array(ArrayOp::Refill);
            inst.args = vec![free.remove(k), v];
        }
    }

    /// Makes the array `z` of a loop body before the loop, and hands `left` on to the next iteration.
    /// Gives back what goes before the loop.
    fn carry(
        &mut self,
        inst: &mut Inst,
        z: Value,
        left: Value,
        buffers: &mut Vec<Value>,
    ) -> Vec<Inst> {
        let fill = inst.blocks[0].insts.iter().position(|i| i.results.first() == Some(&z));
        let Some(fill) = fill else { return Vec::new() };
        let made = inst.blocks[0].insts[fill].clone();
        let (v, dims) = (made.args[made.args.len() - 1], &made.args[..made.args.len() - 1]);
        let mut before = Vec::new();
        let mut outer = Vec::new();
        for d in dims {
            match self.outer_size(inst, *d, &mut before) {
                Some(d) if self.shapes.is_size(&self.func, d) => outer.push(d),
                _ => return Vec::new(),
            }
        }
        if !self.is_affordable(inst, &outer) {
            return Vec::new();
        }
        let ty = self.func.ty(z);
        // The first content does not matter: every iteration starts with `refill`.
        let zero = self.func.as_const(v).map_or_else(|| zero_like(&mut self.func, ty), |_| v);
        let [first, param, result] = [(); 3].map(|()| self.func.value(ty, None));
        let (args, results) = ([&outer[..], &[zero]].concat(), vec![first]);
        before.push(Inst { op: Op::Fill, args, results, blocks: Vec::new(), span: made.span });
        inst.args.push(first);
        inst.results.push(result);
        buffers.push(result);
        let body = &mut inst.blocks[0];
        body.params.push(param);
        body.yields.push(left);
        let blank = {
            let body = &inst.blocks[0];
            let used = uses::counts(body).get(&z) == Some(&1) && left != z;
            used && is_overwritten(&self.shapes, &self.func, &body.insts[fill + 1..], z)
        };
        let body = &mut inst.blocks[0];
        if blank {
            body.insts.remove(fill);
            super::carries::rename_inside(body, &HashMap::from_iter([(z, param)]));
        } else {
            let refill = &mut body.insts[fill];
            refill.op = Op::Array(ArrayOp::Refill);
            refill.args = vec![param, v];
        }
        before
    }

    /// Whether an array of these sizes may be made before a loop: the loop is sure to run, or there is an array
    /// about as large already.
    fn is_affordable(&self, inst: &Inst, sizes: &[Value]) -> bool {
        let bound = |k: usize| self.func.as_const(inst.args[k]);
        let runs = match inst.op {
            Op::For => {
                matches!((bound(0), bound(1)), (Some(Scalar::I64(lo)), Some(Scalar::I64(hi))) if lo < hi)
            }
            _ => true,
        };
        let mut constant = 1i64;
        let mut axes = Vec::new();
        for size in sizes.iter().map(|d| self.shapes.int(&self.func, *d)) {
            match size {
                Size::Number(n) => constant = constant.saturating_mul(n),
                Size::Axis(array, axis) => axes.push((array, axis)),
                Size::Value(_) | Size::Product(_) => return runs,
            }
        }
        let of_one =
            axes.iter().enumerate().all(|(k, a)| a.0 == axes[0].0 && !axes[..k].contains(a));
        runs || (of_one && constant <= SMALL)
    }

    /// A size of an array in a loop body, as a value before the loop.
    fn outer_size(&mut self, inst: &Inst, d: Value, before: &mut Vec<Inst>) -> Option<Value> {
        let inside = uses::defined(&inst.blocks[0]);
        if !inside.contains(&d) {
            return Some(d);
        }
        let size = self.shapes.int(&self.func, d);
        match &size {
            Size::Number(n) => return Some(self.func.constant(Scalar::I64(*n))),
            Size::Value(v) => return (!inside.contains(v)).then_some(*v),
            _ => {}
        }
        let (array, axis) = inst.args.iter().find_map(|init| {
            let shape = self.shapes.shape(*init);
            Some((*init, shape.iter().position(|s| *s == size)?))
        })?;
        let result = self.func.value(Type::I64, None);
        let made = Inst {
            op: Op::Dim(axis as u8),
            args: vec![array],
            results: vec![result],
            blocks: Vec::new(),
            span: inst.span,
        };
        self.shapes.note(&self.func, &made);
        before.push(made);
        Some(result)
    }
}

/// Arrays of equal elements whose only use is a loop that writes every element before anything reads it: what they
/// are filled with does not matter.
pub fn blank(func: &Func) -> HashSet<Value> {
    fn block(shapes: &mut Shapes, func: &Func, block_: &Block, found: &mut HashSet<Value>) {
        let counts = uses::counts(block_);
        for (at, inst) in block_.insts.iter().enumerate() {
            for nested in &inst.blocks {
                match inst.op {
                    Op::For | Op::While => shapes.enter_loop(func, inst),
                    _ => shapes.enter(),
                }
                block(shapes, func, nested, found);
                shapes.leave();
            }
            shapes.note(func, inst);
            if inst.op == Op::Fill
                && counts.get(&inst.results[0]) == Some(&1)
                && is_overwritten(shapes, func, &block_.insts[at + 1..], inst.results[0])
            {
                found.insert(inst.results[0]);
            }
        }
    }
    let mut found = HashSet::default();
    block(&mut Shapes::of_params(func), func, &func.body, &mut found);
    found
}

/// Whether what uses `z` are loops, one after the other, that write every element before anything reads it.
fn is_overwritten(shapes: &Shapes, func: &Func, after: &[Inst], z: Value) -> bool {
    let (mut made, mut version) = (HashMap::default(), z);
    for inst in after.iter().filter(|i| i.op == Op::For) {
        if let Some(k) = inst.args[2..].iter().position(|a| *a == version) {
            made.extend(uses::makers(&inst.blocks[0]));
            version = inst.results[k];
        }
    }
    let writing = Writing { shapes, func, made, total: shapes.total(z), shape: shapes.shape(z) };
    writing.all(after, z, &mut Vec::new()).is_some()
}

/// Loops that write an array.
struct Writing<'a> {
    shapes: &'a Shapes,
    func: &'a Func,
    /// How values of the loops are made.
    made: HashMap<Value, &'a Inst>,
    /// How many elements the array has, and along each axis.
    total: Size,
    shape: Vec<Size>,
}

impl Writing<'_> {
    /// The version of an array of which all elements have been written that the counters reach, if instructions
    /// make one that way.
    fn all(&self, insts: &[Inst], array: Value, counters: &mut Vec<Value>) -> Option<Value> {
        let (mut array, mut written) = (array, None);
        loop {
            let mut users = insts.iter().filter(|i| uses_of(i, array) > 0);
            let (Some(user), None) = (users.next(), users.next()) else { return None };
            if user.op != Op::For || uses_of(user, array) != 1 {
                return None;
            }
            let k = user.args[2..].iter().position(|a| *a == array)?;
            let on = match written {
                None => self.func.as_const(user.args[0]) == Some(Scalar::I64(0)),
                Some(end) => user.args[0] == end,
            };
            let body = &user.blocks[0];
            counters.push(body.params[0]);
            let limit = self.iteration(body, k, counters);
            counters.pop();
            if !on || limit.is_none() {
                return None;
            }
            array = user.results[k];
            if limit == Some(self.shapes.int(self.func, user.args[1])) {
                return Some(array);
            }
            written = Some(user.args[1]);
        }
    }

    /// How far a loop must run, if an iteration of it writes all elements that its counters reach.
    fn iteration(&self, body: &Block, k: usize, counters: &mut Vec<Value>) -> Option<Size> {
        let (p, next) = (body.params[k + 1], body.yields[k]);
        // What takes it over is its last use: if that is the first, nothing reads it before.
        let user = body.insts.iter().find(|i| uses_of(i, p) > 0)?;
        let axis = counters.len() - 1;
        // What is read after the write may be an element that is written later.
        if body.insts.iter().any(|i| i.op == Op::ExitIf || uses_of(i, next) > 0) {
            return None;
        }
        match user.op {
            Op::Array(ArrayOp::Poke) | Op::Store if user.args.len() == 3 => {
                let at = user.args[1];
                let place = axis + 1 == self.shape.len() && self.is_place(at, axis, counters);
                let limit = match axis {
                    0 if at == counters[0] => Some(&self.total),
                    _ if place => self.shape.get(axis),
                    _ => None,
                };
                limit.cloned().filter(|_| user.args[0] == p && user.results[0] == next)
            }
            Op::For if axis + 1 < self.shape.len() => {
                let made = self.all(&body.insts, p, counters);
                (made == Some(next)).then(|| self.shape[axis].clone())
            }
            _ => None,
        }
    }

    /// Whether a value is the place, in row-major order, of the element with the counters as indices.
    fn is_place(&self, at: Value, axis: usize, counters: &[Value]) -> bool {
        if axis == 0 {
            return at == counters[0];
        }
        let sum = self.two(at, Prim::WAdd);
        let row = sum.filter(|s| s[1] == counters[axis]);
        let product = row.and_then(|s| self.two(s[0], Prim::WMul));
        product.is_some_and(|p| {
            self.shapes.int(self.func, p[1]) == self.shape[axis]
                && self.is_place(p[0], axis - 1, counters)
        })
    }

    fn two(&self, v: Value, prim: Prim) -> Option<[Value; 2]> {
        let inst = self.made.get(&v).filter(|i| i.op == Op::Prim(prim))?;
        Some([inst.args[0], inst.args[1]])
    }
}

/// How often an instruction and what stands in it use a value.
fn uses_of(inst: &Inst, v: Value) -> usize {
    let mut count = 0;
    uses::each(inst, &mut |used, _| count += usize::from(used == v));
    count
}

fn zero_like(func: &mut Func, ty: Type) -> Value {
    func.constant(match ty.elem() {
        Some(crate::ir::Elem::F32) => Scalar::F32(0.0),
        Some(crate::ir::Elem::I64) => Scalar::I64(0),
        Some(crate::ir::Elem::Bool) => Scalar::Bool(false),
        _ => Scalar::F64(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{array, count, same};
    use super::*;
    use crate::interp::Val;

    /// Elements that are read before they are written are those of the fill.
    #[test]
    fn what_is_read_is_filled() {
        let blanks = |read: &str| {
            let text = format!(
                "func @f(%x: [f64]) -> f64 {{
                   %k = len %x
                   %z = fill %k, 3.0
                   %r, %s = for %i in 0..%k carry (%z1 = %z, %s1 = 0.0) {{
                     %e = load %x, %i
                     %z2 = store %z1, %i, %e
                     %d = {read}
                     %s2 = add %s1, %d
                     yield %z2, %s2
                   }}
                   %t = load %r, 0
                   %u = add %s, %t
                   return %u
                 }}"
            );
            blank(&crate::ir::parse::module(&text).unwrap().funcs[0]).len()
        };
        assert_eq!(blanks("add %e, 1.0"), 1);
        assert_eq!(blanks("sum %z2"), 0);
        assert_eq!(blanks("load %z2, 2"), 0);
    }

    #[test]
    fn inner_loops_hand_their_buffers_out() {
        let text = "func @f(%x: [f64], %n: i64) -> f64 {
           %k = len %x
           %s = for %i in 0..%n carry (%s1 = 0.0) {
             %t = for %j in 0..%k carry (%t1 = %s1) {
               %z = fill %k, 0.5
               %y = store %z, %j, %t1
               %d = dot %y, %x
               yield %d
             }
             yield %t
           }
           return %s
         }";
        let func = same(text, storage, &[array(&[4]), Val::i64(3)]);
        assert_eq!(func.body.insts.iter().filter(|i| i.op == Op::Fill).count(), 1, "{func}");
        assert_eq!(count(&func, |op| *op == Op::Fill), 1, "{func}");
    }
}
