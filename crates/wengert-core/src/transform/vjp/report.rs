//! What reverse mode saves and computes again, for people to read.
//!
//! ```
//! use wengert_core::{ir::parse, transform::vjp::report};
//!
//! let module = parse::module(
//!     "func @f(%x: f64, %n: i64) -> f64 {
//!        %y = for %i in 0..%n carry (%h = %x) {
//!          %s = sin %h
//!          yield %s
//!        }
//!        return %y
//!      }",
//! )?;
//! let report = report::of(&module.funcs[0], &[0])?;
//! let body = &report.blocks[1];
//! // The cosine, which is the sine's derivative.
//! assert_eq!(body.bytes(), 8);
//! # Ok::<(), wengert_core::span::Diagnostic>(())
//! ```

use super::layout::{End, Layout, Slot};
use super::nest::{BlockId, Nest};
use super::reverse::{Preload, Reverse};
use super::{Outlined, calls_of, companions, outlined, refuse, remat};
use crate::ir::{Func, Inst, Module, Op, Type, Value};
use crate::ops::ArrayOp;
use crate::span::{Diagnostic, Span};
use crate::transform::activity::Activity;
use std::sync::Arc;

/// What is saved and computed again, block by block.
#[derive(Clone, Debug)]
pub struct Report {
    /// Every block of the function, outside in.
    pub blocks: Vec<BlockReport>,
    /// Every operation that overwrites a part of an array.
    pub overwrites: Vec<Overwrite>,
}

/// One block: the body of the function, of a loop, or of a branch.
#[derive(Clone, Debug)]
pub struct BlockReport {
    /// What kind of block it is.
    pub kind: BlockKind,
    /// Where the loop or branch stands.
    pub span: Span,
    /// How many blocks are around it.
    pub depth: usize,
    /// What each run of it leaves on the tape.
    pub fields: Vec<Field>,
    /// What the reverse sweep computes again.
    pub recomputed: Vec<Recomputed>,
}

impl BlockReport {
    /// Bytes that a run of the block leaves on the tape, arrays left out.
    pub fn bytes(&self) -> usize {
        self.fields.iter().filter(|f| !f.ty.is_array()).count() * 8
    }
}

/// The kinds of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// A function's body.
    Function,
    /// The body of a `for` loop.
    For,
    /// The body of a `while` loop.
    While,
    /// What is done when a condition holds.
    Then,
    /// What is done otherwise.
    Else,
    /// What is done when a loop is left early.
    Exit,
}

/// A field of a record.
#[derive(Clone, Debug)]
pub struct Field {
    /// What it is.
    pub kind: FieldKind,
    /// The variable, where it has a name.
    pub name: Option<Arc<str>>,
    /// Where it is computed.
    pub span: Span,
    /// Its type.
    pub ty: Type,
}

/// The kinds of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A value of the program.
    Value,
    /// What was overwritten in an array.
    Old,
    /// A dimension of an array.
    Dim,
    /// A copy of an array.
    Snapshot,
    /// How often a loop ran.
    Trips,
    /// By which exit a loop was left.
    Exit,
    /// The storage of an array that is not used any more.
    Storage,
}

/// A value that is computed again.
#[derive(Clone, Debug)]
pub struct Recomputed {
    /// The variable, where it has a name.
    pub name: Option<Arc<str>>,
    /// What computes it: the name of the operation.
    pub operation: String,
    /// Where.
    pub span: Span,
}

/// An operation in place: it makes the next version of an array.
#[derive(Clone, Debug)]
pub struct Overwrite {
    /// The array, where it has a name.
    pub name: Option<Arc<str>>,
    /// Where it is overwritten.
    pub span: Span,
    /// The loops around it, outermost first.
    pub loops: Vec<Span>,
    /// How much of it.
    pub part: Part,
    /// Whether what was there is saved, because the reverse sweep reads it.
    pub saved: bool,
    /// Where it is not: elements that were read from the array and are saved in its place.
    pub reads: Vec<Field>,
}

/// How much of an array an operation overwrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One element.
    Element,
    /// A slice.
    Slice,
    /// All of it.
    Whole,
}

/// The report of a function without calls, differentiated by these parameters.
pub fn of(func: &Func, wrt: &[usize]) -> Result<Report, Diagnostic> {
    refuse(func)?;
    let func = &*companions::added(func, wrt);
    let by = calls_of::parameters(func, wrt)?;
    let activity = Activity::new(func, &by);
    let nest = Nest::new(func, false);
    let outlined = outlined(&nest, &activity, &[]);
    let outlined = Outlined { counters: &outlined, chunks: &[], inner: &[] };
    let (none, empty) = (Layout::default(), Preload::default());
    let module = Module::default();
    let dry = Reverse::function(&module, &nest, &activity, &none, &empty, outlined, &by, true);
    let layout = remat::plan(&nest, &activity, &dry.asked.unwrap_or_default());
    let blocks = (0..nest.blocks.len()).map(|id| block(&nest, &layout, id)).collect();
    let mut overwrites = Vec::new();
    for (id, info) in nest.blocks.iter().enumerate() {
        let in_place = info.block.insts.iter().filter(|inst| inst.op.takes().is_some());
        overwrites.extend(in_place.map(|inst| overwrite(&nest, &layout, id, inst)));
    }
    Ok(Report { blocks, overwrites })
}

fn block(nest: &Nest, layout: &Layout, id: BlockId) -> BlockReport {
    let block = nest.blocks[id].block;
    let around = nest.blocks[id].parent.map(|(p, at)| &nest.blocks[p].block.insts[at]);
    let kind = match around.map(|inst| (&inst.op, std::ptr::eq(&inst.blocks[0], block))) {
        None => BlockKind::Function,
        Some((Op::For, _)) => BlockKind::For,
        Some((Op::While, _)) => BlockKind::While,
        Some((Op::ExitIf, _)) => BlockKind::Exit,
        Some((_, true)) => BlockKind::Then,
        Some((_, false)) => BlockKind::Else,
    };
    let fields = layout.slots(nest, id, End::Block).into_iter().map(|slot| field(nest, slot));
    let results = block.insts.iter().flat_map(|inst| inst.results.iter().map(move |r| (inst, r)));
    let recomputed = results.filter(|(_, r)| layout.recomputed.contains(r)).map(|(inst, r)| {
        let operation = match &inst.op {
            Op::Prim(prim) => prim.name().to_string(),
            Op::Load => "load".into(),
            Op::If => "if".into(),
            other => format!("{other:?}").to_lowercase(),
        };
        Recomputed { name: nest.func.name_of(*r), operation, span: inst.span }
    });
    BlockReport {
        kind,
        span: around.map_or(Span::default(), |inst| inst.span),
        depth: loops(nest, id, |_| true).len(),
        fields: fields.collect(),
        recomputed: recomputed.collect(),
    }
}

fn field(nest: &Nest, slot: Slot) -> Field {
    let (kind, v) = match slot {
        Slot::Value(v) => (FieldKind::Value, v),
        Slot::Old(v) => (FieldKind::Old, v),
        Slot::Dim(v, _) => (FieldKind::Dim, v),
        Slot::Snapshot(v) | Slot::Copied(v, _) => (FieldKind::Snapshot, v),
        Slot::Done(v) => (FieldKind::Trips, v),
        Slot::Exit(v) => (FieldKind::Exit, v),
        Slot::Held(v) => (FieldKind::Storage, v),
    };
    let span = nest.inst_of(v).map_or(Span::default(), |inst| inst.span);
    Field { kind, name: nest.func.name_of(v), span, ty: slot.ty(nest) }
}

fn overwrite(nest: &Nest, layout: &Layout, id: BlockId, inst: &Inst) -> Overwrite {
    let part = match &inst.op {
        Op::Store | Op::Array(ArrayOp::Poke) => Part::Element,
        Op::Array(ArrayOp::Put | ArrayOp::AddSlice) => Part::Slice,
        _ => Part::Whole,
    };
    let name = |v: Value| nest.func.name_of(v);
    let saved = layout.takes_back(nest, inst);
    let mut reads = Vec::new();
    nest.func.body.walk(&mut |read| {
        let element = matches!(read.op, Op::Load | Op::Array(ArrayOp::Peek));
        let here = element && nest.storage_of(read.args[0]) == nest.storage_of(inst.results[0]);
        if here && !saved && layout.saved.contains(&read.results[0]) {
            reads.push(field(nest, Slot::Value(read.results[0])));
        }
    });
    Overwrite {
        reads,
        name: name(inst.results[0]).or_else(|| name(inst.args[0])),
        span: inst.span,
        loops: loops(nest, id, |inst| matches!(inst.op, Op::For | Op::While)),
        part,
        saved,
    }
}

/// The places of the instructions around a block that are wanted, outermost first.
fn loops(nest: &Nest, mut id: BlockId, wanted: impl Fn(&Inst) -> bool) -> Vec<Span> {
    let mut spans = Vec::new();
    while let Some((parent, at)) = nest.blocks[id].parent {
        let inst = &nest.blocks[parent].block.insts[at];
        if wanted(inst) {
            spans.push(inst.span);
        }
        id = parent;
    }
    spans.reverse();
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    #[test]
    fn overwritten_elements_are_saved_only_where_they_are_read_again() {
        let text = |op: &str| {
            format!(
                "func @f(%u: [f64], %k: f64, %n: i64) -> f64 {{
                   %w = for %i in 0..%n carry (%v = %u) {{
                     %a = load %v, %i
                     %b = {op} %a, %k
                     %v1 = store %v, %i, %b
                     yield %v1
                   }}
                   %y = load %w, 0
                   return %y
                 }}"
            )
        };
        let report = |op| {
            let module = parse::module(&text(op)).unwrap();
            of(&module.funcs[0], &[0, 1]).unwrap()
        };
        // The product rule reads the old element; the sum rule reads nothing.
        let product = report("mul");
        assert_eq!(product.overwrites.len(), 1);
        assert_eq!(product.overwrites[0].part, Part::Element);
        let body = product.blocks.iter().find(|b| b.kind == BlockKind::For).unwrap();
        assert_eq!(body.bytes(), 8, "{body:?}");
        let overwrite = &product.overwrites[0];
        assert!(overwrite.saved || overwrite.reads[0].name.as_deref() == Some("a"));
        let sum = report("add");
        assert!(!sum.overwrites[0].saved && sum.overwrites[0].reads.is_empty());
        let body = sum.blocks.iter().find(|b| b.kind == BlockKind::For).unwrap();
        assert_eq!(body.bytes(), 0, "{body:?}");
    }
}
