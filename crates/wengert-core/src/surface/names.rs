//! Library names: what an import binds, and the canonical name of each library function.
//!
//! [`Imports`] maps the names a program uses to libraries and their members. Lowering never sees
//! where a name came from, so two names may share a canonical one only if they mean the same
//! thing. [`MEMBERS`] lists what each library has under its canonical name, [`CANONICAL`] what goes
//! by another; `reserved` names what a coming release brings.

use std::collections::BTreeMap;

/// A library whose members can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Library {
    /// What Python has without an import.
    Python,
    /// `numpy`
    Numpy,
    /// `math`
    Math,
    /// `wengert` itself
    Wengert,
    /// `scipy.special`
    Special,
    /// `numpy.linalg`
    Linalg,
    /// `numpy.typing`, for annotations
    NumpyTyping,
    /// `typing`, for annotations
    Typing,
    /// `scipy`, on the way to `scipy.special`
    Scipy,
    /// `numpy.random`, whose members are reserved
    NumpyRandom,
    /// `random`, whose members are reserved
    Random,
    /// `wengert.random`, whose members are reserved
    WengertRandom,
}

use Library::{Linalg, Math, Numpy, NumpyTyping, Python, Special, Wengert};

/// Every library with its dotted path.
const PATHS: &[(Library, &str)] = &[
    (Python, "builtins"),
    (Numpy, "numpy"),
    (Math, "math"),
    (Wengert, "wengert"),
    (Special, "scipy.special"),
    (Linalg, "numpy.linalg"),
    (NumpyTyping, "numpy.typing"),
    (Library::Typing, "typing"),
    (Library::Scipy, "scipy"),
    (Library::NumpyRandom, "numpy.random"),
    (Library::Random, "random"),
    (Library::WengertRandom, "wengert.random"),
];

impl Library {
    /// The library imported by this dotted path.
    pub fn from_path(path: &str) -> Option<Library> {
        let found = PATHS.iter().find(|(_, known)| *known == path);
        found.map(|(library, _)| *library).filter(|library| *library != Python)
    }

    /// Its dotted path.
    pub fn path(self) -> &'static str {
        PATHS.iter().find(|(library, _)| *library == self).map_or("", |(_, path)| path)
    }

    /// The library inside this one that a member is, as `numpy.linalg` is inside `numpy`.
    pub fn inner(self, member: &str) -> Option<Library> {
        Library::from_path(&format!("{}.{member}", self.path()))
    }

    /// The canonical name of a member.
    ///
    /// What no table lists keeps its own name, unless that is the canonical name of something else:
    /// then it is called by its path, and lowering will not know it. So is what is reserved.
    pub fn canonical(self, member: &str) -> String {
        let renamed = CANONICAL.iter().find(|row| row.0 == self && row.1 == member);
        if let Some((_, _, canonical)) = renamed {
            return (*canonical).to_owned();
        }
        let path = format!("{}.{member}", self.path());
        let listed = MEMBERS.iter().any(|(l, members)| *l == self && members.contains(&member));
        if !listed && (reserved(&path).is_some() || spellings(member).next().is_some()) {
            return path;
        }
        member.to_owned()
    }
}

/// The libraries and members that have this canonical name, plainest first.
pub(super) fn spellings(canonical: &str) -> impl Iterator<Item = (Library, &'static str)> {
    PATHS.iter().flat_map(move |(library, _)| {
        let listed = MEMBERS.iter().filter(move |(l, _)| l == library);
        let listed = listed.flat_map(|(_, members)| members.iter().copied());
        let listed = listed.filter(move |member| *member == canonical);
        let renamed = CANONICAL.iter().filter(move |row| row.0 == *library && row.2 == canonical);
        listed.chain(renamed.map(|row| row.1)).map(|member| (*library, member))
    })
}

/// The way out today of a name that a coming release brings, by its full path.
pub(super) fn reserved(path: &str) -> Option<&'static str> {
    RESERVED.iter().find(|(start, _)| path.starts_with(start)).map(|(_, help)| *help)
}

/// The beginnings of reserved paths, and the ways out.
#[rustfmt::skip]
const RESERVED: &[(&str, &str)] = &[
    ("wengert.fixed_point", "write the iteration as a `while` loop; its derivative is that of the steps taken"),
    ("wengert.parallel",    "write `range`: the loop means the same, run in order"),
    ("wengert.solve",       "write the elimination as a loop over the columns, or solve outside and pass the result"),
    ("numpy.linalg.solve",  "write the elimination as a loop over the columns, or solve outside and pass the result"),
    ("wengert.checkpoint",  "leave it out: the function means the same, and keeps what its derivative needs"),
    ("wengert.custom_vjp",  "leave it out: the derivative is that of what the function computes"),
    ("wengert.random",      "draw the numbers outside, and pass them as an array"),
    ("numpy.random.",       "draw the numbers outside, and pass them as an array"),
    ("random.",             "draw the numbers outside, and pass them as an array"),
];

/// Members that go by their own name. Any other is left for lowering to report.
#[rustfmt::skip]
pub const MEMBERS: &[(Library, &[&str])] = &[
    (Python, &[
        "abs", "all", "any", "bool", "divmod", "enumerate", "float", "int", "len", "list", "max", "min",
        "pow", "print", "range", "reversed", "sorted", "tuple", "zip",
    ]),
    (Math, &[
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cos", "cosh",
        "degrees", "dist", "e", "erf", "erfc", "exp", "exp2", "expm1", "fmod", "fsum", "gamma", "hypot",
        "inf", "isfinite", "isinf", "isnan", "lgamma", "log", "log10", "log1p", "log2", "nan", "pi",
        "radians", "remainder", "sin", "sinh", "sqrt", "tan", "tanh", "tau",
    ]),
    (Numpy, &[
        "abs", "acos", "acosh", "all", "amax", "amin", "any", "arange", "argmax", "argmin", "argsort",
        "array", "asarray", "asin", "asinh", "atan", "atan2", "atanh", "bool", "broadcast_to", "cbrt",
        "ceil", "clip", "concatenate", "copy", "copysign", "cos", "cosh", "cumprod", "cumsum", "degrees", "diag",
        "diff", "dot", "e", "einsum", "empty", "empty_like", "exp", "exp2", "expand_dims", "expm1", "eye",
        "flip", "float32", "float_power", "floor", "fmod", "full", "full_like", "heaviside", "hstack",
        "hypot", "identity", "inf", "inner", "interp", "isfinite", "isinf", "isnan", "linspace", "log",
        "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor",
        "matmul", "maximum", "mean", "minimum", "mod", "moveaxis", "nan", "ndarray", "newaxis", "ones",
        "ones_like", "outer", "pi", "pow", "prod", "radians", "ravel", "repeat", "reshape", "roll",
        "round", "searchsorted", "sign", "sin", "sinh", "sort", "sqrt", "square", "squeeze", "stack",
        "std", "sum", "swapaxes", "take", "tan", "tanh", "tile", "trace", "transpose", "trapezoid",
        "trunc", "var", "vdot", "vstack", "where", "zeros", "zeros_like",
    ]),
    (Linalg, &["norm"]),
    (NumpyTyping, &["NDArray"]),
    (Special, &[
        "cbrt", "digamma", "erf", "erfc", "exp2", "expm1", "gamma", "log1p", "logsumexp", "polygamma",
        "softmax", "softplus", "xlogy",
    ]),
    (Wengert, &[
        "digamma", "erf", "erfc", "lgamma", "logaddexp", "logsumexp", "normcdf", "norminv", "polygamma",
        "relu", "sigmoid", "softmax", "softplus", "stop_gradient", "xlogy",
    ]),
];

/// Members whose canonical name is not their own: library, member, canonical name.
///
/// Either two spellings mean the same (`arcsin` and `asin`), or one spelling means two things:
/// - Python's `max(a, b)` picks the larger argument, NumPy's `max(a, b)` reduces along axis `b`:
///   the reductions are `amax` and `amin`.
/// - Python's `sum(x)` and `math.prod(x)` go over the items of `x`, which are the rows of a matrix, and
///   take a start; NumPy's go over all elements and take an axis: Python's are `sum_items` and
///   `prod_items`.
/// - Python's `math.floor(x)` and `round(x)` are integers, NumPy's are floats: the integer ones are
///   `int_floor`, `int_ceil`, `int_trunc` and `int_round`.
/// - `math.pow` is a float also of integers, as NumPy's `float_power` is.
/// - NumPy's `remainder` is Python's `%`; `math.remainder` is the one of IEEE 754.
#[rustfmt::skip]
pub const CANONICAL: &[(Library, &str, &str)] = &[
    (Python,  "round",      "int_round"),
    (Python,  "sum",        "sum_items"),
    (Math,    "floor",      "int_floor"),
    (Math,    "ceil",       "int_ceil"),
    (Math,    "trunc",      "int_trunc"),
    (Math,    "fabs",       "abs"),
    (Math,    "pow",        "float_power"),
    (Math,    "prod",       "prod_items"),
    (Numpy,   "max",        "amax"),
    (Numpy,   "min",        "amin"),
    (Numpy,   "around",     "round"),
    (Numpy,   "rint",       "round"),
    (Numpy,   "fix",        "trunc"),
    (Numpy,   "remainder",  "mod"),
    (Numpy,   "absolute",   "abs"),
    (Numpy,   "fabs",       "abs"),
    (Numpy,   "power",      "pow"),
    (Numpy,   "arcsin",     "asin"),
    (Numpy,   "arccos",     "acos"),
    (Numpy,   "arctan",     "atan"),
    (Numpy,   "arctan2",    "atan2"),
    (Numpy,   "arcsinh",    "asinh"),
    (Numpy,   "arccosh",    "acosh"),
    (Numpy,   "arctanh",    "atanh"),
    (Numpy,   "deg2rad",    "radians"),
    (Numpy,   "rad2deg",    "degrees"),
    (Numpy,   "trapz",      "trapezoid"),
    (Numpy,   "concat",     "concatenate"),
    (Numpy,   "row_stack",  "vstack"),
    (Numpy,   "float64",    "float"),
    (Numpy,   "double",     "float"),
    (Numpy,   "single",     "float32"),
    (Numpy,   "int64",      "int"),
    (Numpy,   "intp",       "int"),
    (Numpy,   "bool_",      "bool"),
    (Special, "gammaln",    "lgamma"),
    (Special, "psi",        "digamma"),
    (Special, "expit",      "sigmoid"),
    (Special, "ndtr",       "normcdf"),
    (Special, "ndtri",      "norminv"),
    (Wengert, "f64",        "float"),
    (Wengert, "f32",        "float32"),
];

/// The canonical name of what Python calls `name` without an import.
pub fn python_builtin(name: &str) -> Option<String> {
    let listed = MEMBERS.iter().any(|(l, members)| *l == Python && members.contains(&name));
    let known = listed || CANONICAL.iter().any(|row| row.0 == Python && row.1 == name);
    known.then(|| Python.canonical(name))
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
        let binding = match library.inner(member) {
            Some(inner) => Binding::Library(inner),
            None => Binding::Member(library.canonical(member)),
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
