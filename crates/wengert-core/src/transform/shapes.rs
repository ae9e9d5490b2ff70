//! Shapes as far as they are known before a program runs.
//!
//! Every axis of every array has a [`Size`]: a number, an integer of the program, or an axis of some array.
//! Operations pass sizes on; those that refuse arrays of different shapes prove sizes equal for what
//! comes after them. Passes ask [`Shapes`] while they walk a function in order, entering and leaving
//! blocks as they do ([`Shapes::enter`], [`Shapes::leave`]).

use crate::ir::{Block, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Check, Prim, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// How many elements along an axis, or a product of such numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// A constant.
    Number(i64),
    /// An integer of the program.
    Value(Value),
    /// An axis of an array whose shape comes from outside.
    Axis(Value, u8),
    /// A product, in order.
    Product(Vec<Size>),
}

/// The sizes of the values seen so far.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    of: HashMap<Value, Vec<Size>>,
    ints: HashMap<Value, Size>,
    /// Questions whether two integers are equal.
    asked: HashMap<Value, [Size; 2]>,
    equal: HashMap<Size, Size>,
    /// What was known to be equal where each open block began.
    outer: Vec<HashMap<Size, Size>>,
}

impl Shapes {
    /// Shapes of a function's parameters.
    pub fn of_params(func: &Func) -> Shapes {
        let mut shapes = Shapes::default();
        func.params().iter().for_each(|p| shapes.unknown(func, *p));
        shapes
    }

    /// What follows stands in a nested block.
    pub fn enter(&mut self) {
        self.outer.push(self.equal.clone());
    }

    /// The block ends: what its checks proved holds no longer.
    pub fn leave(&mut self) {
        self.equal = self.outer.pop().unwrap_or_default();
    }

    /// The sizes of an array, one per axis.
    pub fn shape(&self, x: Value) -> Vec<Size> {
        self.of.get(&x).map_or(Vec::new(), |s| s.iter().map(|s| self.find(s)).collect())
    }

    /// What an integer is known to be.
    pub fn int(&self, func: &Func, v: Value) -> Size {
        match (func.as_const(v), self.ints.get(&v)) {
            (Some(Scalar::I64(n)), _) => Size::Number(n),
            (_, Some(size)) => self.find(size),
            _ => Size::Value(v),
        }
    }

    /// The number of elements of an array.
    pub fn total(&self, x: Value) -> Size {
        product(self.shape(x))
    }

    /// Whether two arrays have the same shape for certain.
    pub fn same(&self, a: Value, b: Value) -> bool {
        a == b || (self.of.contains_key(&a) && self.shape(a) == self.shape(b))
    }

    /// Whether an integer is certainly not negative: the size of something that exists.
    pub fn is_size(&self, func: &Func, v: Value) -> bool {
        fn is_size(s: &Size) -> bool {
            match s {
                Size::Number(n) => *n >= 0,
                Size::Axis(..) => true,
                Size::Value(_) | Size::Product(_) => false,
            }
        }
        is_size(&self.int(func, v))
    }

    /// Whether a `fill` cannot fail by a negative length.
    pub fn fill_is_safe(&self, func: &Func, fill: &Inst) -> bool {
        fill.args[..fill.args.len() - 1].iter().all(|d| self.is_size(func, *d))
    }

    /// Two arrays have passed a check that they are alike.
    pub fn learn(&mut self, a: Value, b: Value) {
        for (a, b) in self.shape(a).iter().zip(&self.shape(b)) {
            self.learn_size(a, b);
        }
    }

    fn learn_size(&mut self, a: &Size, b: &Size) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            // Numbers stand for everything equal to them, axes for plain integers, and a product for nothing
            // but another.
            let plain = |s: &Size| match s {
                Size::Number(_) => 0,
                Size::Axis(..) => 1,
                Size::Value(_) => 2,
                Size::Product(_) => 3,
            };
            let (from, to) = if plain(&a) <= plain(&b) { (b, a) } else { (a, b) };
            self.equal.insert(from, to);
        }
    }

    fn find(&self, size: &Size) -> Size {
        let mut found = match size {
            Size::Product(factors) => product(factors.iter().map(|f| self.find(f)).collect()),
            other => other.clone(),
        };
        while let Some(next) = self.equal.get(&found) {
            found = next.clone();
        }
        found
    }

    fn unknown(&mut self, func: &Func, v: Value) {
        if let Type::Array(_, rank) = func.ty(v) {
            self.of.insert(v, (0..rank).map(|k| Size::Axis(v, k)).collect());
        }
    }

    /// The parameters of a loop body. A carry has the shape of what it starts with where the body hands
    /// on an array made from it that has its shape.
    pub fn enter_loop(&mut self, func: &Func, inst: &Inst) {
        self.enter();
        let body = &inst.blocks[0];
        let inits = &inst.args[inst.args.len() - inst.results.len()..];
        for ((p, init), y) in body.params[1..].iter().zip(inits).zip(&body.yields) {
            let shape = self.shape(*init);
            let mut kept = self.kept(func, body, *p, &shape);
            if kept.is(*y) {
                self.of.insert(*p, shape);
            } else {
                self.unknown(func, *p);
            }
        }
    }

    fn kept<'a>(
        &'a self,
        func: &'a Func,
        block: &'a Block,
        from: Value,
        shape: &'a [Size],
    ) -> Kept<'a> {
        Kept { shapes: self, func, block, from, shape, failed: HashSet::default() }
    }

    /// Whether carry `k` of a loop body keeps the shape it starts with, at exits too.
    fn keeps(&self, func: &Func, body: &Block, k: usize, shape: &[Size]) -> bool {
        let mut kept = self.kept(func, body, body.params[k + 1], shape);
        let mut exits = body.insts.iter().filter(|i| i.op == Op::ExitIf);
        kept.is(body.yields[k]) && exits.all(|e| kept.is(e.blocks[0].yields[k]))
    }

    /// Notes what an instruction makes; its nested blocks have been walked.
    pub fn note(&mut self, func: &Func, inst: &Inst) {
        let args = &inst.args;
        let ints = |shapes: &Shapes, dims: &[Value]| -> Vec<Size> {
            dims.iter().map(|d| shapes.int(func, *d)).collect()
        };
        let Some(result) = inst.results.first().copied() else {
            if let Op::Assert(_) = inst.op
                && let Some([a, b]) = self.asked.get(&args[0]).cloned()
            {
                self.learn_size(&a, &b);
            }
            if let Op::Array(ArrayOp::Conform(Check::Row(_))) = inst.op {
                if func.ty(args[0]).is_array() {
                    self.learn(args[0], args[1]);
                } else {
                    let (a, b) = args.split_at(args.len() / 2);
                    for (a, b) in ints(self, a).iter().zip(&ints(self, b)) {
                        self.learn_size(a, b);
                    }
                }
            }
            return;
        };
        let shape = match &inst.op {
            Op::Prim(Prim::IEq) if func.ty(result) == Type::Bool => {
                let sides = [0, 1].map(|k| self.int(func, args[k]));
                self.asked.insert(result, sides);
                return;
            }
            Op::Prim(Prim::WMul | Prim::IMul) if func.ty(result) == Type::I64 => {
                let size = product(ints(self, args));
                self.ints.insert(result, size);
                return;
            }
            Op::Prim(_) if func.ty(result).is_array() => {
                let arrays: Vec<Value> =
                    args.iter().copied().filter(|a| func.ty(*a).is_array()).collect();
                arrays[1..].iter().for_each(|other| self.learn(arrays[0], *other));
                self.shape(arrays[0])
            }
            Op::Dim(axis) => {
                let size = self.shape(args[0])[*axis as usize].clone();
                self.ints.insert(result, size);
                return;
            }
            Op::Fill => ints(self, &args[..args.len() - 1]),
            Op::Store | Op::Copy => self.shape(args[0]),
            Op::Array(op) => match op {
                ArrayOp::Slice => {
                    ints(self, &args[1..]).chunks(3).map(|triple| triple[1].clone()).collect()
                }
                ArrayOp::Reshape => ints(self, &args[1..]),
                ArrayOp::Transpose(axes) => {
                    let from = self.shape(args[0]);
                    axes.iter().map(|a| from[*a as usize].clone()).collect()
                }
                ArrayOp::Expand(axis) => {
                    let mut shape = self.shape(args[0]);
                    shape.insert(*axis as usize, self.int(func, args[1]));
                    shape
                }
                ArrayOp::Sum(Some(axis)) => {
                    let mut shape = self.shape(args[0]);
                    shape.remove(*axis as usize);
                    shape
                }
                ArrayOp::Gather => {
                    let mut shape = self.shape(args[0]);
                    shape[0] = self.shape(args[1])[0].clone();
                    shape
                }
                op if op.in_place() => self.shape(args[0]),
                ArrayOp::CumSum(..) | ArrayOp::ArgSort => self.shape(args[0]),
                _ => return,
            },
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                let inits = &args[args.len() - inst.results.len()..];
                for (k, r) in inst.results.iter().enumerate() {
                    let shape = self.shape(inits[k]);
                    if self.keeps(func, body, k, &shape) {
                        self.of.insert(*r, shape);
                    } else {
                        self.unknown(func, *r);
                    }
                }
                return;
            }
            Op::If => {
                for (k, r) in inst.results.iter().enumerate() {
                    let (a, b) = (inst.blocks[0].yields[k], inst.blocks[1].yields[k]);
                    self.unknown(func, *r);
                    if func.ty(*r).is_array() && self.same(a, b) {
                        let shape = self.shape(a);
                        self.of.insert(*r, shape);
                    }
                }
                return;
            }
            _ => {
                inst.results.iter().for_each(|r| self.unknown(func, *r));
                return;
            }
        };
        self.of.insert(result, shape);
    }
}

/// The carries of loops that keep the shape they start with, and what they start with.
pub fn kept_carries(func: &Func) -> HashMap<Value, Value> {
    fn block(shapes: &mut Shapes, func: &Func, block_: &Block, kept: &mut HashMap<Value, Value>) {
        for inst in &block_.insts {
            let looping = matches!(inst.op, Op::For | Op::While);
            for nested in &inst.blocks {
                if looping {
                    shapes.enter_loop(func, inst);
                    let inits = &inst.args[inst.args.len() - inst.results.len()..];
                    let carries = nested.params[1..].iter().zip(inits);
                    kept.extend(carries.filter(|(p, init)| shapes.same(**p, **init)));
                } else {
                    shapes.enter();
                }
                block(shapes, func, nested, kept);
                shapes.leave();
            }
            shapes.note(func, inst);
        }
    }
    let mut kept = HashMap::default();
    block(&mut Shapes::of_params(func), func, &func.body, &mut kept);
    kept
}

fn product(mut factors: Vec<Size>) -> Size {
    if factors.len() == 1 {
        return factors.remove(0);
    }
    let mut flat = Vec::new();
    for f in factors {
        match f {
            Size::Product(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    Size::Product(flat)
}

/// Whether values made in a block have the shape of one it starts with.
struct Kept<'a> {
    shapes: &'a Shapes,
    func: &'a Func,
    block: &'a Block,
    /// The value it starts with.
    from: Value,
    /// The shape that has.
    shape: &'a [Size],
    failed: HashSet<Value>,
}

impl Kept<'_> {
    fn maker(&self, v: Value) -> Option<(usize, &Inst)> {
        self.block.insts.iter().find_map(|i| Some((i.results.iter().position(|r| *r == v)?, i)))
    }

    fn is(&mut self, v: Value) -> bool {
        if v == self.from {
            return true;
        }
        if !self.failed.insert(v) {
            return false;
        }
        let block = self.block;
        let made = block.insts.iter().find_map(|i| {
            let k = i.results.iter().position(|r| *r == v)?;
            Some((k, i))
        });
        let Some((k, inst)) = made else { return false };
        let func = self.func;
        match &inst.op {
            Op::Prim(_) => inst.args.iter().any(|a| func.ty(*a).is_array() && self.is(*a)),
            Op::Store | Op::Copy => self.is(inst.args[0]),
            Op::Array(op) if op.in_place() || matches!(op, ArrayOp::CumSum(..)) => {
                self.is(inst.args[0])
            }
            Op::Fill => {
                let dims = inst.args[..inst.args.len() - 1].iter().enumerate();
                dims.zip(self.shape).all(|((axis, d), wanted)| {
                    self.shapes.int(func, *d) == *wanted
                        || self.maker(*d).is_some_and(|(_, i)| {
                            i.op == Op::Dim(axis as u8) && i.args[0] == self.from
                        })
                })
            }
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                let init = inst.args[inst.args.len() - inst.results.len() + k];
                self.is(init) && self.shapes.keeps(func, body, k, self.shape)
            }
            _ => false,
        }
    }
}

/// Walks a whole function and keeps what was found for every value; what checks prove inside of blocks is
/// known inside of them only, so this knows less than a walk.
pub fn of(func: &Func) -> Shapes {
    let mut shapes = Shapes::of_params(func);
    walk(&mut shapes, func, &func.body);
    shapes
}

fn walk(shapes: &mut Shapes, func: &Func, block: &Block) {
    for inst in &block.insts {
        for nested in &inst.blocks {
            if matches!(inst.op, Op::For | Op::While) {
                shapes.enter_loop(func, inst);
            } else {
                shapes.enter();
            }
            walk(shapes, func, nested);
            shapes.leave();
        }
        shapes.note(func, inst);
    }
}

/// Per row on several arrays (and `dot`), by its result: the pairs of arrays whose shapes may differ where it
/// stands, in the order in which it compares them. An array that other rows made is named by an operand of
/// theirs, as far as that is still there.
pub fn uneven(func: &Func) -> HashMap<Value, Vec<(Value, Value)>> {
    let mut several = false;
    func.body.walk(&mut |inst| several |= compared(func, inst).len() > 1);
    let mut found = Uneven::default();
    if several {
        found.shapes = Shapes::of_params(func);
        found.block(func, &func.body);
    }
    found.pairs
}

/// The arrays whose shapes an instruction compares, and has no other reason to fail.
fn compared(func: &Func, inst: &Inst) -> Vec<Value> {
    match inst.op {
        Op::Prim(_) | Op::Array(ArrayOp::Dot) => {
            inst.args.iter().copied().filter(|a| func.ty(*a).is_array()).collect()
        }
        _ => Vec::new(),
    }
}

#[derive(Default)]
struct Uneven {
    shapes: Shapes,
    pairs: HashMap<Value, Vec<(Value, Value)>>,
    /// An operand of the shape of what a row made.
    like: HashMap<Value, Value>,
    consumed: HashSet<Value>,
}

impl Uneven {
    fn block(&mut self, func: &Func, block: &Block) {
        for inst in &block.insts {
            self.row(func, inst);
            let taken = inst.args.iter().enumerate().filter(|(k, _)| uses::takes(inst, *k));
            self.consumed.extend(taken.map(|(_, a)| *a));
            for nested in &inst.blocks {
                if matches!(inst.op, Op::For | Op::While) {
                    self.shapes.enter_loop(func, inst);
                } else {
                    self.shapes.enter();
                }
                self.block(func, nested);
                self.shapes.leave();
            }
            self.shapes.note(func, inst);
        }
        self.consumed.extend(&block.yields);
    }

    fn row(&mut self, func: &Func, inst: &Inst) {
        let arrays = compared(func, inst);
        let Some(first) = arrays.first() else { return };
        let uneven: Vec<(Value, Value)> = arrays[1..]
            .iter()
            .filter(|other| !self.shapes.same(*first, **other))
            .map(|other| (self.named(*first), self.named(*other)))
            .collect();
        if !uneven.is_empty() {
            self.pairs.insert(inst.results[0], uneven);
        }
        if func.ty(inst.results[0]).is_array() {
            self.like.insert(inst.results[0], *first);
        }
    }

    fn named(&self, v: Value) -> Value {
        match self.like.get(&v) {
            Some(from) if !self.consumed.contains(from) => self.named(*from),
            _ => v,
        }
    }
}

/// Whether executing an instruction early or late is never noticed: it cannot fail, has no effect, and
/// takes nothing over.
pub fn is_harmless(shapes: &Shapes, func: &Func, inst: &Inst) -> bool {
    let takes = (0..inst.args.len()).any(|k| uses::takes(inst, k));
    match inst.op {
        Op::Fill => shapes.fill_is_safe(func, inst),
        _ => func.is_movable(inst) && !takes,
    }
}
