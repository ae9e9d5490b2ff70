//! What happens on a fault.
//!
//! Checked operations branch to a block of their own, laid out behind the function, that writes the
//! site's number, the operands, and the iterations of the loops around it to the context, and
//! leaves with status 1. A call that comes back with that status does the same for the loops around
//! it, after the runtime has put the inner site away.

use super::abi;
use super::emit::Emitter;
use super::site::{Site, SiteKind};
use crate::context::field;
use cranelift_codegen::ir::types::{F32, F64, I8, I64};
use cranelift_codegen::ir::{self, InstBuilder};
use wengert_core::ir::{Numbering, Value};
use wengert_core::span::Span;

/// A loop around the code being emitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenLoop {
    pub(super) span: Span,
    pub(super) counter: ir::Value,
    pub(super) start: ir::Value,
    pub(super) numbering: Numbering,
    /// The first value defined in it: values are numbered in the order of the text.
    pub(super) first: Value,
}

/// A fault block to be filled when the function is complete.
pub(super) struct Cold {
    block: ir::Block,
    site: usize,
    passes_through: bool,
    operands: Vec<ir::Value>,
    /// Innermost first: counter, and the start where iterations are counted from there.
    counters: Vec<(ir::Value, Option<ir::Value>)>,
}

impl Emitter<'_, '_, '_> {
    /// A fault where the condition holds.
    pub(super) fn fault_if(
        &mut self,
        condition: ir::Value,
        kind: SiteKind,
        span: Span,
        operands: &[ir::Value],
    ) {
        let cold = self.cold_block(kind, span, operands);
        let on = self.b.create_block();
        // In a lane that is not meant nothing is wrong.
        let condition = match self.lockstep.as_ref().and_then(|lockstep| lockstep.active()) {
            Some(active) => self.b.ins().band(condition, active),
            None => condition,
        };
        self.b.ins().brif(condition, cold, &[], on, &[]);
        self.enter(on);
    }

    /// A fault where the condition does not hold.
    pub(super) fn fault_unless(
        &mut self,
        condition: ir::Value,
        kind: SiteKind,
        span: Span,
        operands: &[ir::Value],
    ) {
        let cold = self.cold_block(kind, span, operands);
        let on = self.b.create_block();
        self.b.ins().brif(condition, on, &[], cold, &[]);
        self.enter(on);
    }

    /// The block of a new site. In lockstep, where the iterations are run one by one to find it.
    pub(super) fn cold_block(
        &mut self,
        kind: SiteKind,
        span: Span,
        operands: &[ir::Value],
    ) -> ir::Block {
        if let Some(lockstep) = &self.lockstep {
            return lockstep.bail();
        }
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        let passes_through = matches!(kind, SiteKind::Call);
        let seen = self.loops.iter().rev().filter(|l| l.numbering != Numbering::Hidden);
        let loops: Vec<Span> = seen.clone().map(|l| l.span).collect();
        let counters = seen.map(|l| match l.numbering {
            Numbering::ByCounter => (l.counter, None),
            _ => (l.counter, Some(l.start)),
        });
        let counters = counters.collect();
        let site = self.compiler.sites.len();
        self.compiler.sites.push(Site { kind, span, loops });
        self.cold.push(Cold { block, site, passes_through, operands: operands.to_vec(), counters });
        block
    }

    /// Fills the blocks of all sites of the function.
    pub(super) fn fill_cold_blocks(&mut self) {
        // One way out for all: it fixes registers, which the loops around should not notice.
        let mut failed = None;
        for cold in std::mem::take(&mut self.cold) {
            self.enter(cold.block);
            if cold.passes_through {
                let note = self.import(self.compiler.hooks.note_site);
                self.b.ins().call(note, &[self.context]);
            }
            let site = self.b.ins().iconst(I64, cold.site as i64);
            self.store_context(site, field::SITE);
            for (k, operand) in cold.operands.iter().enumerate() {
                self.store_context(*operand, field::OPERANDS + 8 * k as i32);
            }
            if !cold.counters.is_empty() {
                let base = self.load_context(I64, field::COUNTERS);
                for (k, (counter, start)) in cold.counters.iter().enumerate() {
                    let iteration = match start {
                        Some(start) => self.b.ins().isub(*counter, *start),
                        None => *counter,
                    };
                    self.b.ins().store(self.regions.context, iteration, base, 8 * k as i32);
                }
            }
            let failed = *failed.get_or_insert_with(|| self.b.create_block());
            self.b.ins().jump(failed, &[]);
        }
        if let Some(failed) = failed {
            self.b.set_cold_block(failed);
            self.enter(failed);
            // What stands in the results then is never read.
            let zeros = self.func.results.iter().flat_map(|t| abi::words(*t));
            let zeros = zeros.map(|word| match *word {
                F64 => self.b.ins().f64const(0.0),
                F32 => self.b.ins().f32const(0.0),
                I8 => self.b.ins().iconst(I8, 0),
                _ => self.b.ins().iconst(I64, 0),
            });
            let zeros = zeros.collect();
            self.leave(1, zeros);
        }
    }
}
