//! Declared types of parameters.
//!
//! Python does nothing with an annotation, so one that says something else than the types we know is
//! not an error: it is ignored.

use ruff_python_ast::Expr as Py;
use ruff_python_parser::parse_expression;
use ruff_text_size::Ranged;

use super::{Converter, nesting, span};
use crate::ops::Elem;
use crate::surface::names::Binding;
use crate::surface::tree::{Annotation, DeclaredType};

/// How deep types may be written inside each other: `list[list[float]]` is two.
const MAX_TYPES: u32 = 16;

impl Converter<'_> {
    /// The declared type, where it is one of ours.
    pub(super) fn annotation(&self, annotation: &Py) -> Option<Annotation> {
        let ty = match annotation {
            Py::StringLiteral(text) => {
                let text = text.value.to_str();
                nesting::check(text).ok()?;
                self.declared(parse_expression(text).ok()?.expr(), MAX_TYPES)
            }
            annotation => self.declared(annotation, MAX_TYPES),
        };
        Some(Annotation { ty: ty?, span: span(annotation.range()) })
    }

    fn declared(&self, ty: &Py, depth: u32) -> Option<DeclaredType> {
        if let Py::Subscript(subscript) = ty {
            return self.array_of(&subscript.value, &subscript.slice, depth.checked_sub(1)?);
        }
        Some(match self.type_name(ty)?.as_str() {
            "float" | "f64" => DeclaredType::F64,
            "float32" | "f32" => DeclaredType::F32,
            "int" => DeclaredType::I64,
            "bool" => DeclaredType::Bool,
            "ndarray" | "NDArray" => DeclaredType::Array(None),
            "list" | "List" => DeclaredType::List(None),
            _ => return None,
        })
    }

    /// `NDArray[np.float32]`, `np.ndarray[Any, np.dtype[np.float32]]` or `list[float]`.
    fn array_of(&self, array: &Py, inner: &Py, depth: u32) -> Option<DeclaredType> {
        let name = self.type_name(array)?;
        let elements = match (name.as_str(), inner) {
            ("NDArray" | "list" | "List", inner) => self.declared(inner, depth),
            ("ndarray", Py::Tuple(tuple)) => match tuple.elts.as_slice() {
                [_, Py::Subscript(dtype)] if self.type_name(&dtype.value)? == "dtype" => {
                    self.declared(&dtype.slice, depth)
                }
                _ => None,
            },
            ("ndarray", _) => None,
            _ => return None,
        };
        // A list of arrays is one of lists: what Python does to the rows of either is not done to the whole.
        let list = name != "NDArray" && name != "ndarray";
        let elements = match elements {
            Some(DeclaredType::F64) => Some(Elem::F64),
            Some(DeclaredType::F32) => Some(Elem::F32),
            Some(DeclaredType::I64) => Some(Elem::I64),
            Some(DeclaredType::Bool) => Some(Elem::Bool),
            Some(DeclaredType::Array(elements) | DeclaredType::List(elements)) => elements,
            None => None,
        };
        Some(if list { DeclaredType::List(elements) } else { DeclaredType::Array(elements) })
    }

    /// The canonical name of a type.
    fn type_name(&self, ty: &Py) -> Option<String> {
        match ty {
            Py::Name(name) if self.is_defined(&name.id) => None,
            Py::Name(name) => match self.binding(&name.id) {
                Some(Binding::Member(member)) => Some(member.clone()),
                Some(Binding::Library(_)) => None,
                None => Some(name.id.to_string()),
            },
            Py::Attribute(attribute) => self.library_member(attribute).ok()?,
            _ => None,
        }
    }
}
