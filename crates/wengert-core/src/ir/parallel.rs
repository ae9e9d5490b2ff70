//! Loops whose iterations can run in any order.
//!
//! A loop marked `parallel` carries arrays only, and an iteration touches only those of their elements (or
//! rows, ..) whose first index is its own: its counter, or what sums and products with fixed numbers make of the
//! counter, the same for all that touches an array. What it reads from outside the loop, or carries and never changes,
//! it may read anywhere, for nothing there changes. So no iteration sees what another has done, and running them in order, as the
//! interpreter does, gives what any other order gives.

use super::func::{Block, Func, Inst, Value};
use super::types::{Op, Type};
use crate::ops::{ArrayOp, Check, Prim, Scalar};
use crate::span::Span;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The most iterations of a loop that can run at the same time: so many make different indices, even where
/// products wrap.
pub const MOST_TRIPS: u64 = 1 << 47;

/// What the factors of an index come to is less than this, so that indices meet again only after `2^64` over it.
const MOST_FACTOR: u64 = 1 << 16;

const _: () = assert!(MOST_TRIPS <= u64::MAX / MOST_FACTOR);

/// Why the iterations of a loop are not independent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// What is wrong.
    pub kind: ConflictKind,
    /// Where.
    pub span: Span,
}

/// What iterations have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// The loop has no bound.
    While,
    /// It can be left early.
    Exit,
    /// It carries this number.
    Carry(Value),
    /// It touches this array at the index of another iteration.
    Touch(Value),
    /// It hands this value on in the place of an array it carries.
    HandsOn(Value),
}

impl Conflict {
    /// The conflict in words.
    pub fn message(&self, func: &Func, counter: Value) -> String {
        let shown = |v: Value| match func.name_of(v) {
            Some(name) => format!("%{name}"),
            None => format!("%{}", v.0),
        };
        match self.kind {
            ConflictKind::While => {
                "only a `for` loop can be parallel: a `while` loop ends by what it computes".into()
            }
            ConflictKind::Exit => {
                "a parallel loop cannot be left early: other iterations may have run".into()
            }
            ConflictKind::Carry(v) => format!(
                "the parallel loop carries `{}` from one iteration to the next; store it into an element of an array, and sum up after the loop",
                shown(v)
            ),
            ConflictKind::Touch(v) => format!(
                "an iteration of the parallel loop may touch `{}` only at its own index `{}`; read another array, or leave out `parallel`",
                shown(v),
                shown(counter)
            ),
            ConflictKind::HandsOn(v) => format!(
                "the parallel loop hands on `{}` in the place of an array it carries",
                shown(v)
            ),
        }
    }
}

/// Checks that the iterations of a loop are independent; says why they are not.
pub fn independent(func: &Func, inst: &Inst) -> Result<(), Conflict> {
    let conflict = |kind| Err(Conflict { kind, span: inst.span });
    if inst.op != Op::For {
        return conflict(ConflictKind::While);
    }
    let body = &inst.blocks[0];
    let mut walk = Walk::new(func, body);
    let mut changed = Vec::new();
    for (k, p) in body.params[1..].iter().enumerate() {
        if !func.ty(*p).is_array() {
            return conflict(ConflictKind::Carry(*p));
        }
        let changes = !hands_through(body, *p, body.yields[k]);
        if changes {
            walk.versions.insert(*p, k);
        }
        changed.push(changes.then_some(k));
    }
    walk.block(body)?;
    walk.hands_on(&body.yields, &changed, inst.span)
}

/// The arrays that a loop carries and never changes, as an iteration is given them.
pub fn unchanged(inst: &Inst) -> Vec<Value> {
    let body = &inst.blocks[0];
    let carries = body.params[1..].iter().zip(&body.yields);
    carries.filter(|(p, y)| hands_through(body, **p, **y)).map(|(p, _)| *p).collect()
}

/// Whether one value of a block is another, handed through loops and branches at most.
fn hands_through(block: &Block, from: Value, to: Value) -> bool {
    if from == to {
        return true;
    }
    let made = |i: &Inst| i.results.iter().position(|r| *r == to);
    let Some((inst, k)) = block.insts.iter().find_map(|i| Some((i, made(i)?))) else {
        return false;
    };
    match inst.op {
        Op::For | Op::While => {
            let body = &inst.blocks[0];
            let init = inst.args[inst.args.len() - inst.results.len() + k];
            let p = body.params[k + 1];
            let exits = body.insts.iter().filter(|i| i.op == Op::ExitIf).map(|i| &i.blocks[0]);
            hands_through(block, from, init)
                && hands_through(body, p, body.yields[k])
                // Before an exit the body may have handed it through some of its loops.
                && exits.into_iter().all(|e| hands_through(body, p, e.yields[k]))
        }
        Op::If => inst.blocks.iter().all(|b| {
            let end = b.yields[k];
            hands_through(b, from, end) || hands_through(block, from, end)
        }),
        _ => false,
    }
}

/// Whether every iteration of an independent loop reads an array from outside at an index of its own only.
pub fn reads_own(func: &Func, inst: &Inst, array: Value) -> bool {
    let mut walk = Walk::new(func, &inst.blocks[0]);
    walk.carries = vec![array];
    walk.versions.insert(array, 0);
    walk.block(&inst.blocks[0]).is_ok()
}

/// Takes the mark off loops that have lost what it says, as passes may make them.
pub fn settle(func: &mut Func) {
    fn block(func: &Func, block_: &mut Block) {
        for inst in &mut block_.insts {
            inst.blocks.iter_mut().for_each(|b| block(func, b));
            if inst.blocks.iter().any(|b| b.parallel) && independent(func, inst).is_err() {
                inst.blocks[0].parallel = false;
            }
        }
    }
    let mut body = std::mem::take(&mut func.body);
    block(func, &mut body);
    func.body = body;
}

/// How an index is made of the counter: one number after another is added to it, subtracted or multiplied. No two
/// counters make the same.
type Path = Vec<(Prim, Value, bool)>;

struct Walk<'f> {
    func: &'f Func,
    /// What indices of the iteration's own are made of.
    paths: HashMap<Value, Path>,
    /// The carried arrays, as an iteration is given them.
    carries: Vec<Value>,
    /// Versions of the carried arrays: which carry they belong to.
    versions: HashMap<Value, usize>,
    /// The index each of them is touched at.
    touched: HashMap<usize, (Path, Span)>,
}

impl<'f> Walk<'f> {
    fn new(func: &'f Func, body: &Block) -> Self {
        let mut inside: HashSet<Value> = body.params.iter().copied().collect();
        body.walk(&mut |inst| {
            inside.extend(&inst.results);
            inst.blocks.iter().for_each(|b| inside.extend(&b.params));
        });
        let mut paths = HashMap::from_iter([(body.params[0], Path::new())]);
        body.walk(&mut |inst| {
            let Op::Prim(prim) = inst.op else { return };
            let fixed = |v: &Value| !inside.contains(v);
            let (counted, other, left) = match inst.args[..] {
                [a, b] if paths.contains_key(&a) && fixed(&b) => (a, b, true),
                [a, b] if paths.contains_key(&b) && fixed(&a) => (b, a, false),
                _ => return,
            };
            use Prim::{IAdd, IMul, ISub, WAdd, WMul, WSub};
            let apart = matches!(prim, IAdd | ISub | WAdd | WSub | IMul | WMul);
            let factor = |(prim, v, _): &(Prim, Value, bool)| match (prim, func.as_const(*v)) {
                (Prim::IMul | Prim::WMul, Some(Scalar::I64(k))) => k.unsigned_abs(),
                (Prim::IMul | Prim::WMul, _) => 0,
                _ => 1,
            };
            let mut path = paths[&counted].clone();
            path.push((prim, other, left));
            let product = path.iter().map(factor).fold(1, u64::saturating_mul);
            if apart && 0 < product && product < MOST_FACTOR {
                paths.insert(inst.results[0], path);
            }
        });
        let carries = body.params[1..].to_vec();
        Walk { func, paths, carries, versions: HashMap::default(), touched: HashMap::default() }
    }

    fn block(&mut self, block: &Block) -> Result<(), Conflict> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    /// Sees that an instruction touches the elements of one index only: that of its iteration. Otherwise says where
    /// another is touched.
    fn own(&mut self, inst: &Inst, carry: usize) -> Result<(), Span> {
        let one = Some(Scalar::I64(1));
        let single = match &inst.op {
            Op::Load | Op::Store => true,
            Op::Array(ArrayOp::Peek | ArrayOp::Poke) => self.func.ty(inst.args[0]).rank() == 1,
            Op::Array(ArrayOp::Slice | ArrayOp::Put | ArrayOp::AddSlice) => {
                self.func.as_const(inst.args[2]) == one
            }
            _ => false,
        };
        let path = inst.args.get(1).and_then(|index| self.paths.get(index));
        let (true, Some(path)) = (single, path) else { return Err(inst.span) };
        let (first, at) = self.touched.entry(carry).or_insert_with(|| (path.clone(), inst.span));
        match first == path {
            true => Ok(()),
            // The counter itself is the index that is meant.
            false => Err(if path.is_empty() { *at } else { inst.span }),
        }
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), Conflict> {
        let conflict = |kind| Err(Conflict { kind, span: inst.span });
        if inst.op == Op::ExitIf {
            return conflict(ConflictKind::Exit);
        }
        let carried = |v: &Value| self.versions.get(v).copied();
        let touched: Vec<Option<usize>> = inst.args.iter().map(carried).collect();
        match inst.op {
            Op::For | Op::While => {
                let bounds = if inst.op == Op::For { 2 } else { 0 };
                let body = &inst.blocks[0];
                for (k, carry) in touched[bounds..].iter().enumerate() {
                    if let Some(carry) = carry {
                        self.versions.insert(body.params[k + 1], *carry);
                        self.versions.insert(inst.results[k], *carry);
                    }
                }
                // Exits of an inner loop are its own affair.
                for step in &body.insts {
                    match step.op {
                        Op::ExitIf => {
                            self.block(&step.blocks[0])?;
                            let yields = &step.blocks[0].yields;
                            self.hands_on(yields, &touched[bounds..], step.span)?;
                        }
                        _ => self.inst(step)?,
                    }
                }
                return self.hands_on(&body.yields, &touched[bounds..], inst.span);
            }
            Op::If => {
                for block in &inst.blocks {
                    self.block(block)?;
                }
                let ends: Vec<Option<usize>> =
                    inst.blocks[0].yields.iter().map(|y| self.versions.get(y).copied()).collect();
                for (r, carry) in inst.results.iter().zip(&ends) {
                    if let Some(carry) = carry {
                        self.versions.insert(*r, *carry);
                    }
                }
                return self.hands_on(&inst.blocks[1].yields, &ends, inst.span);
            }
            // Only looks at shapes.
            Op::Dim(_) | Op::Array(ArrayOp::Conform(Check::Slice)) => return Ok(()),
            _ => {}
        }
        match touched.iter().position(Option::is_some) {
            None => Ok(()),
            Some(0) if touched[1..].iter().all(Option::is_none) => {
                let carry = touched[0].unwrap_or(0);
                self.own(inst, carry).map_err(|span| {
                    let kind = ConflictKind::Touch(self.carries[carry]);
                    Conflict { kind, span }
                })?;
                if inst.op.takes().is_some() {
                    self.versions.insert(inst.results[0], carry);
                }
                Ok(())
            }
            Some(k) => {
                let carry = touched[k].unwrap_or(0);
                conflict(ConflictKind::Touch(self.carries[carry]))
            }
        }
    }

    /// Values handed on belong to these carries.
    fn hands_on(
        &self,
        values: &[Value],
        carries: &[Option<usize>],
        span: Span,
    ) -> Result<(), Conflict> {
        let wrong = |(v, k): &(&Value, &Option<usize>)| self.versions.get(*v) != k.as_ref();
        match values.iter().zip(carries).find(wrong) {
            None => Ok(()),
            Some((v, _)) => Err(Conflict { kind: ConflictKind::HandsOn(*v), span }),
        }
    }
}

/// Whether a function over a range (`from, to, carries.., captures..`) is one loop over it whose iterations are
/// independent, and hands back the carries in place.
pub fn runs_apart(func: &Func, carries: usize) -> bool {
    let (params, body) = (func.params(), &func.body);
    let Some(given) = params.get(..2 + carries) else { return false };
    let mut loops = body.insts.iter().filter(|inst| inst.op == Op::For && inst.args == given);
    let (Some(inst), None) = (loops.next(), loops.next()) else { return false };
    // Nothing else has to do with the arrays, neither before the loop nor after it.
    let results = &inst.results;
    let others = body.insts.iter().filter(|other| !std::ptr::eq(*other, inst));
    let mut apart = independent(func, inst).is_ok();
    for other in others {
        let mut touches = |inst: &Inst| {
            let looks = matches!(inst.op, Op::Dim(_) | Op::Array(ArrayOp::Conform(Check::Slice)));
            let is_array = |a: &Value| given[2..].contains(a) || results.contains(a);
            apart &= looks || !inst.args.iter().any(is_array);
        };
        touches(other);
        other.blocks.iter().for_each(|b| b.walk(&mut touches));
    }
    let Some((ends, [done, exit])) = body.yields.split_last_chunk() else { return false };
    let ended = body.insts.iter().any(|inst| {
        inst.results == [*done] && inst.op == Op::Prim(Prim::IMax) && inst.args == given[..2]
    });
    apart && ended && func.as_const(*exit) == Some(Scalar::I64(0)) && ends == inst.results
}

/// Whether a function that records a range of a loop or reverses it hands back these arrays, as its first results,
/// in place, and touches only elements of them whose first index depends on the iteration.
///
/// Of the loops over chunks that reverse mode makes, chunks touch the elements of their own iterations, because
/// the loop they were made of is independent. That is not seen here (reverse mode vouches for it, see
/// [`super::origin`]); but no array is read or changed as a whole, or at an index that is the same for all.
pub fn hands_back(func: &Func, arrays: &[Value]) -> bool {
    let versions = arrays.iter().enumerate().map(|(k, p)| (*p, k)).collect();
    let mut follow = Follow { func, versions, moving: HashSet::default() };
    let kept = |follow: &Follow, (k, y): (usize, &Value)| follow.versions.get(y) == Some(&k);
    follow.block(&func.body, true)
        && func.body.yields.len() >= arrays.len()
        && func.body.yields[..arrays.len()].iter().enumerate().all(|end| kept(&follow, end))
}

/// Follows arrays through a function, in which they are changed in place.
struct Follow<'f> {
    func: &'f Func,
    /// The versions of each.
    versions: HashMap<Value, usize>,
    /// Values that depend on the iteration of an outermost loop.
    moving: HashSet<Value>,
}

impl Follow<'_> {
    fn block(&mut self, block: &Block, outermost: bool) -> bool {
        block.insts.iter().all(|inst| self.inst(inst, outermost))
    }

    fn inst(&mut self, inst: &Inst, outermost: bool) -> bool {
        let version = |v: &Value| self.versions.get(v).copied();
        let of: Vec<Option<usize>> = inst.args.iter().map(version).collect();
        let moves = inst.args.iter().any(|a| self.moving.contains(a));
        match inst.op {
            Op::For | Op::While => {
                let bounds = if inst.op == Op::For { 2 } else { 0 };
                let body = &inst.blocks[0];
                let moving_bounds = inst.args[..bounds].iter().any(|a| self.moving.contains(a));
                if moving_bounds || (outermost && inst.op == Op::For) {
                    self.moving.insert(body.params[0]);
                }
                for (k, a) in inst.args[bounds..].iter().enumerate() {
                    if let Some(array) = of[bounds + k] {
                        self.versions
                            .extend([(body.params[k + 1], array), (inst.results[k], array)]);
                    } else if self.moving.contains(a) {
                        self.moving.extend([body.params[k + 1], inst.results[k]]);
                    }
                }
                let exits = body.insts.iter().filter(|i| i.op == Op::ExitIf).map(|i| &i.blocks[0]);
                self.block(body, false)
                    && exits.chain([body]).all(|end| {
                        let kept = end.yields.iter().zip(&of[bounds..]);
                        kept.into_iter().all(|(y, of)| self.versions.get(y) == of.as_ref())
                    })
            }
            Op::If => {
                if !inst.blocks.iter().all(|b| self.block(b, false)) {
                    return false;
                }
                for (k, r) in inst.results.iter().enumerate() {
                    let ends: Vec<Value> = inst.blocks.iter().map(|b| b.yields[k]).collect();
                    let arrays: HashSet<_> = ends.iter().map(|y| self.versions.get(y)).collect();
                    if arrays.len() > 1 {
                        return false;
                    }
                    if let Some(array) = arrays.into_iter().next().flatten().copied() {
                        self.versions.insert(*r, array);
                    }
                    if moves || ends.iter().any(|y| self.moving.contains(y)) {
                        self.moving.insert(*r);
                    }
                }
                true
            }
            Op::ExitIf => self.block(&inst.blocks[0], false),
            Op::Dim(_) | Op::Array(ArrayOp::Conform(Check::Slice)) => true,
            _ => {
                // What was recorded was recorded by this iteration.
                if moves || inst.op == Op::Pop {
                    self.moving.extend(&inst.results);
                }
                match of.iter().position(Option::is_some) {
                    None => true,
                    Some(0) if of[1..].iter().all(Option::is_none) => self.part(inst, of[0]),
                    Some(_) => false,
                }
            }
        }
    }

    /// An instruction that reads or changes a part of an array, of the iteration's own.
    fn part(&mut self, inst: &Inst, array: Option<usize>) -> bool {
        use ArrayOp::{AddSlice, Peek, Poke, Put, Slice};
        let parts = matches!(
            inst.op,
            Op::Load | Op::Store | Op::Array(Peek | Poke | Slice | Put | AddSlice)
        );
        if inst.op.takes().is_some() {
            self.versions.extend(array.map(|array| (inst.results[0], array)));
        }
        let index = inst.args.get(1);
        parts && index.is_some_and(|i| self.moving.contains(i) && self.func.ty(*i) == Type::I64)
    }
}
