//! Recordings that become programs: IR, with loops where the recording repeats.

use super::Tape;
use super::error::Error;
use super::rolling::{self, Loop, Part};
use super::statements::{Operand, Source, Statement, Statements};
use super::var::Var;
use crate::Function;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;
use wengert_core::ir::{Builder, Module, Op, Type, Value};
use wengert_core::ops::Prim;

/// The most statements of a program, those of loops counted once.
const MOST: usize = 20_000;

impl Tape {
    /// The recording as a program of its own: compiled, and differentiated again, by all that [`Function`] offers.
    ///
    /// Its one parameter, `x`, is an array of the inputs in the order given; variables that are not among them stay at their values. It
    /// gives the outputs as an array, or the output as a number where there is one, with the bits that the tape gives. Where the
    /// recording repeats, the program has a loop, so that a million steps compile as fast as one: a block of operations
    /// that comes again and again, on what the block before it gave, on what never changes, and on inputs in turn.
    ///
    /// On a [guarded](Tape::guarded) tape the program checks every comparison; on others it computes
    /// what was recorded, whichever branch new inputs would take. Recordings that hold
    /// calls or preaccumulated parts are refused, and so are those that are longer than 20,000 operations once loops
    /// are found.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let [x, rate] = tape.vars([0.2, 3.5]);
    /// let mut y = x;
    /// for _ in 0..1000 {
    ///     y = rate * y * (1.0 - y);
    /// }
    /// let program = tape.to_program(&[x, rate], &[y])?;
    /// let g = program.value_and_grad([vec![0.2, 3.5]], "x")?;
    /// assert_eq!(g.value, y.value());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn to_program(&self, inputs: &[Var], outputs: &[Var]) -> Result<Function, Error> {
        let at = Location::caller();
        for x in inputs.iter().chain(outputs) {
            x.checked(at)?;
        }
        let module = self.swept(|recording| {
            let all = Statements::of(recording, inputs, outputs, at)?;
            let parts = rolling::parts(&all);
            Ok(Module::of(Writing::new(&all).program(&parts)?))
        })??;
        Function::from_recording(module).map_err(|e| Error::Program(e.to_string()))
    }
}

/// A program as it is written.
struct Writing<'a> {
    all: &'a Statements,
    builder: Builder,
    x: Value,
    /// Statements that stand in the program.
    made: HashMap<usize, Value>,
    inputs: HashMap<usize, Value>,
}

impl<'a> Writing<'a> {
    fn new(all: &'a Statements) -> Writing<'a> {
        let name: Arc<str> = "x".into();
        let (mut builder, params) = Builder::new("recording", &[(Type::VECTOR, Some(name))]);
        let x = params[0];
        let given = builder.op(Op::Len, &[x])[0];
        let wanted = builder.i64(all.inputs as i64);
        let fits = builder.prim(Prim::IEq, &[given, wanted]);
        let plural = if all.inputs == 1 { "input" } else { "inputs" };
        let message = format!("`x` must hold the {} {plural} of the recording", all.inputs);
        builder.inst(Op::Assert(message.into()), vec![fits], &[], Vec::new());
        Writing { all, builder, x, made: HashMap::new(), inputs: HashMap::new() }
    }

    fn program(mut self, parts: &[Part]) -> Result<wengert_core::ir::Func, Error> {
        let length = |part: &Part| match part {
            Part::Straight(range) => range.len(),
            Part::Loop(body) => body.period,
        };
        let length: usize = parts.iter().map(length).sum();
        if length > MOST {
            return Err(Error::Program(format!(
                "the recording has {length} operations that do not repeat, and a program may have {MOST}: make one of a part of it, or use `replay`"
            )));
        }
        for part in parts {
            match part {
                Part::Straight(range) => {
                    for at in range.clone() {
                        let statement = self.all.list[at];
                        let args = statement.operands.map(|operand| self.value(operand));
                        let value = self.statement(&statement, args);
                        self.made.extend(value.map(|value| (at, value)));
                    }
                }
                Part::Loop(body) => self.rolled(body),
            }
        }
        let outputs: Vec<Value> =
            self.all.outputs.iter().filter_map(|output| self.value(*output)).collect();
        if let [only] = outputs[..] {
            return Ok(self.builder.finish(vec![only]));
        }
        let (n, zero) = (self.builder.i64(outputs.len() as i64), self.builder.f64(0.0));
        let mut array = self.builder.filled(&[n], zero);
        for (k, output) in outputs.into_iter().enumerate() {
            let k = self.builder.i64(k as i64);
            array = self.builder.store(array, k, output);
        }
        Ok(self.builder.finish(vec![array]))
    }

    /// The value of an operand that stands outside of loops.
    fn value(&mut self, operand: Operand) -> Option<Value> {
        if operand == Operand::NONE {
            return None;
        }
        match operand.source() {
            Source::Constant(k) => Some(self.builder.f64(self.all.constants[k])),
            Source::Statement(k) => self.made.get(&k).copied(),
            Source::Input(k) => Some(match self.inputs.get(&k) {
                Some(value) => *value,
                None => {
                    let at = self.builder.i64(k as i64);
                    let value = self.builder.load(self.x, at);
                    self.inputs.insert(k, value);
                    value
                }
            }),
        }
    }

    /// Writes a statement; comparisons have no value.
    fn statement(&mut self, statement: &Statement, args: [Option<Value>; 3]) -> Option<Value> {
        let mut args: Vec<Value> = args.into_iter().flatten().collect();
        if let Some(check) = self.all.check(statement) {
            let mut truth = self.builder.prim(check.row, &args);
            if !check.holds {
                truth = self.builder.prim(Prim::Not, &[truth]);
            }
            let message = format!(
                "the comparison at {} comes out otherwise than it was recorded: record anew at these inputs",
                check.at
            );
            self.builder.inst(Op::Assert(message.into()), vec![truth], &[], Vec::new());
            return None;
        }
        let row = self.all.row(statement)?;
        // The table has integers where a tape has whole numbers.
        for (k, letter) in row.signature().chars().take_while(|c| *c != '>').enumerate() {
            if letter == 'i' {
                args[k] = self.builder.prim(Prim::FToI, &[args[k]]);
            }
        }
        Some(self.builder.prim(row, &args))
    }

    /// Writes a loop.
    fn rolled(&mut self, body: &Loop) {
        let all = self.all;
        let Loop { start, period, count, .. } = *body;
        let mut carries = Carries::default();
        for at in start..start + period {
            for slot in 0..3 {
                if let Some((place, first)) = body.behind(all, at, slot) {
                    carries.want(place, first);
                }
            }
        }
        let after: Vec<(usize, usize)> = body
            .used_after
            .iter()
            .map(|at| {
                let (iteration, place) = ((at - start) / period, (at - start) % period);
                (*at, carries.last(place, count - iteration))
            })
            .collect();
        // What never changes stands before the loop.
        for (at, steps) in (start..).zip(&body.steps) {
            for (operand, step) in all.list[at].operands.into_iter().zip(steps) {
                if *step == 0 {
                    self.value(operand);
                }
            }
        }
        let zero = self.builder.f64(0.0);
        let mut args = vec![self.builder.i64(0), self.builder.i64(count as i64)];
        for carry in &carries.all {
            args.push(self.value(carry.first).unwrap_or(zero));
        }
        let mut params = vec![(Type::I64, None)];
        params.extend(carries.all.iter().map(|_| (Type::F64, None)));
        let params = self.builder.open_block(&params);
        let mut inside: Vec<Option<Value>> = Vec::with_capacity(period);
        for (at, steps) in (start..).zip(&body.steps) {
            let statement = all.list[at];
            let mut args = [None; 3];
            for slot in 0..3 {
                let operand = statement.operands[slot];
                args[slot] = match (operand.source(), steps[slot]) {
                    (_, 0) => self.value(operand),
                    (Source::Input(first), step) => {
                        Some(self.input_in_turn(params[0], first, step))
                    }
                    (Source::Statement(k), _) => match body.behind(all, at, slot) {
                        None => inside[k - start],
                        Some((place, first)) => Some(params[1 + carries.want(place, first)]),
                    },
                    (Source::Constant(_), _) => None,
                };
            }
            let value = self.statement(&statement, args);
            inside.push(value);
        }
        let next = |carry: &Carry| match carry.next {
            Next::Place(place) => inside[place].unwrap_or(zero),
            Next::Carry(k) => params[1 + k],
        };
        let yields = carries.all.iter().map(next).collect();
        let block = self.builder.close_block(yields);
        let types = vec![Type::F64; carries.all.len()];
        let results = self.builder.inst(Op::For, args, &types, vec![block]);
        self.made.extend(after.into_iter().map(|(at, carry)| (at, results[carry])));
    }

    /// The input that an iteration reads.
    fn input_in_turn(&mut self, iteration: Value, first: usize, step: i64) -> Value {
        let (step, first) = (self.builder.i64(step), self.builder.i64(first as i64));
        let at = self.builder.prim(Prim::IMul, &[iteration, step]);
        let at = self.builder.prim(Prim::IAdd, &[at, first]);
        self.builder.load(self.x, at)
    }
}

impl Loop {
    /// For an operand that an earlier iteration gave: its place in the body, and what stands for it in the first
    /// iterations, which nothing comes before.
    fn behind(&self, all: &Statements, at: usize, slot: usize) -> Option<(usize, Vec<Operand>)> {
        let moves = self.steps[at - self.start][slot] == self.period as i64;
        match all.list[at].operands[slot].source() {
            Source::Statement(k) if moves && k < self.start => {
                let distance = (self.start - k).div_ceil(self.period);
                let operand = |d: usize| all.list[at + d * self.period].operands[slot];
                Some((
                    k + distance * self.period - self.start,
                    (0..distance).map(operand).collect(),
                ))
            }
            _ => None,
        }
    }
}

/// What a loop hands on from one iteration to the next.
struct Carry {
    /// What it is in the first iteration.
    first: Operand,
    /// What it is in the next.
    next: Next,
}

enum Next {
    /// What the body gave at this place.
    Place(usize),
    /// What another one was: this one is further behind.
    Carry(usize),
}

#[derive(Default)]
struct Carries {
    all: Vec<Carry>,
    /// By place, and by what stands for it in the first iterations.
    known: HashMap<(usize, Vec<Operand>), usize>,
}

impl Carries {
    /// The one that is `first` in the first iterations, as many as those are, and later what a place gave so many
    /// iterations before.
    fn want(&mut self, place: usize, first: Vec<Operand>) -> usize {
        if let Some(known) = self.known.get(&(place, first.clone())) {
            return *known;
        }
        let next = match &first[1..] {
            [] => Next::Place(place),
            later => Next::Carry(self.want(place, later.to_vec())),
        };
        self.all.push(Carry { first: first[0], next });
        self.known.insert((place, first), self.all.len() - 1);
        self.all.len() - 1
    }

    /// One that is what a place gave so many iterations before, at the end.
    fn last(&mut self, place: usize, distance: usize) -> usize {
        let same = |(at, first): &&(usize, Vec<Operand>)| *at == place && first.len() == distance;
        let known = self.known.keys().filter(same).min_by_key(|key| self.known[*key]).cloned();
        match known {
            Some(key) => self.known[&key],
            None => self.want(place, vec![Operand::NONE; distance]),
        }
    }
}
