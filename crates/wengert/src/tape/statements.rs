//! A recording as a list of statements: what results are computed of and nothing else, constants in place.
//!
//! Constants stand on a tape where they were met first, which is a matter of chance. Here they are operands, so that
//! what was done again and again looks the same each time.

use super::error::{Error, Misuse, MisuseKind};
use super::guard::Guard;
use super::nodes::Op;
use super::recorder::{CONSTANT, Recording};
use super::var::Var;
use std::collections::HashMap;
use std::panic::Location;
use wengert_core::ops::Prim;

/// What a statement reads, in 32 bits: two for the kind, the others for the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Operand(u32);

/// The kinds of what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A statement, by its number.
    Statement(usize),
    /// An input, by its number.
    Input(usize),
    /// A constant, by its number.
    Constant(usize),
}

/// More statements than this have no numbers.
const MOST: usize = (1 << 30) - 1;

impl Operand {
    /// None, where a statement has no such operand.
    pub(super) const NONE: Operand = Operand(u32::MAX);

    pub(super) fn new(source: Source) -> Operand {
        match source {
            Source::Statement(k) => Operand(k as u32),
            Source::Input(k) => Operand(1 << 30 | k as u32),
            Source::Constant(k) => Operand(2 << 30 | k as u32),
        }
    }

    pub(super) fn source(self) -> Source {
        let k = (self.0 & MOST as u32) as usize;
        match self.0 >> 30 {
            0 => Source::Statement(k),
            1 => Source::Input(k),
            _ => Source::Constant(k),
        }
    }

    /// How far it is from another of its kind.
    pub(super) fn step_to(self, other: Operand) -> Option<i64> {
        (self.0 >> 30 == other.0 >> 30).then_some(i64::from(other.0) - i64::from(self.0))
    }
}

/// An operation and what it reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statement {
    /// A row by its place in the table, or a comparison by its number from [`Statements::FIRST_CHECK`] on.
    pub(super) code: u16,
    pub(super) operands: [Operand; 3],
}

/// A comparison that must come out as it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Check {
    pub(super) row: Prim,
    pub(super) holds: bool,
    pub(super) at: &'static Location<'static>,
}

/// What results are computed of.
#[derive(Default)]
pub(super) struct Statements {
    pub(super) list: Vec<Statement>,
    pub(super) constants: Vec<f64>,
    pub(super) checks: Vec<Check>,
    pub(super) outputs: Vec<Operand>,
    pub(super) inputs: usize,
}

impl Statements {
    /// Codes from here on are comparisons.
    pub(super) const FIRST_CHECK: u16 = 256;

    /// The row of a statement, if it is no comparison.
    pub(super) fn row(&self, statement: &Statement) -> Option<Prim> {
        Prim::ALL.get(statement.code as usize).copied()
    }

    /// The comparison that a statement is.
    pub(super) fn check(&self, statement: &Statement) -> Option<Check> {
        self.checks.get(usize::from(statement.code.checked_sub(Self::FIRST_CHECK)?)).copied()
    }

    /// Those of a recording that outputs need, and comparisons.
    pub(super) fn of(
        recording: &Recording,
        inputs: &[Var],
        outputs: &[Var],
        at: &'static Location<'static>,
    ) -> Result<Statements, Error> {
        let refused = |why: &str| Err(Error::Program(why.into()));
        if !recording.primals.is_empty() {
            return refused(
                "a recording of variables of an earlier tape is no program of its own: make one of the earlier tape",
            );
        }
        let nodes = &recording.nodes;
        let is_ours = |y: &Var| y.tag() == CONSTANT || recording.owns(*y);
        if !outputs.iter().all(is_ours) {
            return Err(Error::Misuse(Misuse { kind: MisuseKind::OtherTape, at }));
        }
        let guards = recording.guards.as_deref().unwrap_or_default();
        let live = live(recording, outputs, guards);
        let places = vec![Operand::NONE; nodes.len()];
        let mut made = Making { places, ..Making::default() };
        for (k, x) in inputs.iter().enumerate() {
            let is_input = recording.owns(*x) && nodes.get(x.index() as usize).op == Op::Input;
            if !is_input {
                return Err(Error::Misuse(Misuse { kind: MisuseKind::OtherTape, at }));
            }
            let place = &mut made.places[x.index() as usize];
            if *place != Operand::NONE {
                return refused("an input is given twice: name each one once");
            }
            *place = Operand::new(Source::Input(k));
        }
        let mut guards = guards.iter().peekable();
        for (at, node) in nodes.iter() {
            while let Some(guard) = guards.next_if(|guard| guard.before as usize <= at) {
                made.check(guard)?;
            }
            if !live[at] {
                continue;
            }
            match node.op {
                Op::Constant => made.places[at] = made.constant(node.value),
                // Whatever is not among the inputs stays as it is.
                Op::Input if made.places[at] == Operand::NONE => {
                    made.places[at] = made.constant(node.value);
                }
                Op::Row(row) => {
                    let places = nodes.inputs(at, node);
                    made.push(row as u16, places, row.arity())?;
                    made.places[at] = Operand::new(Source::Statement(made.all.list.len() - 1));
                }
                Op::Called => {
                    return refused(
                        "a recording that calls functions with derivatives of their own cannot become a program, which would have to contain them: record what they compute, or use `replay`",
                    );
                }
                Op::Sum | Op::Single => {
                    return refused(
                        "a recording with preaccumulated or fused parts cannot become a program: only their partials are left",
                    );
                }
                Op::Input | Op::Third => {}
            }
        }
        guards.try_for_each(|guard| made.check(guard))?;
        for y in outputs {
            let output = match y.tag() {
                CONSTANT => made.constant(y.value()),
                _ => made.places[y.index() as usize],
            };
            made.all.outputs.push(output);
        }
        made.all.inputs = inputs.len();
        Ok(made.all)
    }
}

/// Which entries outputs and comparisons need.
fn live(recording: &Recording, outputs: &[Var], guards: &[Guard]) -> Vec<bool> {
    let nodes = &recording.nodes;
    let mut live = vec![false; nodes.len()];
    for y in outputs.iter().filter(|y| recording.owns(**y)) {
        live[y.index() as usize] = true;
    }
    for guard in guards {
        (live[guard.a as usize], live[guard.b as usize]) = (true, true);
    }
    for at in (0..nodes.len()).rev().filter(|at| nodes.get(*at).op != Op::Third) {
        let node = nodes.get(at);
        if let (true, Op::Row(row)) = (live[at], node.op) {
            for place in nodes.inputs(at, node).into_iter().take(row.arity()) {
                live[place as usize] = true;
            }
        }
    }
    live
}

#[derive(Default)]
struct Making {
    all: Statements,
    /// What became of each entry.
    places: Vec<Operand>,
    /// Constants by their bits.
    constants: HashMap<u64, Operand>,
}

impl Making {
    fn constant(&mut self, c: f64) -> Operand {
        let all = &mut self.all.constants;
        *self.constants.entry(c.to_bits()).or_insert_with(|| {
            all.push(c);
            Operand::new(Source::Constant(all.len() - 1))
        })
    }

    fn push(&mut self, code: u16, places: [u32; 3], arity: usize) -> Result<(), Error> {
        if self.all.list.len() >= MOST || self.all.constants.len() >= MOST {
            let why = "the recording has a billion operations, which is too long for a program: make one of a part of it";
            return Err(Error::Program(why.into()));
        }
        let mut operands = [Operand::NONE; 3];
        for (operand, place) in operands.iter_mut().zip(places).take(arity) {
            *operand = self.places[place as usize];
        }
        self.all.list.push(Statement { code, operands });
        Ok(())
    }

    fn check(&mut self, guard: &Guard) -> Result<(), Error> {
        let check = Check { row: guard.row, holds: guard.holds, at: guard.at };
        let checks = &mut self.all.checks;
        let known = checks.iter().position(|one| *one == check);
        let number = known.unwrap_or_else(|| {
            checks.push(check);
            checks.len() - 1
        });
        let code = Statements::FIRST_CHECK as usize + number;
        let Ok(code) = u16::try_from(code) else {
            let why = "the recording has comparisons in more than 65,000 places, which is too many for a program";
            return Err(Error::Program(why.into()));
        };
        self.push(code, [guard.a, guard.b, 0], 2)
    }
}
