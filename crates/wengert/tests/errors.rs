//! Errors as people read them: each kind, rendered with its source line.

use wengert::{Args, Backend, Error, ErrorKind, Function, Mode, Options, Source, Wrt};

const NEWTON: &str = "\
def newton(a, x0):
    x = x0
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x
";

const WALK: &str = "\
def walk(x, n):
    s = 0.0
    for i in range(n):
        s += x[i] * x[i]
    return s
";

fn function(text: &str, name: &str) -> Function {
    Function::from_source(Source::new("file.py", text), name).unwrap()
}

fn refused(text: &str) -> Error {
    Function::last_of(Source::new("file.py", text)).unwrap_err()
}

#[track_caller]
fn expect(error: &Error, kind: ErrorKind, rendered: &str) {
    assert_eq!(error.render(), rendered.trim_matches('\n'), "\n{}", error.render());
    assert_eq!(error.kind(), kind);
}

/// Every backend and mode a run-time error can come from.
fn ways() -> Vec<Options> {
    let mut ways = Vec::new();
    for backend in [Backend::Interp, Backend::Jit] {
        for mode in [Mode::Forward, Mode::Reverse] {
            ways.push(Options { backend, mode, max_iterations: 1000, ..Options::default() });
        }
    }
    ways
}

#[test]
fn undefined_variable() {
    let error =
        function("def f(x):\n    y = x * rate\n    return y\n", "f").value([1.0]).unwrap_err();
    expect(
        &error,
        ErrorKind::Source,
        "
error[undefined-variable]: `rate` is not defined
 --> file.py:2:13
  |
2 |     y = x * rate
  |             ^^^^ used here
  |
  = help: defined here are `x`
",
    );
    assert_eq!(error.to_string(), "file.py:2:13: `rate` is not defined");
}

#[test]
fn index_out_of_range_with_its_iteration() {
    let args = || Args::from((vec![1.0, 2.0, 3.0], 5));
    let rendered = "
error[index-out-of-range]: index 3 is out of range: `x` has 3 elements
 --> file.py:4:14
  |
3 |     for i in range(n):
  |     ------------------ in iteration 3 of this loop
4 |         s += x[i] * x[i]
  |              ^^^^ this index
  |
  = help: indices run from 0 to the number of elements less one, or back from -1; check the bounds of the loop
";
    for options in ways() {
        let walk = function(WALK, "walk").with_options(options);
        expect(&walk.value(args()).unwrap_err(), ErrorKind::Run, rendered);
        expect(&walk.value_and_grad(args(), Wrt::All).unwrap_err(), ErrorKind::Run, rendered);
    }
}

#[test]
fn endless_loop_under_a_limit() {
    let rendered = "
error[iteration-limit]: the loop did not end within the limit of 1000 iterations
 --> file.py:3:5
  |
3 |     while abs(x * x - a) > 1e-12:
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this loop
  |
  = help: check that its condition becomes false, or raise the limit with `--max-iterations`
";
    for options in ways() {
        let newton = function(NEWTON, "newton").with_options(options);
        expect(&newton.value([-2.0, 1.0]).unwrap_err(), ErrorKind::Run, rendered);
        let error = newton.value_and_grad([-2.0, 1.0], Wrt::All).unwrap_err();
        expect(&error, ErrorKind::Run, rendered);
    }
}

#[test]
fn tape_beyond_its_limit() {
    let options = Options { tape_limit: Some(4096), ..Options::default() };
    let newton = function(NEWTON, "newton").with_options(options);
    let error = newton.value_and_grad([-2.0, 1.0], Wrt::All).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Run);
    let text = error.render();
    assert!(text.contains("the tape needs more than the 4096 bytes it may use"), "{text}");
    assert!(text.contains("while abs(x * x - a) > 1e-12:"), "{text}");
    assert!(text.contains("raise the limit with `--tape-limit`"), "{text}");

    let options =
        Options { tape_limit: Some(4096), backend: Backend::Interp, ..Options::default() };
    let error = function(NEWTON, "newton").with_options(options).value([2.0, 1.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Arguments);
}

#[test]
fn unsupported_syntax() {
    expect(
        &refused("def f(x):\n    if (y := x) > 0:\n        return y\n"),
        ErrorKind::Source,
        "
error[unsupported-syntax]: `:=` is not supported
 --> file.py:2:9
  |
2 |     if (y := x) > 0:
  |         ^^^^^^ not supported
  |
  = help: assign in a statement of its own, before this one
",
    );
}

#[test]
fn several_errors_are_all_shown() {
    let error =
        refused("def f(x):\n    y = {1}\n    z = [v for v in x]\n    del y\n    return x\n");
    assert!(error.diagnostics().len() > 1, "{error}");
    for line in ["y = {1}", "del y"] {
        assert!(error.render().contains(line), "{error:?}");
    }
    assert!(error.to_string().ends_with("more errors)"), "{error}");
}

#[test]
fn not_python() {
    let error = refused("def f(x):\n    return x +\n");
    assert_eq!(error.kind(), ErrorKind::Source);
    assert!(error.to_string().starts_with("file.py:2:"), "{error}");
}

#[test]
fn wrong_argument_name() {
    let error = function(NEWTON, "newton").value([("a", 2.0), ("x", 1.0)]).unwrap_err();
    expect(
        &error,
        ErrorKind::Arguments,
        "
error[unknown-argument]: `newton` has no parameter `x`
 --> file.py:1:12
  |
1 | def newton(a, x0):
  |            ^^^^^ these are its parameters
  |
  = help: did you mean `x0`?
",
    );
}

#[test]
fn missing_argument() {
    expect(
        &function(NEWTON, "newton").value([2.0]).unwrap_err(),
        ErrorKind::Arguments,
        "
error[missing-argument]: `newton` needs a value for `x0`
 --> file.py:1:15
  |
1 | def newton(a, x0):
  |               ^^ no value is given for this
  |
  = help: give it by name, as in `x0=1.0`
",
    );
}

#[test]
fn too_many_arguments_and_one_twice() {
    let newton = function(NEWTON, "newton");
    let error = newton.value([1.0, 2.0, 3.0]).unwrap_err();
    assert_eq!(error.to_string(), "file.py:1:12: `newton` takes 2 arguments, but more are given");
    let error = newton.value((1.0, ("a", 2.0))).unwrap_err();
    assert_eq!(error.to_string(), "file.py:1:12: `a` is given twice");
}

#[test]
fn wrong_type() {
    let error = function(WALK, "walk").value((vec![1.0], 1.5)).unwrap_err();
    expect(
        &error,
        ErrorKind::Source,
        "
error[type]: the end of a range must be an integer
 --> file.py:3:20
  |
3 |     for i in range(n):
  |                    ^ this is a float
  |
  = help: use `int(...)` or `//` to make it an integer
",
    );
    let error = function(WALK, "walk").value((1.0, 1)).unwrap_err();
    assert!(error.render().contains("4 |         s += x[i] * x[i]"), "{error:?}");
}

#[test]
fn no_such_function() {
    let error = Function::from_source(Source::new("file.py", NEWTON), "newtn").unwrap_err();
    expect(
        &error,
        ErrorKind::Source,
        "
error[unknown-function]: there is no function `newtn`
 --> file.py:1:5
  |
1 | def newton(a, x0):
  |     ^^^^^^ this one exists
  |
  = help: did you mean `newton`?
",
    );
    let error = Function::last_of(Source::new("file.py", "# empty\n")).unwrap_err();
    assert_eq!(error.to_string(), "file.py: the source defines no function");
}

#[test]
fn gradients_are_of_one_float_by_floats() {
    let error =
        function("def f(x):\n    return x, x\n", "f").value_and_grad([1.0], "x").unwrap_err();
    let text = "file.py:1:5: a gradient is of one float, but `f` returns 2 values";
    assert_eq!(error.to_string(), text);
    let error = function(WALK, "walk").value_and_grad((vec![1.0], 1), "n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "file.py:1:13: there is no derivative by `n`, which is an integer"
    );
}

#[test]
fn colours_only_where_asked_for() {
    let error = function(NEWTON, "newton").value([2.0]).unwrap_err();
    assert!(!error.render().contains('\x1b'));
    assert!(error.render_coloured().contains('\x1b'));
}

#[test]
fn columns_count_characters() {
    let error =
        function("def f(x):\n    ä = 1.0; return x * größe\n", "f").value([1.0]).unwrap_err();
    assert!(error.to_string().starts_with("file.py:2:25: "), "{error}");
}
