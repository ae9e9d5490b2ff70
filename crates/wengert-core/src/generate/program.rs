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
use crate::ir::{Builder, Elem, Func, Op, Type, Value};
use crate::ops::Scalar;
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
    (Statement::For, 9),
    (Statement::While, 6),
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
pub(super) struct Array {
    pub(super) value: Value,
    /// Whether it may be taken over here: loops take over only what they carry.
    pub(super) owned: bool,
}

/// What is in sight.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) floats: Vec<Float>,
    pub(super) ints: Vec<Int>,
    pub(super) bools: Vec<Value>,
    pub(super) arrays: Vec<Array>,
    /// Counters that run over the elements of an array that nothing can take over meanwhile.
    pub(super) element_of: Vec<(Value, Value)>,
}

/// Appends random statements to a function.
#[derive(Debug)]
pub(super) struct Generator {
    pub(super) b: Builder,
    pub(super) random: Random,
    pub(super) scope: Scope,
    /// Loops around the place where statements are appended.
    pub(super) loops: usize,
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
    pub(super) fn statements(&mut self, most: u64) {
        for _ in 0..self.random.below(most + 1) {
            self.statement();
        }
    }

    pub(super) fn statement(&mut self) {
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

    /// A type for a result or a carry.
    pub(super) fn kind(&mut self) -> Type {
        match self.random.below(16) {
            0 => Type::I64,
            1 => Type::Bool,
            2 => MATRIX,
            k if k < 3 + self.arrays => Type::VECTOR,
            _ => Type::F64,
        }
    }

    /// A value of a type to hand on from a block, small enough for a carry.
    pub(super) fn hand_on(&mut self, ty: Type) -> Value {
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
