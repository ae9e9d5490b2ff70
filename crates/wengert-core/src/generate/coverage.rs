//! What the programs of a run have in them, counted after simplification.
//!
//! Only what has a part in the derivative counts: a loop that no result depends on tests nothing.

use crate::ir::{Block, Func, Inst, Module, Op, Value};
use crate::ops::{ArrayOp, Prim};
use crate::transform::activity::Activity;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use std::fmt;

/// Counts over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Programs checked.
    pub programs: u64,
    /// Instructions after simplification.
    pub instructions: u64,
    /// Those that have a part in the derivative.
    pub active: u64,
    /// How many programs have each of [`FEATURES`].
    pub with: BTreeMap<&'static str, u64>,
    /// Outlined loops split into advance and record.
    pub split_loops: u64,
    /// Directions compared.
    pub directions: u64,
    /// Directions in which finite differences gave no limit.
    pub unsettled: u64,
}

/// What is looked for in programs.
pub const FEATURES: [&str; 24] = [
    "a loop",
    "nested loops",
    "a while loop",
    "overwrite, then read",
    "data-dependent exits",
    "exits that compute",
    "branches with arrays",
    "carried arrays",
    "carried arrays swapped",
    "carries that change shape",
    "arrays made in loops",
    "arrays taken back",
    "several dimensions",
    "element by element",
    "slices read",
    "slices written",
    "reductions",
    "products",
    "sorting and gathering",
    "shapes rearranged",
    "calls",
    "parallel loops",
    "parallel loops with exits inside",
    "errors at other arguments",
];

impl Coverage {
    /// The counts of one program, simplified; `calls` says whether it had any before.
    pub fn of(func: &Func, calls: bool) -> Coverage {
        let by: Vec<Value> =
            func.params().iter().copied().filter(|p| func.ty(*p).is_float()).collect();
        let mut find = Find {
            func,
            activity: Activity::new(func, &by),
            defined: HashMap::default(),
            found: Coverage { programs: 1, ..Coverage::default() },
        };
        func.body.walk(&mut |inst| {
            find.defined.extend(inst.results.iter().map(|r| (*r, inst)));
        });
        find.block(&func.body, false);
        find.note("calls", calls);
        find.found
    }

    /// Counts what shows in the reverse programs.
    pub fn reversed(&mut self, module: &Module) {
        let mut restored = false;
        for func in &module.funcs {
            func.body.walk(&mut |inst| {
                let popped = |v: &Value| func.ty(*v).is_array();
                restored |= inst.op == Op::Pop && inst.results.iter().any(popped);
            });
        }
        self.with.insert("arrays taken back", restored.into());
        self.split_loops = module.loops.len() as u64;
    }

    /// The share of programs with a feature, in percent.
    pub fn share(&self, feature: &str) -> u64 {
        100 * self.with.get(feature).copied().unwrap_or(0) / self.programs.max(1)
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Coverage) {
        self.programs += other.programs;
        self.instructions += other.instructions;
        self.active += other.active;
        for (feature, n) in &other.with {
            *self.with.entry(feature).or_default() += n;
        }
        self.split_loops += other.split_loops;
        self.directions += other.directions;
        self.unsettled += other.unsettled;
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = self.instructions / self.programs.max(1);
        let active = 100 * self.active / self.instructions.max(1);
        writeln!(f, "{} programs of {mean} instructions ({active} % active)", self.programs)?;
        for feature in FEATURES {
            writeln!(f, "  {feature:<26}{:>4} %", self.share(feature))?;
        }
        let split = self.split_loops;
        writeln!(f, "  {split} loops run in two parts, {} directions compared,", self.directions)?;
        write!(f, "  {} of them without finite differences (a kink or jump near)", self.unsettled)
    }
}

struct Find<'f> {
    func: &'f Func,
    activity: Activity,
    defined: HashMap<Value, &'f Inst>,
    found: Coverage,
}

impl Find<'_> {
    fn block(&mut self, block: &Block, in_loop: bool) {
        for (at, inst) in block.insts.iter().enumerate() {
            let is_active = self.activity.is_active_inst(inst);
            let is_loop = matches!(inst.op, Op::For | Op::While);
            self.found.instructions += 1;
            self.found.active += u64::from(is_active);
            if is_active {
                self.count(block, at, in_loop);
            }
            for nested in &inst.blocks {
                self.block(nested, in_loop || (is_loop && is_active));
            }
        }
    }

    fn note(&mut self, feature: &'static str, found: bool) {
        *self.found.with.entry(feature).or_default() |= u64::from(found);
    }

    /// Counts an active instruction; a feature counts once per program.
    fn count(&mut self, block: &Block, at: usize, in_loop: bool) {
        let inst = &block.insts[at];
        let is_array = |v: &Value| self.func.ty(*v).is_array() && self.activity.is_active(*v);
        let arrays = inst.results.iter().any(is_array);
        let ranks = inst.results.iter().map(|r| self.func.ty(*r).rank());
        let several = ranks.max().is_some_and(|rank| rank > 1);
        self.note("several dimensions", several);
        match &inst.op {
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                let exits = || body.insts.iter().filter(|i| i.op == Op::ExitIf);
                let data = exits().any(|e| self.depends_on_data(e.args[0]));
                let computing = exits().any(|e| !e.blocks[0].insts.is_empty());
                let (swapped, changed) = (self.is_swapped(body), self.changes_shape(body));
                self.note("a loop", true);
                let mut inside = false;
                body.walk(&mut |i| inside |= i.op == Op::ExitIf);
                self.note("parallel loops", body.parallel);
                self.note("parallel loops with exits inside", body.parallel && inside);
                self.note("nested loops", in_loop);
                self.note("a while loop", inst.op == Op::While);
                self.note("carried arrays", arrays);
                self.note("carried arrays swapped", swapped);
                self.note("carries that change shape", changed);
                self.note("data-dependent exits", data);
                self.note("exits that compute", computing);
            }
            Op::If => self.note("branches with arrays", arrays),
            Op::Load => {
                let overwritten = self.is_overwritten(block, at);
                self.note("overwrite, then read", overwritten);
            }
            Op::Fill | Op::Copy => self.note("arrays made in loops", in_loop),
            Op::Prim(_) => self.note("element by element", arrays),
            Op::Array(op) => self.count_array(op, block, at),
            _ => {}
        }
    }

    fn count_array(&mut self, op: &ArrayOp, block: &Block, at: usize) {
        use ArrayOp::*;
        let feature = match op {
            Slice => "slices read",
            Put | AddSlice => "slices written",
            Sum(_) | CumSum(..) | Dot => "reductions",
            Gemm(..) => "products",
            Gather | ScatterAdd => "sorting and gathering",
            Reshape | Transpose(_) | Expand(_) => "shapes rearranged",
            _ => return,
        };
        self.note(feature, true);
        let overwritten = *op == Slice && self.is_overwritten(block, at);
        self.note("overwrite, then read", overwritten);
    }

    /// Whether a carried array is followed by one joined from parts or cut from it.
    fn changes_shape(&self, body: &Block) -> bool {
        body.yields.iter().any(|y| {
            let inst = self.defined.get(y);
            let made = inst.is_some_and(|i| {
                matches!(
                    i.op,
                    Op::Fill | Op::Array(ArrayOp::Slice | ArrayOp::Put | ArrayOp::Reshape)
                )
            });
            made && self.func.ty(*y).is_array() && self.activity.is_active(*y)
        })
    }

    /// Whether a carry's version is yielded in another's place (the version or one made from it).
    fn is_swapped(&self, body: &Block) -> bool {
        let carries = &body.params[1..];
        (0..carries.len()).any(|k| {
            let mut v = body.yields[k];
            while let Some(inst) = self.defined.get(&v).filter(|i| i.op == Op::Store) {
                v = inst.args[0];
            }
            self.func.ty(v).is_array() && carries.contains(&v) && carries[k] != v
        })
    }

    /// Whether the load at this position is used after its array has been stored to.
    fn is_overwritten(&self, block: &Block, at: usize) -> bool {
        let (x, a) = (block.insts[at].args[0], block.insts[at].results[0]);
        let after = &block.insts[at + 1..];
        let stored = after.iter().position(|i| i.op.takes().is_some() && i.args[0] == x);
        stored.is_some_and(|s| after[s + 1..].iter().any(|i| uses(i, a)))
    }

    /// Whether a condition compares floats that depend on the inputs.
    fn depends_on_data(&self, condition: Value) -> bool {
        let Some(inst) = self.defined.get(&condition) else { return false };
        match inst.op {
            Op::Prim(Prim::And | Prim::Or | Prim::Not) => {
                inst.args.iter().any(|a| self.depends_on_data(*a))
            }
            _ => inst.args.iter().any(|a| self.activity.is_varied(*a)),
        }
    }
}

fn uses(inst: &Inst, v: Value) -> bool {
    inst.args.contains(&v)
        || inst.blocks.iter().any(|b| b.yields.contains(&v) || b.insts.iter().any(|i| uses(i, v)))
}
