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
    /// What no table lists is called by its path, and lowering will not know it. What is only good for
    /// annotations keeps its own name.
    pub fn canonical(self, member: &str) -> String {
        let renamed = CANONICAL.iter().find(|row| row.0 == self && row.1 == member);
        if let Some((_, _, canonical)) = renamed {
            return (*canonical).to_owned();
        }
        let listed = MEMBERS.iter().any(|(l, members)| *l == self && members.contains(&member));
        if listed || matches!(self, Library::Typing | NumpyTyping) {
            return member.to_owned();
        }
        format!("{}.{member}", self.path())
    }

    /// The members there are, under any name.
    pub fn members(self) -> impl Iterator<Item = &'static str> {
        let listed = MEMBERS.iter().filter(move |(l, _)| *l == self);
        let listed = listed.flat_map(|(_, members)| members.iter().copied());
        listed.chain(CANONICAL.iter().filter(move |row| row.0 == self).map(|row| row.1))
    }
}

/// The name people know a function by, of which this is the canonical one.
pub fn shown(canonical: &str) -> &str {
    match canonical {
        "amax" => "max",
        "amin" => "min",
        _ => spellings(canonical).next().map_or(canonical, |(_, member)| member),
    }
}

/// What to write instead of a function that is not there, by its full path or its canonical name.
pub fn instead(name: &str) -> Option<&'static str> {
    INSTEAD.iter().find(|(names, _)| names.contains(&name)).map(|(_, help)| *help)
}

/// Well-known functions that are not there, and the ways out.
#[rustfmt::skip]
const INSTEAD: &[(&[&str], &str)] = &[
    (&["print"], "return the value instead: `return x, y` gives several"),
    (&["parallel"], "it goes around the range of a loop: `for i in wengert.parallel(range(n)):`"),
    (&["gamma"], "write `math.exp(math.lgamma(x))`, which it is for positive x"),
    (&["remainder"], "write `x - y * np.round(x / y)`, or `x % y`"),
    (&["numpy.linalg.inv", "numpy.linalg.pinv"],
        "solve with it instead, by an elimination written as a loop over the columns"),
    (&["numpy.linalg.det", "numpy.linalg.slogdet"],
        "eliminate in a loop over the columns, and multiply what stands on the diagonal"),
    (&["numpy.linalg.cholesky", "numpy.linalg.qr"],
        "write the decomposition as loops over rows and columns"),
    (&["numpy.linalg.eig", "numpy.linalg.eigh", "numpy.linalg.eigvals", "numpy.linalg.eigvalsh", "numpy.linalg.svd"],
        "write the iteration as a loop, as `v = A @ v / np.linalg.norm(A @ v)` for the largest"),
    (&["numpy.linalg.lstsq", "numpy.linalg.matrix_power"],
        "write it as a loop of products and eliminations"),
    (&["numpy.append", "numpy.insert", "numpy.delete"],
        "allocate the array before, `x = np.zeros(n)`, and assign its elements"),
    (&["numpy.vectorize", "numpy.apply_along_axis", "numpy.fromfunction", "numpy.fromiter"],
        "call the function on the whole array, or on its elements in a loop"),
    (&["numpy.argwhere", "numpy.nonzero", "numpy.flatnonzero", "numpy.unique", "numpy.extract", "numpy.compress"],
        "how many there are is known only when it runs: keep the shape, `np.where(mask, x, 0.0)`"),
    (&["numpy.percentile", "numpy.quantile"], "sort, and take the place: `np.sort(x)[k]`"),
    (&["numpy.average"], "write `np.sum(w * x) / np.sum(w)`"),
    (&["numpy.allclose", "numpy.isclose"], "write `np.all(np.abs(x - y) < 1e-8)`"),
    (&["numpy.array_equal"], "write `np.all(x == y)`"),
    (&["numpy.nansum", "numpy.nanmean", "numpy.nanmax", "numpy.nanmin"],
        "replace NaN first: `np.where(np.isnan(x), 0.0, x)`"),
    (&["numpy.meshgrid", "numpy.mgrid", "numpy.ogrid", "numpy.indices"],
        "use broadcasting: `x[:, None]` and `y[None, :]`"),
    (&["numpy.kron"], "write `(a[:, None, :, None] * b[None, :, None, :]).reshape(m, n)`"),
    (&["numpy.sinc"], "write `np.sin(np.pi * x) / (np.pi * x)`, and 1 where x is 0"),
    (&["numpy.split", "numpy.array_split", "numpy.hsplit", "numpy.vsplit"], "take slices: `x[:n]` and `x[n:]`"),
    (&["numpy.column_stack", "numpy.dstack"], "write `np.stack([a, b], axis=1)`"),
    (&["numpy.pad"], "allocate the larger array, `y = np.zeros(n + 2)`, and assign `y[1:-1] = x`"),
    (&["numpy.gradient"], "write the differences of slices: `(x[2:] - x[:-2]) / 2`"),
    (&["numpy.polyval"], "write Horner's rule as a loop"),
    (&["numpy.ix_"], "index one axis after the other: `x[i][:, j]`"),
    (&["numpy.complex64", "numpy.complex128", "numpy.angle", "numpy.conj", "numpy.real", "numpy.imag"],
        "use two floats: the real and the imaginary part"),
];

/// The known name that is most likely meant by one that is not known: few letters are different for its length,
/// or only the number behind it.
///
/// ```
/// use wengert_core::surface::names::nearest;
///
/// assert_eq!(nearest("linspcae", ["linspace", "logspace"]), Some("linspace"));
/// assert_eq!(nearest("x", ["a", "x0"]), Some("x0"));
/// assert_eq!(nearest("det", ["dot", "dep"]), None);
/// ```
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let word = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase();
    let near = known.into_iter().filter(|k| *k != name).filter_map(|k| {
        let letters = name.chars().count().max(k.chars().count());
        let apart = distance(&name.to_lowercase(), &k.to_lowercase());
        (apart <= letters / 4 || word(name) == word(k)).then_some((apart, k))
    });
    near.min_by_key(|(apart, _)| *apart).map(|(_, k)| k)
}

/// How many letters are added, dropped, changed or swapped with the next between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Rows of the table: what two letters ago, one letter ago and now would cost.
    let (mut before, mut last) = (Vec::new(), (0..=b.len()).collect::<Vec<usize>>());
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let changed = last[j] + usize::from(a[i] != b[j]);
            let mut least = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                let two_ago: &Vec<usize> = &before;
                least = least.min(two_ago[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
#[cfg(feature = "python")]
pub(super) fn reserved(path: &str) -> Option<&'static str> {
    RESERVED.iter().find(|(start, _)| path.starts_with(start)).map(|(_, help)| *help)
}

/// The beginnings of reserved paths, and the ways out.
#[cfg(feature = "python")]
#[rustfmt::skip]
const RESERVED: &[(&str, &str)] = &[
    ("wengert.fixed_point", "write the iteration as a `while` loop; its derivative is that of the steps taken"),
    ("wengert.solve",       "write the elimination as a loop over the columns, or solve outside and pass the result"),
    ("numpy.linalg.solve",  "write the elimination as a loop over the columns, or solve outside and pass the result"),
    ("wengert.checkpoint",  "leave it out: the function means the same, and keeps what its derivative needs"),
    ("wengert.custom_vjp",  "leave it out: the derivative is that of what the function computes"),
    ("wengert.random",      "draw the numbers outside, and pass them as an array"),
    ("numpy.random.",       "draw the numbers outside, and pass them as an array"),
    ("random.",             "draw the numbers outside, and pass them as an array"),
];

/// Around an index: it is never counted from the end. Only front ends write it, and only as an index.
pub const EXACT_INDEX: &str = "rust.index";

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
        "inf", "isfinite", "isinf", "isnan", "lgamma", "log10", "log1p", "log2", "nan", "pi",
        "radians", "remainder", "sin", "sinh", "sqrt", "tan", "tanh", "tau",
    ]),
    (Numpy, &[
        "abs", "acos", "acosh", "add", "all", "amax", "amin", "any", "arange", "argmax", "argmin", "argsort",
        "array", "asarray", "asin", "asinh", "atan", "atan2", "atanh", "bool", "broadcast_to", "cbrt",
        "ceil", "clip", "concatenate", "convolve", "copy", "copysign", "cos", "cosh", "cross", "cumprod", "cumsum",
        "degrees", "diag", "diff", "divide", "dot", "dtype", "e", "einsum", "empty", "empty_like", "exp", "exp2", "expand_dims", "expm1", "eye",
        "flip", "float32", "float_power", "floor", "floor_divide", "fmod", "full", "full_like", "heaviside", "hstack",
        "hypot", "identity", "inf", "inner", "interp", "isfinite", "isinf", "isnan", "linspace", "log",
        "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor",
        "matmul", "maximum", "mean", "median", "minimum", "mod", "moveaxis", "multiply", "nan", "ndarray", "ndim",
        "negative", "newaxis", "ones",
        "ones_like", "outer", "pi", "pow", "prod", "radians", "ravel", "repeat", "reshape", "roll",
        "round", "searchsorted", "shape", "sign", "sin", "sinh", "size", "sort", "sqrt", "square", "squeeze", "stack",
        "std", "subtract", "sum", "swapaxes", "take", "tan", "tanh", "tensordot", "tile", "trace", "transpose",
        "trapezoid", "tril", "triu", "trunc", "var", "vdot", "vstack", "where", "zeros", "zeros_like",
    ]),
    (Linalg, &["norm"]),
    (NumpyTyping, &["NDArray"]),
    (Special, &[
        "cbrt", "digamma", "erf", "erfc", "exp2", "expm1", "gamma", "log1p", "logsumexp", "polygamma",
        "softmax", "softplus", "xlogy",
    ]),
    (Wengert, &[
        "digamma", "erf", "erfc", "lgamma", "logaddexp", "logsumexp", "normcdf", "norminv", "parallel", "polygamma",
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
/// - `math.log` takes a base.
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
    (Math,    "log",        "log_of_base"),
    (Math,    "pow",        "float_power"),
    (Math,    "prod",       "prod_items"),
    (Numpy,   "max",        "amax"),
    (Numpy,   "min",        "amin"),
    (Numpy,   "around",     "round"),
    (Numpy,   "rint",       "round"),
    (Numpy,   "fix",        "trunc"),
    (Numpy,   "remainder",  "mod"),
    (Numpy,   "absolute",   "abs"),
    (Numpy,   "true_divide", "divide"),
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
