"""What is said when something is wrong: the kind of exception, the user's file and line, the way out."""

import copy
import math
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import wengert

TEXT = "some text"
HERE = __file__


def line_of(function, number):
    """The line of the file where a line of a function is."""
    return function.__code__.co_firstlineno + number


def newton(a, x):
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x


def beyond(x):
    total = 0.0
    for i in range(len(x) + 1):
        total += x[i]
    return total


def calls_beyond(x):
    return 2.0 * beyond(x)


def printing(x):
    y = x * x
    print(y)
    return y


def test_a_program_that_cannot_be_differentiated():
    with pytest.raises(wengert.CompileError) as caught:
        wengert.differentiable(printing)(1.0)
    error = caught.value
    assert (error.file, error.line, error.column) == (HERE, line_of(printing, 2), 5)
    assert f"{HERE}:{error.line}:5" in str(error) and "    print(y)" in str(error)
    assert error.code and error.help and "return the value instead" in str(error)
    assert isinstance(error, wengert.Error) and error.iterations == []


def test_an_index_out_of_range():
    f = wengert.differentiable(beyond)
    for call in (f, wengert.grad(f), wengert.value_and_grad(f, backend="interp")):
        with pytest.raises(wengert.RunError) as caught:
            call(np.zeros(3))
        error = caught.value
        assert error.code == "index-out-of-range"
        assert error.message == "index 3 is out of range: `x` has 3 elements"
        assert error.line == line_of(beyond, 3)
        assert error.iterations == [(line_of(beyond, 2), 3)]
        assert "in iteration 3 of this loop" in str(error)


def test_an_error_in_a_function_that_is_called():
    with pytest.raises(wengert.RunError) as caught:
        wengert.grad(calls_beyond)(np.zeros(3))
    assert caught.value.line == line_of(beyond, 3) and caught.value.file == HERE


def test_an_error_in_another_file(tmp_path):
    from conftest import module_of

    path = tmp_path / "tools.py"
    path.write_text("# one\n# two\ndef third(x):\n    return x[3]\n")
    third = module_of(path).third
    with pytest.raises(wengert.RunError) as caught:
        wengert.differentiable(lambda x: third(x) * 2)(np.zeros(3))
    assert (caught.value.file, caught.value.line) == (str(path), 4)


def test_a_loop_that_does_not_end():
    with pytest.raises(wengert.RunError) as caught:
        wengert.grad(newton, wrt="a", max_iterations=1000)(-2.0, 1.0)
    error = caught.value
    assert error.code == "iteration-limit" and error.line == line_of(newton, 1)
    # The way out is that of Python, not of the command.
    assert "`max_iterations=`" in str(error) and "--" not in error.help


def test_limits_are_named_as_keywords():
    def long(x, n):
        for i in range(n):
            x = math.sin(x)
        return x

    with pytest.raises(wengert.RunError, match="`tape_limit=`"):
        wengert.grad(long, wrt="x", tape_limit=1000)(1.0, 100_000)
    with pytest.raises(wengert.RunError, match="`memory=`"):
        wengert.grad(long, wrt="x", memory=3)(1.0, 1000)


def test_assertions():
    def f(x):
        assert x > 0, "x must be positive"
        return math.log(x)

    with pytest.raises(wengert.RunError, match="x must be positive") as caught:
        wengert.grad(f)(-1.0)
    assert caught.value.line == line_of(f, 1)


def test_gradients_of_what_has_none():
    with pytest.raises(wengert.Error, match="a gradient is of one float, but `lambda_` returns an array"):
        wengert.grad(lambda x: x * x)(np.ones(2))
    with pytest.raises(wengert.Error, match="returns 2 values"):
        wengert.grad(lambda x: (x, x))(1.0)
    with pytest.raises(wengert.ArgumentError, match="there is no derivative by `n`"):
        wengert.grad(lambda x, n: x[n], wrt="n")(np.ones(2), 1)
    with pytest.raises(wengert.ArgumentError, match="no parameter that is a float"):
        wengert.grad(lambda x: 2.0 if x else 1.0)(True)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda f: f(), "`newton` needs a value for `a`"),
        (lambda f: f(1.0), "needs a value for `x`"),
        (lambda f: f(1.0, 2.0, 3.0), "`newton` takes 2 arguments, but 3 are given"),
        (lambda f: f(1.0, 2.0, y=3.0), "has no parameter `y`"),
        (lambda f: f(1.0, a=2.0), "`a` is given twice"),
        (lambda f: f("1.0", 2.0), "`a` cannot be a `str`"),
        (lambda f: f(None, 2.0), "`a` cannot be None"),
        (lambda f: f(1j, 2.0), "`a` cannot be a `complex`"),
        (lambda f: f(2**70, 2.0), "`a` does not fit 64 bits"),
        (lambda f: f(np.array(["a"]), 2.0), "`a` cannot be an array of `<U1`"),
        (lambda f: f(np.array([1j]), 2.0), "an array of `complex128`"),
        (lambda f: f([[1.0], [1.0, 2.0]], 2.0), "`a` cannot be this list"),
        (lambda f: f(np.zeros((1,) * 9), 2.0), "9 dimensions"),
        (lambda f: f(np.ma.masked_array([1.0], [True]), 2.0), "a masked array"),
        (lambda f: f(np.datetime64("2020-01-01"), 2.0), "`a` cannot be"),
        (lambda f: f(lambda: 1, 2.0), "`a` cannot be a `function`"),
        (lambda f: wengert.grad(f, wrt="b"), "has no parameter `b`"),
        (lambda f: wengert.grad(f, wrt=2), "has 2 parameters, and none at 2"),
        (lambda f: wengert.batch(f, over="b"), "has no parameter `b`"),
        (lambda f: wengert.batch(f, over="a")(1.0, 1.0), "must have one value per member, but a float"),
        (lambda f: wengert.batch(f, over="a")(np.zeros(0), 1.0), "the batch has no members"),
        (lambda f: wengert.jvp(f, (1.0, 2.0), (1.0, None, 2.0)), "3 tangents are given"),
        (lambda f: wengert.jvp(f, (1.0, 2.0), {"b": 1.0}), "no parameter `b`"),
        (lambda f: wengert.vjp(f, 4.0, 1.0)[1]((1.0, 2.0)), "`adjoint` cannot|must be a number|adjoint"),
    ],
)
def test_arguments(call, message):
    with pytest.raises((wengert.ArgumentError, wengert.Error), match=message) as caught:
        call(wengert.differentiable(newton))
    assert isinstance(caught.value, TypeError)


def test_arrays_of_other_shapes():
    f = wengert.differentiable(lambda x, y: np.sum(x * y))
    with pytest.raises(wengert.RunError, match="`x` has 2 elements, but `y` has 3 elements"):
        f(np.ones(2), np.ones(3))
    with pytest.raises(wengert.ArgumentError, match="its tangent has 3"):
        wengert.jvp(f, (np.ones(2), np.ones(2)), (np.ones(3), None))
    with pytest.raises(wengert.ArgumentError, match="its adjoint has"):
        wengert.vjp(lambda x: x * x, np.ones(2))[1](np.ones(3))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"memory": "a lot"}, "memory='a lot': give a number of bytes"),
        ({"memory": -1}, "memory=-1"),
        ({"memory": "12 parsecs"}, "give a number of bytes"),
        ({"disk": ("x", 1)}, "need `memory`"),
        ({"disk": 5, "memory": 10}, "disk=5: give a folder"),
        ({"resume": "x"}, "need `memory`"),
        ({"threads": 0}, "threads=0: give a whole number"),
        ({"threads": 1.5}, "threads=1.5"),
        ({"backend": "gpu"}, "backend=\"gpu\": it is one of"),
        ({"precision": "f16", "memory": 100}, "precision=\"f16\""),
        ({"precision": "f32"}, "`precision` needs `memory`"),
        ({"invert": "yes"}, "invert='yes'"),
        ({"max_iterations": -3}, "max_iterations=-3"),
        ({"speed": 3}, "there is no option `speed`"),
    ],
)
def test_options(options, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        wengert.grad(newton, wrt="a", **options)
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        wengert.differentiable(newton, **options)


def test_what_cannot_be_captured():
    def f(x):
        return x if TEXT == "" else x * 2

    with pytest.raises(wengert.CompileError, match="`TEXT` is a `str`, which cannot be captured") as caught:
        wengert.differentiable(f)(1.0)
    assert (caught.value.file, caught.value.line) == (HERE, line_of(f, 1))
    with pytest.raises(wengert.CompileError, match="is no function that can be differentiated"):
        wengert.differentiable(lambda x: pickle.dumps(x) if x else divmod_(x))(1.0)


def divmod_(x):
    return sorted_(x)


sorted_ = re.compile("x").match


def test_names_that_are_not_there():
    with pytest.raises(wengert.CompileError, match="`nowhere` is not defined"):
        wengert.differentiable(lambda x: x * nowhere)(1.0)  # noqa: F821
    with pytest.raises(wengert.CompileError, match="there is no function `nobody`"):
        wengert.differentiable(lambda x: nobody(x))(1.0)  # noqa: F821


def test_one_name_for_two_things(tmp_path):
    from conftest import module_of

    (tmp_path / "one.py").write_text("K = 2.0\n\ndef first(x):\n    return K * x\n")
    (tmp_path / "two.py").write_text("K = 3.0\n\ndef second(x):\n    return K * x\n")
    first, second = module_of(tmp_path / "one.py").first, module_of(tmp_path / "two.py").second
    with pytest.raises(wengert.CompileError, match="`K` stands for two different things"):
        wengert.differentiable(lambda x: first(x) + second(x))(1.0)


def test_functions_without_source():
    namespace = {}
    exec("def f(x):\n    return x\n", namespace)
    with pytest.raises(wengert.CompileError, match="the source of `f` cannot be read") as caught:
        wengert.differentiable(namespace["f"])
    assert "wengert.from_source" in str(caught.value)
    with pytest.raises(wengert.CompileError, match="has no source in Python"):
        wengert.differentiable(math.sin)
    with pytest.raises(wengert.CompileError, match="has no source"):
        wengert.grad(3)


def test_lambdas_that_cannot_be_told_apart():
    pair = [lambda x: x + 1, lambda x: x + 1]
    with pytest.raises(wengert.CompileError, match="which lambda is meant"):
        wengert.differentiable(pair[0])


def test_text_that_is_no_program():
    with pytest.raises(wengert.CompileError, match="cannot be read by itself"):
        wengert.from_source("def f(x:\n    return x\n")
    with pytest.raises(wengert.CompileError, match="there is no function `g`"):
        wengert.from_source("def f(x):\n    return x\n", "g")
    with pytest.raises(wengert.CompileError) as caught:
        wengert.from_source("x = 1\nprint(x)\n\ndef f(x):\n    return x\n", filename="model.py")
    assert (caught.value.file, caught.value.line) == ("model.py", 2)


def test_a_backend_that_is_not_there():
    text = "import wengert\nf = wengert.from_source('def f(x):\\n    return x * x\\n', backend='cc')\nf(1.0)\n"
    ran = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env={"PATH": "/nowhere", "CC": "/nowhere/cc"}
    )
    assert ran.returncode == 1 and "BackendError" in ran.stderr and "jit" in ran.stderr


def test_a_method_whose_self_is_an_object():
    class Model:
        @wengert.differentiable
        def f(self, x):
            return x

    with pytest.raises(wengert.ArgumentError, match="`self` cannot be a `Model`"):
        Model().f(1.0)


def test_errors_can_be_pickled_and_copied():
    with pytest.raises(wengert.RunError) as caught:
        wengert.differentiable(beyond)(np.zeros(1))
    error = caught.value
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is wengert.RunError and str(other) == str(error)
        assert (other.code, other.line, other.iterations) == (error.code, error.line, error.iterations)


def test_codes_are_explained():
    assert "index" in wengert.explain("error[index-out-of-range]")
    with pytest.raises(ValueError, match="there is no error"):
        wengert.explain("no-such-code")


def test_stages_and_modes_that_are_not_there():
    with pytest.raises(ValueError, match="there is no stage"):
        wengert.show(newton, 1.0, 1.0, stage="nowhere")
    with pytest.raises(ValueError, match="it is one of 'reverse' and 'forward'"):
        wengert.jacobian(newton, mode="sideways")(2.0, 1.0)
    with pytest.raises(ValueError, match="it is 1, 2 or 3"):
        wengert.check(newton, 2.0, 1.0, order=7)


def test_linear_operators_of_what_is_not_linear():
    pytest.importorskip("scipy.sparse.linalg")
    with pytest.raises(wengert.ArgumentError, match="say which, as in `wrt='a'`"):
        wengert.linearize(newton, 2.0, 1.0)
    with pytest.raises(wengert.ArgumentError, match="returns several values"):
        wengert.linearize(lambda x: (x, x), 2.0)


def test_what_is_said_of_the_command_is_not_said_here():
    with pytest.raises(wengert.CompileError) as caught:
        wengert.grad(lambda x: x * 2.0)(np.ones(3))
    assert caught.value.help == "return one number, such as the sum of the elements; or use `vjp` or `jacobian`"
    with pytest.raises(wengert.CompileError) as caught:
        wengert.grad(lambda x: (x, x))(1.0)
    assert caught.value.help == "return one number; or use `vjp` with an adjoint for each result, or `jacobian`"
    damped = "import math\n\ndef f(x, v, n):\n    for i in range(n):\n        v = v * 0.9 - 0.01 * math.sin(x)\n        x += 0.1 * v\n    return x\n"
    with pytest.raises(wengert.RunError) as caught:
        wengert.grad(wengert.from_source(damped), wrt="x", invert=True)(1.0, 0.0, 2000)
    assert '`invert={"every": ..}`, or allow more with `invert={"within": ..}`' in caught.value.help
