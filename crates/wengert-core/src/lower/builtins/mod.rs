//! Library functions, methods and attributes.
//!
//! Rows of the rule table work on numbers and, element by element, on arrays. What else NumPy has is made
//! of array operations in [`crate::arrays`]; here its arguments are read.
//!
//! Reading order: the table below, [`arguments`], [`numbers`], then the others.

mod arguments;
mod exact;
mod make;
mod methods;
mod numbers;
mod reduce;
mod shapes;

use super::operand::Operand;
use super::{Lowered, Lowering, functions};
use crate::span::{Diagnostic, Span};
use crate::surface::names::{Library, instead, nearest, shown};
use crate::surface::tree::{Expr, Keyword};
use arguments::{Argument, Given, arrange};

/// How a function is lowered, its arguments in the order of its parameters.
type Lower = fn(&mut Lowering, &Given) -> Lowered<Operand>;

/// Functions of arrays: canonical name, parameters, and how they are lowered. A `?` marks a parameter that can be
/// left out, a `*` all further arguments by position.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &[&str], Lower)] = &[
    ("abs", &["x"], |l, g| l.absolute(g)),
    ("float", &["x"], |l, g| l.float_of(g)),
    ("bool", &["x"], |l, g| l.truth_of(g)),
    ("float32", &["x"], |l, g| l.float_of(g)),
    ("int", &["x"], |l, g| l.integer_of(g)),
    ("int_trunc", &["x"], |l, g| l.integer_of(g)),
    ("int_floor", &["x"], |l, g| l.integer_of(g)),
    ("int_ceil", &["x"], |l, g| l.integer_of(g)),
    ("int_round", &["number"], |l, g| l.integer_of(g)),
    ("round", &["a"], |l, g| l.rounded(g)),
    ("min", &["*"], |l, g| l.extreme(g)),
    ("max", &["*"], |l, g| l.extreme(g)),
    ("minimum", &["x1", "x2"], |l, g| l.extreme_of_two(g)),
    ("maximum", &["x1", "x2"], |l, g| l.extreme_of_two(g)),
    ("pow", &["x1", "x2"], |l, g| l.power_or_rest(g)),
    ("float_power", &["x1", "x2"], |l, g| l.power_or_rest(g)),
    ("mod", &["x1", "x2"], |l, g| l.power_or_rest(g)),
    ("divmod", &["x1", "x2"], |l, g| l.divided(g)),
    ("log_of_base", &["x", "base?"], |l, g| l.logarithm(g)),
    ("add", &["x1", "x2"], |l, g| l.arithmetic_of_two(g)),
    ("subtract", &["x1", "x2"], |l, g| l.arithmetic_of_two(g)),
    ("multiply", &["x1", "x2"], |l, g| l.arithmetic_of_two(g)),
    ("divide", &["x1", "x2"], |l, g| l.arithmetic_of_two(g)),
    ("floor_divide", &["x1", "x2"], |l, g| l.arithmetic_of_two(g)),
    ("negative", &["x"], |l, g| l.opposite(g)),
    ("square", &["x"], |l, g| l.squared(g)),
    ("isnan", &["x"], |l, g| l.classified(g)),
    ("isinf", &["x"], |l, g| l.classified(g)),
    ("isfinite", &["x"], |l, g| l.classified(g)),
    ("heaviside", &["x1", "x2"], |l, g| l.heaviside(g)),
    ("logical_and", &["x1", "x2"], |l, g| l.both_or_either(g)),
    ("logical_or", &["x1", "x2"], |l, g| l.both_or_either(g)),
    ("logical_xor", &["x1", "x2"], |l, g| l.both_or_either(g)),
    ("logical_not", &["x"], |l, g| l.negated(g)),
    ("degrees", &["x"], |l, g| l.angle(g)),
    ("radians", &["x"], |l, g| l.angle(g)),
    ("digamma", &["x"], |l, g| l.polygamma(g)),
    ("polygamma", &["n", "x"], |l, g| l.polygamma(g)),
    ("len", &["x"], |l, g| l.length(g)),
    ("ndim", &["a"], |l, g| l.shape_property(g)),
    ("size", &["a"], |l, g| l.shape_property(g)),
    ("shape", &["a"], |l, g| l.shape_property(g)),
    ("zeros", &["shape", "dtype?"], |l, g| l.new_array(g)),
    ("ones", &["shape", "dtype?"], |l, g| l.new_array(g)),
    ("empty", &["shape", "dtype?"], |l, g| l.new_array(g)),
    ("full", &["shape", "fill_value", "dtype?"], |l, g| l.new_array(g)),
    ("zeros_like", &["a"], |l, g| l.new_like(g)),
    ("ones_like", &["a"], |l, g| l.new_like(g)),
    ("empty_like", &["a"], |l, g| l.new_like(g)),
    ("full_like", &["a", "fill_value"], |l, g| l.new_like(g)),
    ("array", &["object", "dtype?"], |l, g| l.array_or_copy(g)),
    ("asarray", &["a", "dtype?"], |l, g| l.as_array(g)),
    ("copy", &["a"], |l, g| l.array_or_copy(g)),
    ("list", &["x"], |l, g| l.kept_items(g)),
    ("tuple", &["x"], |l, g| l.kept_items(g)),
    ("arange", &["start", "stop?", "step?"], |l, g| l.arange(g)),
    ("linspace", &["start", "stop", "num?", "endpoint?"], |l, g| l.linspace(g)),
    ("eye", &["N", "M?"], |l, g| l.eye(g)),
    ("identity", &["n"], |l, g| l.eye(g)),
    ("diag", &["v"], |l, g| l.diagonal(g)),
    ("trace", &["a"], |l, g| l.diagonal(g)),
    ("tril", &["m", "k?"], |l, g| l.triangle(g)),
    ("triu", &["m", "k?"], |l, g| l.triangle(g)),
    ("sum", &["a", "axis?", "keepdims?"], |l, g| l.reduction(g)),
    ("mean", &["a", "axis?", "keepdims?"], |l, g| l.reduction(g)),
    ("prod", &["a", "axis?", "keepdims?"], |l, g| l.reduction(g)),
    ("amax", &["a", "axis?", "keepdims?"], |l, g| l.reduction(g)),
    ("amin", &["a", "axis?", "keepdims?"], |l, g| l.reduction(g)),
    ("any", &["a", "axis?", "keepdims?"], |l, g| l.reduction(g)),
    ("all", &["a", "axis?", "keepdims?"], |l, g| l.reduction(g)),
    ("argmax", &["a", "axis?"], |l, g| l.along_axis(g)),
    ("argmin", &["a", "axis?"], |l, g| l.along_axis(g)),
    ("median", &["a", "axis?", "keepdims?"], |l, g| l.reduction(g)),
    ("std", &["a", "axis?", "ddof?", "keepdims?"], |l, g| l.deviation(g)),
    ("var", &["a", "axis?", "ddof?", "keepdims?"], |l, g| l.deviation(g)),
    ("norm", &["x", "ord?", "axis?", "keepdims?"], |l, g| l.norm(g)),
    ("sum_items", &["iterable", "start?"], |l, g| l.folded(g)),
    ("fsum", &["seq"], |l, g| l.folded(g)),
    ("prod_items", &["iterable"], |l, g| l.folded(g)),
    ("dist", &["p", "q"], |l, g| l.distance(g)),
    ("cumsum", &["a", "axis?"], |l, g| l.along_axis(g)),
    ("cumprod", &["a", "axis?"], |l, g| l.along_axis(g)),
    ("diff", &["a", "n?", "axis?"], |l, g| l.differences(g)),
    ("trapezoid", &["y", "x?", "dx?"], |l, g| l.trapezoid(g)),
    ("dot", &["a", "b"], |l, g| l.product(g)),
    ("matmul", &["x1", "x2"], |l, g| l.product(g)),
    ("vdot", &["a", "b"], |l, g| l.product(g)),
    ("inner", &["a", "b"], |l, g| l.product(g)),
    ("outer", &["a", "b"], |l, g| l.product(g)),
    ("cross", &["a", "b"], |l, g| l.product(g)),
    ("tensordot", &["a", "b", "axes?"], |l, g| l.tensor_product(g)),
    ("convolve", &["a", "v", "mode?"], |l, g| l.convolution(g)),
    ("einsum", &["subscripts", "*"], |l, g| l.einsum(g)),
    ("transpose", &["a", "axes?"], |l, g| l.reordered(g)),
    ("swapaxes", &["a", "axis1", "axis2"], |l, g| l.reordered(g)),
    ("moveaxis", &["a", "source", "destination"], |l, g| l.reordered(g)),
    ("reshape", &["a", "shape"], |l, g| l.reshape(g)),
    ("ravel", &["a"], |l, g| l.reshape(g)),
    ("squeeze", &["a", "axis"], |l, g| l.axis_more_or_less(g)),
    ("expand_dims", &["a", "axis"], |l, g| l.axis_more_or_less(g)),
    ("broadcast_to", &["array", "shape"], |l, g| l.broadcast_to(g)),
    ("concatenate", &["arrays", "axis?"], |l, g| l.joined(g)),
    ("stack", &["arrays", "axis?"], |l, g| l.joined(g)),
    ("hstack", &["arrays"], |l, g| l.joined(g)),
    ("vstack", &["arrays"], |l, g| l.joined(g)),
    ("flip", &["m", "axis?"], |l, g| l.along_axis(g)),
    ("roll", &["a", "shift", "axis?"], |l, g| l.rolled(g)),
    ("tile", &["A", "reps"], |l, g| l.repeated(g)),
    ("repeat", &["a", "repeats"], |l, g| l.repeated(g)),
    ("where", &["condition", "x", "y"], |l, g| l.picked(g)),
    ("clip", &["a", "a_min?", "a_max?"], |l, g| l.clipped(g)),
    ("sort", &["a", "axis?"], |l, g| l.along_axis(g)),
    ("argsort", &["a", "axis?"], |l, g| l.along_axis(g)),
    ("sorted", &["iterable"], |l, g| l.along_axis(g)),
    ("take", &["a", "indices", "axis?"], |l, g| l.taken(g)),
    ("searchsorted", &["a", "v", "side?"], |l, g| l.search(g)),
    ("interp", &["x", "xp", "fp"], |l, g| l.interpolated(g)),
    ("softmax", &["x", "axis?"], |l, g| l.along_axis(g)),
    ("logsumexp", &["a", "axis?", "keepdims?"], |l, g| l.reduction(g)),
];

impl Lowering<'_> {
    /// A library name used as a value.
    pub(in crate::lower) fn builtin_value(&mut self, name: &str, span: Span) -> Lowered<Operand> {
        Ok(Operand::Scalar(match name {
            "pi" => self.b.f64(std::f64::consts::PI),
            "e" => self.b.f64(std::f64::consts::E),
            "tau" => self.b.f64(std::f64::consts::TAU),
            "inf" => self.b.f64(f64::INFINITY),
            "nan" => self.b.f64(f64::NAN),
            "newaxis" => return Ok(Operand::None),
            _ => {
                return Err(Diagnostic::new(
                    "unsupported-function",
                    format!("`{}` is not a value that can be used here", shown(name)),
                )
                .label(span, "used as a value")
                .help("call it, as in `np.sin(x)`, or wrap it in a function of your own"));
            }
        }))
    }

    /// A call of a library function.
    pub(in crate::lower) fn builtin(
        &mut self,
        name: &str,
        args: &[Expr],
        keywords: &[Keyword],
        span: Span,
    ) -> Lowered<Operand> {
        let args = args.iter().map(Argument::Expr).collect();
        self.function(name, args, keywords, span)
    }

    /// A function by its canonical name.
    fn function<'e>(
        &mut self,
        name: &'e str,
        args: Vec<Argument<'e>>,
        keywords: &'e [Keyword],
        span: Span,
    ) -> Lowered<Operand> {
        let all = FUNCTIONS.iter().chain(exact::FUNCTIONS);
        let found = all.into_iter().find(|(canonical, ..)| *canonical == name);
        if let Some((name, params, lower)) = found {
            let given = arrange(name, params, args, keywords, span)?;
            return lower(self, &given);
        }
        match functions::row(name) {
            Some(prim) => self.row_call(name, prim, args, keywords, span),
            None => Err(unknown_function(name, span)),
        }
    }
}

/// Whether there is a function of this canonical name.
fn is_known(canonical: &str) -> bool {
    FUNCTIONS.iter().any(|(name, ..)| *name == canonical) || functions::row(canonical).is_some()
}

/// The error for a function that is not there: `name` is its path, or its canonical name.
fn unknown_function(name: &str, span: Span) -> Diagnostic {
    let error = Diagnostic::new("unsupported-function", format!("`{name}` is not supported"))
        .label(span, "here");
    if name == "print" {
        let error = Diagnostic::new("unsupported-function", "nothing can be printed from here");
        return error.label(span, "here").help(instead(name).unwrap_or_default());
    }
    let (path, member) = name.rsplit_once('.').unwrap_or(("", name));
    let known =
        |library: Library| library.members().filter(move |m| is_known(&library.canonical(m)));
    let elsewhere = [Library::Numpy, Library::Special, Library::Math, Library::Wengert]
        .into_iter()
        .find(|library| known(*library).any(|m| m == member));
    let meant = Library::from_path(path).and_then(|library| nearest(member, known(library)));
    error.help(match (instead(name), elsewhere, meant) {
        (Some(help), ..) => help.into(),
        (None, Some(library), _) => format!("there is `{}.{member}`", library.path()),
        (None, None, Some(meant)) => format!("did you mean `{path}.{meant}`?"),
        (None, None, None) => "write it with the functions there are, or as a loop; or compute it outside, and pass the result as an argument".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::names::{CANONICAL, MEMBERS};

    #[test]
    fn every_function_has_a_name_and_every_name_a_meaning() {
        let names = FUNCTIONS.iter().map(|(name, ..)| *name).chain(functions::names());
        for name in names {
            let listed = MEMBERS.iter().any(|(_, members)| members.contains(&name));
            let spelled = listed || CANONICAL.iter().any(|row| row.2 == name);
            assert!(spelled, "nobody can call `{name}`");
            assert!(!shown(name).starts_with("int_") && !shown(name).contains("_items"), "{name}");
        }
        let others = "e enumerate inf nan ndarray NDArray dtype newaxis pi range reversed tau zip";
        let listed = MEMBERS.iter().flat_map(|(_, members)| members.iter());
        for name in listed.filter(|name| !is_known(name)) {
            let meant = others.split(' ').any(|o| o == *name) || instead(name).is_some();
            assert!(meant, "`{name}` is listed, but neither there nor explained");
        }
    }
}
