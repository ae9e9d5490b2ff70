//! What the fixed pipeline saves of each workload: the gradient, differentiated before and after it.
//!
//! Counted by the interpreter, so at a small size.

use crate::workload::Workload;
use wengert_core::transform::account::{Account, account};

/// The heading of the table.
pub fn heading() -> String {
    format!(
        "{:<4} {:>23} {:>23} {:>23}",
        "", "operations", "bytes moved", "tape bytes (before, after)"
    )
}

/// The line of a workload.
pub fn line(workload: &Workload) -> Result<String, String> {
    let (module, function) = workload.lowered().map_err(|e| e.to_string())?;
    let args = (workload.args)(workload.small.last().copied().unwrap_or(1));
    let Account { before, after } =
        account(&module, &function, workload.wrt, &args).map_err(|e| e.to_string())?;
    let pair = |a: u64, b: u64| format!("{a:>11} {b:>11}");
    Ok(format!(
        "{:<4} {} {} {}",
        workload.name,
        pair(before.operations, after.operations),
        pair(before.moved_bytes, after.moved_bytes),
        pair(before.tape_bytes, after.tape_bytes),
    ))
}
