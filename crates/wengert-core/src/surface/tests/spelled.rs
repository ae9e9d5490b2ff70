//! The canonical name of each way to write a library function.

use super::{body, errors, module, show};
use crate::surface::names::{CANONICAL, Library, MEMBERS, python_builtin};

#[test]
fn canonical_names_are_listed_once_and_are_final() {
    for (i, (library, member, canonical)) in CANONICAL.iter().enumerate() {
        assert_ne!(member, canonical);
        let again = CANONICAL[..i].iter().any(|row| (row.0, row.1) == (*library, *member));
        assert!(!again, "{member} of {}", library.path());
    }
}

/// Ways to write a function that are not its canonical name, or where it is not plain what it is.
#[rustfmt::skip]
const SPELLINGS: &[(&str, &str)] = &[
    ("np.max", "amax"), ("np.min", "amin"), ("np.amax", "amax"), ("max", "max"), ("min", "min"),
    ("np.sum", "sum"), ("sum", "sum_items"), ("np.prod", "prod"), ("math.prod", "prod_items"), ("math.fsum", "fsum"),
    ("np.linalg.norm", "norm"), ("math.dist", "dist"),
    ("np.trapz", "trapezoid"), ("np.trapezoid", "trapezoid"), ("np.concat", "concatenate"), ("np.row_stack", "vstack"),
    ("np.flatten", "numpy.flatten"), ("np.power", "pow"), ("np.pow", "pow"), ("pow", "pow"),
    ("math.pow", "float_power"), ("np.float_power", "float_power"),
    ("np.remainder", "mod"), ("np.mod", "mod"), ("math.fmod", "fmod"), ("np.fmod", "fmod"), ("math.remainder", "remainder"),
    ("np.absolute", "abs"), ("np.abs", "abs"), ("math.fabs", "abs"), ("abs", "abs"),
    ("np.around", "round"), ("np.rint", "round"), ("round", "int_round"), ("np.fix", "trunc"), ("math.trunc", "int_trunc"),
    ("math.floor", "int_floor"), ("math.ceil", "int_ceil"), ("np.floor", "floor"), ("np.ceil", "ceil"),
    ("np.arcsin", "asin"), ("np.asin", "asin"), ("math.asin", "asin"), ("np.arccos", "acos"), ("np.arctan", "atan"),
    ("np.arctan2", "atan2"), ("math.atan2", "atan2"), ("np.arcsinh", "asinh"), ("np.arccosh", "acosh"),
    ("np.arctanh", "atanh"), ("np.deg2rad", "radians"), ("np.rad2deg", "degrees"), ("math.radians", "radians"),
    ("np.float64", "float"), ("np.double", "float"), ("wengert.f64", "float"), ("float", "float"),
    ("np.float32", "float32"), ("np.single", "float32"), ("wengert.f32", "float32"),
    ("np.int64", "int"), ("np.bool_", "bool"), ("np.bool", "bool"),
    ("math.lgamma", "lgamma"), ("special.gammaln", "lgamma"), ("wengert.lgamma", "lgamma"),
    ("special.expit", "sigmoid"), ("wengert.sigmoid", "sigmoid"), ("special.ndtr", "normcdf"),
    ("special.ndtri", "norminv"), ("special.psi", "digamma"), ("special.digamma", "digamma"),
    ("scipy.special.polygamma", "polygamma"), ("special.logsumexp", "logsumexp"), ("special.softmax", "softmax"),
    ("special.xlogy", "xlogy"), ("special.erf", "erf"), ("math.erf", "erf"), ("wengert.erfc", "erfc"),
    ("np.logaddexp", "logaddexp"), ("wengert.stop_gradient", "stop_gradient"),
    // What a library does not have is not what another has by that name.
    ("np.erf", "numpy.erf"), ("math.zeros", "math.zeros"), ("np.len", "numpy.len"), ("np.range", "numpy.range"),
    ("np.float", "numpy.float"), ("np.linalg.trace", "numpy.linalg.trace"), ("wengert.sin", "wengert.sin"),
    ("np.something", "numpy.something"), ("np.linalg.inv", "numpy.linalg.inv"),
];

#[test]
fn spellings_and_their_canonical_names() {
    let head =
        "import math, wengert, scipy.special\nimport numpy as np\nfrom scipy import special\n";
    for (text, canonical) in SPELLINGS {
        let source = format!("{head}def f(x): return {text}(x), {text}\n");
        let expected = format!("(return (${canonical} x) ${canonical})");
        assert_eq!(show(&module(&source).functions[0].body), expected, "{text}");
    }
    for text in [
        "from scipy.special import erf, gammaln, digamma, polygamma, expit, logsumexp, softmax, ndtr, ndtri, xlogy",
        "import scipy.special as sp",
        "import scipy",
        "from numpy import linalg, random, typing",
        "from wengert import fixed_point, random, parallel, solve, checkpoint, custom_vjp",
        "from typing import Annotated\nimport typing as t",
    ] {
        module(text);
    }
    let sp = "import scipy.special as sp\nfrom scipy.special import gammaln as g\ndef f(x): return sp.expit(g(x))\n";
    assert_eq!(show(&module(sp).functions[0].body), "(return ($sigmoid ($lgamma x)))");
    assert_eq!(errors("def f(x): return scipy.special.erf(x)\n")[0].code, "unknown-name");
}

#[test]
fn members_are_listed_once_and_under_their_own_name() {
    for (k, (library, members)) in MEMBERS.iter().enumerate() {
        assert!(MEMBERS[..k].iter().all(|(l, _)| l != library));
        for (i, member) in members.iter().enumerate() {
            assert!(!members[..i].contains(member), "{member}");
            assert_eq!(library.canonical(member), *member);
            assert!(!CANONICAL.iter().any(|row| row.0 == *library && row.1 == *member), "{member}");
        }
    }
    assert_eq!(python_builtin("round").as_deref(), Some("int_round"));
    assert_eq!(python_builtin("sin"), None);
    assert_eq!(Library::from_path("builtins"), None);
    assert_eq!(body("return np.newaxis"), "(return $newaxis)");
}
