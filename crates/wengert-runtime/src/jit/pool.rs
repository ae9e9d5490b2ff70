//! Float constants: a table in memory.
//!
//! Cranelift makes a float constant from an integer one, two instructions each time; polynomials are
//! full of them. Read from a table, a constant is one load, or none where it is the operand of the
//! instruction that uses it.

use super::CompileError;
use super::emit::Emitter;
use cranelift_codegen::ir::types::F64;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use cranelift_jit::JITModule;
use cranelift_module::{DataDescription, DataId, Linkage, Module as _, ModuleError};
use rustc_hash::FxHashMap as HashMap;

/// The constants of a module.
pub(super) struct Pool {
    pub(super) data: DataId,
    bits: Vec<u64>,
    known: HashMap<u64, i32>,
}

impl Pool {
    pub(super) fn new(jit: &mut JITModule) -> Result<Pool, CompileError> {
        let data = jit.declare_data("constants", Linkage::Local, false, false).map_err(failed)?;
        Ok(Pool { data, bits: Vec::new(), known: HashMap::default() })
    }

    /// The offset of a constant.
    fn offset(&mut self, x: f64) -> i32 {
        let next = 8 * self.bits.len() as i32;
        let bits = &mut self.bits;
        *self.known.entry(x.to_bits()).or_insert_with(|| {
            bits.push(x.to_bits());
            next
        })
    }

    /// Writes the table, once all code is there.
    pub(super) fn define(&self, jit: &mut JITModule) -> Result<(), CompileError> {
        let mut bytes: Vec<u8> = self.bits.iter().flat_map(|b| b.to_le_bytes()).collect();
        if bytes.is_empty() {
            bytes.resize(8, 0);
        }
        let mut description = DataDescription::new();
        description.define(bytes.into_boxed_slice());
        description.set_align(16);
        jit.define_data(self.data, &description).map_err(failed)
    }
}

fn failed(error: ModuleError) -> CompileError {
    CompileError::Unsupported(error.to_string())
}

impl Emitter<'_, '_, '_> {
    /// A float constant.
    pub(super) fn float(&mut self, x: f64) -> ir::Value {
        // Zero needs no memory.
        let Some(constants) = self.constants.filter(|_| x.to_bits() != 0) else {
            return self.b.ins().f64const(x);
        };
        let offset = self.compiler.pool.offset(x);
        let flags = MemFlagsData::trusted().with_readonly();
        self.b.ins().load(F64, flags, constants, offset)
    }
}
