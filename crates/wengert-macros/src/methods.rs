//! Where derivatives of methods stand: in a module named after the struct, which holds one module for each method.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::sync::Arc;
use wengert_core::surface::rust::{RustType, Signature, StructArray};

/// From where generated functions see what they are made for.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// The struct, for a method.
    owner: Option<&'a str>,
}

impl<'a> Seen<'a> {
    /// From a module beside the function.
    pub(crate) fn beside() -> Seen<'a> {
        Seen { owner: None }
    }

    /// From a module inside that of the struct.
    pub(crate) fn inside(owner: &'a str) -> Seen<'a> {
        Seen { owner: Some(owner) }
    }

    /// The module of a function, from beside the function or the `impl` it stands in.
    pub(crate) fn module_of(self, function: &syn::Ident) -> TokenStream {
        match self.owner {
            Some(owner) => {
                let name = module_name(owner);
                quote! { #name::#function }
            }
            None => function.to_token_stream(),
        }
    }

    /// A signature with the paths of structs as they are from there, and with names for parameters of functions.
    pub(crate) fn signature(self, signature: &Signature) -> Signature {
        let mut signature = signature.clone();
        let depth = if self.owner.is_some() { 2 } else { 1 };
        if let Some((_, method)) = signature.name.rsplit_once("::") {
            signature.name = method.to_owned();
        }
        let mut this = "this".to_owned();
        while signature.params.iter().any(|p| p.name == this) {
            this.push('_');
        }
        for p in &mut signature.params {
            p.ty = moved(&p.ty, depth);
            if p.name == "self" {
                p.name.clone_from(&this);
            }
        }
        signature.result = moved(&signature.result, depth);
        signature
    }

    /// What is around the module of a function that is as visible as `vis`.
    pub(crate) fn surroundings(self, signature: &Signature, vis: &syn::Visibility) -> Surroundings {
        let up = if self.owner.is_some() { "super::super" } else { "super" };
        let types = signature.params.iter().map(|p| &p.ty).chain([&signature.result]);
        let imports = match types.into_iter().any(holds_relative) {
            true => format!("use {up}::*;\n"),
            false => String::new(),
        };
        // Any length will do.
        let constants = signature.params.iter().filter(|p| p.constant).map(|_| "1");
        let constants: Vec<&str> = constants.collect();
        let given = match constants.is_empty() {
            true => String::new(),
            false => format!("::<{}>", constants.join(", ")),
        };
        let usage = match &signature.owner {
            Some(owner) => {
                let (_, method) = signature.name.rsplit_once("::").unwrap_or_default();
                let import = if is_relative(&owner.path) { "use super::*; " } else { "" };
                format!("{import}let _ = <{}>::{method}{given};", deeper(&owner.path, 1))
            }
            None => format!("let _ = {}{given};", signature.name),
        };
        Surroundings { visibility: self.visibility(vis), imports, usage }
    }

    /// How visible the module of a function is that is as visible as `vis`.
    fn visibility(self, vis: &syn::Visibility) -> TokenStream {
        if self.owner.is_none() {
            return vis.to_token_stream();
        }
        match vis {
            syn::Visibility::Inherited => quote! { pub(super) },
            syn::Visibility::Restricted(r) => {
                let path = r.path.to_token_stream().to_string().replace(' ', "");
                let path: TokenStream = deeper(&path, 1).parse().unwrap_or_default();
                quote! { pub(in #path) }
            }
            vis => vis.to_token_stream(),
        }
    }
}

/// What is around the module of a function.
pub(crate) struct Surroundings {
    pub(crate) visibility: TokenStream,
    /// What the module imports for the paths of types.
    pub(crate) imports: String,
    /// A statement beside the module that uses the function.
    pub(crate) usage: String,
}

/// Whether a path begins with a name, that of a crate or of a module in sight: it cannot be told which.
fn is_relative(path: &str) -> bool {
    match path.split_once("::") {
        Some((first, _)) => !["", "crate", "self", "super"].contains(&first),
        None => false,
    }
}

fn holds_relative(ty: &RustType) -> bool {
    match ty {
        RustType::Tuple(all) => all.iter().any(holds_relative),
        RustType::Struct(def) => is_relative(&def.path),
        RustType::Structs(array) => is_relative(&array.item.path),
        _ => false,
    }
}

/// A type with the paths of its structs as they are `depth` modules further in.
fn moved(ty: &RustType, depth: usize) -> RustType {
    match ty {
        RustType::Tuple(all) => RustType::Tuple(all.iter().map(|ty| moved(ty, depth)).collect()),
        RustType::Struct(def) => {
            let path = deeper(&def.path, depth);
            RustType::Struct(Arc::new(def.referred_to(path)))
        }
        RustType::Structs(array) => {
            let item = Arc::new(array.item.referred_to(deeper(&array.item.path, depth)));
            RustType::Structs(Arc::new(StructArray { item, ..(**array).clone() }))
        }
        other => other.clone(),
    }
}

/// A path as it is from `depth` modules further in.
fn deeper(path: &str, depth: usize) -> String {
    if is_relative(path) || path.starts_with("::") || path == "crate" || path.starts_with("crate::")
    {
        return path.to_owned();
    }
    let up = vec!["super"; depth].join("::");
    match path.strip_prefix("self").filter(|rest| rest.is_empty() || rest.starts_with("::")) {
        Some(rest) => format!("{up}{rest}"),
        None => format!("{up}::{path}"),
    }
}

/// The derivatives of the methods of a struct.
pub(crate) struct Methods {
    pub(crate) owner: String,
    visible: Vec<syn::Visibility>,
    modules: TokenStream,
}

impl Methods {
    pub(crate) fn of(owner: &str) -> Methods {
        Methods { owner: owner.to_owned(), visible: Vec::new(), modules: TokenStream::new() }
    }

    pub(crate) fn add(&mut self, vis: &syn::Visibility, module: TokenStream) {
        self.visible.push(vis.clone());
        self.modules.extend(module);
    }

    /// The module of the struct, as visible as what is most visible in it.
    pub(crate) fn module(self) -> TokenStream {
        let width = |vis: &&syn::Visibility| match vis {
            syn::Visibility::Public(_) => 3,
            syn::Visibility::Restricted(r) if r.path.is_ident("crate") => 2,
            syn::Visibility::Restricted(_) => 1,
            syn::Visibility::Inherited => 0,
        };
        let vis = self.visible.iter().max_by_key(width);
        let name = module_name(&self.owner);
        let about = format!("The methods of `{}` and their derivatives.", self.owner);
        let modules = self.modules;
        quote! { #[doc = #about] #vis mod #name { #modules } }
    }
}

/// The name of the module of a struct.
fn module_name(owner: &str) -> syn::Ident {
    let name = snake_case(owner);
    syn::parse_str::<syn::Ident>(&name).unwrap_or_else(|_| quote::format_ident!("{name}_"))
}

/// `DoublePendulum` as `double_pendulum`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut made = String::new();
    for (k, c) in letters.iter().enumerate() {
        let after_small = k > 0 && !letters[k - 1].is_uppercase() && letters[k - 1] != '_';
        let before_small = letters.get(k + 1).is_some_and(|c| c.is_lowercase());
        if c.is_uppercase() && k > 0 && letters[k - 1] != '_' && (after_small || before_small) {
            made.push('_');
        }
        made.extend(c.to_lowercase());
    }
    made
}

#[cfg(test)]
mod tests {
    #[test]
    fn names() {
        let names = [
            ("Pendulum", "pendulum"),
            ("DoublePendulum", "double_pendulum"),
            ("RLCircuit", "rl_circuit"),
            ("Rk4", "rk4"),
            ("P", "p"),
            ("Two_Words", "two_words"),
        ];
        for (name, made) in names {
            assert_eq!(super::snake_case(name), made);
        }
        let paths = [
            ("P", "super::super::P"),
            ("a::P", "a::P"),
            ("self::P", "super::super::P"),
            ("super::P", "super::super::super::P"),
            ("crate::a::P", "crate::a::P"),
            ("::a::P", "::a::P"),
        ];
        for (path, made) in paths {
            assert_eq!(super::deeper(path, 2), made);
        }
    }
}
