//! Numbers and arrays inside parameters and results: how generated text gets at them, and puts them together.
//!
//! Elements of tuples are reached by their numbers. The fields of a struct may be private, so its leaves are reached by
//! trait `Differentiable`, as tuples of references.

use crate::structs::copy;
use crate::types::{self, made, written};
use std::fmt::Write;
use wengert_core::surface::rust::{Mode, RustType};

/// Where a number or an array is inside a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// Before a struct is entered: `.0`.
    outer: String,
    /// Inside of it.
    inner: Option<String>,
    /// For people: `.spring.rest`.
    shown: String,
}

/// A number or an array of a type.
pub(crate) struct Part {
    pub(crate) ty: RustType,
    pub(crate) place: Place,
    /// Whether it is in a field marked `#[nondiff]`.
    pub(crate) nondiff: bool,
}

impl Place {
    fn element(&self, k: usize, name: &str) -> Place {
        let mut place = self.clone();
        let path = place.inner.as_mut().unwrap_or(&mut place.outer);
        write!(path, ".{k}").unwrap_or_default();
        write!(place.shown, ".{name}").unwrap_or_default();
        place
    }

    fn enter(&self) -> Place {
        let inner = Some(self.inner.clone().unwrap_or_default());
        Place { inner, ..self.clone() }
    }

    /// What people call it.
    pub(crate) fn shown(&self, name: &str) -> String {
        format!("{name}{}", self.shown)
    }

    /// It in a variable that is passed by `mode`, and how it is passed itself.
    pub(crate) fn of(&self, name: &str, mode: Mode) -> (String, Mode) {
        match &self.inner {
            None if self.outer.is_empty() => (name.to_owned(), mode),
            None => (format!("{}{}", root(name, mode), self.outer), Mode::Value),
            Some(inner) => {
                let owner = format!("{}{}", root(name, mode), self.outer);
                (format!("(*::wengert::Differentiable::__shared(&{owner}){inner})"), Mode::Value)
            }
        }
    }

    /// Writes it, behind a variable that is a `&mut`.
    pub(crate) fn write(&self, ty: &RustType, name: &str, value: &str) -> String {
        match &self.inner {
            None => written(ty, name, value),
            Some(inner) => {
                let owner = format!("{}{}", root(name, Mode::RefMut), self.outer);
                let place = format!("::wengert::Differentiable::__mutable(&mut {owner}){inner}");
                written(ty, &format!("({place})"), value)
            }
        }
    }
}

fn root(name: &str, mode: Mode) -> String {
    if mode == Mode::Value { name.to_owned() } else { format!("(*{name})") }
}

/// The numbers and arrays of a type, and how each is reached.
pub(crate) fn parts(ty: &RustType) -> Vec<Part> {
    let mut found = Vec::new();
    collect(ty, Place::default(), false, &mut found);
    found
}

fn collect(ty: &RustType, place: Place, nondiff: bool, found: &mut Vec<Part>) {
    match ty {
        RustType::Tuple(all) => {
            for (k, ty) in all.iter().enumerate() {
                collect(ty, place.element(k, &k.to_string()), nondiff, found);
            }
        }
        RustType::Struct(def) => {
            let place = place.enter();
            for (k, field) in def.fields.iter().enumerate() {
                let nondiff = nondiff || field.nondiff;
                collect(&field.ty, place.element(k, &field.name), nondiff, found);
            }
        }
        RustType::Unit => {}
        other => found.push(Part { ty: other.clone(), place, nondiff }),
    }
}

/// The type of a derivative: `()` in the place of what has none.
pub(crate) fn derivative(ty: &RustType) -> RustType {
    match ty {
        RustType::Tuple(all) => RustType::Tuple(all.iter().map(derivative).collect()),
        RustType::Struct(_) if differs(ty) => ty.clone(),
        ty if types::is_float(ty) => ty.clone(),
        _ => RustType::Unit,
    }
}

/// Whether something in it has a derivative.
fn differs(ty: &RustType) -> bool {
    parts(ty).iter().any(|part| types::is_float(&part.ty) && !part.nondiff)
}

/// What a derivative has in the place of a number or an array of the argument.
pub(crate) enum Filled {
    /// The derivative, as programs give it.
    Made(String),
    /// What there is: the same, if it is part of a struct.
    Same(String),
}

/// A value of a type out of values of its numbers and arrays, as programs give them.
pub(crate) fn shaped(ty: &RustType, values: &mut impl Iterator<Item = String>) -> String {
    match ty {
        RustType::Tuple(all) => {
            let all: Vec<String> = all.iter().map(|ty| shaped(ty, values)).collect();
            format!("({})", all.join(", "))
        }
        RustType::Struct(def) => {
            let leaves = leaves(ty, &mut |ty| values.next().map(|value| made(ty, &value)));
            format!("<{} as ::wengert::Differentiable>::__of({leaves})", def.path)
        }
        RustType::Unit => "()".into(),
        ty => values.next().map_or("()".into(), |value| made(ty, &value)),
    }
}

/// A derivative of a value of a type, out of what is in the places of its numbers and arrays.
pub(crate) fn differentiated(ty: &RustType, values: &mut impl Iterator<Item = Filled>) -> String {
    match ty {
        RustType::Tuple(all) => {
            let all: Vec<String> = all.iter().map(|ty| differentiated(ty, values)).collect();
            format!("({})", all.join(", "))
        }
        RustType::Struct(def) => {
            let leaves = leaves(ty, &mut |ty| {
                values.next().map(|value| match value {
                    Filled::Made(value) => made(ty, &value),
                    Filled::Same(value) => value,
                })
            });
            if differs(ty) {
                format!("<{} as ::wengert::Differentiable>::__of({leaves})", def.path)
            } else {
                "()".into()
            }
        }
        RustType::Unit => "()".into(),
        ty => match values.next() {
            Some(Filled::Made(value)) => made(ty, &value),
            _ => "()".into(),
        },
    }
}

/// The leaves of a struct or a field, in tuples.
fn leaves(ty: &RustType, each: &mut dyn FnMut(&RustType) -> Option<String>) -> String {
    let several = |all: Vec<&RustType>, each: &mut dyn FnMut(&RustType) -> Option<String>| {
        let all: String = all.into_iter().map(|ty| leaves(ty, each) + ",").collect();
        format!("({all})")
    };
    match ty {
        RustType::Tuple(all) => several(all.iter().collect(), each),
        RustType::Struct(def) => several(def.fields.iter().map(|f| &f.ty).collect(), each),
        RustType::Unit => "()".into(),
        leaf => each(leaf).unwrap_or("()".into()),
    }
}

/// A copy of an argument, to be given once more.
pub(crate) fn again(ty: &RustType, mode: Mode, name: &str) -> String {
    if mode == Mode::Value { copy(ty, name) } else { name.to_owned() }
}
