//! What the fixed pipeline saves: the cost of a gradient, differentiated before and after it.
//!
//! Both gradients are run by the interpreter on the same arguments and counted. The first one is that of
//! the program with nothing but its calls put in place.

use super::{inline, pipeline, vjp};
use crate::fault::Fault;
use crate::interp::{Interp, Val};
use crate::ir::{Func, Module};
use crate::ops::Scalar;
use crate::span::Diagnostic;

/// What one gradient costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Instructions executed; an elementwise one counts once per element.
    pub operations: u64,
    /// Bytes of array elements read and written.
    pub moved_bytes: u64,
    /// Bytes recorded for the reverse sweep.
    pub tape_bytes: u64,
}

/// The costs of a gradient with and without the fixed pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Differentiated as written.
    pub before: Cost,
    /// Differentiated after the fixed pipeline.
    pub after: Cost,
}

/// Why there is no account.
#[derive(Clone, Debug)]
pub enum NoAccount {
    /// The function cannot be differentiated.
    Refused(Diagnostic),
    /// It failed while it ran.
    Failed(Fault),
}

impl std::fmt::Display for NoAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoAccount::Refused(e) => write!(f, "{}: {}", e.code, e.message),
            NoAccount::Failed(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for NoAccount {}

/// Counts the gradient of a function by some of its parameters, at these arguments and unit adjoints.
///
/// ```
/// use wengert_core::{interp::Val, ir::parse, transform::account};
///
/// // The product is the same in every iteration.
/// let module = parse::module(
///     "func @f(%x: f64, %n: i64) -> f64 {
///        %y = for %i in 0..%n carry (%h = %x) {
///          %p = mul %x, %x
///          %q = sin %p
///          %h1 = mul %h, %q
///          yield %h1
///        }
///        return %y
///      }",
/// )?;
/// let account = account::account(&module, "f", &[0], &[Val::f64(0.5), Val::i64(10)])?;
/// assert!(account.after.operations < account.before.operations);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn account(
    module: &Module,
    name: &str,
    wrt: &[usize],
    args: &[Val],
) -> Result<Account, NoAccount> {
    let before = inline::inline(module, name).map_err(NoAccount::Refused)?;
    let after = pipeline::run(module, name).map_err(NoAccount::Refused)?;
    Ok(Account { before: cost(&before, wrt, args)?, after: cost(&after, wrt, args)? })
}

fn cost(func: &Func, wrt: &[usize], args: &[Val]) -> Result<Cost, NoAccount> {
    let primal = Module::of(func.clone());
    let values = Interp::new(&primal).call(&func.name, args.to_vec()).map_err(NoAccount::Failed)?;
    let module = vjp::vjp(func, wrt).map_err(NoAccount::Refused)?;
    let mut args = args.to_vec();
    for value in values.iter().filter(|v| v.ty().is_float()) {
        args.push(match value {
            Val::Array(x) => Val::shaped(x.with_floats((0..x.len()).map(|_| 1.0))),
            Val::Scalar(Scalar::F32(_)) => Val::Scalar(Scalar::F32(1.0)),
            _ => Val::f64(1.0),
        });
    }
    args.push(Val::tape());
    let mut interp = Interp::new(&module);
    interp.call(&format!("{}.vjp", func.name), args).map_err(NoAccount::Failed)?;
    let counters = interp.counters();
    Ok(Cost {
        operations: counters.operations,
        moved_bytes: counters.moved_bytes,
        tape_bytes: interp.counters().pushed_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    fn counted(text: &str, args: &[Val]) -> Account {
        let module = parse::module(text).unwrap();
        account(&module, "f", &[0], args).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn a_small_state_costs_what_scalars_cost() {
        let array = "func @f(%x: f64, %n: i64) -> f64 {
           %z = fill 3, 0.0
           %a = store %z, 0, %x
           %a1 = for %i in 0..%n carry (%s = %a) {
             %s1 = for %k in 0..3 carry (%t = %s) {
               %v = load %t, %k
               %w = load %t, 0
               %u = fma %v, 0.5, %w
               %q = sin %u
               %t1 = store %t, %k, %q
               yield %t1
             }
             yield %s1
           }
           %y = load %a1, 2
           return %y
         }";
        let scalars = "func @f(%x: f64, %n: i64) -> f64 {
           %a, %b, %c = for %i in 0..%n carry (%p = %x, %q = 0.0, %r = 0.0) {
             %p0 = fma %p, 0.5, %p
             %p1 = sin %p0
             %q0 = fma %q, 0.5, %p1
             %q1 = sin %q0
             %r0 = fma %r, 0.5, %p1
             %r1 = sin %r0
             yield %p1, %q1, %r1
           }
           return %c
         }";
        let args = [Val::f64(0.3), Val::i64(50)];
        let (array, scalars) = (counted(array, &args), counted(scalars, &args));
        assert_eq!(array.after, scalars.after);
        assert_eq!(array.after.moved_bytes, 0);
        assert!(2 * array.before.operations > 3 * array.after.operations, "{array:?}");
        assert!(array.before.tape_bytes > array.after.tape_bytes, "{array:?}");
    }

    #[test]
    fn groups_record_less() {
        let text = "func @f(%x: f64, %r: f64, %n: i64) -> f64 {
           %y = for %i in 0..%n carry (%h = %x) {
             %a = sub 1.0, %h
             %b = mul %h, %a
             %h1 = mul %r, %b
             yield %h1
           }
           return %y
         }";
        let account = counted(text, &[Val::f64(0.3), Val::f64(3.5), Val::i64(400)]);
        assert!(3 * account.after.tape_bytes < account.before.tape_bytes, "{account:?}");
        assert!(account.after.operations < account.before.operations * 5 / 4, "{account:?}");
    }
}
