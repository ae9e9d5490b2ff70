//! Random well-typed programs.
//!
//! A [`Generator`] appends random statements to a function, keeping a [`Scope`] of what is in sight:
//! scalars with bounds on their sizes, and array versions with whether they may be taken over here.
//! Loops end, indices are in range and values stay tame by construction, so a program that fails at
//! run time is a mistake of the generator or of the compiler, never of the program.

use super::scalar::{Float, Int, STATE};
use super::tensor::MATRIX;
use crate::check::Random;
use crate::interp::Val;
use crate::ir::{Block, Builder, Elem, Func, Op, Type, Value};
use crate::ops::{Prim, Scalar};
use std::sync::Arc;

/// Deepest nesting of loops.
const MAX_LOOPS: usize = 3;

/// The kinds of statements.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Float,
    Int,
    Bool,
    Load,
    Store,
    Overwrite,
    Stencil,
    Array,
    Tensor,
    Call,
    Small,
    If,
    For,
    While,
}

/// How often each kind is made, on average over programs.
const STATEMENTS: [(Statement, u64); 14] = [
    (Statement::Float, 8),
    (Statement::Int, 1),
    (Statement::Bool, 1),
    (Statement::Load, 3),
    (Statement::Store, 3),
    (Statement::Overwrite, 3),
    (Statement::Stencil, 3),
    (Statement::Array, 1),
    (Statement::Tensor, 5),
    (Statement::Call, 3),
    (Statement::Small, 2),
    (Statement::If, 4),
    (Statement::For, 6),
    (Statement::While, 5),
];

/// A generated program and where to run it.
#[derive(Clone, Debug)]
pub struct Program {
    /// The function, as generated: it has not been simplified.
    pub func: Func,
    /// Functions it calls.
    pub callees: Vec<Func>,
    /// Arguments that fit it.
    pub args: Vec<Val>,
}

/// A version of an array in sight.
#[derive(Clone, Copy, Debug)]
struct Array {
    value: Value,
    /// Whether it may be taken over here: loops take over only what they carry.
    owned: bool,
}

/// What is in sight.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) floats: Vec<Float>,
    pub(super) ints: Vec<Int>,
    pub(super) bools: Vec<Value>,
    arrays: Vec<Array>,
    /// Counters that run over the elements of an array that nothing can take over meanwhile.
    element_of: Vec<(Value, Value)>,
}

/// Appends random statements to a function.
#[derive(Debug)]
pub(super) struct Generator {
    pub(super) b: Builder,
    pub(super) random: Random,
    pub(super) scope: Scope,
    /// Loops around the place where statements are appended.
    loops: usize,
    /// Statements left to make.
    budget: usize,
    /// How often this program makes each kind of statement.
    weights: Vec<u64>,
    /// How many of 16 results and carries are arrays.
    arrays: u64,
    /// Functions that can be called, earlier ones first.
    callees: Vec<Func>,
}

/// The program with this seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random(seed);
    let mut callees: Vec<Func> = Vec::new();
    if random.below(3) == 0 {
        for k in 0..1 + random.below(2) {
            let made = function(&format!("g{k}"), random.bits(), &[3, 5], callees.clone());
            callees.push(made.func);
        }
    }
    function("f", seed, &[6, 12, 24, 40], callees)
}

/// A function of this name, of about one of these sizes.
fn function(name: &str, seed: u64, sizes: &[usize], callees: Vec<Func>) -> Program {
    let mut random = Random(seed);
    let mut params: Vec<(Type, Option<Arc<str>>)> = Vec::new();
    let mut args = Vec::new();
    for _ in 0..1 + random.below(3) {
        params.push((Type::F64, None));
        args.push(Val::f64(random.float(-1.5, 1.5)));
    }
    for _ in 0..random.below(3) {
        params.push((Type::VECTOR, None));
        let n = 1 + random.below(4);
        args.push(Val::array((0..n).map(|_| random.float(-1.5, 1.5)).collect()));
    }
    if random.below(3) == 0 {
        params.push((MATRIX, None));
        let shape = vec![1 + random.below(3) as usize, 1 + random.below(3) as usize];
        let n = shape.iter().product::<usize>();
        let elements = (0..n).map(|_| random.float(-1.5, 1.5)).collect();
        args.push(Val::shaped(crate::ops::Array::new(shape, elements)));
    }
    for _ in 0..random.below(3) {
        params.push((Type::I64, None));
        args.push(Val::i64(random.below(5) as i64));
    }
    if random.below(8) == 0 {
        params.push((Type::Bool, None));
        args.push(Val::Scalar(Scalar::Bool(random.below(2) == 0)));
    }
    let (b, values) = Builder::new(name, &params);
    let budget = sizes[random.below(sizes.len() as u64) as usize];
    // Programs that lack some kinds of statements and abound in others reach states that an even mixture
    // never does (swarm testing: Groce et al. 2012).
    let weights =
        STATEMENTS.iter().map(|(_, w)| w * [0, 1, 1, 3][random.below(4) as usize]).collect();
    let arrays = [1, 5, 9][random.below(3) as usize];
    let scope = Scope::default();
    let mut g = Generator { b, random, scope, loops: 0, budget, weights, arrays, callees };
    for (v, (ty, _)) in values.iter().zip(&params) {
        g.see(*v, *ty);
    }
    while g.budget > 0 {
        g.statement();
    }
    let results = g.results();
    let callees = g.callees;
    Program { func: g.b.finish(results), callees, args }
}

impl Generator {
    /// True once in `n`.
    pub(super) fn chance(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    /// An index into a list of `n`, mostly a late one.
    pub(super) fn recent(&mut self, n: usize) -> usize {
        let reach = if self.chance(3) { n } else { n.min(4) };
        n - 1 - self.random.below(reach as u64) as usize
    }

    /// Puts a value in sight. Integers seen this way are small.
    pub(super) fn see(&mut self, v: Value, ty: Type) {
        match ty {
            Type::F64 => self.scope.floats.push(Float { value: v, bound: STATE }),
            Type::I64 => self.scope.ints.push(Int { value: v, bound: 7 }),
            Type::Bool => self.scope.bools.push(v),
            Type::Array(Elem::F64, _) => self.scope.arrays.push(Array { value: v, owned: true }),
            Type::F32 | Type::Array(..) | Type::Tape => {}
        }
    }

    /// Some statements.
    fn statements(&mut self, most: u64) {
        for _ in 0..self.random.below(most + 1) {
            self.statement();
        }
    }

    fn statement(&mut self) {
        if self.budget == 0 {
            self.float_expression();
            return;
        }
        self.budget -= 1;
        let total: u64 = self.weights.iter().sum();
        let mut at = self.random.below(total.max(1));
        let chosen = STATEMENTS.iter().zip(&self.weights).find(|(_, weight)| {
            let here = at < **weight;
            at = at.saturating_sub(**weight);
            here
        });
        match chosen.map(|((statement, _), _)| *statement) {
            Some(Statement::Int) => {
                self.int_expression();
            }
            Some(Statement::Bool) => {
                self.bool_expression();
            }
            Some(Statement::Load) => self.load_statement(),
            Some(Statement::Store) => self.store_statement(),
            Some(Statement::Overwrite) => self.overwrite(),
            Some(Statement::Stencil) => self.stencil(),
            Some(Statement::Array) => {
                let array = self.fresh_array();
                self.see(array, Type::VECTOR);
            }
            Some(Statement::Tensor) => self.tensor(),
            Some(Statement::Call) => self.call(),
            Some(Statement::Small) => self.small_state(),
            Some(Statement::If) => self.branch(),
            Some(Statement::For) if self.loops < MAX_LOOPS => self.for_loop(),
            Some(Statement::While) if self.loops < MAX_LOOPS => self.while_loop(),
            _ => {
                self.float_expression();
            }
        }
    }

    /// An index that is in range of an array.
    pub(super) fn index(&mut self, array: Value) -> Value {
        let known: Vec<Value> = self
            .scope
            .element_of
            .iter()
            .filter(|(_, of)| *of == array)
            .map(|(counter, _)| *counter)
            .collect();
        if !known.is_empty() && self.chance(2) {
            return known[self.random.below(known.len() as u64) as usize];
        }
        let n = self.b.op(Op::Len, &[array])[0];
        let i = self.int();
        self.b.prim(Prim::IMod, &[i.value, n])
    }

    /// A vector to read.
    fn readable(&mut self) -> Option<Value> {
        self.readable_where(|ty| ty == Type::VECTOR)
    }

    /// An array of such a type to read.
    pub(super) fn readable_where(&mut self, fits: impl Fn(Type) -> bool) -> Option<Value> {
        let arrays = self.scope.arrays.iter().map(|a| a.value);
        let found: Vec<Value> = arrays.filter(|v| fits(self.b.ty(*v))).collect();
        if found.is_empty() {
            return None;
        }
        let k = self.recent(found.len());
        Some(found[k])
    }

    /// A vector to take over; it is no longer in sight.
    fn take_array(&mut self) -> Option<Value> {
        self.take_where(|ty| ty == Type::VECTOR)
    }

    /// An array of such a type to take over.
    pub(super) fn take_where(&mut self, fits: impl Fn(Type) -> bool) -> Option<Value> {
        let arrays = self.scope.arrays.iter().enumerate();
        let owned: Vec<usize> =
            arrays.filter(|(_, a)| a.owned && fits(self.b.ty(a.value))).map(|(k, _)| k).collect();
        if owned.is_empty() {
            return None;
        }
        let k = owned[self.recent(owned.len())];
        Some(self.scope.arrays.remove(k).value)
    }

    /// An array to hand on: one in sight, changed or not, or a fresh one.
    fn hand_on_array(&mut self) -> Value {
        let taken = if self.chance(6) { None } else { self.take_array() };
        match taken {
            Some(array) => array,
            None => self.fresh_array(),
        }
    }

    /// A new array, not in sight yet.
    fn fresh_array(&mut self) -> Value {
        if self.chance(2)
            && let Some(array) = self.readable()
        {
            return self.b.op(Op::Copy, &[array])[0];
        }
        let v = self.state_float();
        let n = if self.chance(2) {
            let i = self.int();
            let r = self.remainder(i.value, 3);
            let one = self.b.i64(1);
            self.b.prim(Prim::IAdd, &[r.value, one])
        } else {
            let n = 1 + self.random.below(4) as i64;
            self.b.i64(n)
        };
        self.b.op(Op::Fill, &[n, v])[0]
    }

    pub(super) fn load_statement(&mut self) {
        if let Some(array) = self.readable() {
            let i = self.index(array);
            let v = self.b.load(array, i);
            self.see(v, Type::F64);
        } else {
            self.float_expression();
        }
    }

    fn store_statement(&mut self) {
        if let Some(array) = self.take_array() {
            let i = self.index(array);
            if self.chance(2) {
                self.float_expression();
            }
            let v = self.state_float();
            let next = self.b.store(array, i, v);
            self.see(next, Type::VECTOR);
        } else {
            self.float_expression();
        }
    }

    /// The trap: an element is read, overwritten (or not: the indices meet at run time) and used after.
    fn overwrite(&mut self) {
        let Some(array) = self.take_array() else {
            return self.load_statement();
        };
        let j = self.index(array);
        let a = self.b.load(array, j);
        let i = if self.chance(2) { j } else { self.index(array) };
        let c = self.state_float();
        let v = if self.chance(2) {
            let c = Float { value: c, bound: STATE };
            let product = Float { value: self.b.mul(a, c.value), bound: STATE * STATE };
            self.squash(product, STATE).value
        } else {
            c
        };
        let next = self.b.store(array, i, v);
        let prim = [Prim::Sin, Prim::Cos, Prim::Tanh][self.random.below(3) as usize];
        let used = if self.chance(4) { self.b.mul(a, a) } else { self.b.prim(prim, &[a]) };
        let bound = STATE * STATE;
        self.scope.floats.push(Float { value: used, bound });
        self.scope.floats.push(Float { value: a, bound: STATE });
        self.see(next, Type::VECTOR);
    }

    /// Several elements read, one written: what makes taking an array back cheaper than saving loads.
    fn stencil(&mut self) {
        let Some(array) = self.take_array() else {
            return self.load_statement();
        };
        let loads: Vec<Value> = (0..2 + self.random.below(3))
            .map(|_| {
                let i = self.index(array);
                self.b.load(array, i)
            })
            .collect();
        let mut sum = self.float().value;
        for pair in loads.windows(2) {
            let smooth = self.b.prim(Prim::Sin, &[pair[0]]);
            let product = self.b.mul(smooth, pair[1]);
            sum = self.b.fma(product, pair[0], sum);
        }
        let made = self.squash(Float { value: sum, bound: 16.0 + 2.0 * STATE }, STATE);
        self.scope.floats.push(made);
        let v = if self.chance(4) { self.state_float() } else { made.value };
        let i = self.index(array);
        let next = self.b.store(array, i, v);
        self.see(next, Type::VECTOR);
    }

    /// A type for a result or a carry.
    fn kind(&mut self) -> Type {
        match self.random.below(16) {
            0 => Type::I64,
            1 => Type::Bool,
            2 => MATRIX,
            k if k < 3 + self.arrays => Type::VECTOR,
            _ => Type::F64,
        }
    }

    /// A value of a type to hand on from a block, small enough for a carry.
    fn hand_on(&mut self, ty: Type) -> Value {
        match ty {
            Type::F64 => match self.random.below(3) {
                0 => self.state_float(),
                1 => {
                    let made = self.float_expression();
                    self.squash(made, STATE).value
                }
                _ => {
                    let (a, c, d) = (self.float(), self.float(), self.float());
                    let value = self.b.fma(a.value, c.value, d.value);
                    let bound = a.bound * c.bound + d.bound;
                    self.squash(Float { value, bound }, STATE).value
                }
            },
            Type::I64 => {
                let i = self.int();
                self.remainder(i.value, 7).value
            }
            Type::VECTOR => self.hand_on_array(),
            Type::Array(..) => match self.take_where(|t| t == ty) {
                Some(array) => array,
                None => self.fresh_tensor(ty),
            },
            _ => self.bool(),
        }
    }

    /// A call of one of the functions made before.
    fn call(&mut self) {
        if self.callees.is_empty() {
            return self.tensor();
        }
        let k = self.random.below(self.callees.len() as u64) as usize;
        let (name, params) = (self.callees[k].name.clone(), self.callees[k].param_types());
        let results = self.callees[k].results.clone();
        // Arrays are handed over as copies: the callee may write to them.
        let args: Vec<Value> = params
            .iter()
            .map(|ty| match self.readable_where(|t| t == *ty) {
                Some(array) if ty.is_array() => self.b.op(Op::Copy, &[array])[0],
                _ => self.hand_on(*ty),
            })
            .collect();
        let values = self.b.inst(Op::Call(name), args, &results, Vec::new());
        for (v, ty) in values.iter().zip(&results) {
            match ty {
                Type::F64 => {
                    let made = self.squash(Float { value: *v, bound: 2.0 * STATE }, STATE);
                    self.scope.floats.push(made);
                }
                _ => self.see(*v, *ty),
            }
        }
    }

    fn branch(&mut self) {
        let condition = if self.chance(3) { self.bool() } else { self.float_comparison() };
        let types: Vec<Type> = (0..1 + self.random.below(3)).map(|_| self.kind()).collect();
        let before = self.scope.clone();
        let mut left = before.arrays.clone();
        let mut blocks = Vec::new();
        for _ in 0..2 {
            self.scope = before.clone();
            self.b.open_block(&[]);
            self.statements(4);
            let yields = types.iter().map(|ty| self.hand_on(*ty)).collect();
            blocks.push(self.b.close_block(yields));
            // What either branch takes over is gone.
            let still = &self.scope.arrays;
            left.retain(|a| still.iter().any(|s| s.value == a.value));
        }
        self.scope = before;
        self.scope.arrays = left;
        let results = self.b.inst(Op::If, vec![condition], &types, blocks);
        self.see_all(&results, &types);
    }

    fn see_all(&mut self, values: &[Value], types: &[Type]) {
        for (v, ty) in values.iter().zip(types) {
            self.see(*v, *ty);
        }
    }

    fn for_loop(&mut self) {
        let mut over = None;
        let hi = match self.random.below(8) {
            0 | 1 => {
                over = self.readable();
                match over {
                    Some(array) => self.b.op(Op::Len, &[array])[0],
                    None => self.b.i64(2),
                }
            }
            2 | 3 => {
                let i = if self.chance(2) { self.int_expression() } else { self.int() };
                self.remainder(i.value, 4).value
            }
            4 => {
                let n = self.random.below(2) as i64;
                self.b.i64(n)
            }
            _ => {
                let n = 1 + self.random.below(4) as i64;
                self.b.i64(n)
            }
        };
        let lo = match self.random.below(8) {
            0 => 1,
            1 => 2,
            2 if over.is_none() => -1,
            _ => 0,
        };
        let lo = self.b.i64(lo);
        let exits = if self.chance(3) { 1 + self.random.below(2) as usize } else { 0 };
        self.looping(Some((lo, hi)), over, exits);
    }

    fn while_loop(&mut self) {
        let exits = 1 + self.random.below(3) as usize;
        self.looping(None, None, exits);
    }

    /// A loop; one without bounds gets an exit that its counter is sure to take.
    fn looping(&mut self, bounds: Option<(Value, Value)>, over: Option<Value>, exits: usize) {
        let types: Vec<Type> = (0..1 + self.random.below(4)).map(|_| self.kind()).collect();
        let mut args: Vec<Value> = bounds.map_or(Vec::new(), |(lo, hi)| vec![lo, hi]);
        for ty in &types {
            args.push(self.hand_on(*ty));
        }
        let outer = self.scope.clone();
        for array in &mut self.scope.arrays {
            array.owned = false;
        }
        let mut params: Vec<(Type, Option<Arc<str>>)> = vec![(Type::I64, None)];
        params.extend(types.iter().map(|ty| (*ty, None)));
        let values = self.b.open_block(&params);
        self.scope.ints.push(Int { value: values[0], bound: 7 });
        let unchanged = self.scope.arrays.iter().map(|a| a.value);
        let over = over.filter(|x| unchanged.clone().any(|a| a == *x));
        self.scope.element_of.extend(over.map(|x| (values[0], x)));
        self.see_all(&values[1..], &types);
        self.loops += 1;
        let sure = self.random.below(exits.max(1) as u64) as usize;
        for k in 0..exits {
            self.statements(3);
            let limit = (bounds.is_none() && k == sure).then(|| self.random.below(5) as i64);
            self.exit(values[0], limit, &types);
        }
        self.statements(if exits > 0 { 3 } else { 6 });
        let yields = types.iter().map(|ty| self.hand_on(*ty)).collect();
        let body = self.b.close_block(yields);
        self.loops -= 1;
        self.scope = outer;
        let op = if bounds.is_some() { Op::For } else { Op::While };
        let results = self.b.inst(op, args, &types, vec![body]);
        self.see_all(&results, &types);
    }

    fn exit(&mut self, counter: Value, limit: Option<i64>, types: &[Type]) {
        let mut data = if self.chance(5) { self.bool() } else { self.float_comparison() };
        if self.chance(2) {
            let first = self.b.i64(1);
            let running = self.b.prim(Prim::IGe, &[counter, first]);
            data = self.b.prim(Prim::And, &[running, data]);
        }
        let condition = match limit {
            Some(limit) => {
                let limit = self.b.i64(limit);
                let late = self.b.prim(Prim::IGe, &[counter, limit]);
                if self.chance(4) { late } else { self.b.prim(Prim::Or, &[late, data]) }
            }
            None => data,
        };
        let before = self.scope.clone();
        self.b.open_block(&[]);
        if self.chance(2) {
            self.statements(3);
        }
        let yields = types.iter().map(|ty| self.hand_on(*ty)).collect();
        let block: Block = self.b.close_block(yields);
        self.scope = before;
        self.b.inst(Op::ExitIf, vec![condition], &[], vec![block]);
    }

    /// Results that depend on most of what is in sight.
    fn results(&mut self) -> Vec<Value> {
        let mut seen = self.scope.floats.clone();
        let arrays: Vec<Value> = self.scope.arrays.iter().map(|a| a.value).collect();
        for array in arrays {
            let value = self.some_element(array);
            seen.push(Float { value, bound: STATE });
        }
        let mut results = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let mut sum = self.float_expression();
            for x in &seen {
                if self.chance(3) {
                    continue;
                }
                let factor = self.random.float(0.3, 1.0);
                let c = self.b.f64(factor);
                let value = self.b.fma(x.value, c, sum.value);
                sum = self.squash(Float { value, bound: x.bound + sum.bound }, 2.0 * STATE);
            }
            results.push(sum.value);
        }
        if self.chance(3) {
            for _ in 0..1 + self.random.below(2) {
                results.extend(self.take_array());
            }
        }
        if self.chance(8) {
            let i = self.int();
            results.push(i.value);
        }
        let n = results.len() as u64;
        results.rotate_left(self.random.below(n) as usize);
        results
    }
}
