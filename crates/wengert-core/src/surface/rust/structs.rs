//! Structs: what a definition says, literals, fields, and references to them.
//!
//! A struct is its fields: where it is a parameter, the function of the tree takes one parameter for each number and
//! array in it, and a variable of it is one variable of the tree for each. A `&mut` to a struct is a `&mut` to each
//! of them. Definitions stand in the text, or come from elsewhere ([`Known`]).

use super::expr::{Pending, strip};
use super::scope::Entry;
use super::types::{RustType, as_type};
use super::value::{How, Leaf, Ty, Val, call};
use super::{Converter, Made, no};
use crate::span::{Diagnostic, Span};
use quote::ToTokens;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How many numbers and arrays a struct may have, those of its fields included.
const MAX_FIELDS: usize = 1000;

/// A struct.
#[derive(Clone, Debug)]
pub struct RustStruct {
    /// Its name.
    pub name: String,
    /// How it was referred to: `geometry::Point`.
    pub path: String,
    /// Its fields, in order.
    pub fields: Vec<RustField>,
    /// Whether its fields have numbers instead of names.
    pub numbered: bool,
    /// The definition, whatever it was referred to by.
    id: String,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct RustField {
    /// Its name or number.
    pub name: String,
    /// Its type.
    pub ty: RustType,
    /// Whether it is marked `#[nondiff]`.
    pub nondiff: bool,
}

impl RustStruct {
    /// The names of its numbers and arrays: `position.x`.
    pub(super) fn leaf_names(&self) -> Vec<String> {
        fn names(ty: &RustType, name: String, all: &mut Vec<String>) {
            match ty {
                RustType::Struct(def) => {
                    for f in &def.fields {
                        names(&f.ty, format!("{name}.{}", f.name), all);
                    }
                }
                RustType::Tuple(elements) => {
                    for (k, ty) in elements.iter().enumerate() {
                        names(ty, format!("{name}.{k}"), all);
                    }
                }
                RustType::Unit => {}
                _ => all.push(name),
            }
        }
        let mut all = Vec::new();
        self.fields.iter().for_each(|f| names(&f.ty, f.name.clone(), &mut all));
        all
    }

    /// It, referred to by another path.
    pub fn referred_to(&self, path: String) -> RustStruct {
        RustStruct { path, ..self.clone() }
    }
}

impl PartialEq for RustStruct {
    fn eq(&self, other: &RustStruct) -> bool {
        self.id == other.id
    }
}

impl Eq for RustStruct {}

impl Hash for RustStruct {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// The definition of a struct that stands elsewhere.
#[derive(Clone)]
pub struct Known {
    /// The path that refers to it, without spaces.
    pub path: String,
    /// A name that no other definition has.
    pub id: String,
    /// The definition.
    pub item: syn::ItemStruct,
    /// Those that it refers to.
    pub inner: Vec<Known>,
}

/// A path, as it is written, without spaces.
pub fn written(path: &syn::Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

impl<'a> Converter<'a> {
    /// The struct that a path refers to.
    pub(super) fn struct_of(
        &mut self,
        path: &syn::Path,
        at: Span,
    ) -> Made<Option<Arc<RustStruct>>> {
        let generic = path.segments.iter().any(|s| !s.arguments.is_none());
        let local = path.get_ident().map(ToString::to_string);
        if local.as_deref() == Some("Self") {
            return match &self.owner {
                Some(owner) => Ok(Some(owner.clone())),
                None => Err(as_type(no::SELF.at(at))),
            };
        }
        let name = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if let (1, Some(Entry::Struct(item))) = (path.segments.len(), self.scopes.get(&name)) {
            if generic {
                return Err(as_type(no::GENERIC_STRUCT.at(at)));
            }
            let item: &'a syn::ItemStruct = item;
            let id = format!("{name} {:x}", std::ptr::from_ref(item) as usize);
            return self.defined(item, id, name, None, at).map(Some);
        }
        let path = written(path);
        let all: &'a [Known] = self.known;
        match all.iter().find(|known| known.path == path) {
            Some(known) => {
                let inner = Some(known.inner.as_slice());
                self.defined(&known.item, known.id.clone(), path, inner, at).map(Some)
            }
            None => Ok(None),
        }
    }

    /// A definition, whose fields refer to others of the text or to `inner`.
    fn defined(
        &mut self,
        item: &'a syn::ItemStruct,
        id: String,
        path: String,
        inner: Option<&'a [Known]>,
        at: Span,
    ) -> Made<Arc<RustStruct>> {
        let key = format!("{id} {path}");
        if let Some(known) = self.structs.get(&key) {
            return Ok(known.clone());
        }
        if !item.generics.params.is_empty() {
            let at = self.at(&item.generics);
            return Err(as_type(no::GENERIC_STRUCT.at(at)));
        }
        let fields = self.deeper(at, |c| match inner {
            None => c.fields(item),
            Some(inner) => {
                // What its types are called is a matter of where it stands.
                let scopes = std::mem::take(&mut c.scopes);
                let (known, owner) = (std::mem::replace(&mut c.known, inner), c.owner.take());
                let fields = c.fields(item);
                (c.scopes, c.known, c.owner) = (scopes, known, owner);
                fields
            }
        })?;
        let name = item.ident.to_string();
        let numbered = matches!(item.fields, syn::Fields::Unnamed(_));
        let made = Arc::new(RustStruct { name, path, fields, numbered, id });
        if RustType::Struct(made.clone()).leaves().len() > MAX_FIELDS {
            let at = self.at(&item.ident);
            return Err(Diagnostic::new("too-large", "this struct has too many fields")
                .label(at, format!("more than {MAX_FIELDS} numbers and arrays"))
                .help("put numbers of one kind into arrays"));
        }
        self.structs.insert(key, made.clone());
        Ok(made)
    }

    fn fields(&mut self, item: &'a syn::ItemStruct) -> Made<Vec<RustField>> {
        let mut fields = Vec::new();
        for (k, field) in item.fields.iter().enumerate() {
            if let Some(attr) = field.attrs.iter().find(|a| a.path().is_ident("cfg")) {
                let at = self.at(attr);
                return Err(no::ATTRIBUTE.at(at));
            }
            let ty = self.rust_type(&field.ty)?;
            let at = self.at(&field.ty);
            self.no_ragged_rows(&ty, at)?;
            let name = field.ident.as_ref().map_or(k.to_string(), ToString::to_string);
            let nondiff = field.attrs.iter().any(|a| a.path().is_ident("nondiff"));
            fields.push(RustField { name, ty, nondiff });
        }
        Ok(fields)
    }

    /// Resolves the structs among items where they stand. What is wrong with one is told where it is used.
    pub(super) fn resolve_structs(&mut self, items: impl Iterator<Item = &'a syn::Item>) {
        for item in items {
            if let syn::Item::Struct(s) = item {
                let at = self.at(&s.ident);
                drop(self.struct_of(&s.ident.clone().into(), at));
            }
        }
    }

    /// The struct that a path refers to, where a value of it is made or taken apart.
    pub(super) fn struct_at(&mut self, path: &syn::Path) -> Made<Arc<RustStruct>> {
        let at = self.at(path);
        if let Some(alias) = path.get_ident().and_then(|i| self.scopes.alias(&i.to_string()))
            && let RustType::Struct(def) = self.rust_type(alias)?
        {
            return Ok(def);
        }
        self.struct_of(path, at)?.ok_or_else(|| as_type(no::STRUCT_TYPE.at(at)))
    }

    /// `Point { x: 1.0, ..base }`.
    pub(super) fn struct_literal(
        &mut self,
        literal: &'a syn::ExprStruct,
        at: Span,
    ) -> Made<Val<'a>> {
        let def = self.struct_at(&literal.path)?;
        let mut pending = Pending::default();
        let mut given = Vec::new();
        for field in &literal.fields {
            let at_name = self.at(&field.member);
            let k = field_of(&def, &field.member, at_name)?;
            let ty = def.fields[k].ty.ty();
            let val = self.expr(&field.expr, Some(&ty))?;
            let at_value = self.at(&field.expr);
            let val = self.fitted(val, &ty, at_value)?;
            self.next(&mut pending, val)?;
            given.push(k);
        }
        let base = match &literal.rest {
            Some(rest) => {
                let val = self.expr(rest, Some(&Ty::Struct(def.clone())))?;
                let at_rest = self.at(&**rest);
                let val = self.fitted(val, &Ty::Struct(def.clone()), at_rest)?;
                self.next(&mut pending, val)?;
                true
            }
            None => false,
        };
        let mut vals = pending.done();
        let rest = if base { vals.pop() } else { None };
        if vals.iter().chain(&rest).any(|val| matches!(val, Val::Never)) {
            return Ok(Val::Never);
        }
        let mut fields: Vec<Option<Val<'a>>> = match rest {
            Some(Val::Struct(_, all)) => all.into_iter().map(Some).collect(),
            _ => def.fields.iter().map(|_| None).collect(),
        };
        for (k, val) in given.into_iter().zip(vals) {
            fields[k] = Some(val);
        }
        let mut made = Vec::new();
        for (field, val) in def.fields.iter().zip(fields) {
            let Some(val) = val else {
                let message = format!("the field `{}` of `{}` is not given", field.name, def.name);
                return Err(Diagnostic::new("type", message).label(at, "here"));
            };
            made.push(val);
        }
        Ok(Val::Struct(def, made))
    }

    /// `Point(1.0, 2.0)`.
    pub(super) fn struct_call(
        &mut self,
        def: &Arc<RustStruct>,
        args: &[&'a syn::Expr],
        at: Span,
    ) -> Made<Val<'a>> {
        if !def.numbered || args.len() != def.fields.len() {
            let message = format!("`{}` has {} fields", def.name, def.fields.len());
            return Err(Diagnostic::new("argument-count", message).label(at, "this call"));
        }
        let mut pending = Pending::default();
        for (arg, field) in args.iter().zip(&def.fields) {
            let ty = field.ty.ty();
            let val = self.expr(arg, Some(&ty))?;
            let at_value = self.at(*arg);
            let val = self.fitted(val, &ty, at_value)?;
            self.next(&mut pending, val)?;
        }
        let fields = pending.done();
        if fields.iter().any(|val| matches!(val, Val::Never)) {
            return Ok(Val::Never);
        }
        Ok(Val::Struct(def.clone(), fields))
    }

    /// `base.field`: what is there.
    pub(super) fn field(&mut self, field: &'a syn::ExprField, at: Span) -> Made<Val<'a>> {
        let (val, inside) = self.raw_field(field, at)?;
        Ok(if inside { owned(val) } else { val })
    }

    /// An expression that names a place, references in it as they are; and whether it is inside a struct.
    pub(super) fn raw(&mut self, e: &'a syn::Expr) -> Made<(Val<'a>, bool)> {
        match strip(e) {
            syn::Expr::Field(field) => {
                let at = self.at(field);
                self.deeper(at, |c| c.raw_field(field, at))
            }
            syn::Expr::Unary(unary)
                if matches!(unary.op, syn::UnOp::Deref(_))
                    && matches!(self.peek(&unary.expr), Some(Ty::Struct(_))) =>
            {
                let at = self.at(unary);
                let (val, _) = self.deeper(at, |c| c.raw(&unary.expr))?;
                Ok((val, true))
            }
            other => Ok((self.expr(other, None)?, false)),
        }
    }

    fn raw_field(&mut self, field: &'a syn::ExprField, at: Span) -> Made<(Val<'a>, bool)> {
        let (base, inside) = self.raw(&field.base)?;
        let none = |ty: &Ty| {
            let name = field.member.to_token_stream();
            let message = format!("there is no field `{name}`");
            super::call::mismatch(message, at, &ty.shown())
        };
        match (base, &field.member) {
            (Val::Never, _) => Ok((Val::Never, false)),
            (Val::Struct(def, mut all), member) => {
                let at_name = self.at(member);
                let k = field_of(&def, member, at_name)?;
                Ok((all.swap_remove(k), true))
            }
            (Val::Tuple(mut all), syn::Member::Unnamed(index))
                if (index.index as usize) < all.len() =>
            {
                Ok((all.swap_remove(index.index as usize), inside))
            }
            (other, syn::Member::Unnamed(_)) => Err(none(&other.ty())),
            (Val::Tuple(all), _) => Err(none(&Val::Tuple(all).ty())),
            _ => Err(no::FIELD.at(at)),
        }
    }

    /// What `&mut` of a struct is.
    pub(super) fn mutable_reference(&mut self, val: Val<'a>, at: Span) -> Made<Val<'a>> {
        Ok(match val {
            Val::Struct(def, all) => {
                let all = all.into_iter().map(|v| self.mutable_reference(v, at));
                Val::Struct(def, all.collect::<Made<_>>()?)
            }
            val @ Val::Rows(..) => super::rows::referred(val),
            Val::Tuple(all) => {
                let all = all.into_iter().map(|v| self.mutable_reference(v, at));
                Val::Tuple(all.collect::<Made<_>>()?)
            }
            Val::Leaf(leaf) if leaf.ty.is_array() => Val::Leaf(Leaf { how: How::Ref, ..leaf }),
            Val::Leaf(leaf) => {
                let (place, ty) = self.place_of(Val::Leaf(leaf), at)?;
                Val::Alias(place, ty)
            }
            other => other,
        })
    }

    /// `value.clone()`.
    pub(super) fn cloned(&mut self, val: Val<'a>, at: Span) -> Val<'a> {
        match val {
            Val::Struct(def, all) => {
                Val::Struct(def, all.into_iter().map(|v| self.cloned(v, at)).collect())
            }
            Val::Tuple(all) => Val::Tuple(all.into_iter().map(|v| self.cloned(v, at)).collect()),
            Val::Rows(def, len, all) => {
                Val::Rows(def, len, all.into_iter().map(|v| self.cloned(v, at)).collect())
            }
            Val::Alias(place, ty) => {
                Val::Leaf(Leaf { how: How::Place, ..Leaf::new(place.read(), ty) })
            }
            Val::Leaf(leaf) if leaf.ty.is_array() => {
                let e = call("copy", vec![leaf.e], at);
                Val::Leaf(Leaf { e, how: How::Fresh, ..leaf })
            }
            other => other,
        }
    }
}

impl<'a> Converter<'a> {
    /// The fields that a pattern of a struct names, each with its pattern.
    pub(super) fn taken_apart(
        &mut self,
        pattern: &'a syn::Pat,
        val: &Val<'a>,
    ) -> Made<Vec<(&'a syn::Pat, Val<'a>)>> {
        let at = self.at(pattern);
        let path = match pattern {
            syn::Pat::Struct(p) => &p.path,
            syn::Pat::TupleStruct(p) => &p.path,
            _ => return Err(no::REFUTABLE.at(at)),
        };
        if path.segments.last().is_some_and(|s| s.ident == "Some" || s.ident == "Ok") {
            return Err(no::REFUTABLE.at(at));
        }
        let wanted = self.struct_at(path)?;
        let (def, fields) = match val {
            Val::Struct(def, fields) if *def == wanted => (def, fields),
            other => return Err(super::call::expected(&Ty::Struct(wanted), &other.ty(), at)),
        };
        let mut pairs = Vec::new();
        match pattern {
            syn::Pat::Struct(p) => {
                for field in &p.fields {
                    let at_name = self.at(&field.member);
                    let k = field_of(def, &field.member, at_name)?;
                    pairs.push((&*field.pat, fields[k].clone()));
                }
            }
            syn::Pat::TupleStruct(p) => {
                // `..` stands for those in between.
                let rest = p.elems.iter().position(|e| matches!(e, syn::Pat::Rest(_)));
                let named = p.elems.len() - usize::from(rest.is_some());
                if named > fields.len() || (rest.is_none() && named < fields.len()) {
                    let message = format!("`{}` has {} fields", def.name, fields.len());
                    return Err(Diagnostic::new("tuple-length", message).label(at, "these names"));
                }
                for (k, e) in p.elems.iter().enumerate() {
                    let k = match rest {
                        Some(rest) if k == rest => continue,
                        Some(rest) if k > rest => k + fields.len() - p.elems.len(),
                        _ => k,
                    };
                    pairs.push((e, fields[k].clone()));
                }
            }
            _ => {}
        }
        Ok(pairs)
    }
}

/// The number of a field.
pub(super) fn field_of(def: &RustStruct, member: &syn::Member, at: Span) -> Made<usize> {
    let name = member.to_token_stream().to_string();
    let names = || def.fields.iter().map(|f| f.name.as_str());
    names().position(|known| known == name).ok_or_else(|| {
        let message = format!("`{}` has no field `{name}`", def.name);
        let error = Diagnostic::new("undefined-variable", message).label(at, "here");
        error.help(match crate::surface::names::nearest(&name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add it to the struct".into(),
        })
    })
}

/// What is behind a reference to a struct, or in a field of one.
pub(super) fn owned(val: Val<'_>) -> Val<'_> {
    match val {
        Val::Struct(def, all) => Val::Struct(def, all.into_iter().map(owned).collect()),
        Val::Rows(def, len, all) => Val::Rows(def, len, all.into_iter().map(owned).collect()),
        Val::Tuple(all) => Val::Tuple(all.into_iter().map(owned).collect()),
        Val::Alias(place, ty) => Val::Leaf(Leaf { how: How::Place, ..Leaf::new(place.read(), ty) }),
        Val::Leaf(leaf) if leaf.how == How::Ref => Val::Leaf(Leaf { how: How::Place, ..leaf }),
        other => other,
    }
}

/// A struct behind a `&`.
pub(super) fn shared(val: Val<'_>) -> Val<'_> {
    match val {
        Val::Struct(def, all) => Val::Struct(def, all.into_iter().map(shared).collect()),
        Val::Rows(def, len, all) => Val::Rows(def, len, all.into_iter().map(shared).collect()),
        Val::Tuple(all) => Val::Tuple(all.into_iter().map(shared).collect()),
        Val::Alias(place, ty) => Val::Leaf(Leaf { how: How::Ref, ..Leaf::new(place.read(), ty) }),
        Val::Leaf(leaf) => Val::Leaf(Leaf { how: How::Ref, ..leaf }),
        other => other,
    }
}

/// Whether anything in a value is a `&mut`.
pub(super) fn holds_alias(val: &Val<'_>) -> bool {
    match val {
        Val::Alias(..) => true,
        Val::Tuple(all) | Val::Struct(_, all) => all.iter().any(holds_alias),
        _ => false,
    }
}
