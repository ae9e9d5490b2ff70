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
use crate::ir::verify::consumes;
use crate::ir::{Block, Elem, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Prim, Scalar};
use crate::span::Span;
use std::collections::{HashMap, HashSet};

/// The function without elementwise operations on arrays.
pub fn fuse(from: &Func) -> Func {
    let mut none = true;
    from.body.walk(&mut |inst| none &= !is_elementwise(from, inst));
    if none {
        return from.clone();
    }
    let owned = from.params().iter().copied().filter(|p| consumes(from, *p)).collect();
    let mut func = from.clone();
    let body = std::mem::take(&mut func.body);
    let mut pass = Pass {
        shapes: Shapes::of_params(from),
        left: uses::counts(&body),
        func,
        dims: HashMap::new(),
        renamed: HashMap::new(),
        fills: HashMap::new(),
        safe_fills: HashSet::new(),
        copies: HashMap::new(),
        consumed: HashSet::new(),
    };
    let mut body = pass.block(body, owned);
    drop_fills(&mut body, &pass.safe_fills);
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
    /// Fills that cannot fail.
    safe_fills: HashSet<Value>,
    /// Copies, and of what.
    copies: HashMap<Value, Value>,
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
        Block { params: block.params, insts: open.out, yields }
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
        let (mut used, mut taken) = (HashSet::new(), HashSet::new());
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
                let like = |v: Value| open.pending.iter().find(|g| g.makes(v)).map_or(v, |g| g.like);
                open.out.push(Inst {
                    op: Op::Array(ArrayOp::Conform(Some(prim))),
                    args: vec![like(arrays[0]), like(*other)],
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
        let mut group = Group { like: arrays[0], members: Vec::new(), reads: HashSet::new() };
        let shapes = &self.shapes;
        let (joined, apart) =
            std::mem::take(&mut open.pending).into_iter().partition::<Vec<_>, _>(|g| {
                shapes.same(g.like, arrays[0])
            });
        open.pending = apart;
        for other in joined {
            if group.members.is_empty() {
                group = other;
            } else {
                group.reads.extend(other.reads);
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
            if let Some(v) = self.fills.get(arg) {
                *arg = *v;
            }
        }
        if !group.makes(group.like) {
            group.reads.insert(group.like);
        }
        group.members.push(inst);
        open.pending.push(group);
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
        let mut emit = Emit { func: &mut self.func, out: &mut open.out, span };
        let shape = self.shapes.shape(group.like);
        let mut sizes = Vec::new();
        for (k, size) in shape.iter().enumerate() {
            sizes.push(match size {
                Size::Number(n) => emit.func.constant(Scalar::I64(*n)),
                Size::Value(v) => *v,
                other => *self.dims.entry(other.clone()).or_insert_with(|| {
                    emit.one(Op::Dim(k as u8), vec![group.like], Type::I64)
                }),
            });
        }
        let total = sizes[1..].iter().fold(sizes[0], |n, d| {
            emit.one(Op::Prim(Prim::WMul), vec![n, *d], Type::I64)
        });
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
        let body = loop_body(&mut self.func, &members, &outputs, &taken);
        let start = self.func.constant(Scalar::I64(0));
        open.out.push(Inst {
            op: Op::For,
            args: [&[start, total], &inits[..]].concat(),
            results: outputs,
            blocks: vec![body],
            span,
        });
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

/// Appends instructions with one result.
struct Emit<'a> {
    func: &'a mut Func,
    out: &'a mut Vec<Inst>,
    span: Span,
}

impl Emit<'_> {
    fn one(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let result = self.func.value(ty, None);
        let (results, blocks) = (vec![result], Vec::new());
        self.out.push(Inst { op, args, results, blocks, span: self.span });
        result
    }
}

/// The loop over positions: elements are read once, results are written at their position.
fn loop_body(
    func: &mut Func,
    members: &[&Inst],
    outputs: &[Value],
    taken: &[Option<Value>],
) -> Block {
    let k = func.value(Type::I64, None);
    let carries: Vec<Value> =
        outputs.iter().map(|o| func.value(func.ty(*o), func.name_of(*o))).collect();
    let mut insts = Vec::new();
    let mut element: HashMap<Value, Value> = HashMap::new();
    for m in members {
        let mut emit = Emit { func, out: &mut insts, span: m.span };
        let mut args = Vec::new();
        for a in &m.args {
            args.push(match emit.func.ty(*a) {
                ty @ Type::Array(..) => *element.entry(*a).or_insert_with(|| {
                    // What is overwritten is read through the version the loop carries.
                    let from = taken.iter().position(|t| *t == Some(*a));
                    let from = from.map_or(*a, |at| carries[at]);
                    let ty = ty.elem().unwrap_or(Elem::F64).scalar();
                    emit.one(Op::Array(ArrayOp::Peek), vec![from, k], ty)
                }),
                _ => *a,
            });
        }
        let elem = emit.func.ty(m.results[0]).elem().unwrap_or(Elem::F64);
        let value = emit.one(m.op.clone(), args, elem.scalar());
        element.insert(m.results[0], value);
    }
    let mut yields = Vec::new();
    for (o, carry) in outputs.iter().zip(&carries) {
        let span = members.iter().find(|m| m.results[0] == *o).map_or(Span::default(), |m| m.span);
        let ty = func.ty(*o);
        let mut emit = Emit { func, out: &mut insts, span };
        yields.push(emit.one(Op::Array(ArrayOp::Poke), vec![*carry, k, element[o]], ty));
    }
    Block { params: [&[k], &carries[..]].concat(), insts, yields }
}

/// Fills that nothing uses any more and that cannot fail go.
fn drop_fills(body: &mut Block, safe: &HashSet<Value>) {
    fn sweep(block: &mut Block, used: &HashMap<Value, usize>, safe: &HashSet<Value>) {
        let dead = |i: &Inst| {
            i.op == Op::Fill && !used.contains_key(&i.results[0]) && safe.contains(&i.results[0])
        };
        block.insts.retain(|i| !dead(i));
        for inst in &mut block.insts {
            inst.blocks.iter_mut().for_each(|b| sweep(b, used, safe));
        }
    }
    let used = uses::counts(body);
    sweep(body, &used, safe);
}
