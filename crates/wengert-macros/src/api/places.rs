//! Numbers and arrays inside parameters and results: how generated text gets at them, and puts them together.
//!
//! Elements of tuples are reached by their numbers. The fields of a struct may be private, so its leaves are reached by
//! trait `Differentiable`, as tuples of references. Of an array of structs a number or an array of each is gathered into one
//! array, its column.

use crate::structs::copy;
use crate::types::{self, made, written};
use std::fmt::Write;
use wengert_core::surface::rust::{Mode, RustStruct, RustType, StructArray};

/// Where a number or an array is inside a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// Before a struct is entered: `.0`.
    outer: String,
    /// Inside of it.
    inner: Option<String>,
    /// For people: `.spring.rest`.
    shown: String,
    /// Where it is inside each struct of an array that is there.
    column: Option<String>,
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

    /// Where a number or an array is inside each struct of the array that is there.
    fn columns(&self, item: &RustStruct) -> Vec<Place> {
        let inside = parts(&RustType::Struct(std::sync::Arc::new(item.clone())));
        let column = |part: Part| Place {
            column: part.place.inner,
            shown: format!("{}[..]{}", self.shown, part.place.shown),
            ..self.clone()
        };
        inside.into_iter().map(column).collect()
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
        let Some(column) = &self.column else { return self.whole(name, mode) };
        let (place, mode) = self.whole(name, mode);
        let mark = if mode == Mode::Value { "&" } else { "&*" };
        let column = format!(
            "::wengert::__private::structs::column(&({mark}{place})[..], |__s| \
             ::std::clone::Clone::clone(::wengert::Differentiable::__shared(__s){column}))"
        );
        (column, Mode::Value)
    }

    /// The same, the array of structs where it is a column of one.
    fn whole(&self, name: &str, mode: Mode) -> (String, Mode) {
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
        if let Some(column) = &self.column {
            let (place, _) = match &self.inner {
                None => (name.to_owned(), ()),
                Some(inner) => {
                    let owner = format!("{}{}", root(name, Mode::RefMut), self.outer);
                    (format!("::wengert::Differentiable::__mutable(&mut {owner}){inner}"), ())
                }
            };
            let items = made(ty, value);
            return format!(
                "::wengert::__private::structs::write(&mut ({place})[..], {items}, |__s| \
                 ::wengert::Differentiable::__mutable(__s){column})?;"
            );
        }
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
        RustType::Structs(array) => {
            let inside = parts(&RustType::Struct(array.item.clone()));
            let all = array.columns.iter().zip(place.columns(&array.item)).zip(inside);
            found.extend(all.map(|((ty, place), part)| Part {
                ty: ty.clone(),
                place,
                nondiff: nondiff || part.nondiff,
            }));
        }
        RustType::Unit => {}
        other => found.push(Part { ty: other.clone(), place, nondiff }),
    }
}

/// The type of a derivative: `()` in the place of what has none.
pub(crate) fn derivative(ty: &RustType) -> RustType {
    match ty {
        RustType::Tuple(all) => RustType::Tuple(all.iter().map(derivative).collect()),
        RustType::Struct(_) | RustType::Structs(_) if differs(ty) => ty.clone(),
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
        RustType::Structs(array) => {
            structs(array, &mut |ty| values.next().map(|value| made(ty, &value)))
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
        RustType::Structs(array) => {
            let made = structs(array, &mut |ty| {
                values.next().map(|value| match value {
                    Filled::Made(value) => made(ty, &value),
                    Filled::Same(value) => value,
                })
            });
            if differs(ty) { made } else { "()".into() }
        }
        RustType::Unit => "()".into(),
        ty => match values.next() {
            Some(Filled::Made(value)) => made(ty, &value),
            _ => "()".into(),
        },
    }
}

/// An array of structs out of the items of its columns.
fn structs(array: &StructArray, each: &mut dyn FnMut(&RustType) -> Option<String>) -> String {
    let mut text = "{ ".to_string();
    for (k, ty) in array.columns.iter().enumerate() {
        let items = each(ty).unwrap_or("::std::vec::Vec::new()".into());
        let _ = write!(text, "let mut __c{k} = ::std::iter::IntoIterator::into_iter({items}); ");
    }
    let mut k = 0;
    let leaves = leaves(&RustType::Struct(array.item.clone()), &mut |_| {
        k += 1;
        Some(format!("__c{}.next()?", k - 1))
    });
    // What they are called may not be known here: they may be inside another struct.
    let made = match &array.like {
        RustType::Array(..) => "fixed",
        _ => "made",
    };
    let next = format!("|| ::std::option::Option::Some({leaves})");
    let mark = if made == "fixed" { "?" } else { "" };
    let _ = write!(text, "::wengert::__private::structs::{made}({next}){mark} }}");
    text
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
        RustType::Structs(array) => structs(array, each),
        RustType::Unit => "()".into(),
        leaf => each(leaf).unwrap_or("()".into()),
    }
}

/// A copy of an argument, to be given once more.
pub(crate) fn again(ty: &RustType, mode: Mode, name: &str) -> String {
    if mode == Mode::Value { copy(ty, name) } else { name.to_owned() }
}
