//! Reverse mode in limited memory: what a function of it is made of, and the methods that keep to what a caller says.

use super::Api;
use crate::expand::Derivatives;
use crate::types;
use std::fmt::Write;
use wengert_core::surface::rust::RustType;

impl Api<'_> {
    /// Writes what a function of reverse mode does, for any driver of its loops, and gives the call of it.
    pub(super) fn driven(
        &mut self,
        name: &str,
        driven: bool,
        (typed, names): (&str, &str),
        result: &str,
        body: &str,
    ) -> String {
        if !driven {
            return format!("(|| -> __a::Result<{result}> {{\n{body}}})()");
        }
        let (generic, turbofish) = self.with_driver("D: __a::Driver");
        write!(
            self.text,
            "#[inline]\nfn __{name}{generic}(__driver: &mut D, {typed}) -> __a::Result<{result}> {{\n{body}}}\n"
        )
        .unwrap_or_default();
        match self.memory {
            None => format!("__{name}{turbofish}(&mut __a::All, {names})"),
            Some(bytes) => format!(
                "__Within::new(&Ok(::wengert::Memory::bytes({bytes}))).and_then(|mut driver| __{name}{turbofish}(&mut driver, {names}))"
            ),
        }
    }

    /// What stands behind the name of a function that takes a driver, where it is declared and where it is called.
    fn with_driver(&self, driver: &str) -> (String, String) {
        let (constants, turbofish) = self.constants();
        match constants.strip_prefix('<') {
            None => (format!("<{driver}>"), String::new()),
            Some(rest) => (format!("<{driver}, {rest}"), turbofish.replacen("::<", "::<_, ", 1)),
        }
    }

    /// Writes the methods of that name. Functions without loops are as they are.
    pub(super) fn push_method(
        &mut self,
        name: &str,
        about: &str,
        (typed, names): (&str, &str),
        result: &str,
    ) {
        let driven = self.text.contains(&format!("fn __{name}<D: __a::Driver"));
        let ((constants, plain), (_, turbofish)) = (self.constants(), self.with_driver("D"));
        let call = match driven {
            true => format!(
                "__Within::new(&self.0).and_then(|mut driver| __{name}{turbofish}(&mut driver, {names})).map_err(__told)"
            ),
            false => {
                format!(
                    "__Within::new(&self.0).map_err(__told).and_then(|_| try_{name}{plain}({names}))"
                )
            }
        };
        write!(
            self.within,
            "/// {about}\n///\n/// # Errors\n///\n/// What would be a panic in `{of}`, and too little memory.\n\
             pub fn try_{name}{constants}(&self, {typed}) -> ::std::result::Result<{result}, __a::RunError> {{\n{call}\n}}\n\
             /// {about}\n///\n/// # Panics\n///\n/// Where `{of}` would, and in too little memory.\n\
             #[track_caller]\npub fn {name}{constants}(&self, {typed}) -> {result} {{\n\
             match self.try_{name}{plain}({names}) {{ Ok(made) => made, Err(error) => error.panic() }}\n}}\n",
            of = self.signature.name,
        )
        .unwrap_or_default();
    }

    /// Writes the methods that give a gradient alone.
    pub(super) fn push_grad_method(&mut self, by: &str, (typed, names): (&str, &str), ty: &str) {
        let (constants, turbofish) = self.constants();
        write!(
            self.within,
            "/// The gradient by {by}: reverse mode.\n///\n/// # Errors\n///\n/// What would be a panic in `{of}`, and too little memory.\n\
             pub fn try_grad{constants}(&self, {typed}) -> ::std::result::Result<{ty}, __a::RunError> {{\n\
             self.try_value_and_grad{turbofish}({names}).map(|both| both.1)\n}}\n\
             /// The gradient by {by}: reverse mode.\n///\n/// # Panics\n///\n/// Where `{of}` would, and in too little memory.\n\
             #[track_caller]\npub fn grad{constants}(&self, {typed}) -> {ty} {{\nself.value_and_grad{turbofish}({names}).1\n}}\n",
            of = self.signature.name,
        )
        .unwrap_or_default();
    }

    /// Writes the type that has these methods.
    pub(super) fn push_within(&mut self) {
        let (methods, of) = (&self.within, &self.signature.name);
        write!(
            self.text,
            "/// Reverse mode of `{of}` in the memory that is allowed: `\"64 MiB\"`, a number of bytes, or a [`wengert::Memory`].\n\
             ///\n/// What loops keep for the way back takes no more. Where that is not all of it, iterations are run again; it \
             changes no bit.\n\
             #[must_use]\npub fn within(memory: impl ::wengert::IntoMemory) -> Within {{ Within(memory.into_memory()) }}\n\
             /// Reverse mode of `{of}` in limited memory: see [`within`].\n\
             #[derive(Clone, Debug)]\n\
             pub struct Within(::std::result::Result<::wengert::Memory, ::wengert::MemoryError>);\n\
             impl Within {{\n{methods}}}\n"
        )
        .unwrap_or_default();
    }

    /// What the loops of a gradient take, found out by running a few iterations of each.
    pub(super) fn plan(&mut self, derivatives: &Derivatives) {
        // Adjoints of arrays have the shapes of results, which are not known before the function has run.
        let all = self.signature.result.leaves();
        if all.iter().any(|ty| types::is_float(ty) && ty.rank() > 0) {
            return;
        }
        let mut seeds: Vec<String> = Vec::new();
        for ty in all.iter().filter(|ty| types::is_float(ty)) {
            seeds.push(if **ty == RustType::F32 { "1.0_f32" } else { "1.0_f64" }.into());
        }
        for k in self.written() {
            if types::is_float(&self.leaves[k].ty) {
                seeds.push(super::nothing(&self.leaves[k], k));
            }
        }
        let names: Vec<String> = (0..seeds.len()).map(|k| format!("__s{k}")).collect();
        let lets = names.iter().zip(&seeds).map(|(name, seed)| format!("let {name} = {seed};\n"));
        let lets: String = lets.collect();
        let (run, bound) = match derivatives.vjp.driven {
            true => (self.run_back(derivatives, &names), "D: __a::Driver"),
            false => (String::new(), "D"),
        };
        let (generic, with_driver) = self.with_driver(bound);
        let (constants, turbofish) = self.constants();
        let params = self.own();
        let typed: Vec<String> = params.iter().map(|(p, ty)| format!("{p}: {ty}")).collect();
        let passed: Vec<&str> = params.iter().map(|(p, _)| p.as_str()).collect();
        let (typed, passed) = (typed.join(", "), passed.join(", "));
        let (arguments, of) = (self.arguments(), &self.signature.name);
        let about = format!(
            "What the loops of `{of}` take on the way back: how many iterations they have, what is kept of each, and what they \
             take in less memory. A few iterations of each are run, and what comes before the last of them."
        );
        write!(
            self.text,
            "fn __plan{generic}(__driver: &mut D, {typed}) -> __a::Result<()> {{\n{arguments}{lets}{run}Ok(())\n}}\n\
             /// {about}\n///\n/// # Errors\n///\n/// What would be a panic in `{of}`, as far as it is run.\n\
             pub fn try_plan{constants}({typed}) -> ::std::result::Result<::wengert::Plan, __a::RunError> {{\n\
             let mut driver = __Within::looking();\nlet ran = __plan{with_driver}(&mut driver, {passed});\n\
             Ok(::wengert::Plan::new(driver.looked(ran).map_err(__told)?, __PLACES))\n}}\n\
             /// {about}\n///\n/// # Panics\n///\n/// Where `{of}` would, as far as it is run.\n\
             #[track_caller]\npub fn plan{constants}({typed}) -> ::wengert::Plan {{\n\
             match try_plan{turbofish}({passed}) {{ Ok(plan) => plan, Err(error) => error.panic() }}\n}}\n",
        )
        .unwrap_or_default();
        write!(
            self.within,
            "/// {about}\n///\n/// # Errors\n///\n/// What would be a panic in `{of}`, as far as it is run.\n\
             pub fn try_plan{constants}(&self, {typed}) -> ::std::result::Result<::wengert::Plan, __a::RunError> {{\n\
             __Within::new(&self.0).map_err(__told)?;\n\
             Ok(try_plan{turbofish}({passed})?.within(&self.0))\n}}\n\
             /// {about}\n///\n/// # Panics\n///\n/// Where `{of}` would, as far as it is run.\n\
             #[track_caller]\npub fn plan{constants}(&self, {typed}) -> ::wengert::Plan {{\n\
             match self.try_plan{turbofish}({passed}) {{ Ok(plan) => plan, Err(error) => error.panic() }}\n}}\n",
        )
        .unwrap_or_default();
    }
}
