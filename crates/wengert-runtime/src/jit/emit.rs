//! One function: IR blocks to Cranelift blocks.
//!
//! [`Emitter`] walks the structured code and appends to the current Cranelift block; branches and
//! loops open new ones. Block parameters are the only phis, and no value goes through memory.

use super::Compiler;
use super::abi::{self, native_signature};
use super::batches::Batch;
use super::bounds::Bounds;
use super::cold::{Cold, OpenLoop};
use super::identity::Identity;
use super::lanes::Lockstep;
use super::machine::{Machine, Shaped};
use super::memory::Regions;
use super::ownership::Ownership;
use super::site::SiteKind;
use super::tapes::Tapes;
use crate::context::field;
use crate::hooks;
use crate::kernel::Work;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{
    self, BlockArg, FuncRef, Function, InstBuilder, StackSlot, StackSlotData, StackSlotKind,
    UserFuncName,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module as _};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use wengert_core::interp::MAX_CALLS;
use wengert_core::ir::{Block, Func, Inst, Module, Op, Phase, Type, Value};
use wengert_core::ops::{ArrayOp, Check, Prim, Scalar};
use wengert_core::transform::reuse;

/// Where `exit_if` leaves to: the block after the loop, and which of the loop's results it takes.
pub(super) struct Exit {
    pub(super) after: ir::Block,
    pub(super) taken: Vec<usize>,
}

/// The function under construction.
pub(super) struct Emitter<'a, 'l, 'f> {
    pub(super) compiler: &'a mut Compiler<'l>,
    pub(super) func: &'a Func,
    pub(super) b: FunctionBuilder<'f>,
    pub(super) identity: Identity,
    pub(super) ownership: Ownership,
    pub(super) regions: Regions,
    pub(super) context: ir::Value,
    /// The address of the float constants, where they lie in memory.
    pub(super) constants: Option<ir::Value>,
    /// Returns its parameters. One place for all ways out, so that the registers results are
    /// returned in are not tied to values that live in a loop.
    end: ir::Block,
    /// Per size of a record, in slots: the last top of the only tape that leaves room for it.
    pub(super) tape_limit: HashMap<usize, ir::Value>,
    /// Per tape and size of a record, in slots: the least top below which there is one. It does not change,
    /// so it is computed where the tape appears.
    pub(super) tape_floor: HashMap<(Option<Value>, usize), ir::Value>,
    /// Pops, by the tape they make, whose records are known to be there.
    pub(super) checked_pops: HashSet<Value>,
    /// Which tape each version is of, where there are several.
    pub(super) tapes: Tapes,
    /// Versions of tapes that may be alive here, older ones first.
    pub(super) open_tapes: Vec<Value>,
    /// Per array of several dimensions that is read or written element by element: how many it has.
    pub(super) counts: HashMap<Value, ir::Value>,
    /// Loops open here, outermost first.
    pub(super) loops: Vec<OpenLoop>,
    /// The group of iterations that run in lockstep here, if any do.
    pub(super) lockstep: Option<Lockstep>,
    /// Fault blocks still to be filled.
    pub(super) cold: Vec<Cold>,
    /// Tapes that may stand higher than any top noted so far.
    pub(super) raised: HashSet<Value>,
    /// Indices known to be in range.
    pub(super) bounds: Bounds,
    /// Per open block: the arrays defined so far that die with it.
    dying: Vec<Vec<Value>>,
    /// How often each value is used.
    pub(super) uses: Vec<u32>,
    /// Arrays that go to the tape and nowhere else.
    pub(super) kept: HashSet<Value>,
    /// Per value, the instruction that uses it last, by its first result.
    pub(super) last_uses: Vec<Option<Value>>,
    /// Arrays of several dimensions that `peek` or `poke` index.
    flat: HashSet<Value>,
    /// Products of the open loops that are computed for several iterations at once, by their results.
    pub(super) batches: HashMap<Value, Batch>,
    /// Arrays whose first elements nothing reads.
    pub(super) blank: HashSet<Value>,
    /// Whether loops are made once: what could be looked at before them has been, before a loop around them.
    pub(super) once: bool,
    /// Where frames for calls lie, once there is one.
    frame_slot: Option<StackSlot>,
    values: Vec<Option<Machine>>,
    imported: HashMap<FuncId, FuncRef>,
}

/// The body of a function.
pub(super) fn function(compiler: &mut Compiler, module: &Module, func: &Func) -> Function {
    let id = compiler.declared[&func.name].native;
    let name = UserFuncName::user(0, id.as_u32());
    let mut function = Function::with_name_signature(name, native_signature(func));
    let mut scratch = std::mem::take(&mut compiler.scratch);
    let mut b = FunctionBuilder::new(&mut function, &mut scratch);
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    let words = b.block_params(start).to_vec();
    let end = b.create_block();
    b.append_block_params_for_function_returns(end);
    let regions = Regions::new(&mut b);
    let constants = if compiler.prints() {
        None
    } else {
        let pool = compiler.jit.declare_data_in_func(compiler.pool.data, b.func);
        Some(b.ins().symbol_value(I64, pool))
    };
    let identity = Identity::of(func);
    let tapes = if compiler.several_tapes { Tapes::of(func, &identity) } else { Tapes::default() };
    let mut emitter = Emitter {
        func,
        ownership: Ownership::of(module, func, &identity),
        identity,
        regions,
        context: words[0],
        constants,
        end,
        tape_limit: HashMap::default(),
        tape_floor: HashMap::default(),
        checked_pops: HashSet::default(),
        tapes,
        open_tapes: Vec::new(),
        counts: HashMap::default(),
        loops: Vec::new(),
        lockstep: None,
        cold: Vec::new(),
        raised: HashSet::default(),
        bounds: Bounds::default(),
        dying: Vec::new(),
        uses: Vec::new(),
        last_uses: Vec::new(),
        kept: HashSet::default(),
        flat: HashSet::default(),
        batches: HashMap::default(),
        once: false,
        blank: reuse::blank(func),
        frame_slot: None,
        values: vec![None; func.values.len()],
        imported: HashMap::default(),
        compiler,
        b,
    };
    emitter.uses = emitter.count_uses();
    emitter.last_uses = vec![None; func.values.len()];
    emitter.find_last_uses(&func.body);
    emitter.kept = emitter.find_kept();
    emitter.find_flat();
    emitter.bind_words(func.params(), &words[1..]);
    emitter.find_tape_limits();
    emitter.block(&func.body, None);
    let results = emitter.words_of(&func.body.yields);
    emitter.leave(0, results);
    emitter.fill_cold_blocks();
    emitter.enter(end);
    let words = emitter.b.block_params(end).to_vec();
    emitter.b.ins().return_(&words);
    emitter.b.seal_all_blocks();
    let config = emitter.compiler.jit.target_config();
    emitter.b.finalize(config);
    compiler.scratch = scratch;
    function
}

impl Emitter<'_, '_, '_> {
    /// The words of a value.
    pub(super) fn get(&mut self, v: Value) -> Machine {
        let v = self.identity.find(v);
        match self.func.as_const(v) {
            Some(Scalar::F64(x)) => Machine::One(self.float(x)),
            Some(Scalar::F32(x)) => Machine::One(self.b.ins().f32const(x)),
            Some(Scalar::I64(x)) => Machine::One(self.b.ins().iconst(I64, x)),
            Some(Scalar::Bool(x)) => Machine::One(self.b.ins().iconst(I8, x as i64)),
            None => self.values[v.index()]
                .unwrap_or_else(|| unreachable!("verified: defined before use")),
        }
    }

    /// The word of a value that is no array.
    pub(super) fn one(&mut self, v: Value) -> ir::Value {
        match self.get(v) {
            Machine::One(word) => word,
            Machine::Array(_) => unreachable!("verified: a scalar or a tape"),
        }
    }

    /// The address and dimensions of an array.
    pub(super) fn array(&mut self, v: Value) -> Shaped {
        match self.get(v) {
            Machine::Array(array) => array,
            Machine::One(_) => unreachable!("verified: an array"),
        }
    }

    /// Defines a value, unless it is the same as an earlier one.
    pub(super) fn set(&mut self, v: Value, machine: Machine) {
        if self.identity.is_linked(v) {
            return;
        }
        self.values[v.index()] = Some(machine);
        if self.flat.contains(&v) {
            let array = self.array(v);
            let count = self.count(&array);
            self.counts.insert(v, count);
        }
        if self.compiler.several_tapes && self.func.ty(v) == Type::Tape {
            self.found_tape(v);
        }
    }

    /// Defines values from consecutive words.
    pub(super) fn bind_words(&mut self, values: &[Value], words: &[ir::Value]) {
        let mut at = 0;
        for v in values {
            let n = abi::words(self.func.ty(*v)).len();
            self.set(*v, Machine::from_words(self.func.ty(*v), &words[at..at + n]));
            at += n;
        }
    }

    /// The words of several values.
    pub(super) fn words_of(&mut self, values: &[Value]) -> Vec<ir::Value> {
        values.iter().flat_map(|v| self.get(*v).words()).collect()
    }

    /// The words of several values, to be passed to a block.
    pub(super) fn block_args(&mut self, values: &[Value]) -> Vec<BlockArg> {
        self.words_of(values).into_iter().map(BlockArg::Value).collect()
    }

    /// Adds parameters for values of these types to a block.
    pub(super) fn add_params(&mut self, block: ir::Block, values: &[Value]) {
        for v in values {
            for word in abi::words(self.func.ty(*v)) {
                self.b.append_block_param(block, *word);
            }
        }
    }

    /// Continues in a new block.
    pub(super) fn enter(&mut self, block: ir::Block) {
        self.b.switch_to_block(block);
    }

    /// Ends the function with a status and the words of the results.
    pub(super) fn leave(&mut self, status: i64, results: Vec<ir::Value>) {
        let status = self.b.ins().iconst(I32, status);
        let all = std::iter::once(status).chain(results).map(BlockArg::Value);
        let all: Vec<BlockArg> = all.collect();
        self.b.ins().jump(self.end, &all);
    }

    /// The reference by which this function calls another.
    pub(super) fn import(&mut self, id: FuncId) -> FuncRef {
        if let Some(known) = self.imported.get(&id) {
            return *known;
        }
        let reference = self.compiler.jit.declare_func_in_func(id, self.b.func);
        self.imported.insert(id, reference);
        reference
    }

    /// The instructions of a block.
    pub(super) fn block(&mut self, block: &Block, exit: Option<&Exit>) {
        self.bounds.open();
        self.dying.push(Vec::new());
        let open_tapes = self.open_tapes.clone();
        self.note_dying(&block.params);
        self.note_tapes(&[], &block.params);
        for inst in &block.insts {
            self.inst(inst, exit);
            self.note_dying(&inst.results);
            self.note_tapes(&inst.args, &inst.results);
        }
        self.free_dying();
        self.dying.pop();
        self.open_tapes = open_tapes;
        self.bounds.close();
    }

    fn note_dying(&mut self, defined: &[Value]) {
        let dying = defined.iter().filter(|v| self.ownership.dies(self.func, &self.identity, **v));
        let dying: Vec<Value> = dying.copied().collect();
        self.dying.last_mut().into_iter().for_each(|scope| scope.extend(&dying));
    }

    /// Frees the arrays and tapes that die with the innermost open block.
    pub(super) fn free_dying(&mut self) {
        for v in self.dying.last().cloned().unwrap_or_default() {
            match self.get(v) {
                Machine::Array(array) => {
                    let free = self.import(self.compiler.hooks.free);
                    self.b.ins().call(free, &[self.context, array.address()]);
                }
                // The only tape of a run goes back when the run ends.
                Machine::One(_) if !self.compiler.several_tapes => {}
                Machine::One(top) => {
                    let end = self.import(self.compiler.hooks.end_tape);
                    self.b.ins().call(end, &[self.context, top]);
                }
            }
        }
    }

    pub(super) fn inst(&mut self, inst: &Inst, exit: Option<&Exit>) {
        let result = match &inst.op {
            Op::Prim(prim) => {
                if *prim == Prim::IMul {
                    let factors = [0, 1].map(|k: usize| self.identity.find(inst.args[k]));
                    self.bounds.product(inst.results[0], factors);
                }
                Machine::One(self.prim(*prim, inst))
            }
            Op::Dim(axis) => {
                self.bounds.length(self.identity.find(inst.args[0]), *axis, inst.results[0]);
                Machine::One(self.array(inst.args[0]).dims()[*axis as usize])
            }
            Op::Load => Machine::One(self.load_element(inst)),
            Op::Store => return self.store_element(inst),
            Op::Fill => self.fill(inst),
            Op::Copy => self.copy(inst),
            Op::Array(ArrayOp::Peek) => Machine::One(self.peek(inst)),
            Op::Array(ArrayOp::Poke) => return self.poke(inst),
            Op::Array(ArrayOp::Reshape) if self.is_last_use(inst) => self.reshape(inst),
            Op::Array(ArrayOp::Conform(Check::Row(_))) => return self.conform(inst),
            Op::Array(op) => match self.whole(inst, op) {
                Some(made) => made,
                None => return,
            },
            Op::Tape => Machine::One(self.new_tape(inst)),
            Op::Push => Machine::One(self.push(inst)),
            Op::Pop => return self.pop(inst),
            Op::Assert(message) => {
                let holds = self.one(inst.args[0]);
                return self.fault_unless(holds, SiteKind::Assert(message.clone()), inst.span, &[]);
            }
            Op::If => return self.branch(inst),
            Op::For | Op::While => return self.looping(inst),
            Op::ExitIf => return self.exit_if(inst, exit),
            Op::Call(name) => return self.call(inst, name),
            Op::Drive(name, phase) => return self.drive(inst, name, *phase),
        };
        self.set(inst.results[0], result);
    }

    /// Arrays, or twice as many sizes, that must agree. The runtime is called only to say that they do not.
    fn conform(&mut self, inst: &Inst) {
        let args: Vec<Machine> = inst.args.iter().map(|a| self.get(*a)).collect();
        let sizes: Vec<ir::Value> = args
            .iter()
            .flat_map(|m| match m {
                Machine::Array(array) => array.dims().to_vec(),
                Machine::One(size) => vec![*size],
            })
            .collect();
        let (left, right) = sizes.split_at(sizes.len() / 2);
        let mut differ = self.b.ins().iconst(I8, 0);
        for (l, r) in left.iter().zip(right) {
            let one = self.b.ins().icmp(IntCC::NotEqual, *l, *r);
            differ = self.b.ins().bor(differ, one);
        }
        let (cold, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(differ, cold, &[], on, &[]);
        self.enter(cold);
        if let Op::Array(op) = &inst.op {
            self.kernel(inst, Work::Array(op.clone()));
        }
        self.b.ins().jump(on, &[]);
        self.enter(on);
        if let [a, b] = inst.args[..]
            && self.func.ty(a).is_array()
        {
            self.bounds.alike(self.identity.find(a), self.identity.find(b));
        }
    }

    /// Whether a reshaped array dies with the open block, is not used elsewhere, and becomes a vector.
    fn is_last_use(&self, inst: &Inst) -> bool {
        let array = inst.args[0];
        let dies = self.dying.last().is_some_and(|scope| scope.contains(&array));
        dies && self.uses[self.identity.find(array).index()] == 1 && inst.args.len() == 2
    }

    /// A vector that takes over the storage of the array it is made of.
    fn reshape(&mut self, inst: &Inst) -> Machine {
        let (array, length) = (self.array(inst.args[0]), self.one(inst.args[1]));
        let count = self.count(&array);
        let fits = self.b.ins().icmp(IntCC::Equal, count, length);
        let (misfit, on) = (self.b.create_block(), self.b.create_block());
        let address = self.b.append_block_param(on, I64);
        self.b.ins().brif(fits, on, &[BlockArg::Value(array.address())], misfit, &[]);
        self.b.set_cold_block(misfit);
        self.b.switch_to_block(misfit);
        // The kernel says what is wrong.
        let made = self.kernel(inst, Work::Array(ArrayOp::Reshape));
        let Some(Machine::Array(made)) = made else { unreachable!("it makes an array") };
        self.b.ins().jump(on, &[BlockArg::Value(made.address())]);
        self.b.switch_to_block(on);
        self.dying.iter_mut().for_each(|scope| scope.retain(|v| *v != inst.args[0]));
        Machine::Array(Shaped::new(address, &[length]))
    }

    /// Finds the arrays of several dimensions that are indexed by one number.
    fn find_flat(&mut self) {
        let (func, identity, flat) = (self.func, &self.identity, &mut self.flat);
        func.body.walk(&mut |inst| {
            let indexed = matches!(inst.op, Op::Array(ArrayOp::Peek | ArrayOp::Poke));
            if indexed && func.ty(inst.args[0]).rank() > 1 {
                flat.insert(identity.find(inst.args[0]));
            }
        });
    }

    fn count_uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.func.values.len()];
        let mut count = |values: &[Value]| {
            values.iter().for_each(|v| uses[self.identity.find(*v).index()] += 1);
        };
        count(&self.func.body.yields);
        self.func.body.walk(&mut |inst| {
            count(&inst.args);
            inst.blocks.iter().for_each(|block| count(&block.yields));
        });
        uses
    }

    fn find_kept(&self) -> HashSet<Value> {
        let mut kept = HashSet::default();
        self.func.body.walk(&mut |inst| {
            if inst.op == Op::Push {
                let pushed = inst.args[1..].iter().map(|a| self.identity.find(*a));
                kept.extend(pushed.filter(|a| self.uses[a.index()] == 1));
            }
        });
        kept
    }

    /// Of values that a block hands on no instruction is the last.
    fn find_last_uses(&mut self, block: &Block) {
        for inst in &block.insts {
            for a in &inst.args {
                self.last_uses[self.identity.find(*a).index()] = inst.results.first().copied();
            }
            inst.blocks.iter().for_each(|nested| self.find_last_uses(nested));
        }
        for y in &block.yields {
            self.last_uses[self.identity.find(*y).index()] = None;
        }
    }

    fn branch(&mut self, inst: &Inst) {
        let condition = self.one(inst.args[0]);
        let (then, otherwise, after) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, then, &[], otherwise, &[]);
        let own = |k: &usize| !self.identity.is_linked(inst.results[*k]);
        let taken: Vec<usize> = (0..inst.results.len()).filter(own).collect();
        let mut raised = HashSet::default();
        for (block, nested) in [(then, &inst.blocks[0]), (otherwise, &inst.blocks[1])] {
            self.enter(block);
            if self.is_slow(nested) {
                self.b.set_cold_block(block);
            }
            self.block(nested, None);
            let yields: Vec<Value> = taken.iter().map(|k| nested.yields[*k]).collect();
            for (k, y) in taken.iter().zip(&yields) {
                if self.is_raised(*y) {
                    raised.insert(inst.results[*k]);
                }
            }
            let args = self.block_args(&yields);
            self.b.ins().jump(after, &args);
        }
        self.raised.extend(raised);
        self.join(after, &inst.results, &taken);
    }

    /// Continues after a branch or loop, whose results at `taken` arrive as parameters.
    pub(super) fn join(&mut self, after: ir::Block, results: &[Value], taken: &[usize]) {
        let results: Vec<Value> = taken.iter().map(|k| results[*k]).collect();
        self.add_params(after, &results);
        self.enter(after);
        let words = self.b.block_params(after).to_vec();
        self.bind_words(&results, &words);
    }

    fn call(&mut self, inst: &Inst, name: &str) {
        let callee = &self.compiler.declared[name];
        if let Some(aside) = callee.aside {
            return self.call_aside(inst, aside, callee.counted);
        }
        let (native, counted, effect) =
            (callee.native, callee.counted, (callee.pushes, callee.pops));
        self.note_open_tapes(callee.makes_tapes);
        self.note_tops(inst, effect.1);
        let depth = counted.then(|| self.count_call(inst));
        let mut args = vec![self.context];
        args.extend(self.words_of(&inst.args));
        let callee = self.import(native);
        let call = self.b.ins().call(callee, &args);
        let words = self.b.inst_results(call).to_vec();
        self.returned(inst, words[0], depth);
        self.bind_words(&inst.results, &words[1..]);
        self.raise_results(inst, effect);
    }

    /// A frame on the stack: values in it, and room for others of these types behind them. Gives
    /// back its address and where the room begins. It is the same memory each time.
    pub(super) fn frame(&mut self, values: &[Machine], room: &[Type]) -> (ir::Value, i32) {
        let words = values.iter().map(|a| a.words().count()).sum::<usize>() + abi::slots(room);
        let size = 8 * words.max(1) as u32;
        let slot = match self.frame_slot {
            Some(slot) => slot,
            None => {
                let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
                *self.frame_slot.insert(self.b.create_sized_stack_slot(slot))
            }
        };
        let data = &mut self.b.func.sized_stack_slots[slot];
        data.size = data.size.max(size);
        let frame = self.b.ins().stack_addr(I64, slot, 0);
        let end = abi::store_slots(&mut self.b, self.regions.frame, frame, 0, values);
        (frame, end)
    }

    /// Calls a function that changes no register: operands and results go through memory.
    fn call_aside(&mut self, inst: &Inst, aside: FuncId, counted: bool) {
        // It calls nothing, so the count need not go up.
        if counted {
            self.check_depth(inst);
        }
        let types: Vec<Type> = inst.results.iter().map(|r| self.func.ty(*r)).collect();
        let args: Vec<Machine> = inst.args.iter().map(|a| self.get(*a)).collect();
        let flags = self.regions.frame;
        let (frame, end) = self.frame(&args, &types);
        let callee = self.import(aside);
        self.b.ins().call(callee, &[self.context, frame]);
        let (results, _) = abi::load_slots(&mut self.b, flags, frame, end, &types);
        for (r, machine) in inst.results.iter().zip(results) {
            self.set(*r, machine);
        }
    }

    /// Whether a branch is a slow path: it calls a function that stands aside.
    fn is_slow(&self, block: &Block) -> bool {
        block.insts.iter().any(|inst| match &inst.op {
            Op::Call(name) => self.compiler.declared[name].stands_aside,
            _ => false,
        })
    }

    fn drive(&mut self, inst: &Inst, name: &str, phase: Phase) {
        let plan = &self.compiler.plans[name];
        let step = if phase == Phase::Forward { &plan.record } else { &plan.reverse };
        let callee = &self.compiler.declared[step];
        let (number, counted, effect) = (plan.number, callee.counted, (callee.pushes, callee.pops));
        // Of a loop without a bound, as many iterations as the run allows; then an exit must follow.
        let exit = (phase == Phase::Forward && !plan.bounded).then_some(plan.carries + 1);
        self.note_open_tapes(callee.makes_tapes);
        self.note_tops(inst, effect.1);
        let depth = counted.then(|| self.count_call(inst));

        let types: Vec<Type> = inst.results.iter().map(|r| self.func.ty(*r)).collect();
        let mut args: Vec<Machine> = inst.args.iter().map(|a| self.get(*a)).collect();
        if exit.is_some() {
            args[1] = Machine::One(self.iteration_limit(inst.args[0]));
        }
        let flags = self.regions.frame;
        let (frame, end) = self.frame(&args, &types);
        let number = self.b.ins().iconst(I64, number as i64);
        let phase = self.b.ins().iconst(I64, hooks::phase_code(phase));
        let driver = self.import(self.compiler.hooks.drive);
        let call = self.b.ins().call(driver, &[self.context, number, phase, frame]);
        let status = self.b.inst_results(call)[0];
        self.returned(inst, status, depth);
        let (results, _) = abi::load_slots(&mut self.b, flags, frame, end, &types);
        for (r, machine) in inst.results.iter().zip(results) {
            self.set(*r, machine);
        }
        if let Some(exit) = exit {
            let exit = self.one(inst.results[exit]);
            self.fault_unless(exit, SiteKind::IterationLimit, inst.span, &[]);
        }
        self.raise_results(inst, effect);
    }

    /// The iteration a loop without a bound may reach, starting at `from`.
    fn iteration_limit(&mut self, from: Value) -> ir::Value {
        let from = self.one(from);
        let most = self.b.ins().iconst(I64, i64::MAX);
        let allowed = self.load_context(I64, field::ROUNDS);
        let allowed = self.b.ins().umin(allowed, most);
        let (to, overflow) = self.b.ins().sadd_overflow(from, allowed);
        self.b.ins().select(overflow, most, to)
    }

    /// A fault where no call may be made; gives back the count of those in progress.
    fn check_depth(&mut self, inst: &Inst) -> ir::Value {
        let depth = self.load_context(I64, field::DEPTH);
        let most = self.b.ins().iconst(I64, MAX_CALLS as i64);
        let full = self.b.ins().icmp(ir::condcodes::IntCC::Equal, depth, most);
        self.fault_if(full, SiteKind::CallDepth, inst.span, &[]);
        depth
    }

    /// Counts a call about to be made; gives back the count before it.
    fn count_call(&mut self, inst: &Inst) -> ir::Value {
        let depth = self.check_depth(inst);
        let one = self.b.ins().iconst(I64, 1);
        let deeper = self.b.ins().iadd(depth, one);
        self.store_context(deeper, field::DEPTH);
        depth
    }

    /// After a call: hands a fault on, and restores the count of calls.
    fn returned(&mut self, inst: &Inst, status: ir::Value, depth: Option<ir::Value>) {
        self.fault_if(status, SiteKind::Call, inst.span, &[]);
        if let Some(depth) = depth {
            self.store_context(depth, field::DEPTH);
        }
    }
}
