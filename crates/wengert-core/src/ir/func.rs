//! Functions, blocks and instructions.
//!
//! A [`Func`] owns a table of values (`Value` is an index into it) and a tree of blocks. Constants are
//! values without an instruction, one per distinct constant, visible everywhere in the function.

use super::external::External;
use super::origin::Origin;
use super::types::{Op, Type};
use crate::ops::Scalar;
use crate::span::Span;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value of a function, printed `%7` or `%name.7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// The index into the function's value table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a value.
#[derive(Clone, Debug, Hash)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Set for constants.
    pub constant: Option<Scalar>,
    /// The user's variable, where there is one.
    pub name: Option<Arc<str>>,
}

/// A sequence of instructions with parameters and results.
#[derive(Clone, Debug, Default, Hash)]
pub struct Block {
    /// Values defined on entry: a loop's counter and carries, a function's parameters.
    pub params: Vec<Value>,
    /// The instructions, in order.
    pub insts: Vec<Inst>,
    /// What the block hands on: a loop's next carries, a branch's or a function's results.
    pub yields: Vec<Value>,
    /// On the body of a `for` loop: its iterations can run in any order (see [`super::parallel`]).
    pub parallel: bool,
    /// On the body of a loop: how errors number its iterations.
    pub numbering: Numbering,
    /// Where its `yield` or `return` stands, if in the text.
    pub end: Span,
}

/// How the iterations of a loop are numbered where an error speaks of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Numbering {
    /// From 0, where the loop starts.
    #[default]
    FromStart,
    /// By its counter: the loop is a part of one that starts at 0.
    ByCounter,
    /// Not at all: no loop of the user's, but one around parts of it.
    Hidden,
}

/// One instruction.
#[derive(Clone, Debug, Hash)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Operands.
    pub args: Vec<Value>,
    /// Values it defines.
    pub results: Vec<Value>,
    /// Nested code.
    pub blocks: Vec<Block>,
    /// Where the user wrote it.
    pub span: Span,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Func {
    /// Its name, without the `@`.
    pub name: Arc<str>,
    /// Types of its results.
    pub results: Vec<Type>,
    /// Its code; the block's parameters are the function's.
    pub body: Block,
    /// Every value, indexed by [`Value`].
    pub values: Vec<ValueData>,
    constants: HashMap<Scalar, Value>,
}

impl Hash for Func {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The table of constants is made of the values.
        let Func { name, results, body, values, constants: _ } = self;
        (name, results, body, values).hash(state);
    }
}

impl Func {
    /// An empty function.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Func {
            name: name.into(),
            results: Vec::new(),
            body: Block::default(),
            values: Vec::new(),
            constants: HashMap::default(),
        }
    }

    /// A new value.
    pub fn value(&mut self, ty: Type, name: Option<Arc<str>>) -> Value {
        self.values.push(ValueData { ty, constant: None, name });
        Value(self.values.len() as u32 - 1)
    }

    /// The value of a constant.
    pub fn constant(&mut self, c: Scalar) -> Value {
        if let Some(v) = self.constants.get(&c) {
            return *v;
        }
        let ty = c.elem().scalar();
        self.values.push(ValueData { ty, constant: Some(c), name: None });
        let v = Value(self.values.len() as u32 - 1);
        self.constants.insert(c, v);
        v
    }

    /// The type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.values[v.index()].ty
    }

    /// The constant a value is, if it is one.
    pub fn as_const(&self, v: Value) -> Option<Scalar> {
        self.values[v.index()].constant
    }

    /// Whether an instruction can neither fail nor have an effect, so that it may be executed early.
    pub fn is_movable(&self, inst: &Inst) -> bool {
        // Element by element, several arrays can have different shapes.
        let arrays = inst.args.iter().filter(|a| self.ty(**a).is_array()).count();
        let fits = !matches!(inst.op, Op::Prim(_) | Op::Array(_)) || arrays < 2;
        inst.op.is_pure() && fits
    }

    /// The user's name of a value.
    pub fn name_of(&self, v: Value) -> Option<Arc<str>> {
        self.values[v.index()].name.clone()
    }

    /// The parameters.
    pub fn params(&self) -> &[Value] {
        &self.body.params
    }

    /// The types of the parameters.
    pub fn param_types(&self) -> Vec<Type> {
        self.body.params.iter().map(|p| self.ty(*p)).collect()
    }
}

/// A loop outlined for the plan driver: three functions over ranges of iterations, so that a schedule
/// can run any part of the loop again.
///
/// - `advance(from, to, carries.., captures..) -> (carries.., done, exit)`
/// - `record(from, to, carries.., captures.., tape) -> (carries.., done, exit, tape)`
/// - `reverse(from, to, exit, state.., fixed.., tape) -> (state.., tape)`
///
/// `done` is how far the range came, `exit` the number of the exit that ended it, 0 for none. The state
/// of the reverse sweep starts with adjoints and ends with what `finals` names.
///
/// Of a *parallel* one, every iteration leaves alone what the others touch of the arrays in carries and state (which
/// hold nothing else), and any order gives the same bits. One that is only run, and not recorded, has one
/// function, `advance`, in the place of all three.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopPlan {
    /// The name `drive` refers to, without the `@`.
    pub name: Arc<str>,
    /// Runs iterations without recording.
    pub advance: Arc<str>,
    /// Runs iterations, pushing one record each.
    pub record: Arc<str>,
    /// Pops the records and runs the iterations backwards.
    pub reverse: Arc<str>,
    /// How many values are carried from one iteration to the next.
    pub carries: usize,
    /// How many values the reverse sweep carries.
    pub state: usize,
    /// The carries whose values after the range are the last values of the reverse sweep's state.
    pub finals: Vec<usize>,
    /// Whether the loop has a bound (`for`). Of one without (`while`), the driver runs at most as many
    /// iterations as the run allows, and reports when no exit was taken by then.
    pub bounded: bool,
    /// Whether its iterations can run at the same time, each range of them with a tape of its own.
    pub parallel: bool,
    /// Runs iterations backwards from the state after them, where that was asked for.
    pub unstep: Option<Unstep>,
}

/// How the iterations of an outlined loop are taken back: `unstep(from, to, carries.., captures..) -> (carries..)`, what is carried after the
/// range to what is carried before it, up to rounding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unstep {
    /// The function.
    pub func: Arc<str>,
    /// The carries that no iteration begins with: what comes out of them means nothing.
    pub free: Vec<usize>,
    /// Whether that does not hold of the first iteration of all, before which there is none.
    pub apart: bool,
}

impl LoopPlan {
    /// Whether there is nothing to be recorded and reversed: one function stands for all three.
    pub fn is_only_run(&self) -> bool {
        self.advance == self.record && self.advance == self.reverse
    }
}

/// The derivative of a function, where its author gives it: `rule @f jvp @g vjp @h`.
///
/// With `@f(x..) -> (y..)`, and tangents and adjoints for floats only:
///
/// - `@g(x.., dx..) -> (y.., dy..)`
/// - `@h(x.., y.., y_bar..) -> (x_bar..)`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The function the rule is for.
    pub func: Arc<str>,
    /// What forward mode calls.
    pub jvp: Option<Arc<str>>,
    /// What reverse mode calls.
    pub vjp: Option<Arc<str>>,
}

/// A set of functions that call each other.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The functions, in printing order.
    pub funcs: Vec<Func>,
    /// The functions that are somewhere else.
    pub externals: Vec<External>,
    /// The outlined loops.
    pub loops: Vec<LoopPlan>,
    /// Derivatives given by their authors.
    pub rules: Vec<Rule>,
    /// What is known of it because of who has made it.
    pub origin: Origin,
}

impl Module {
    /// A function alone.
    pub fn of(func: Func) -> Module {
        Module { funcs: vec![func], ..Module::default() }
    }

    /// The rule of the function of that name.
    pub fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|r| &*r.func == name)
    }

    /// The function of that name.
    pub fn func(&self, name: &str) -> Option<&Func> {
        self.funcs.iter().find(|f| &*f.name == name)
    }

    /// The function of that name that is somewhere else.
    pub fn external(&self, name: &str) -> Option<&External> {
        self.externals.iter().find(|e| &*e.name == name)
    }

    /// The outlined loop of that name.
    pub fn plan(&self, name: &str) -> Option<&LoopPlan> {
        self.loops.iter().find(|l| &*l.name == name)
    }
}

impl Block {
    /// Calls `f` on every instruction of this block and of the blocks nested in it, outside in.
    pub fn walk<'a>(&'a self, f: &mut impl FnMut(&'a Inst)) {
        for inst in &self.insts {
            f(inst);
            for block in &inst.blocks {
                block.walk(f);
            }
        }
    }

    /// Values used in this block (nested blocks included) that are defined outside it, in order of
    /// first use, constants left out.
    pub fn captures(&self, func: &Func) -> Vec<Value> {
        let (mut defined, mut found) = (HashSet::default(), Vec::new());
        self.collect_captures(func, &mut defined, &mut found);
        found
    }

    /// `known` holds what needs no listing: values defined inside, and captures listed already.
    fn collect_captures(&self, func: &Func, known: &mut HashSet<Value>, found: &mut Vec<Value>) {
        known.extend(&self.params);
        for inst in &self.insts {
            note_captures(func, &inst.args, known, found);
            for block in &inst.blocks {
                block.collect_captures(func, known, found);
            }
            known.extend(&inst.results);
        }
        note_captures(func, &self.yields, known, found);
    }
}

fn note_captures(func: &Func, uses: &[Value], known: &mut HashSet<Value>, found: &mut Vec<Value>) {
    for v in uses {
        if func.as_const(*v).is_none() && known.insert(*v) {
            found.push(*v);
        }
    }
}
