//! Many members at once: functions over slices of the arguments that differ between them.

use super::places::again;
use super::{Api, derivative};
use crate::types::{owned, passed, tuple};
use std::fmt::Write;
use wengert_core::surface::rust::{Mode, RustType, SignatureParam};

impl Api<'_> {
    /// Writes the type whose methods run batches over the arguments of these names.
    pub(super) fn batch(&mut self, over: &[syn::Ident]) {
        let of = self.signature.name.clone();
        let differs = |p: &SignatureParam| over.iter().any(|name| name == &p.name);
        let (constants, turbofish) = self.constants();
        let params: Vec<&SignatureParam> =
            self.signature.params.iter().filter(|p| !p.constant).collect();
        let typed: Vec<String> = params
            .iter()
            .map(|p| match differs(p) {
                true => format!("{}: {}", p.name, members(p)),
                false => format!("{}: {}", p.name, passed(&p.ty, p.mode)),
            })
            .collect();
        let args: Vec<String> = params
            .iter()
            .map(|p| match (differs(p), p.mode, &p.ty) {
                (true, Mode::Ref, RustType::Slice(_)) => format!("{}[__k].as_ref()", p.name),
                (true, Mode::Ref, RustType::NdArray { view: true, .. }) => {
                    format!("{}[__k].view()", p.name)
                }
                (true, Mode::Ref, _) => format!("&{}[__k]", p.name),
                (true, ..) => again(&p.ty, Mode::Value, &format!("{}[__k]", p.name)),
                (false, Mode::Value, _) => again(&p.ty, Mode::Value, &p.name),
                (false, ..) => p.name.clone(),
            })
            .collect();
        let names: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
        let counts: Vec<String> = params
            .iter()
            .filter(|p| differs(p))
            .map(|p| format!("(\"{0}\", {0}.len())", p.name))
            .collect();
        let (typed, args, names) = (typed.join(", "), args.join(", "), names.join(", "));
        let counts = counts.join(", ");
        let value = owned(&self.signature.result);
        let mut methods = format!(
            "/// The values of all members.\n///\n/// # Errors\n///\n/// That of the first member that has one.\n\
             pub fn try_value{constants}(&self, {typed}) -> ::std::result::Result<::std::vec::Vec<{value}>, __a::RunError> {{\n\
             let __n = __Members::count(&[{counts}])?;\n\
             let (__all, ()) = self.0.run(__n, |__k| Ok((try_value{turbofish}({args})?, ())))?;\nOk(__all)\n}}\n\
             /// The values of all members.\n///\n/// # Panics\n///\n/// Where `{of}` would.\n\
             #[track_caller]\npub fn value{constants}(&self, {typed}) -> ::std::vec::Vec<{value}> {{\n\
             match self.try_value{turbofish}({names}) {{ Ok(made) => made, Err(error) => error.panic() }}\n}}\n"
        );
        let has_gradient = matches!(self.signature.result, RustType::F64 | RustType::F32);
        if has_gradient && !self.active().is_empty() {
            methods.push_str(&self.batch_gradient(&differs, [&typed, &args, &names, &counts]));
        }
        write!(
            self.text,
            "/// `{of}` for many members at once, on all cores: arguments that differ between them are slices.\n///\n\
             /// Every member takes its own path and has the bits it has alone. Derivatives by what all share are summed in an \
             order that depends on their number only, so the number of threads changes no bit.\n\
             #[must_use]\npub fn batch() -> Batch {{ Batch::default() }}\n\
             /// `{of}` for many members at once: see [`batch`].\n\
             #[derive(Clone, Debug, Default)]\npub struct Batch(__Members);\n\
             impl Batch {{\n\
             /// On so many threads; as many as there are cores, where it is not said.\n\
             #[must_use]\npub fn threads(self, threads: usize) -> Batch {{ Batch(self.0.threads(threads)) }}\n\
             /// Each member on its way back in so much memory.\n\
             #[must_use]\npub fn within(self, memory: impl ::wengert::IntoMemory) -> Batch {{\n\
             Batch(self.0.within(memory.into_memory()))\n}}\n{methods}}}\n"
        )
        .unwrap_or_default();
    }

    /// The methods that give gradients.
    fn batch_gradient(
        &self,
        differs: &dyn Fn(&SignatureParam) -> bool,
        [typed, args, names, counts]: [&str; 4],
    ) -> String {
        let value = owned(&self.signature.result);
        let (constants, turbofish) = self.constants();
        let active = self.active();
        let own = |k: usize| differs(active[k]);
        let all = 0..active.len();
        let kind = |k: usize| owned(&derivative(&active[k].ty));
        let kinds = tuple(all.clone().map(|k| match own(k) {
            true => format!("::std::vec::Vec<{}>", kind(k)),
            false => kind(k),
        }));
        let paired = |which: &dyn Fn(usize) -> bool| {
            let chosen = all.clone().filter(|k| which(*k)).rev();
            chosen.fold("()".to_string(), |inner, k| format!("(__g{k}, {inner})"))
        };
        let (owned_pairs, shared_pairs) = (paired(&own), paired(&|k| !own(k)));
        let gradients = tuple(all.clone().map(|k| format!("__g{k}")));
        let lists = all.clone().filter(|k| own(*k));
        let lets: String = lists
            .clone()
            .map(|k| format!("let mut __l{k} = ::std::vec::Vec::with_capacity(__n);\n"))
            .collect();
        let pushes: String = lists.map(|k| format!("__l{k}.push(__g{k});\n")).collect();
        let made = tuple(all.map(|k| match own(k) {
            true => format!("__l{k}"),
            false => format!("__g{k}"),
        }));
        let result = format!("(::std::vec::Vec<{value}>, {kinds})");
        let of = &self.signature.name;
        let by: Vec<String> = active.iter().map(|p| format!("`{}`", p.name)).collect();
        let by = by.join(", ");
        let about = format!(
            "The values of all members, and their gradients by {by}: by what differs between members one each, by what they \
             share the sum."
        );
        let alone = format!(
            "/// The gradients of all members by {by}.\n///\n/// # Errors\n///\n/// That of the first member that has one.\n\
             pub fn try_grad{constants}(&self, {typed}) -> ::std::result::Result<{kinds}, __a::RunError> {{\n\
             self.try_value_and_grad{turbofish}({names}).map(|both| both.1)\n}}\n\
             /// The gradients of all members by {by}.\n///\n/// # Panics\n///\n/// Where `{of}` would.\n\
             #[track_caller]\npub fn grad{constants}(&self, {typed}) -> {kinds} {{\nself.value_and_grad{turbofish}({names}).1\n}}\n"
        );
        format!(
            "/// {about}\n///\n/// # Errors\n///\n/// That of the first member that has one.\n\
             pub fn try_value_and_grad{constants}(&self, {typed}) -> ::std::result::Result<{result}, __a::RunError> {{\n\
             let __n = __Members::count(&[{counts}])?;\n\
             let __within = self.0.memory().map(|memory| Within(memory.clone()));\n\
             let (__all, {shared_pairs}) = self.0.run(__n, |__k| {{\n\
             let (__value, {gradients}) = match &__within {{\n\
             None => try_value_and_grad{turbofish}({args})?,\nSome(within) => within.try_value_and_grad{turbofish}({args})?,\n}};\n\
             Ok(((__value, {owned_pairs}), {shared_pairs}))\n}})?;\n\
             let mut __values = ::std::vec::Vec::with_capacity(__n);\n{lets}\
             for (__value, {owned_pairs}) in __all {{\n__values.push(__value);\n{pushes}}}\n\
             Ok((__values, {made}))\n}}\n\
             /// {about}\n///\n/// # Panics\n///\n/// Where `{of}` would.\n\
             #[track_caller]\npub fn value_and_grad{constants}(&self, {typed}) -> {result} {{\n\
             match self.try_value_and_grad{turbofish}({names}) {{ Ok(made) => made, Err(error) => error.panic() }}\n}}\n{alone}"
        )
    }
}

/// How a parameter is passed of which each member has one.
fn members(p: &SignatureParam) -> String {
    match (&p.ty, p.mode) {
        (RustType::Slice(item), Mode::Ref) => {
            format!("&[impl ::std::convert::AsRef<[{}]> + ::std::marker::Sync]", owned(item))
        }
        (ty, _) => format!("&[{}]", owned(ty)),
    }
}
