//! Invariant motion: what a loop computes anew in every iteration from values outside it is computed
//! once before it.
//!
//! The length of an array that the loop carries and never gives another shape is that of the array it starts with.
//! Only instructions that cannot fail move, so a loop of no iterations still does no harm. The
//! values are the same, so no bit changes.
//!
//! Before differentiation, more care is needed: the adjoint of what has moved passes back through it even
//! if the loop never ran, as zero times a partial, and zero times infinity is no number. So what carries a
//! derivative moves only if the loop is sure to compute it, or if its partials are finite constants. (Those
//! of a product are its factors, and what is finite before the loop may overflow in it.) What the first
//! iteration is sure to compute moves before the loop and behind the question whether there is one.

use super::activity::Activity;
use super::carries::rename_inside;
use super::copy::rebuild;
use super::shapes;
use crate::ir::{Block, Func, Inst, Op, Type, Value, uses};
use crate::ops::{ArrayOp, Class, Prim, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The function with invariant instructions before their loops.
pub fn invariants(func: &Func) -> Func {
    moved(func, &|_, _| true)
}

/// The same for a function that will be differentiated.
pub fn before_differentiation(func: &Func) -> Func {
    let floats: Vec<Value> =
        func.params().iter().copied().filter(|p| func.ty(*p).is_float()).collect();
    let activity = Activity::new(func, &floats);
    moved(func, &|inst, surely| {
        // What this pass makes itself are branches with derivatives, and their conditions.
        let made = inst.results[0].index() >= func.values.len();
        let varied = if made { inst.op == Op::If } else { activity.is_varied(inst.results[0]) };
        surely || !varied || has_constant_partials(func, inst)
    })
}

/// Whether the partials by what varies are finite constants.
fn has_constant_partials(func: &Func, inst: &Inst) -> bool {
    let Op::Prim(prim) = inst.op else {
        return matches!(inst.op, Op::Array(ArrayOp::Sum(_) | ArrayOp::Transpose(_)));
    };
    let constant = |k: usize| match func.as_const(inst.args[k]) {
        Some(Scalar::F64(c)) => Some(c),
        Some(Scalar::F32(c)) => Some(f64::from(c)),
        _ => None,
    };
    match prim {
        Prim::Mul => constant(0).or(constant(1)).is_some_and(f64::is_finite),
        // The reciprocal must be a number in single precision too.
        Prim::Div => constant(1).is_some_and(|c| (1.0 / c as f32).is_finite()),
        other => matches!(other.class(), Class::Linear | Class::Select | Class::Cast),
    }
}

/// Whether an instruction that could move may: it is given, and whether the loop is sure to reach it.
type May<'a> = dyn Fn(&Inst, bool) -> bool + 'a;

fn moved(func: &Func, may: &May<'_>) -> Func {
    let kept = shapes::kept_carries(func);
    let mut taken = HashSet::default();
    uses::each_in(&func.body, &mut |v, takes| taken.extend(takes.then_some(v)));
    let mut pass = Pass { func: func.clone(), may, kept, taken, asked: HashSet::default() };
    let mut body = std::mem::take(&mut pass.func.body);
    pass.block(&mut body);
    pass.func.body = body;
    rebuild(&pass.func, &func.name, &mut |_, _, _| false)
}

struct Pass<'a> {
    func: Func,
    may: &'a May<'a>,
    /// Carries that keep the shape they start with, and what they start with.
    kept: HashMap<Value, Value>,
    /// Values that are taken over.
    taken: HashSet<Value>,
    /// What has moved behind the question whether its loop runs.
    asked: HashSet<Value>,
}

/// What leaves a loop.
#[derive(Default)]
struct Leaving {
    /// For any case.
    always: Vec<Inst>,
    /// If there is a first iteration.
    if_it_runs: Vec<Inst>,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        for mut inst in insts {
            inst.blocks.iter_mut().for_each(|b| self.block(b));
            if matches!(inst.op, Op::For | Op::While) {
                let runs = inst.op == Op::While
                    || {
                        let bound = |k: usize| self.func.as_const(inst.args[k]);
                        matches!((bound(0), bound(1)), (Some(Scalar::I64(lo)), Some(Scalar::I64(hi))) if lo < hi)
                    };
                let leaving = self.extract(&mut inst.blocks[0], runs);
                block.insts.extend(leaving.always);
                if !leaving.if_it_runs.is_empty() {
                    block.insts.extend(self.ask(&mut inst, leaving.if_it_runs));
                }
            }
            block.insts.push(inst);
        }
    }

    /// Whether an instruction gives numbers, cannot fail and has no effect.
    fn is_movable(&self, inst: &Inst) -> bool {
        // An array belongs to the iteration that makes it, which may take it over. One that is only read need not be turned again.
        let turned = matches!(inst.op, Op::Array(ArrayOp::Transpose(_)));
        let only_read = turned && !self.taken.contains(&inst.results[0]);
        let scalar = only_read || inst.results.iter().all(|r| self.func.ty(*r).is_scalar());
        let asked = inst.results.first().is_some_and(|r| self.asked.contains(r));
        scalar && (asked || self.func.is_movable(inst))
    }

    /// Takes the invariant instructions out of a loop body. What inner loops gave up stands in the body
    /// by now and may move on. `runs`: there is a first iteration.
    fn extract(&self, body: &mut Block, runs: bool) -> Leaving {
        let mut inside: HashSet<Value> = body.params.iter().copied().collect();
        let mut leaving = Leaving::default();
        let mut late: HashSet<Value> = HashSet::default();
        let mut reached = true;
        let insts = std::mem::take(&mut body.insts);
        for mut inst in insts {
            reached &= inst.op != Op::ExitIf;
            if matches!(inst.op, Op::Dim(_))
                && let Some(init) = self.kept.get(&inst.args[0])
                && body.params.contains(&inst.args[0])
            {
                inst.args[0] = *init;
                leaving.always.push(inst);
                continue;
            }
            let (mut outside, mut early) = (true, true);
            uses::each(&inst, &mut |v, _| {
                outside &= !inside.contains(&v);
                early &= !late.contains(&v);
            });
            let movable = outside && self.is_movable(&inst);
            if movable && early && (self.may)(&inst, reached && runs) {
                leaving.always.push(inst);
            } else if movable && reached && !runs && !self.func.ty(inst.results[0]).is_array() {
                late.extend(&inst.results);
                leaving.if_it_runs.push(inst);
            } else {
                inside.extend(&inst.results);
                body.insts.push(inst);
            }
        }
        leaving
    }

    /// `insts` in a branch that is taken where a `for` loop runs; the loop uses its results.
    fn ask(&mut self, inst: &mut Inst, insts: Vec<Inst>) -> [Inst; 2] {
        let body = &mut inst.blocks[0];
        let used = uses::counts(body);
        let made: Vec<Value> = insts
            .iter()
            .flat_map(|i| i.results.iter().copied())
            .filter(|r| used.contains_key(r))
            .collect();
        let (mut results, mut zeros) = (Vec::new(), Vec::new());
        for v in &made {
            let ty = self.func.ty(*v);
            results.push(self.func.value(ty, self.func.name_of(*v)));
            zeros.push(self.func.constant(match ty {
                Type::F32 => Scalar::F32(0.0),
                Type::I64 => Scalar::I64(0),
                Type::Bool => Scalar::Bool(false),
                _ => Scalar::F64(0.0),
            }));
        }
        rename_inside(body, &made.iter().copied().zip(results.iter().copied()).collect());
        self.asked.extend(&results);
        let runs = self.func.value(Type::Bool, None);
        let new = |op, args, results, blocks| Inst { op, args, results, blocks, span: inst.span };
        let question = new(Op::Prim(Prim::ILt), inst.args[..2].to_vec(), vec![runs], Vec::new());
        let taken = Block { insts, yields: made, ..Block::default() };
        let other = Block { yields: zeros, ..Block::default() };
        [question, new(Op::If, vec![runs], results, vec![taken, other])]
    }
}
