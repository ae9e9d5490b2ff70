//! Calls of functions of the text.

use super::generic::Lengths;
use super::types::{Mode, RustType, Signature};
use super::value::{How, Leaf, Place, Ty, Val, named};
use super::{Converter, Made};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Callee as Called, Expr, ExprKind, Name, StmtKind, Target};

/// A function that can be called.
#[derive(Debug)]
pub(super) struct Callee {
    /// Its name in the tree.
    pub(super) name: String,
    pub(super) signature: Signature,
    /// Which parameters are variables that the function changes.
    pub(super) mutable: Vec<bool>,
}

impl Callee {
    /// A function of this name in the tree.
    pub(super) fn of(name: String, sig: &syn::Signature, signature: Signature) -> Callee {
        let mutable = sig.inputs.iter().map(|input| match input {
            syn::FnArg::Typed(p) => {
                matches!(&*p.pat, syn::Pat::Ident(i) if i.mutability.is_some())
            }
            syn::FnArg::Receiver(r) => r.reference.is_none() && r.mutability.is_some(),
        });
        Callee { name, mutable: mutable.collect(), signature }
    }
}

impl<'a> Converter<'a> {
    /// A call of a function of the text.
    pub(super) fn call(
        &mut self,
        callee: &Callee,
        args: &[&'a syn::Expr],
        given: Option<&syn::AngleBracketedGenericArguments>,
        want: Option<&Ty>,
        at: Span,
        span: Span,
    ) -> Made<Val<'a>> {
        let lengths = self.turbofish_of(callee, given)?;
        self.call_with(callee, None, args, lengths, want, (at, span))
    }

    /// A call, the first argument of which may have been evaluated: what a method is called on.
    pub(super) fn call_with(
        &mut self,
        callee: &Callee,
        receiver: Option<(Val<'a>, Span)>,
        args: &[&'a syn::Expr],
        mut lengths: Lengths,
        want: Option<&Ty>,
        (at, span): (Span, Span),
    ) -> Made<Val<'a>> {
        let signature = &callee.signature;
        let before = usize::from(receiver.is_some());
        let ordinary = signature.params.iter().filter(|p| !p.constant).count();
        if before + args.len() != ordinary {
            let n = ordinary - before;
            let s = if n == 1 { "" } else { "s" };
            let message =
                format!("`{}` takes {n} argument{s}, but {} are given", signature.name, args.len());
            return Err(Diagnostic::new("argument-count", message)
                .label(span, "this call")
                .label(signature.span, "defined here"));
        }
        let mut pending = super::expr::Pending::default();
        if let (Some((val, at_receiver)), Some(param)) = (receiver, signature.params.first()) {
            let val = self.fitted(val, &param.ty.ty(), at_receiver)?;
            self.next(&mut pending, val)?;
        }
        for (arg, param) in args.iter().zip(&signature.params[before..]) {
            let own = param.ty.ty();
            let want = lengths.known(&own);
            let val = self.expr(arg, Some(&want))?;
            lengths.learn(&own, &val.ty());
            let arg_span = self.at(*arg);
            let val = match (param.mode, val) {
                (Mode::RefMut, val @ Val::Alias(..)) => val,
                (Mode::RefMut, val) if want.is_scalar() => {
                    let message = format!("`{}` takes a `&mut` here", signature.name);
                    return Err(mismatch(message, arg_span, &val.ty().shown())
                        .help("write `&mut` before the argument"));
                }
                (_, val) => val,
            };
            let val = self.fitted(val, &want, arg_span)?;
            self.next(&mut pending, val)?;
        }
        if let Some(want) = want {
            lengths.learn(&signature.result.ty(), want);
        }
        let mut args = pending.done();
        args.extend(self.constant_arguments(callee, &lengths, at)?);
        let made = self.called(callee, args, at, span)?;
        Ok(if lengths.is_empty() { made } else { lengths.seen(made) })
    }

    /// A call with arguments that have been evaluated.
    pub(super) fn called(
        &mut self,
        callee: &Callee,
        args: Vec<Val<'a>>,
        at: Span,
        span: Span,
    ) -> Made<Val<'a>> {
        let name = Name { text: callee.name.clone(), span: at };
        self.call_of(Called::Function(name), &callee.signature, &callee.mutable, args, span)
    }

    /// A call of a function with this signature. `mutable` says which parameters are variables that it changes.
    pub(super) fn call_of(
        &mut self,
        called: Called,
        signature: &Signature,
        mutable: &[bool],
        args: Vec<Val<'a>>,
        span: Span,
    ) -> Made<Val<'a>> {
        let mut values = Vec::new();
        let mut written: Vec<Option<Place>> = Vec::new();
        for (k, (val, param)) in args.into_iter().zip(&signature.params).enumerate() {
            if param.mode == Mode::RefMut {
                written_places(&val, &mut written);
            }
            for leaf in val.leaves() {
                let changes = mutable.get(k).copied().unwrap_or(false);
                let copied = param.mode == Mode::Value && changes && leaf.how != How::Fresh;
                values.push(if copied { self.taken_over(leaf).e } else { leaf.e });
            }
        }
        let kind = ExprKind::Call { callee: called, args: values, keywords: Vec::new() };
        let call = Expr { kind, span };
        let result = signature.result.leaves();
        if written.iter().all(Option::is_none) && result.is_empty() {
            self.emit(StmtKind::Call(call), span);
            return Ok(Val::Unit);
        }
        if written.is_empty() && result.len() == 1 {
            return Ok(shaped(&signature.result, &mut vec![call].into_iter()));
        }
        let mut targets = Vec::new();
        let mut made = Vec::new();
        for _ in &result {
            let text = self.fresh("t");
            made.push(named(&text, span));
            targets.push(Target::Name(Name { text, span }));
        }
        for place in written {
            targets.push(match place {
                Some(place) => place.target(),
                None => Target::Name(Name { text: self.fresh("t"), span }),
            });
        }
        let target = match targets.len() {
            1 => targets.remove(0),
            _ => Target::Tuple { elements: targets, span },
        };
        self.assign(target, call, span);
        Ok(shaped(&signature.result, &mut made.into_iter()))
    }
}

/// The places that what comes back through a `&mut` is for; none for an array, which was written itself.
fn written_places(val: &Val<'_>, places: &mut Vec<Option<Place>>) {
    match val {
        Val::Struct(_, all) | Val::Tuple(all) | Val::Rows(_, _, all) => {
            all.iter().for_each(|val| written_places(val, places));
        }
        Val::Alias(place, _) => places.push(Some(place.clone())),
        _ => places.push(None),
    }
}

/// Values in the shape of a type.
fn shaped<'a>(ty: &RustType, values: &mut impl Iterator<Item = Expr>) -> Val<'a> {
    match ty {
        RustType::Unit => Val::Unit,
        RustType::Tuple(all) => Val::Tuple(all.iter().map(|t| shaped(t, values)).collect()),
        RustType::Struct(def) => {
            let fields = def.fields.iter().map(|f| shaped(&f.ty, values)).collect();
            Val::Struct(def.clone(), fields)
        }
        RustType::Structs(array) => {
            let columns: Vec<Leaf> =
                array.columns.iter().flat_map(|ty| shaped(ty, values).leaves()).collect();
            Val::rows(&array.item, array.len(), &mut columns.into_iter())
        }
        other => match values.next() {
            Some(e) => Val::of(e, other.ty()),
            None => Val::Unit,
        },
    }
}

/// The error for a value of another type.
pub(super) fn mismatch(message: String, at: Span, found: &str) -> Diagnostic {
    Diagnostic::new("type", message).label(at, format!("this is `{found}`"))
}

/// The error for a value that is not of the type that is needed.
pub(super) fn expected(want: &Ty, found: &Ty, at: Span) -> Diagnostic {
    mismatch(format!("`{}` is needed here", want.shown()), at, &found.shown())
}
