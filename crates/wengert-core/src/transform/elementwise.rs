//! Elementwise operations become loops, as many of them in one as fit.
//!
//! Operations on arrays of one shape wait in a [`Group`] until something needs a result of theirs, takes
//! over an array they read, or could be seen to happen before them; then the group is one loop over
//! row-major positions. Arrays that only the group itself uses are never made, and a result is written
//! over an operand that nothing uses afterwards: element `k` depends on elements `k` alone.
//!
//! Errors are those of the single operations. Shapes that may differ are compared where the operation
//! stood (`conform`). A group holds at most one operation that can fail by its elements, and nothing
//! that can fail or has an effect passes it. No bit changes.

use super::dce;
use super::shapes::{self, Shapes, Size};
use crate::ir::verify::consumes_itself;
use crate::ir::{Block, Elem, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Check, Prim, Scalar};
use crate::span::Span;
use nest::{Emit, Nest, View};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

mod nest;

/// The function without elementwise operations on arrays.
pub fn fuse(from: &Func) -> Func {
    let mut none = true;
    from.body.walk(&mut |inst| none &= !is_elementwise(from, inst));
    if none {
        return from.clone();
    }
    let owned = from.params().iter().copied().filter(|p| consumes_itself(from, *p)).collect();
    let mut func = from.clone();
    let body = std::mem::take(&mut func.body);
    let mut pass = Pass {
        shapes: Shapes::of_params(from),
        left: uses::counts(&body),
        func,
        dims: HashMap::default(),
        renamed: HashMap::default(),
        fills: HashMap::default(),
        safe_fills: HashSet::default(),
        read_fills: HashSet::default(),
        copies: HashMap::default(),
        views: HashMap::default(),
        consumed: HashSet::default(),
    };
    let mut body = pass.block(body, owned);
    let used = uses::counts(&body);
    sweep(&mut body, &used, &pass);
    pass.func.body = body;
    dce::remove_dead(&pass.func)
}

/// Whether an instruction works element by element on arrays.
pub fn is_elementwise(func: &Func, inst: &Inst) -> bool {
    matches!(inst.op, Op::Prim(_)) && func.ty(inst.results[0]).is_array()
}

/// Operations that become one loop.
struct Group {
    /// An array of the group's shape that exists before it.
    like: Value,
    members: Vec<Inst>,
    /// Arrays from outside that the members (or their shape) come from.
    reads: HashSet<Value>,
    /// Operands that are not made, but read from what they are a part of.
    views: HashMap<Value, Inst>,
}

struct Pass {
    func: Func,
    shapes: Shapes,
    /// Uses of each value that have not been passed yet.
    left: HashMap<Value, usize>,
    /// Integers in sight that hold a size.
    dims: HashMap<Size, Value>,
    renamed: HashMap<Value, Value>,
    /// Arrays of equal elements, and the element.
    fills: HashMap<Value, Value>,
    /// Fills that cannot fail, and those whose element has been used instead.
    safe_fills: HashSet<Value>,
    read_fills: HashSet<Value>,
    /// Copies, and of what.
    copies: HashMap<Value, Value>,
    /// Slices and expansions that only elementwise operations of their block use.
    views: HashMap<Value, Inst>,
    consumed: HashSet<Value>,
}

/// A block being rewritten.
struct Open {
    out: Vec<Inst>,
    pending: Vec<Group>,
    /// Arrays that the block may overwrite.
    owned: HashSet<Value>,
}

impl Pass {
    fn block(&mut self, block: Block, owned: HashSet<Value>) -> Block {
        let mut open = Open { out: Vec::new(), pending: Vec::new(), owned };
        self.find_views(&block);
        for mut inst in block.insts {
            self.rename(&mut inst.args);
            if is_elementwise(&self.func, &inst) {
                open.owned.extend(&inst.results);
                self.join(&mut open, inst);
            } else {
                self.other(&mut open, inst);
            }
        }
        let mut yields = block.yields;
        self.rename(&mut yields);
        while !open.pending.is_empty() {
            self.flush(&mut open, 0);
        }
        yields.iter().for_each(|y| self.passed(*y, true));
        Block { insts: open.out, yields, ..block }
    }

    /// Notes slices and expansions that need not be made.
    fn find_views(&mut self, block: &Block) {
        let mut inside: HashMap<Value, usize> = HashMap::default();
        for inst in block.insts.iter().filter(|i| is_elementwise(&self.func, i)) {
            inst.args.iter().for_each(|a| *inside.entry(*a).or_default() += 1);
        }
        for inst in &block.insts {
            if let Op::Array(ArrayOp::Slice | ArrayOp::Expand(_)) = inst.op
                && inside.get(&inst.results[0]) == self.left.get(&inst.results[0])
            {
                self.views.insert(inst.results[0], inst.clone());
            }
        }
    }

    fn rename(&self, values: &mut [Value]) {
        for v in values {
            while let Some(other) = self.renamed.get(v) {
                *v = *other;
            }
        }
    }

    fn passed(&mut self, v: Value, taken: bool) {
        if let Some(left) = self.left.get_mut(&v) {
            *left = left.saturating_sub(1);
        }
        if taken && self.func.ty(v).is_linear() {
            self.consumed.insert(v);
        }
    }

    /// Flushes every group that `wanted` says yes to.
    fn flush_where(&mut self, open: &mut Open, wanted: impl Fn(&Group) -> bool) {
        while let Some(at) = open.pending.iter().position(&wanted) {
            self.flush(open, at);
        }
    }

    /// An instruction that is not elementwise.
    fn other(&mut self, open: &mut Open, mut inst: Inst) {
        if let Op::Dim(axis) = inst.op {
            let x = inst.args[0];
            self.passed(x, false);
            let size = self.shapes.shape(x)[axis as usize].clone();
            if let Some(known) = self.known_size(&size) {
                self.renamed.insert(inst.results[0], known);
                return;
            }
            if let Some(group) = open.pending.iter().find(|g| g.makes(x)) {
                inst.args[0] = group.like;
            }
            self.dims.insert(size, inst.results[0]);
            self.shapes.note(&self.func, &inst);
            open.out.push(inst);
            return;
        }
        let (mut used, mut taken) = (HashSet::default(), HashSet::default());
        uses::each(&inst, &mut |v, takes| {
            let mut one = [v];
            self.rename(&mut one);
            used.insert(one[0]);
            if takes {
                taken.insert(one[0]);
            }
        });
        let quiet = shapes::is_harmless(&self.shapes, &self.func, &inst);
        self.flush_where(open, |g| {
            (g.traps() && !quiet)
                || g.members.iter().any(|m| used.contains(&m.results[0]))
                || g.reads.iter().any(|r| taken.contains(r))
        });
        for (k, a) in inst.args.clone().into_iter().enumerate() {
            self.passed(a, uses::takes(&inst, k));
        }
        let before = inst.clone();
        self.nested(&mut inst);
        match inst.op {
            Op::Fill => {
                let v = inst.args[inst.args.len() - 1];
                self.fills.insert(inst.results[0], v);
                if self.shapes.fill_is_safe(&self.func, &inst) {
                    self.safe_fills.insert(inst.results[0]);
                }
            }
            Op::Array(ArrayOp::Slice | ArrayOp::Expand(_)) => {
                // With its operands as they are called by now.
                self.views.entry(inst.results[0]).and_modify(|view| *view = inst.clone());
            }
            Op::Copy => {
                self.copies.insert(inst.results[0], inst.args[0]);
            }
            _ => {}
        }
        self.shapes.note(&self.func, &before);
        open.owned.extend(&inst.results);
        open.out.push(inst);
    }

    fn nested(&mut self, inst: &mut Inst) {
        let looping = matches!(inst.op, Op::For | Op::While);
        for k in 0..inst.blocks.len() {
            let dims = self.dims.clone();
            if looping {
                self.shapes.enter_loop(&self.func, inst);
            } else {
                self.shapes.enter();
            }
            let block = std::mem::take(&mut inst.blocks[k]);
            let owned = block.params.iter().copied().collect();
            inst.blocks[k] = self.block(block, owned);
            self.shapes.leave();
            self.dims = dims;
        }
    }

    fn known_size(&mut self, size: &Size) -> Option<Value> {
        match size {
            Size::Number(n) => Some(self.func.constant(Scalar::I64(*n))),
            Size::Value(v) => Some(*v),
            other => self.dims.get(other).copied(),
        }
    }

    /// An elementwise operation joins the groups of its shape.
    fn join(&mut self, open: &mut Open, mut inst: Inst) {
        let Op::Prim(prim) = inst.op else { unreachable!("elementwise") };
        let is_array = |func: &Func, v: &Value| func.ty(*v).is_array();
        let arrays: Vec<Value> =
            inst.args.iter().copied().filter(|a| is_array(&self.func, a)).collect();
        for other in &arrays[1..] {
            if !self.shapes.same(arrays[0], *other) {
                self.flush_where(open, Group::traps);
                let like =
                    |v: Value| open.pending.iter().find(|g| g.makes(v)).map_or(v, |g| g.like);
                let mut args = vec![like(arrays[0]), like(*other)];
                // A part that is read in place need not be made for the sake of its shape.
                if args.iter().any(|a| self.views.contains_key(a)) {
                    let sizes = |a: &Value| self.sizes(&mut open.out, *a, inst.span);
                    args = args.iter().flat_map(sizes).collect();
                }
                open.out.push(Inst {
                    op: Op::Array(ArrayOp::Conform(Check::Row(prim))),
                    args,
                    results: Vec::new(),
                    blocks: Vec::new(),
                    span: inst.span,
                });
                self.shapes.learn(arrays[0], *other);
            }
        }
        if prim.can_trap() {
            self.flush_where(open, Group::traps);
        }
        self.shapes.note(&self.func, &inst);
        let mut group = Group {
            like: arrays[0],
            members: Vec::new(),
            reads: HashSet::default(),
            views: HashMap::default(),
        };
        // What is made in loops of another shape, as far as is known, is there before.
        while let Some(at) = open.pending.iter().position(|g| {
            !self.shapes.same(g.like, arrays[0]) && inst.args.iter().any(|a| g.makes(*a))
        }) {
            self.flush(open, at);
        }
        let shapes = &self.shapes;
        let (joined, apart) = std::mem::take(&mut open.pending)
            .into_iter()
            .partition::<Vec<_>, _>(|g| shapes.same(g.like, arrays[0]));
        open.pending = apart;
        for other in joined {
            if group.members.is_empty() {
                group = other;
            } else {
                group.reads.extend(other.reads);
                group.views.extend(other.views);
                group.members.extend(other.members);
            }
        }
        for arg in &mut inst.args {
            self.passed(*arg, false);
            if group.makes(*arg) || !is_array(&self.func, arg) {
                continue;
            }
            // A copy is what it is a copy of, as long as that is there.
            while let Some(from) = self.copies.get(arg).filter(|x| !self.consumed.contains(x)) {
                *arg = *from;
            }
            group.reads.insert(*arg);
            if let Some(view) = self.views.get(arg).filter(|v| !self.consumed.contains(&v.args[0]))
            {
                group.reads.insert(view.args[0]);
                group.views.insert(*arg, view.clone());
            }
            if let Some(v) = self.fills.get(arg) {
                self.read_fills.insert(*arg);
                *arg = *v;
            }
        }
        if !group.makes(group.like) {
            group.reads.insert(group.like);
        }
        group.members.push(inst);
        open.pending.push(group);
    }

    /// The sizes of an array as values in sight.
    fn sizes(&mut self, out: &mut Vec<Inst>, x: Value, span: Span) -> Vec<Value> {
        let mut sizes = Vec::new();
        for (k, size) in self.shapes.shape(x).into_iter().enumerate() {
            let known = self.known_size(&size).unwrap_or_else(|| {
                let (op, of) = match size {
                    Size::Axis(of, axis) if !self.consumed.contains(&of) => (Op::Dim(axis), of),
                    _ => (Op::Dim(k as u8), x),
                };
                Emit { func: &mut self.func, out, span }.one(op, vec![of], Type::I64)
            });
            self.dims.insert(size, known);
            sizes.push(known);
        }
        sizes
    }

    /// Makes a group a loop.
    fn flush(&mut self, open: &mut Open, at: usize) {
        let group = open.pending.remove(at);
        let left = |v: &Value| self.left.get(v).copied().unwrap_or(0) > 0;
        let outputs: Vec<Value> =
            group.members.iter().map(|m| m.results[0]).filter(|r| left(r)).collect();
        let mut needed: HashSet<Value> = outputs.iter().copied().collect();
        for m in group.members.iter().rev() {
            if needed.contains(&m.results[0]) || traps(m) {
                needed.insert(m.results[0]);
                needed.extend(&m.args);
            }
        }
        let members: Vec<&Inst> =
            group.members.iter().filter(|m| needed.contains(&m.results[0])).collect();
        let Some(last) = members.last() else { return };
        let span = members.iter().find(|m| traps(m)).unwrap_or(last).span;
        // Storage: an operand that nothing uses from here on, or a new array.
        let mut free: Vec<Value> = group.reads.iter().copied().collect();
        free.retain(|x| {
            let others = open.pending.iter().any(|g| g.reads.contains(x));
            let viewed = group.views.values().any(|v| v.args[0] == *x);
            let others = others || viewed || group.views.contains_key(x);
            open.owned.contains(x) && !left(x) && !others && !self.consumed.contains(x)
        });
        free.sort_unstable();
        let taken: Vec<Option<Value>> = outputs
            .iter()
            .map(|o| {
                let at = free.iter().position(|x| self.func.ty(*x) == self.func.ty(*o))?;
                Some(free.remove(at))
            })
            .collect();
        let sizes = self.sizes(&mut open.out, group.like, span);
        let mut emit = Emit { func: &mut self.func, out: &mut open.out, span };
        let views: HashMap<Value, View> =
            group.views.into_iter().map(|(v, inst)| (v, View::new(&mut emit, inst))).collect();
        let bounds = if views.is_empty() {
            let rest = sizes[1..].iter();
            vec![rest.fold(sizes[0], |n, d| emit.one(Op::Prim(Prim::WMul), vec![n, *d], Type::I64))]
        } else {
            sizes.clone()
        };
        let inits: Vec<Value> = outputs
            .iter()
            .zip(&taken)
            .map(|(o, x)| {
                x.unwrap_or_else(|| {
                    let ty = emit.func.ty(*o);
                    let zero = emit.func.constant(zero(ty.elem().unwrap_or(Elem::F64)));
                    emit.one(Op::Fill, [&sizes[..], &[zero]].concat(), ty)
                })
            })
            .collect();
        self.consumed.extend(inits.iter().copied());
        let nest = Nest { members, outputs: &outputs, taken: &taken, views, bounds, span };
        let mut made = nest.level(&mut self.func, &mut Vec::new(), &inits);
        made.results = outputs;
        open.out.push(made);
    }
}

impl Group {
    fn makes(&self, v: Value) -> bool {
        self.members.iter().any(|m| m.results[0] == v)
    }

    fn traps(&self) -> bool {
        self.members.iter().any(traps)
    }
}

fn traps(inst: &Inst) -> bool {
    matches!(inst.op, Op::Prim(p) if p.can_trap())
}

fn zero(elem: Elem) -> Scalar {
    match elem {
        Elem::F64 => Scalar::F64(0.0),
        Elem::F32 => Scalar::F32(0.0),
        Elem::I64 => Scalar::I64(0),
        Elem::Bool => Scalar::Bool(false),
    }
}

/// What nothing uses any more goes: fills that cannot fail; of slices and expansions, the check stays.
fn sweep(block: &mut Block, used: &HashMap<Value, usize>, pass: &Pass) {
    let dead = |i: &Inst| i.results.first().is_some_and(|r| !used.contains_key(r));
    let needless = |i: &Inst| {
        let fill = i.op == Op::Fill && pass.safe_fills.contains(&i.results[0]);
        fill && pass.read_fills.contains(&i.results[0])
    };
    block.insts.retain(|i| !(dead(i) && needless(i)));
    for inst in &mut block.insts {
        let check = match inst.op {
            Op::Array(ArrayOp::Slice) => Some(Check::Slice),
            Op::Array(ArrayOp::Expand(_)) => Some(Check::Expand),
            _ => None,
        };
        if let Some(check) = check.filter(|_| dead(inst)) {
            inst.op = Op::Array(ArrayOp::Conform(check));
            inst.results.clear();
        }
        inst.blocks.iter_mut().for_each(|b| sweep(b, used, pass));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{array, count, same};
    use super::*;

    #[test]
    fn a_group_is_one_loop() {
        let text = "func @f(%x: [f64], %y: [f64]) -> ([f64], [f64]) {
           %a = mul %x, %y
           %b = tanh %a
           %c = fma %b, %x, %a
           %d = div %c, %y
           return %b, %d
         }";
        let func = same(text, fuse, &[array(&[7]), array(&[7])]);
        assert_eq!(count(&func, |op| *op == Op::For), 1, "{func}");
        assert_eq!(count(&func, |op| *op == Op::Fill), 2, "{func}");
        assert_eq!(count(&func, |op| matches!(op, Op::Array(ArrayOp::Peek))), 2, "{func}");
        same(text, fuse, &[array(&[7]), array(&[6])]);
        same(text, fuse, &[array(&[0]), array(&[0])]);
    }

    #[test]
    fn parts_are_not_made() {
        let text = "func @f(%x: [[f64]], %b: [f64]) -> [[f64]] {
           %n = len %x
           %m = dim[1] %x
           %bias = expand[0] %b, %n
           %back = wsub %m, 1
           %mirror = slice %x, 0, %n, 1, %back, %m, -1
           %s = add %mirror, %bias
           %r = mul %s, %x
           return %r
         }";
        let made = |op: &Op| matches!(op, Op::Array(ArrayOp::Slice | ArrayOp::Expand(_)));
        let func = same(text, fuse, &[array(&[3, 4]), array(&[4])]);
        assert_eq!(count(&func, made), 0, "{func}");
        same(text, fuse, &[array(&[3, 4]), array(&[5])]);
        same(text, fuse, &[array(&[0, 4]), array(&[4])]);
    }
}
