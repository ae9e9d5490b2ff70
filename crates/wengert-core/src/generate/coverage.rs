//! What the programs of a run have in them, counted after simplification.
//!
//! Only what has a part in the derivative counts: a loop that no result depends on tests nothing.

use crate::ir::{Block, Func, Inst, Module, Op, Value};
use crate::ops::Prim;
use crate::transform::activity::Activity;
use std::collections::HashMap;
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
    /// Programs with a loop.
    pub loops: u64,
    /// Programs with a loop in a loop.
    pub nested_loops: u64,
    /// Programs with a `while` loop.
    pub while_loops: u64,
    /// Programs that use a loaded element after its array has changed.
    pub overwrite_then_read: u64,
    /// Programs with an exit that depends on float data.
    pub data_dependent_exits: u64,
    /// Programs with an exit that has code in it.
    pub exits_that_compute: u64,
    /// Programs with a branch that hands on arrays.
    pub array_branches: u64,
    /// Programs with a loop that carries arrays.
    pub array_carries: u64,
    /// Programs with a loop whose carried arrays change places.
    pub swapped_carries: u64,
    /// Programs with an array made inside a loop.
    pub arrays_made_in_loops: u64,
    /// Programs whose reverse takes an array back to earlier versions.
    pub restored_arrays: u64,
    /// Outlined loops split into advance and record.
    pub split_loops: u64,
    /// Directions compared.
    pub directions: u64,
    /// Directions in which finite differences gave no limit.
    pub unsettled: u64,
}

impl Coverage {
    /// The counts of one program.
    pub fn of(func: &Func) -> Coverage {
        let by: Vec<Value> =
            func.params().iter().copied().filter(|p| func.ty(*p).is_float()).collect();
        let mut find = Find {
            func,
            activity: Activity::new(func, &by),
            defined: HashMap::new(),
            found: Coverage { programs: 1, ..Coverage::default() },
        };
        func.body.walk(&mut |inst| {
            find.defined.extend(inst.results.iter().map(|r| (*r, inst)));
        });
        find.block(&func.body, false);
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
        self.restored_arrays = restored.into();
        self.split_loops = module.loops.len() as u64;
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Coverage) {
        let Coverage {
            programs,
            instructions,
            active,
            loops,
            nested_loops,
            while_loops,
            overwrite_then_read,
            data_dependent_exits,
            exits_that_compute,
            array_branches,
            array_carries,
            swapped_carries,
            arrays_made_in_loops,
            restored_arrays,
            split_loops,
            directions,
            unsettled,
        } = other;
        self.programs += programs;
        self.instructions += instructions;
        self.active += active;
        self.loops += loops;
        self.nested_loops += nested_loops;
        self.while_loops += while_loops;
        self.overwrite_then_read += overwrite_then_read;
        self.data_dependent_exits += data_dependent_exits;
        self.exits_that_compute += exits_that_compute;
        self.array_branches += array_branches;
        self.array_carries += array_carries;
        self.swapped_carries += swapped_carries;
        self.arrays_made_in_loops += arrays_made_in_loops;
        self.restored_arrays += restored_arrays;
        self.split_loops += split_loops;
        self.directions += directions;
        self.unsettled += unsettled;
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |n: u64| 100 * n / self.programs.max(1);
        let mean = self.instructions / self.programs.max(1);
        let active = 100 * self.active / self.instructions.max(1);
        writeln!(f, "{} programs of {mean} instructions ({active} % active)", self.programs)?;
        for (what, n) in [
            ("a loop", self.loops),
            ("nested loops", self.nested_loops),
            ("a while loop", self.while_loops),
            ("overwrite, then read", self.overwrite_then_read),
            ("data-dependent exits", self.data_dependent_exits),
            ("exits that compute", self.exits_that_compute),
            ("branches with arrays", self.array_branches),
            ("carried arrays", self.array_carries),
            ("carried arrays swapped", self.swapped_carries),
            ("arrays made in loops", self.arrays_made_in_loops),
            ("arrays taken back", self.restored_arrays),
        ] {
            writeln!(f, "  {:<24}{:>4} %", what, share(n))?;
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

    /// Counts an active instruction; a property counts once per program.
    fn count(&mut self, block: &Block, at: usize, in_loop: bool) {
        let inst = &block.insts[at];
        let is_array = |v: &Value| self.func.ty(*v).is_array() && self.activity.is_active(*v);
        let arrays = inst.results.iter().any(is_array);
        let mut now = Coverage::default();
        match inst.op {
            Op::For | Op::While => {
                let body = &inst.blocks[0];
                let exits = || body.insts.iter().filter(|i| i.op == Op::ExitIf);
                now.loops = 1;
                now.nested_loops = in_loop.into();
                now.while_loops = (inst.op == Op::While).into();
                now.array_carries = arrays.into();
                now.swapped_carries = self.is_swapped(body).into();
                now.data_dependent_exits = exits().any(|e| self.depends_on_data(e.args[0])).into();
                now.exits_that_compute = exits().any(|e| !e.blocks[0].insts.is_empty()).into();
            }
            Op::If => now.array_branches = arrays.into(),
            Op::Load => now.overwrite_then_read = self.is_overwritten(block, at).into(),
            Op::Fill | Op::Copy => now.arrays_made_in_loops = in_loop.into(),
            _ => {}
        }
        let found = &mut self.found;
        found.loops |= now.loops;
        found.nested_loops |= now.nested_loops;
        found.while_loops |= now.while_loops;
        found.overwrite_then_read |= now.overwrite_then_read;
        found.data_dependent_exits |= now.data_dependent_exits;
        found.exits_that_compute |= now.exits_that_compute;
        found.array_branches |= now.array_branches;
        found.array_carries |= now.array_carries;
        found.swapped_carries |= now.swapped_carries;
        found.arrays_made_in_loops |= now.arrays_made_in_loops;
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
        let stored = after.iter().position(|i| i.op == Op::Store && i.args[0] == x);
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
