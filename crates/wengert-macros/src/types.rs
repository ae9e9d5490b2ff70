//! Rust types of arguments, results and derivatives, and how each is passed to printed programs.

use wengert_core::ir::Type;
use wengert_core::ops::Elem;
use wengert_core::surface::rust::{Mode, RustType};

/// The type in programs of a number or an array.
pub(crate) fn in_programs(ty: &RustType) -> Type {
    Type::of(ty.scalar().unwrap_or(Elem::F64), ty.rank())
}

/// Whether it can be differentiated by.
pub(crate) fn is_float(ty: &RustType) -> bool {
    ty.scalar().is_some_and(Elem::is_float)
}

/// A type by value: slices become vectors.
pub(crate) fn owned(ty: &RustType) -> String {
    match ty {
        RustType::F64 => "f64".into(),
        RustType::F32 => "f32".into(),
        RustType::Int(kind) => kind.name().into(),
        RustType::Bool => "bool".into(),
        RustType::Slice(e) | RustType::Vec(e) => format!("::std::vec::Vec<{}>", owned(e)),
        RustType::Array(e, n) => format!("[{}; {n}]", owned(e)),
        RustType::NdArray { item, rank, .. } => nd(&format!("Array{rank}<{}>", owned(item))),
        RustType::Tuple(all) => tuple(all.iter().map(owned)),
        RustType::Struct(def) => def.path.clone(),
        RustType::Structs(array) => owned(&array.like).replacen("f64", &array.item.path, 1),
        RustType::Unit => "()".into(),
    }
}

/// A type as a parameter has it.
pub(crate) fn passed(ty: &RustType, mode: Mode) -> String {
    let mark = match mode {
        Mode::Value => return owned(ty),
        Mode::Ref => "&",
        Mode::RefMut => "&mut ",
    };
    match ty {
        RustType::NdArray { item, rank, view: true } => {
            let word = if mode == Mode::Ref { "View" } else { "ViewMut" };
            nd(&format!("Array{word}{rank}<'_, {}>", owned(item)))
        }
        RustType::Slice(e) => format!("{mark}[{}]", owned(e)),
        RustType::Structs(array) if matches!(array.like, RustType::Slice(_)) => {
            format!("{mark}[{}]", array.item.path)
        }
        other => format!("{mark}{}", owned(other)),
    }
}

/// A type of crate `ndarray`.
fn nd(ty: &str) -> String {
    format!("::wengert::__private::ndarray::{ty}")
}

/// Whether an argument is a view, which is passed by value and a reference all the same.
fn is_view(ty: &RustType) -> bool {
    matches!(ty, RustType::NdArray { view: true, .. })
}

/// Types or values in parentheses; one stands alone.
pub(crate) fn tuple(all: impl IntoIterator<Item = String>) -> String {
    let all: Vec<String> = all.into_iter().collect();
    match all.as_slice() {
        [one] => one.clone(),
        all => format!("({})", all.join(", ")),
    }
}

/// The items of an array type.
fn item(ty: &RustType) -> String {
    match ty {
        RustType::Slice(e) | RustType::Vec(e) | RustType::Array(e, _) => owned(e),
        other => owned(other),
    }
}

/// The number or array of a program that a Rust value becomes. `place` is the value, behind a reference or not.
pub(crate) fn given(ty: &RustType, mode: Mode, place: &str) -> String {
    match ty {
        RustType::Int(_) => format!("{} as i64", number(mode, place)),
        RustType::F64 | RustType::F32 | RustType::Bool => number(mode, place),
        RustType::NdArray { rank, .. } => {
            let mark = if mode == Mode::Value || is_view(ty) { "&" } else { "&*" };
            format!("::wengert::__private::nd::given::<_, _, _, {rank}>({mark}{place})?")
        }
        array => {
            let mark = if mode == Mode::Value { "&" } else { "&*" };
            format!("__a::pass::array::<{}, {}>(&({mark}{place})[..])?", item(array), array.rank())
        }
    }
}

fn number(mode: Mode, place: &str) -> String {
    if mode == Mode::Value { place.to_owned() } else { format!("*{place}") }
}

/// The Rust value of a number or array of a program.
pub(crate) fn made(ty: &RustType, value: &str) -> String {
    match ty {
        RustType::Int(kind) => format!("__a::pass::narrow::<{}>({value})?", kind.name()),
        RustType::F64 | RustType::F32 | RustType::Bool => value.to_owned(),
        RustType::NdArray { item, rank, .. } => format!(
            "::wengert::__private::nd::made::<{}, ::wengert::__private::ndarray::Ix{rank}, {rank}>({value})?",
            owned(item)
        ),
        RustType::Array(_, n) => {
            format!("__a::pass::fixed::<{}, {}, {n}>({value})?", item(ty), ty.rank())
        }
        array => format!("__a::pass::items::<{}, {}>({value})?", item(array), array.rank()),
    }
}

/// Writes a number or an array of a program where a `&mut` refers to.
pub(crate) fn written(ty: &RustType, place: &str, value: &str) -> String {
    match ty {
        RustType::Vec(_) => format!("*{place} = {};", made(ty, value)),
        RustType::NdArray { .. } if is_view(ty) => {
            format!("::wengert::__private::nd::write({place}, {value})?;")
        }
        RustType::NdArray { .. } => {
            format!("::wengert::__private::nd::write({place}.view_mut(), {value})?;")
        }
        RustType::Slice(_) | RustType::Array(..) => {
            format!("__a::pass::write::<{}, {}>(&mut {place}[..], {value})?;", item(ty), ty.rank())
        }
        scalar => format!("*{place} = {};", made(scalar, value)),
    }
}
