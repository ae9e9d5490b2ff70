//! Functions that are somewhere else: declared, without a body.
//!
//! `extern @f(f64, [f64]) -> (f64) jvp vjp` says what calls of `@f` take and give, and in which modes it has derivatives. A call
//! reads the arrays it is given and takes over tapes; it can fail and does nothing else.
//!
//! Derivatives of such calls are calls of other external functions, which follow from the first ([`External::tangent`],
//! [`External::record`], [`External::reverse`]). Tangents and adjoints are there for all floats. With `@f(x..) -> (y..)`:
//!
//! - `@f.jvp(x.., dx..) -> (y.., dy..)`
//! - `@f.call.record(x.., tape) -> (y.., tape)` and `@f.call.reverse(y_bar.., tape) -> (x_bar.., tape)`, each the other's
//!   counterpart on the tape, named as for calls of functions of the module;
//! - `@f.call.record.jvp(x.., tape, dx..)` and `@f.call.reverse.jvp(y_bar.., tape, dy_bar..)`, forward over reverse.
//!
//! These have no derivatives themselves, so derivatives through such calls have order two at most.

use super::types::Type;
use std::sync::Arc;

/// A function without a body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct External {
    /// Its name, without the `@`.
    pub name: Arc<str>,
    /// Types of its parameters.
    pub params: Vec<Type>,
    /// Types of its results.
    pub results: Vec<Type>,
    /// Whether forward mode passes through it.
    pub jvp: bool,
    /// Whether reverse mode does.
    pub vjp: bool,
}

impl External {
    fn of(&self, suffix: &str, params: Vec<Type>, results: Vec<Type>, jvp: bool) -> External {
        let name = format!("{}.{suffix}", self.name).into();
        External { name, params, results, jvp, vjp: false }
    }

    /// What a call becomes in forward mode.
    pub fn tangent(&self) -> External {
        let params = [&self.params[..], &floats(&self.params)].concat();
        let results = [&self.results[..], &floats(&self.results)].concat();
        self.of("jvp", params, results, false)
    }

    /// What a call becomes on the way there in reverse mode.
    pub fn record(&self) -> External {
        let tape = [Type::Tape];
        let params = [&self.params[..], &tape].concat();
        self.of("call.record", params, [&self.results[..], &tape].concat(), true)
    }

    /// What a call becomes on the way back.
    pub fn reverse(&self) -> External {
        let tape = [Type::Tape];
        let params = [&floats(&self.results)[..], &tape].concat();
        self.of("call.reverse", params, [&floats(&self.params)[..], &tape].concat(), true)
    }
}

/// The floats among types, which have tangents and adjoints.
fn floats(types: &[Type]) -> Vec<Type> {
    types.iter().copied().filter(|ty| ty.is_float()).collect()
}
