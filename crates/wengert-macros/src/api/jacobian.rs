//! All derivatives of a result of several numbers: reverse mode once for each.

use super::places::again;
use super::{Api, derivative};
use crate::types::{owned, tuple};
use std::fmt::Write;
use wengert_core::surface::rust::RustType;

impl Api<'_> {
    /// All derivatives of a result of several numbers, one row for each.
    pub(super) fn jacobian(&mut self) {
        let (RustType::Vec(item)
        | RustType::Array(item, _)
        | RustType::NdArray { item, rank: 1, view: false }) = &self.signature.result
        else {
            return;
        };
        if !matches!(**item, RustType::F64 | RustType::F32) || !self.written().is_empty() {
            return;
        }
        let item = owned(item);
        let fixed = !matches!(self.signature.result, RustType::Vec(_));
        let params = self.own();
        let (constants, turbofish) = self.constants();
        let args = self.signature.params.iter().filter(|p| !p.constant);
        let args = args.map(|p| again(&p.ty, p.mode, &p.name));
        let args: Vec<String> = args.collect();
        let args = args.join(", ");
        let active: Vec<String> = self.active().iter().map(|p| owned(&derivative(&p.ty))).collect();
        let result = tuple(active.iter().map(|ty| format!("::std::vec::Vec<{ty}>")));
        let rows: Vec<String> = (0..active.len()).map(|k| format!("__j{k}")).collect();
        let row = tuple((0..active.len()).map(|k| format!("__g{k}")));
        let lets: String =
            rows.iter().map(|row| format!("let mut {row} = ::std::vec::Vec::new();\n")).collect();
        let pushes: String = (0..active.len()).map(|k| format!("__j{k}.push(__g{k});\n")).collect();
        let seed = if fixed { "&__seed" } else { "&__seed[..]" };
        let params_text: Vec<String> = params.iter().map(|(p, ty)| format!("{p}: {ty}")).collect();
        let (typed, of) = (params_text.join(", "), &self.signature.name);
        let names: Vec<&str> = params.iter().map(|(p, _)| p.as_str()).collect();
        let names = names.join(", ");
        let about = "All derivatives of the result: for each of its elements the derivatives by the parameters.";
        let rows_by = |vjp: &str| {
            format!(
                "let mut __seed = try_value{turbofish}({args})?;\n__seed.fill(0.0 as {item});\n{lets}\
                 for __k in 0..__seed.len() {{\n__seed[__k] = 1.0;\n\
                 let (_, {row}) = {vjp}{turbofish}({args}, {seed})?;\n{pushes}__seed[__k] = 0.0;\n}}\nOk({})\n",
                tuple(rows.iter().cloned())
            )
        };
        write!(
            self.text,
            "/// {about}\n///\n/// # Errors\n///\n/// What would be a panic in `{of}`, and memory that is not there.\n\
             #[inline]\npub fn try_jacobian{constants}({typed}) -> ::std::result::Result<{result}, __a::RunError> {{\n\
             {}}}\n\
             /// {about}\n///\n/// # Panics\n///\n/// Where `{of}` would.\n\
             #[inline]\n#[track_caller]\npub fn jacobian{constants}({typed}) -> {result} {{\n\
             match try_jacobian{turbofish}({names}) {{ Ok(made) => made, Err(error) => error.panic() }}\n}}\n",
            rows_by("try_vjp")
        )
        .unwrap_or_default();
        write!(
            self.within,
            "/// {about}\n///\n/// # Errors\n///\n/// What would be a panic in `{of}`, and too little memory.\n\
             pub fn try_jacobian{constants}(&self, {typed}) -> ::std::result::Result<{result}, __a::RunError> {{\n\
             {}}}\n\
             /// {about}\n///\n/// # Panics\n///\n/// Where `{of}` would, and in too little memory.\n\
             #[track_caller]\npub fn jacobian{constants}(&self, {typed}) -> {result} {{\n\
             match self.try_jacobian{turbofish}({names}) {{ Ok(made) => made, Err(error) => error.panic() }}\n}}\n",
            rows_by("self.try_vjp")
        )
        .unwrap_or_default();
    }
}
