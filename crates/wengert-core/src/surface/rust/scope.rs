//! What names stand for, block by block, and names for the tree.

use super::call::Callee;
use super::value::{How, Leaf, Place, Ty, Val, named};
use super::{Converter, Made};
use crate::span::{Diagnostic, Span};
use crate::surface::names::nearest;
use crate::surface::tree::{Name, Stmt, StmtKind, Target};
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Entry<'a> {
    /// A variable. Its value is made of variables of the tree.
    Variable(Val<'a>),
    /// A variable that is declared and not set yet: where it is declared, and the name it will have.
    Unset(&'a syn::PatIdent, Option<Ty>),
    Constant(&'a syn::Type, &'a syn::Expr),
    Function(Rc<Callee>),
    Type(&'a syn::Type),
    Struct(&'a syn::ItemStruct),
}

/// The blocks around, outermost first.
#[derive(Clone, Default)]
pub(super) struct Scopes<'a>(Vec<HashMap<String, Entry<'a>>>);

impl<'a> Scopes<'a> {
    pub(super) fn enter(&mut self) {
        self.0.push(HashMap::default());
    }

    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    pub(super) fn set(&mut self, name: &str, entry: Entry<'a>) {
        if let Some(last) = self.0.last_mut() {
            last.insert(name.to_owned(), entry);
        }
    }

    /// Replaces what a name stands for, where it is declared.
    pub(super) fn replace(&mut self, name: &str, entry: Entry<'a>) {
        if let Some(scope) = self.0.iter_mut().rev().find(|s| s.contains_key(name)) {
            scope.insert(name.to_owned(), entry);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Entry<'a>> {
        self.0.iter().rev().find_map(|s| s.get(name))
    }

    /// Whether a name is declared in the innermost block.
    pub(super) fn is_innermost(&self, name: &str) -> bool {
        self.0.last().is_some_and(|scope| scope.contains_key(name))
    }

    /// The type behind an alias.
    pub(super) fn alias(&self, name: &str) -> Option<&'a syn::Type> {
        match self.get(name) {
            Some(Entry::Type(ty)) => Some(ty),
            _ => None,
        }
    }

    /// What is visible inside a function: not the variables of the one around it.
    pub(super) fn items(&self) -> Scopes<'a> {
        let kept = |scope: &HashMap<String, Entry<'a>>| {
            let items = scope
                .iter()
                .filter(|(_, entry)| !matches!(entry, Entry::Variable(_) | Entry::Unset(..)));
            items.map(|(name, entry)| (name.clone(), entry.clone())).collect()
        };
        Scopes(self.0.iter().map(kept).collect())
    }

    /// The functions that can be called here.
    pub(super) fn functions(&self) -> Vec<String> {
        let all = self.0.iter().flat_map(|s| s.iter());
        all.filter(|(_, e)| matches!(e, Entry::Function(_) | Entry::Variable(Val::Closure(_))))
            .map(|(name, _)| name.clone())
            .collect()
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().flat_map(|s| s.keys().map(String::as_str)).collect()
    }
}

impl<'a> Converter<'a> {
    /// A name that nothing else in the function has.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut k = 1;
        while !self.taken.insert(name.clone()) {
            k += 1;
            name = format!("{wanted}_{k}");
        }
        name
    }

    /// Appends a statement.
    pub(super) fn emit(&mut self, kind: StmtKind, span: Span) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(Stmt { kind, span });
        }
    }

    /// How many statements the block has.
    pub(super) fn so_far(&self) -> usize {
        self.blocks.last().map_or(0, Vec::len)
    }

    /// Fills a block of its own.
    pub(super) fn inside<T>(
        &mut self,
        fill: impl FnOnce(&mut Self) -> Made<T>,
    ) -> Made<(Vec<Stmt>, T)> {
        self.blocks.push(Vec::new());
        let result = fill(self);
        let block = self.blocks.pop().unwrap_or_default();
        Ok((block, result?))
    }

    /// Puts statements that were made aside where the walk is.
    pub(super) fn append(&mut self, stmts: Vec<Stmt>) {
        if let Some(block) = self.blocks.last_mut() {
            block.extend(stmts);
        }
    }

    /// Sets a variable of the tree.
    pub(super) fn assign(&mut self, target: Target, value: crate::surface::tree::Expr, span: Span) {
        self.emit(StmtKind::Assign { targets: vec![target], value }, span);
    }

    /// An expression as a variable that nothing changes; a constant stays what it is.
    pub(super) fn kept(&mut self, e: crate::surface::tree::Expr) -> crate::surface::tree::Expr {
        if super::value::is_constant(&e) {
            return e;
        }
        let (name, span) = (self.fresh("t"), e.span);
        self.assign(Target::Name(Name { text: name.clone(), span }), e, span);
        named(&name, span)
    }

    /// Gives a value variables of its own: what a `let` does. Numbers and arrays that are copied get new ones;
    /// what is moved or referred to becomes a second name.
    pub(super) fn held(
        &mut self,
        wanted: &str,
        val: Val<'a>,
        decl: usize,
        span: Span,
    ) -> Made<Val<'a>> {
        Ok(match val {
            Val::Leaf(leaf) => {
                let how = if leaf.how == How::Ref { How::Ref } else { How::Place };
                let e = self.taken_over(leaf.clone()).e;
                let name = self.fresh(wanted);
                self.assign(Target::Name(Name { text: name.clone(), span }), e, span);
                let from = if leaf.ty.is_open() { vec![decl] } else { Vec::new() };
                Val::Leaf(Leaf { e: named(&name, span), ty: leaf.ty, how, from })
            }
            Val::Tuple(all) => {
                let all = all.into_iter().map(|v| self.held(wanted, v, decl, span));
                Val::Tuple(all.collect::<Made<_>>()?)
            }
            Val::Struct(def, all) => {
                let mut fields = Vec::new();
                for (field, val) in def.fields.iter().zip(all) {
                    fields.push(self.held(&format!("{wanted}.{}", field.name), val, decl, span)?);
                }
                Val::Struct(def, fields)
            }
            Val::Rows(def, len, all) => {
                let held = self.held(wanted, Val::Struct(def.clone(), all), decl, span)?;
                Val::rows(&def, len, &mut held.leaves().into_iter())
            }
            other => other,
        })
    }

    /// A value as it is when it is moved or copied out of its place.
    pub(super) fn taken_over(&mut self, leaf: Leaf) -> Leaf {
        if leaf.how != How::Place || !leaf.ty.is_array() {
            return leaf;
        }
        let moved =
            !leaf.ty.copies() && matches!(leaf.e.kind, crate::surface::tree::ExprKind::Name(_));
        if moved {
            return Leaf { how: How::Fresh, ..leaf };
        }
        let span = leaf.e.span;
        Leaf { e: super::value::call("copy", vec![leaf.e], span), how: How::Fresh, ..leaf }
    }

    /// Notes that a value has a type.
    pub(super) fn learn(&mut self, from: &[usize], ty: &Ty) {
        for decl in from {
            let known = self.hints.get(decl);
            if known.is_none_or(|known| known.is_open() && known != ty)
                && !matches!(ty, Ty::Float | Ty::Int(None))
            {
                self.hints.insert(*decl, ty.clone());
                self.learned = true;
            }
        }
    }

    /// What a variable, a constant or a function name evaluates to.
    pub(super) fn name_value(&mut self, name: &str, span: Span) -> Made<Val<'a>> {
        match self.scopes.get(name).cloned() {
            Some(Entry::Variable(val)) => Ok(placed(val, span)),
            Some(Entry::Constant(ty, value)) => self.constant_value(name, ty, value, span),
            Some(Entry::Unset(..)) => {
                let message = format!("`{name}` is used before it is set");
                Err(Diagnostic::new("undefined-variable", message)
                    .label(span, "used here")
                    .help(format!("give it a value where it is declared: `let {name} = ...;`")))
            }
            Some(Entry::Function(_)) => {
                let message = format!("the function `{name}` is used as a value");
                Err(Diagnostic::new("unsupported-syntax", message)
                    .label(span, "not called here")
                    .help("call it, or pass a closure that calls it"))
            }
            Some(Entry::Struct(item)) if item.fields.is_empty() => {
                let def = self.struct_at(&item.ident.clone().into())?;
                Ok(Val::Struct(def, Vec::new()))
            }
            Some(Entry::Type(_) | Entry::Struct(_)) | None => {
                if let Some(known) = super::constants::by_name(name) {
                    return Ok(Val::of(super::value::float(known, span), Ty::F64));
                }
                let error =
                    Diagnostic::new("undefined-variable", format!("`{name}` is not defined"))
                        .label(span, "used here");
                Err(match nearest(name, self.scopes.names()) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(
                        "declare it in the function, pass it as a parameter, or put it as a `const` into a module with the function, with the attribute before that: `#[differentiable] mod m { ... }`",
                    ),
                })
            }
        }
    }

    /// The place of a variable that is one number or array.
    pub(super) fn variable_place(&self, leaf: &Leaf, span: Span) -> Option<Place> {
        match &leaf.e.kind {
            crate::surface::tree::ExprKind::Name(text) => {
                Some(Place::Name(Name { text: text.clone(), span }))
            }
            _ => None,
        }
    }
}

/// A value with the place where it is read.
fn placed(val: Val<'_>, span: Span) -> Val<'_> {
    match val {
        Val::Leaf(mut leaf) => {
            leaf.e.span = span;
            Val::Leaf(leaf)
        }
        Val::Tuple(all) => Val::Tuple(all.into_iter().map(|v| placed(v, span)).collect()),
        Val::Struct(def, all) => {
            Val::Struct(def, all.into_iter().map(|v| placed(v, span)).collect())
        }
        Val::Rows(def, len, all) => {
            Val::Rows(def, len, all.into_iter().map(|v| placed(v, span)).collect())
        }
        other => other,
    }
}
