//! Library names: what an import binds, and the canonical name of each library function.
//!
//! [`Imports`] maps the names a program uses to libraries and their members. Lowering never sees
//! where a name came from, so two names may share a canonical one only if they mean the same
//! thing; the table [`CANONICAL`] holds every member whose canonical name is not its own.

use std::collections::BTreeMap;

/// A library whose members can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// What Python has without an import.
    Python,
    /// `math`
    Math,
    /// `numpy`
    Numpy,
    /// `numpy.linalg`
    Linalg,
    /// `wengert` itself
    Wengert,
}

use Library::{Math, Numpy, Python};

impl Library {
    /// The library imported by this dotted path.
    pub fn from_path(path: &str) -> Option<Library> {
        Some(match path {
            "math" => Library::Math,
            "numpy" => Library::Numpy,
            "numpy.linalg" => Library::Linalg,
            "wengert" => Library::Wengert,
            _ => return None,
        })
    }

    /// Its dotted path.
    pub fn path(self) -> &'static str {
        match self {
            Library::Python => "builtins",
            Library::Math => "math",
            Library::Numpy => "numpy",
            Library::Linalg => "numpy.linalg",
            Library::Wengert => "wengert",
        }
    }

    /// The canonical name of a member.
    pub fn canonical(self, member: &str) -> &str {
        CANONICAL
            .iter()
            .find(|(library, name, _)| *library == self && *name == member)
            .map_or(member, |(_, _, canonical)| canonical)
    }
}

/// Members whose canonical name is not their own: library, member, canonical name.
///
/// Either two spellings mean the same (`arcsin` and `asin`), or one spelling means two things:
/// - Python's `max(a, b)` picks the larger argument, NumPy's `max(a, b)` reduces along axis `b`:
///   the reductions are `amax` and `amin`.
/// - Python's `math.floor(x)` and `round(x)` are integers, NumPy's are floats: the integer ones are
///   `int_floor`, `int_ceil`, `int_trunc` and `int_round`.
/// - NumPy's `remainder` is Python's `%`; `math.remainder` is the one of IEEE 754.
#[rustfmt::skip]
pub const CANONICAL: &[(Library, &str, &str)] = &[
    (Python, "round",      "int_round"),
    (Math,   "floor",      "int_floor"),
    (Math,   "ceil",       "int_ceil"),
    (Math,   "trunc",      "int_trunc"),
    (Math,   "fabs",       "abs"),
    (Numpy,  "max",        "amax"),
    (Numpy,  "min",        "amin"),
    (Numpy,  "around",     "round"),
    (Numpy,  "rint",       "round"),
    (Numpy,  "fix",        "trunc"),
    (Numpy,  "remainder",  "mod"),
    (Numpy,  "absolute",   "abs"),
    (Numpy,  "fabs",       "abs"),
    (Numpy,  "power",      "pow"),
    (Numpy,  "arcsin",     "asin"),
    (Numpy,  "arccos",     "acos"),
    (Numpy,  "arctan",     "atan"),
    (Numpy,  "arctan2",    "atan2"),
    (Numpy,  "arcsinh",    "asinh"),
    (Numpy,  "arccosh",    "acosh"),
    (Numpy,  "arctanh",    "atanh"),
    (Numpy,  "deg2rad",    "radians"),
    (Numpy,  "rad2deg",    "degrees"),
    (Numpy,  "float64",    "float"),
    (Numpy,  "double",     "float"),
    (Numpy,  "single",     "float32"),
    (Numpy,  "int64",      "int"),
    (Numpy,  "intp",       "int"),
    (Numpy,  "bool_",      "bool"),
];

/// The names Python has without an import that mean a library function or type here. Any other
/// unknown name is left for lowering to report.
#[rustfmt::skip]
const PYTHON_NAMES: &[&str] = &[
    "abs", "all", "any", "bool", "divmod", "enumerate", "float", "int", "len", "list", "max", "min",
    "pow", "print", "range", "reversed", "round", "sorted", "sum", "tuple", "zip",
];

/// The canonical name of what Python calls `name` without an import.
pub fn python_builtin(name: &str) -> Option<&str> {
    PYTHON_NAMES.contains(&name).then(|| Library::Python.canonical(name))
}

/// What an imported name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// A library, whose members are reached with a dot.
    Library(Library),
    /// A member of one, by its canonical name.
    Member(String),
}

/// The path of an import that is not one of the known libraries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be imported into differentiable code")]
pub struct UnknownLibrary(pub String);

/// The names imported into a program.
///
/// A file says what it imports. The source of a single function does not: whoever reads it says
/// what the names around it mean.
///
/// ```
/// # use wengert_core::surface::{Imports, python};
/// let mut imports = Imports::default();
/// imports.library("numpy", Some("np"))?;
/// imports.member("math", "sqrt", None)?;
/// assert!(python::parse_with("def f(x):\n    return np.sin(sqrt(x))\n", imports).is_ok());
/// # Ok::<(), wengert_core::surface::names::UnknownLibrary>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imports {
    bindings: BTreeMap<String, Binding>,
}

impl Imports {
    /// `import path` or `import path as alias`. Returns the name that is now bound.
    pub fn library(&mut self, path: &str, alias: Option<&str>) -> Result<String, UnknownLibrary> {
        let library = Library::from_path(path).ok_or_else(|| UnknownLibrary(path.to_owned()))?;
        // `import numpy.linalg` binds `numpy`.
        let root = path.split('.').next().unwrap_or(path);
        let (name, bound) = match alias {
            Some(alias) => (alias, library),
            None => (root, Library::from_path(root).unwrap_or(library)),
        };
        Ok(self.bind(name, Binding::Library(bound)))
    }

    /// `from path import member` or `from path import member as alias`. Returns the name that is
    /// now bound.
    pub fn member(
        &mut self,
        path: &str,
        member: &str,
        alias: Option<&str>,
    ) -> Result<String, UnknownLibrary> {
        let library = Library::from_path(path).ok_or_else(|| UnknownLibrary(path.to_owned()))?;
        let binding = match Library::from_path(&format!("{path}.{member}")) {
            Some(inner) => Binding::Library(inner),
            None => Binding::Member(library.canonical(member).to_owned()),
        };
        Ok(self.bind(alias.unwrap_or(member), binding))
    }

    /// What a name stands for, if it was imported.
    pub fn get(&self, name: &str) -> Option<&Binding> {
        self.bindings.get(name)
    }

    fn bind(&mut self, name: &str, binding: Binding) -> String {
        self.bindings.insert(name.to_owned(), binding);
        name.to_owned()
    }
}
