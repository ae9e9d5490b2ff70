//! Rust types as they are written, and signatures made of them.

use super::structs::RustStruct;
use super::value::{Len, Ty};
use super::{Converter, Made, no};
use crate::ops::Elem;
use crate::span::{Diagnostic, Span};
use crate::surface::tree::DeclaredType;
use std::sync::Arc;

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntKind {
    I8,
    I16,
    I32,
    I64,
    Isize,
    U8,
    U16,
    U32,
    U64,
    Usize,
}

impl IntKind {
    /// Every one of them.
    pub const ALL: [IntKind; 10] = [
        IntKind::I8,
        IntKind::I16,
        IntKind::I32,
        IntKind::I64,
        IntKind::Isize,
        IntKind::U8,
        IntKind::U16,
        IntKind::U32,
        IntKind::U64,
        IntKind::Usize,
    ];

    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            IntKind::I8 => "i8",
            IntKind::I16 => "i16",
            IntKind::I32 => "i32",
            IntKind::I64 => "i64",
            IntKind::Isize => "isize",
            IntKind::U8 => "u8",
            IntKind::U16 => "u16",
            IntKind::U32 => "u32",
            IntKind::U64 => "u64",
            IntKind::Usize => "usize",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<IntKind> {
        IntKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it has no negative numbers.
    pub fn unsigned(self) -> bool {
        self.name().starts_with('u')
    }

    /// How many bits it has.
    pub fn bits(self) -> u32 {
        match self {
            IntKind::I8 | IntKind::U8 => 8,
            IntKind::I16 | IntKind::U16 => 16,
            IntKind::I32 | IntKind::U32 => 32,
            _ => 64,
        }
    }

    /// The least and the largest number that programs can have of it.
    pub fn range(self) -> (i64, i64) {
        match (self.unsigned(), self.bits()) {
            (true, 64) => (0, i64::MAX),
            (true, bits) => (0, (1 << bits) - 1),
            (false, 64) => (i64::MIN, i64::MAX),
            (false, bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        }
    }
}

/// The length in the type of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Length {
    /// A number.
    Known(usize),
    /// The constant parameter of this number and name.
    Param(usize, String),
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Length::Known(n) => write!(f, "{n}"),
            Length::Param(_, name) => f.write_str(name),
        }
    }
}

/// A type of a parameter or a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RustType {
    /// `f64`
    F64,
    /// `f32`
    F32,
    /// An integer.
    Int(IntKind),
    /// `bool`
    Bool,
    /// `[T]`, behind a reference.
    Slice(Box<RustType>),
    /// `Vec<T>`
    Vec(Box<RustType>),
    /// `[T; N]`
    Array(Box<RustType>, Length),
    /// `(A, B)`
    Tuple(Vec<RustType>),
    /// A struct.
    Struct(Arc<RustStruct>),
    /// `()`
    Unit,
}

impl RustType {
    /// The elements of tuples and the fields of structs, one after the other; nothing for `()`.
    pub fn leaves(&self) -> Vec<&RustType> {
        match self {
            RustType::Tuple(all) => all.iter().flat_map(RustType::leaves).collect(),
            RustType::Struct(def) => def.fields.iter().flat_map(|f| f.ty.leaves()).collect(),
            RustType::Unit => Vec::new(),
            other => vec![other],
        }
    }

    /// How many axes it has: 0 for a number, 2 for an array of arrays.
    pub fn rank(&self) -> usize {
        match self {
            RustType::Slice(e) | RustType::Vec(e) | RustType::Array(e, _) => 1 + e.rank(),
            _ => 0,
        }
    }

    /// The numbers it is made of; nothing for tuples, structs and `()`.
    pub fn scalar(&self) -> Option<Elem> {
        match self {
            RustType::F64 => Some(Elem::F64),
            RustType::F32 => Some(Elem::F32),
            RustType::Int(_) => Some(Elem::I64),
            RustType::Bool => Some(Elem::Bool),
            RustType::Slice(e) | RustType::Vec(e) | RustType::Array(e, _) => e.scalar(),
            RustType::Tuple(_) | RustType::Struct(_) | RustType::Unit => None,
        }
    }

    /// The length of each axis, where it is a number of the type.
    pub(super) fn lengths(&self) -> Vec<Option<i64>> {
        let (length, inside) = match self {
            RustType::Slice(e) | RustType::Vec(e) => (None, e),
            RustType::Array(e, Length::Known(n)) => (i64::try_from(*n).ok(), e),
            RustType::Array(e, Length::Param(..)) => (None, e),
            _ => return Vec::new(),
        };
        std::iter::once(length).chain(inside.lengths()).collect()
    }

    /// What the tree declares for a parameter.
    pub(super) fn declared(&self) -> Option<DeclaredType> {
        let elem = self.scalar()?;
        Some(match (self.rank(), elem) {
            (0, Elem::F64) => DeclaredType::F64,
            (0, Elem::F32) => DeclaredType::F32,
            (0, Elem::I64) => DeclaredType::I64,
            (0, Elem::Bool) => DeclaredType::Bool,
            _ => DeclaredType::Array(Some(elem)),
        })
    }

    /// The type in the walk.
    pub(super) fn ty(&self) -> Ty {
        match self {
            RustType::F64 => Ty::F64,
            RustType::F32 => Ty::F32,
            RustType::Int(kind) => Ty::Int(Some(*kind)),
            RustType::Bool => Ty::Bool,
            RustType::Slice(e) => Ty::Array(Box::new(e.ty()), Len::Slice),
            RustType::Vec(e) => Ty::Array(Box::new(e.ty()), Len::Vec),
            RustType::Array(e, Length::Known(n)) => Ty::Array(Box::new(e.ty()), Len::Fixed(*n)),
            RustType::Array(e, Length::Param(k, _)) => Ty::Array(Box::new(e.ty()), Len::Param(*k)),
            RustType::Tuple(all) => Ty::Tuple(all.iter().map(RustType::ty).collect()),
            RustType::Struct(def) => Ty::Struct(def.clone()),
            RustType::Unit => Ty::Unit,
        }
    }
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// By value.
    Value,
    /// By `&`.
    Ref,
    /// By `&mut`: its final value is among the outputs.
    RefMut,
}

/// A parameter of a function, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct SignatureParam {
    /// Its name; `_` or a pattern has one that was made up.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its type, without the reference.
    pub ty: RustType,
    /// How it is passed.
    pub mode: Mode,
    /// Whether it is marked `#[nondiff]`.
    pub nondiff: bool,
    /// Whether it is a constant parameter, `const N: usize`: they come after all others.
    pub constant: bool,
}

/// The Rust types of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The name of the function.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// Its parameters. Those of the tree's function are their [`RustType::leaves`].
    pub params: Vec<SignatureParam>,
    /// Its result.
    pub result: RustType,
    /// The struct it is a method or an associated function of: then its name is `Point::length`.
    pub owner: Option<Arc<RustStruct>>,
}

impl Signature {
    /// What the tree's function returns: the elements of the result, then those of the `&mut` parameters.
    pub fn outputs(&self) -> Vec<&RustType> {
        let written = self.params.iter().filter(|p| p.mode == Mode::RefMut);
        let written = written.flat_map(|p| p.ty.leaves());
        self.result.leaves().into_iter().chain(written).collect()
    }
}

impl Converter<'_> {
    /// A type and how a value of it is passed.
    pub(super) fn passed_type(&mut self, ty: &syn::Type) -> Made<(RustType, Mode)> {
        match ty {
            syn::Type::Paren(inner) => self.passed_type(&inner.elem),
            syn::Type::Group(inner) => self.passed_type(&inner.elem),
            syn::Type::Reference(reference) => {
                let mode = if reference.mutability.is_some() { Mode::RefMut } else { Mode::Ref };
                if let syn::Type::Slice(slice) = &*reference.elem {
                    let elem = self.rust_type(&slice.elem)?;
                    let at = self.at(&slice.elem);
                    return Ok((RustType::Slice(Box::new(self.element(elem, at)?)), mode));
                }
                let inner = self.rust_type(&reference.elem)?;
                if matches!(inner, RustType::Tuple(_)) {
                    let at = self.at(ty);
                    return Err(no::REFERENCE_TO_TUPLE.at(at));
                }
                Ok((inner, mode))
            }
            other => Ok((self.rust_type(other)?, Mode::Value)),
        }
    }

    /// A type that is not a reference.
    pub(super) fn rust_type(&mut self, ty: &syn::Type) -> Made<RustType> {
        let at = self.at(ty);
        self.deeper(at, |c| c.rust_type_here(ty, at))
    }

    fn rust_type_here(&mut self, ty: &syn::Type, at: Span) -> Made<RustType> {
        let refused = match ty {
            syn::Type::Paren(inner) => return self.rust_type(&inner.elem),
            syn::Type::Group(inner) => return self.rust_type(&inner.elem),
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => return Ok(RustType::Unit),
            syn::Type::Tuple(tuple) => {
                let elements = tuple.elems.iter().map(|e| self.rust_type(e));
                return elements.collect::<Made<_>>().map(RustType::Tuple);
            }
            syn::Type::Array(array) => {
                let elem = self.rust_type(&array.elem)?;
                let elem = self.element(elem, at)?;
                let length = self.array_length(&array.len)?;
                return Ok(RustType::Array(Box::new(elem), length));
            }
            syn::Type::Path(path) if path.qself.is_none() => return self.path_type(&path.path, at),
            syn::Type::Slice(_) => no::BARE_SLICE.at(at),
            syn::Type::Reference(_) => no::REFERENCE_IN_DATA.at(at),
            syn::Type::Never(_) => no::NEVER_TYPE.at(at),
            syn::Type::ImplTrait(_) | syn::Type::TraitObject(_) => no::TRAIT_TYPE.at(at),
            syn::Type::Ptr(_) => no::POINTER.at(at),
            syn::Type::BareFn(_) => no::FUNCTION_TYPE.at(at),
            syn::Type::Infer(_) => no::INFERRED_TYPE.at(at),
            _ => no::OTHER_TYPE.at(at),
        };
        Err(as_type(refused))
    }

    fn path_type(&mut self, path: &syn::Path, at: Span) -> Made<RustType> {
        let Some(last) = path.segments.last() else { return Err(as_type(no::OTHER_TYPE.at(at))) };
        let name = last.ident.to_string();
        if let (1, Some(alias)) = (path.segments.len(), self.scopes.alias(&name)) {
            return self.rust_type(alias);
        }
        if let Some(found) = self.struct_of(path, at)? {
            return Ok(RustType::Struct(found));
        }
        if let Some(kind) = IntKind::from_name(&name) {
            return Ok(RustType::Int(kind));
        }
        let refused = match name.as_str() {
            "f64" => return Ok(RustType::F64),
            "f32" => return Ok(RustType::F32),
            "bool" => return Ok(RustType::Bool),
            "Vec" => {
                if let syn::PathArguments::AngleBracketed(args) = &last.arguments
                    && let Some(syn::GenericArgument::Type(elem)) = args.args.first()
                {
                    let elem = self.rust_type(elem)?;
                    let elem = self.element(elem, at)?;
                    return Ok(RustType::Vec(Box::new(elem)));
                }
                no::INFERRED_TYPE.at(at)
            }
            "i128" | "u128" => no::WIDE_INTEGER.at(at),
            "char" | "str" | "String" => no::TEXT_TYPE.at(at),
            "Option" | "Result" => no::OPTION_TYPE.at(at),
            "Box" if holds_code(&last.arguments) => no::BOXED_CLOSURE.at(at),
            "Box" | "Rc" | "Arc" | "Cell" | "RefCell" | "Cow" => no::POINTER.at(at),
            "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" | "VecDeque" => no::COLLECTION.at(at),
            name if NDARRAY.contains(&name) => no::NDARRAY.at(at),
            _ if !last.arguments.is_none() => no::GENERIC_STRUCT.at(at),
            _ => no::STRUCT_TYPE.at(at),
        };
        Err(as_type(refused))
    }

    /// A type as that of elements.
    fn element(&mut self, elem: RustType, at: Span) -> Made<RustType> {
        match elem {
            RustType::Tuple(_) | RustType::Unit => Err(as_type(no::ARRAY_OF_TUPLES.at(at))),
            RustType::Struct(_) => Err(as_type(no::ARRAY_OF_STRUCTS.at(at))),
            elem => Ok(elem),
        }
    }

    /// Rows of vectors may differ in length; a caller could pass such ones.
    pub(super) fn no_ragged_rows(&self, ty: &RustType, at: Span) -> Made<()> {
        let inner = match ty {
            RustType::Slice(e) | RustType::Vec(e) | RustType::Array(e, _) => e,
            RustType::Tuple(all) => {
                return all.iter().try_for_each(|ty| self.no_ragged_rows(ty, at));
            }
            RustType::Struct(def) => {
                return def.fields.iter().try_for_each(|f| self.no_ragged_rows(&f.ty, at));
            }
            _ => return Ok(()),
        };
        match **inner {
            RustType::Vec(_) => Err(as_type(no::RAGGED.at(at))),
            _ => self.no_ragged_rows(inner, at),
        }
    }
}

/// Types of crate `ndarray`.
const NDARRAY: &[&str] = &[
    "Array1",
    "Array2",
    "Array3",
    "ArrayView1",
    "ArrayView2",
    "ArrayView3",
    "ArrayViewMut1",
    "ArrayViewMut2",
    "ArrayViewMut3",
];

/// Whether a name is that of a type that is known without a definition, to be taken or refused.
pub fn is_builtin(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "f64", "f32", "bool", "char", "str", "String", "Vec", "i128", "u128", "f16", "f128",
        "Option", "Result", "Box", "Rc", "Arc", "Cell", "RefCell", "Cow", "HashMap", "BTreeMap",
        "HashSet", "BTreeSet", "VecDeque", "Self",
    ];
    IntKind::from_name(name).is_some() || OTHERS.contains(&name) || NDARRAY.contains(&name)
}

/// The error of a type that is not supported.
pub(super) fn as_type(error: Diagnostic) -> Diagnostic {
    Diagnostic { code: "unsupported-type", ..error }
}

/// Whether there is a `dyn` among the arguments of a type.
fn holds_code(arguments: &syn::PathArguments) -> bool {
    let syn::PathArguments::AngleBracketed(args) = arguments else { return false };
    let mut args = args.args.iter();
    args.any(|a| matches!(a, syn::GenericArgument::Type(syn::Type::TraitObject(_))))
}
