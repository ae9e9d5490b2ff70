//! The machine code is generated for: this one.

use super::CompileError;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use std::sync::OnceLock;

/// The settings, made once: they depend on nothing but the machine.
pub(super) fn isa() -> Result<OwnedTargetIsa, CompileError> {
    static ISA: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    ISA.get_or_init(build).clone().map_err(CompileError::Unsupported)
}

fn build() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let check = if cfg!(debug_assertions) { "true" } else { "false" };
    let wanted = [
        // The program arrives optimised (common subexpressions, invariant motion) and in a good order.
        // Cranelift's own optimiser would place each pure instruction where it is first needed: the
        // sums a reverse loop carries then all end up behind the loop body, with every operand of
        // theirs alive until there. On the Lorenz adjoint that costs a fifth of the time in spills.
        ("opt_level", "none"),
        ("enable_verifier", check),
        // Any NaN equals any NaN: the operations that look at its bits canonicalise it themselves.
        ("enable_nan_canonicalization", "false"),
        // Functions give back all their results in registers, the rest on the stack.
        ("enable_multi_ret_implicit_sret", "true"),
        ("enable_probestack", "false"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
    ];
    for (name, value) in wanted {
        flags.set(name, value).map_err(|e| format!("{name}: {e}"))?;
    }
    let isa = cranelift_native::builder().map_err(str::to_string)?;
    isa.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
}
