//! Calls of functions that stand elsewhere: in another module or another crate.
//!
//! An attribute sees only what it stands before. So nothing is known of such a function but what its call says: the types of
//! its arguments, which of them are `&mut`, and the type that is expected of its result. Where they are not what the function
//! has, its derivatives do not fit what calls them, which the Rust compiler sees.

use super::expr::{Pending, strip};
use super::types::{IntKind, Length, Mode, RustType, Signature, SignatureParam};
use super::value::{How, Len, Ty, Val};
use super::{Converter, Made, no};
use crate::ops::Elem;
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{self, Callee, ExprKind, Name};

/// A function that stands elsewhere, as it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// What programs call.
    pub external: tree::External,
    /// Its path, as it is written.
    pub path: String,
    /// Where that is written, for the first time.
    pub span: Span,
}

/// What the names of such functions begin with in programs; no function of a text has such a name.
const PREFIX: &str = "extern.";

impl Outside {
    /// Which of [`Parsed::outside`](super::Parsed) a name in programs is that of, and which derivative of it: 0 and `jvp` for
    /// `extern.0.other_f.jvp`.
    pub fn part(name: &str) -> Option<(usize, &str)> {
        let (number, rest) = name.strip_prefix(PREFIX)?.split_once('.')?;
        let part = rest.split_once('.').map_or("", |(_, part)| part);
        Some((number.parse().ok()?, part))
    }
}

/// Functions of the standard library that can be called by their names alone.
const LIBRARY: &[&str] = &["swap", "replace", "min", "max", "from_fn", "drop"];

/// The crates of the standard library, and modules of it that are often called by name.
const STANDARD: &[&str] =
    &["std", "core", "alloc", "mem", "cmp", "array", "iter", "slice", "process"];

impl<'a> Converter<'a> {
    /// Whether a path leads to a function that stands elsewhere.
    pub(super) fn is_outside(&self, path: &syn::Path) -> bool {
        let words: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let known = match words.as_slice() {
            [name] => LIBRARY.contains(&name.as_str()),
            [first, ..] => STANDARD.contains(&first.as_str()),
            [] => true,
        };
        // Functions of types are methods.
        let small = |word: &String| !word.starts_with(|c: char| c.is_uppercase());
        self.outside.is_some() && !known && words.iter().all(small)
    }

    /// Whether an expression is a call of such a function.
    pub(super) fn calls_outside(&self, e: &syn::Expr) -> bool {
        let syn::Expr::Call(call) = e else { return false };
        let syn::Expr::Path(path) = strip(&call.func) else { return false };
        let own = path.path.get_ident().and_then(|name| self.scopes.get(&name.to_string()));
        self.is_outside(&path.path) && own.is_none()
    }

    /// A call of such a function.
    pub(super) fn outside_call(
        &mut self,
        path: &'a syn::Path,
        args: &[&'a syn::Expr],
        want: Option<&Ty>,
        at_name: Span,
        at: Span,
    ) -> Made<Val<'a>> {
        if path.segments.iter().any(|s| !s.arguments.is_none()) {
            return Err(no::GENERICS.at(at_name));
        }
        let words: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let shown = words.join("::");
        let (mut pending, mut params) = (Pending::default(), Vec::new());
        for (k, arg) in args.iter().enumerate() {
            let span = self.at(*arg);
            let val = self.expr(arg, None)?;
            let mode = self.mode_of(arg, &val);
            let known = rust_type(&val.ty()).filter(|_| !matches!(val, Val::Closure(_)));
            let Some(ty) = known else {
                return Err(Diagnostic::new("type", format!("this cannot be given to `{shown}`"))
                    .label(
                        span,
                        match &val {
                            Val::Closure(_) => "this is a closure".into(),
                            val => format!("this is `{}`", val.ty().shown()),
                        },
                    )
                    .help("give it numbers, truth values, arrays of them, structs and tuples"));
            };
            let name = format!("{k}");
            params.push(SignatureParam { name, span, ty, mode, nondiff: false, constant: false });
            self.next(&mut pending, val)?;
        }
        let result = want.filter(|ty| !ty.is_open()).and_then(rust_type);
        let Some(result) = result else {
            let message = format!("it is not evident here what `{shown}` gives");
            return Err(Diagnostic::new("ambiguous-type", message).label(at, "this call").help(
                format!("say so where it is kept: `let y: f64 = {shown}(..);`, and use `y` here"),
            ));
        };
        let signature =
            Signature { name: shown.clone(), owner: None, span: at_name, params, result };
        let path = if path.leading_colon.is_some() { format!("::{shown}") } else { shown };
        let external = self.declared_outside(path, &signature, at_name);
        let called = Callee::External(Box::new(external));
        self.call_of(called, &signature, &[], pending.done(), at)
    }

    /// How an argument is passed: by `&mut` where that is written, and where a `&mut` parameter is handed on.
    fn mode_of(&self, arg: &syn::Expr, val: &Val<'a>) -> Mode {
        let written = self.current.iter().flat_map(|c| &c.written);
        let is_written = |name: &str| written.clone().any(|(known, _)| known == name);
        match (strip(arg), val) {
            (syn::Expr::Reference(r), _) if r.mutability.is_some() => Mode::RefMut,
            (_, Val::Alias(..)) => Mode::RefMut,
            (syn::Expr::Reference(_), Val::Struct(..) | Val::Rows(..)) => Mode::Ref,
            (_, val @ (Val::Struct(..) | Val::Rows(..))) => {
                if is_behind_mut(val, &is_written) {
                    Mode::RefMut
                } else {
                    Mode::Value
                }
            }
            (syn::Expr::Path(_), Val::Leaf(leaf)) if leaf.how == How::Ref => match &leaf.e.kind {
                ExprKind::Name(name) if is_written(name) => Mode::RefMut,
                _ => Mode::Ref,
            },
            (_, Val::Leaf(leaf)) if leaf.ty.is_array() && leaf.how != How::Fresh => Mode::Ref,
            _ => Mode::Value,
        }
    }

    /// The function as programs call it; the same one for all calls alike.
    fn declared_outside(&mut self, path: String, called: &Signature, at: Span) -> tree::External {
        let kind = |ty: &RustType| (ty.scalar().unwrap_or(Elem::F64), ty.rank());
        let leaves = called.params.iter().flat_map(|p| {
            p.ty.leaves().into_iter().map(move |ty| (kind(ty), p.mode == Mode::RefMut))
        });
        let (params, modes): (Vec<_>, Vec<bool>) = leaves.unzip();
        let written: Vec<usize> = (0..modes.len()).filter(|k| modes[*k]).collect();
        let results: Vec<_> = called.result.leaves().into_iter().map(kind).collect();
        let outside = self.outside.get_or_insert_default();
        let like = |o: &&Outside| {
            let e = &o.external;
            (&o.path, &e.params, &e.results, &e.written) == (&path, &params, &results, &written)
        };
        if let Some(known) = outside.iter().find(like) {
            let mut external = known.external.clone();
            external.name.span = at;
            return external;
        }
        let words = path.replace("::", "_");
        let text = format!("{PREFIX}{}.{}", outside.len(), words.trim_matches('_'));
        let external = tree::External { name: Name { text, span: at }, params, results, written };
        outside.push(Outside { external: external.clone(), path, span: at });
        external
    }
}

/// Whether a struct is one that a `&mut` refers to: all of it is then.
fn is_behind_mut(val: &Val<'_>, is_written: &dyn Fn(&str) -> bool) -> bool {
    match val {
        Val::Alias(..) => true,
        Val::Leaf(leaf) => match &leaf.e.kind {
            ExprKind::Name(name) => leaf.how == How::Ref && is_written(name),
            _ => false,
        },
        Val::Tuple(all) | Val::Struct(_, all) | Val::Rows(_, _, all) => {
            !all.is_empty() && all.iter().all(|val| is_behind_mut(val, is_written))
        }
        _ => false,
    }
}

/// A type of the walk as a parameter or a result has it.
fn rust_type(ty: &Ty) -> Option<RustType> {
    Some(match ty {
        Ty::F64 | Ty::Float => RustType::F64,
        Ty::F32 => RustType::F32,
        Ty::Int(kind) => RustType::Int(kind.unwrap_or(IntKind::I64)),
        Ty::Bool => RustType::Bool,
        Ty::Array(elem, len) if let Ty::Struct(def) = &**elem => {
            let number = Box::new(RustType::F64);
            let like = match len {
                Len::Fixed(n) => RustType::Array(number, Length::Known(*n)),
                _ => RustType::Vec(number),
            };
            super::rows::array_of_structs(def.clone(), like, Span::default()).ok()?
        }
        Ty::Array(elem, Len::Fixed(n)) => {
            RustType::Array(Box::new(rust_type(elem)?), Length::Known(*n))
        }
        Ty::Array(elem, _) => RustType::Vec(Box::new(rust_type(elem)?)),
        Ty::Tuple(all) => RustType::Tuple(all.iter().map(rust_type).collect::<Option<_>>()?),
        Ty::Struct(def) => RustType::Struct(def.clone()),
        Ty::Unit => RustType::Unit,
        Ty::Never => return None,
    })
}
