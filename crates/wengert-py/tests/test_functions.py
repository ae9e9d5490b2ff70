"""Functions: what they are made of, what goes in, what comes out, what is captured."""

import functools
import inspect
import math
import resource

import numpy as np
import pytest
from conftest import bits, module_of

import wengert
from wengert import _wengert

SCALE = 3.0
COUNT = 4
WEIGHTS = np.array([1.0, 2.0, 4.0])
FLAG = True
LEVELS = [0.5, 1.5]


def half(x):
    return x / 2


@wengert.differentiable
def scaled(x):
    return SCALE * half(x)


@wengert.differentiable
def weighted(x):
    total = 0.0
    for i in range(len(WEIGHTS)):
        total += WEIGHTS[i] * x[i] * scaled(x[i])
    return total


@wengert.differentiable
def root(a, x0=1.0):
    x = x0
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x


def test_a_function_stays_one():
    assert root.__name__ == "root" and root.__wrapped__ is root.python
    assert list(inspect.signature(root).parameters) == ["a", "x0"]
    assert root(2.0) == root.python(2.0) == root(a=2.0) == root(2.0, 1.0) == root(x0=1.0, a=2.0)
    assert "root" in repr(root)


def test_numbers_that_are_captured():
    assert scaled(2.0) == 3.0
    assert wengert.grad(scaled)(2.0) == 1.5


def test_arrays_and_functions_that_are_captured():
    x = np.array([1.0, 2.0, 3.0])
    assert weighted(x) == weighted.python(x)
    np.testing.assert_allclose(wengert.grad(weighted)(x), 2 * 1.5 * WEIGHTS * x)
    # No derivative by what is captured, unless it is asked for.
    assert isinstance(wengert.grad(weighted)(x), np.ndarray)


def test_what_is_captured_is_looked_at_in_every_call(monkeypatch):
    x = np.array([1.0, 1.0, 1.0])
    before = weighted(x)
    monkeypatch.setitem(globals(), "WEIGHTS", WEIGHTS * 2)
    assert weighted(x) == 2 * before
    WEIGHTS[0] += 1.0
    changed = weighted(x)
    WEIGHTS[0] -= 1.0
    assert changed == 2 * before + 1.5
    monkeypatch.setitem(globals(), "SCALE", 30.0)
    assert scaled(2.0) == 30.0
    monkeypatch.setitem(globals(), "SCALE", 1.0)
    assert scaled(2.0) == 1.0 and wengert.grad(scaled)(2.0) == 0.5
    monkeypatch.setitem(globals(), "half", lambda x: x / 4)
    assert scaled(2.0) == 0.5


def test_numbers_that_change_are_compiled_once(monkeypatch):
    f = wengert.differentiable(lambda x: SCALE * x)
    assert f(1.0) == 3.0
    monkeypatch.setitem(globals(), "SCALE", 4.0)
    assert f(1.0) == 4.0
    made = f._last
    for k in range(5):
        monkeypatch.setitem(globals(), "SCALE", float(k))
        assert f(1.0) == k and f._last is made


def test_integers_and_truth_values_that_are_captured(monkeypatch):
    @wengert.differentiable
    def f(x):
        for i in range(COUNT):
            x = x * x if FLAG else x + 1
        return x

    assert f(1.5) == 1.5**16
    monkeypatch.setitem(globals(), "COUNT", 2)
    monkeypatch.setitem(globals(), "FLAG", False)
    assert f(1.5) == 3.5


def test_lists_of_numbers_that_are_captured():
    f = wengert.differentiable(lambda x: LEVELS[0] * x + LEVELS[1])
    assert f(2.0) == 2.5


def test_closures():
    def make(k, m):
        @wengert.differentiable
        def f(x):
            return np.sum(k * x @ m)

        return f

    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    f, g = make(2.0, m), make(5.0, 10 * m)
    x = np.array([1.0, 1.0])
    assert (f(x), g(x)) == (20.0, 500.0)
    np.testing.assert_array_equal(wengert.grad(f)(x), [6.0, 14.0])
    m[0, 0] = 2.0
    assert f(x) == 22.0


def test_a_cell_that_is_set_again():
    k = 1.0

    @wengert.differentiable
    def f(x):
        return k * x

    assert f(3.0) == 3.0
    k = 2.0
    assert f(3.0) == 6.0
    k = np.array([1.0, 2.0])
    np.testing.assert_array_equal(f(3.0), [3.0, 6.0])


def test_a_captured_array_may_be_overwritten_and_stays_as_it_was():
    buffer = np.zeros(3)

    @wengert.differentiable
    def f(x):
        for i in range(3):
            buffer[i] = x * i
        return buffer[1] * buffer[2]

    assert f(2.0) == 8.0 and wengert.grad(f)(2.0) == 8.0
    assert not buffer.any()


def test_lambdas():
    f = wengert.differentiable(lambda x, k=2.0: k * math.sin(x))
    assert f(0.5) == 2.0 * math.sin(0.5)
    pair = (wengert.differentiable(lambda x: x + 1), wengert.differentiable(lambda x: x + 2))
    assert [f(1.0) for f in pair] == [2.0, 3.0]
    assert wengert.grad(lambda x: x**3)(2.0) == 12.0
    several = [
        wengert.grad(
            lambda x: (
                x
                * x
            )
        )
    ]
    assert several[0](3.0) == 6.0


def test_methods():
    class Model:
        rate = 2.0

        @staticmethod
        @wengert.differentiable
        def inside(x):
            return x * x

        @wengert.differentiable
        @staticmethod
        def outside(x):
            return x * x * x

        @wengert.differentiable
        def bound(self, x):
            return self.rate * x

    assert Model.inside(3.0) == 9.0 and Model().outside(2.0) == 8.0
    assert wengert.grad(Model.inside)(3.0) == 6.0


def test_functions_of_other_modules(tmp_path):
    (tmp_path / "tools.py").write_text("K = 2.0\n\ndef twice(x):\n    return K * x\n")
    tools = module_of(tmp_path / "tools.py")
    double = tools.twice
    f = wengert.differentiable(lambda x: double(x) + 1)
    assert f(3.0) == 7.0
    tools.K = 5.0
    assert f(3.0) == 16.0


def test_functions_that_call_themselves():
    @wengert.differentiable
    def power(x, n: int):
        if n == 0:
            return 1.0
        return x * power(x, n - 1)

    assert power(2.0, 5) == 32.0
    assert wengert.grad(power, wrt="x")(2.0, 5) == 80.0


def test_names_from_libraries():
    from math import exp as e_to

    f = wengert.differentiable(lambda x: e_to(x) + np.linalg.norm(np.array([x, x])))
    assert f(1.0) == pytest.approx(math.e + math.sqrt(2.0))


def test_text():
    text = "def half(x):\n    return x / 2\n\n\ndef quarter(x, n=2):\n    return half(half(x)) * n\n"
    f = wengert.from_source(text, "quarter")
    assert f(1.0) == 0.5 == f.python(1.0)
    assert wengert.grad(f, wrt="x")(1.0) == 0.5
    assert wengert.from_source(text, "half")(1.0) == 0.5
    assert wengert.from_source(text).__name__ == "quarter"


def test_kinds_of_results():
    f = wengert.from_source("def f(x, n: int):\n    return x, n + 1, x > 1, np.zeros(n)\n\nimport numpy as np\n", "f")
    x, n, b, a = f(2.0, 3)
    assert (x, n, b, a.shape) == (2.0, 4, True, (3,)) and type(n) is int and type(b) is bool and type(x) is float
    assert f(2, 3)[0] == 2.0 and type(f(2, 3)[0]) is float


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 1, 2), (0,), (2, 0)])
def test_arrays_of_every_kind(dtype, shape):
    f = wengert.from_source("def f(x):\n    return np.copy(x)\nimport numpy as np\n", "f")
    x = (np.arange(math.prod(shape)).reshape(shape) % 3).astype(dtype)
    y = f(x)
    assert y.dtype == dtype and y.shape == shape and np.array_equal(x, y)


@pytest.mark.parametrize(
    "dtype", ["f2", ">f8", ">f4", "i1", "i2", "i4", ">i8", "u1", "u2", "u4", "u8", "g"]
)
def test_arrays_of_other_kinds_are_converted(dtype):
    f = wengert.from_source("def f(x):\n    return x[1]\n")
    x = np.array([1, 2, 3]).astype(dtype)
    assert f(x) == 2
    assert type(f(x)) is (int if x.dtype.kind in "iu" else np.float32 if x.dtype.itemsize <= 4 else float)


def test_arrays_that_lie_otherwise():
    f = wengert.from_source("def f(x):\n    return np.sum(x[0] * x[1])\nimport numpy as np\n", "f")
    x = np.arange(12.0).reshape(3, 4)
    for other in (x.T, x[::2], x[:, ::-1], np.asfortranarray(x), x[1:]):
        assert f(other) == np.sum(other[0] * other[1])
    packed = np.zeros(3, dtype=[("a", "i1"), ("b", "f8")])
    packed["b"] = [1.0, 2.0, 3.0]
    assert wengert.from_source("def f(x):\n    return x[2]\n")(packed["b"]) == 3.0
    reading = np.array([5.0, 7.0])
    reading.flags.writeable = False
    assert wengert.from_source("def f(x):\n    return x[0]\n")(reading) == 5.0


def test_arrays_of_other_classes(tmp_path):
    f = wengert.from_source("def f(x):\n    return x[0] * x[1]\n")
    np.save(tmp_path / "x.npy", np.array([3.0, 5.0]))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert f(mapped) == 15.0 and _wengert.address(mapped) == mapped.ctypes.data


def test_truth_values_that_are_other_bytes():
    f = wengert.from_source("def f(x):\n    n = 0\n    for v in x:\n        if v:\n            n += 1\n    return n\n")
    assert f(np.array([0, 1, 7, 255], dtype=np.uint8).view(np.bool_)) == 3


@pytest.mark.parametrize(
    "number", [2.5, 2, True, np.float64(2.5), np.float32(2.5), np.int32(2), np.uint8(2), np.bool_(True), np.array(2.5)]
)
def test_numbers_of_every_kind(number):
    f = wengert.from_source("def f(x):\n    return x\n")
    got = f(number)
    assert got == number
    if isinstance(number, np.float32):
        assert type(got) is np.float32


def test_what_can_be_an_array_is_one():
    f = wengert.from_source("def f(x):\n    return x[0] + x[1]\n")
    assert f([1.5, 2.5]) == 4.0

    class Own:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0])

    assert f(Own()) == 3.0
    from fractions import Fraction

    assert wengert.from_source("def f(x):\n    return x\n")(Fraction(1, 2)) == 0.5


def test_arrays_are_not_copied():
    for dtype in (np.float64, np.float32, np.int64):
        x = np.ones((3, 4), dtype=dtype)
        assert _wengert.address(x) == x.ctypes.data
        assert _wengert.address(x[1:]) == x.ctypes.data + 4 * x.itemsize
        assert _wengert.address(x[:, 1:]) != x.ctypes.data + x.itemsize


class Shared:
    """An array of another library, which DLPack alone can read."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.at = array, device

    def __dlpack__(self, **how):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.at


def test_arrays_of_other_libraries_are_not_copied():
    for dtype in (np.float64, np.float32, np.int64):
        x = np.arange(12, dtype=dtype).reshape(3, 4)
        assert _wengert.address(Shared(x)) == x.ctypes.data
        assert _wengert.address(Shared(x.T)) != x.ctypes.data
    f = wengert.differentiable(lambda x: np.sum(x * x))
    assert f(Shared(np.arange(3.0))) == 5.0
    assert wengert.grad(f)(Shared(np.arange(3.0))).tolist() == [0.0, 2.0, 4.0]
    with pytest.raises(wengert.ArgumentError, match="in the memory of `another device`: programs run on the processor"):
        f(Shared(np.arange(3.0), device=(2, 0)))
    # Results can be had through DLPack, in place.
    y = wengert.differentiable(lambda x: 2.0 * x)(np.arange(3.0))
    assert np.from_dlpack(y).ctypes.data == y.ctypes.data


def test_a_large_array_takes_no_more_memory_when_it_is_read():
    f = wengert.from_source("def f(x, k):\n    return k * x[0] + x[len(x) - 1]\n")
    x = np.zeros(40_000_000)
    x[0], x[-1] = 2.0, 3.0
    wengert.grad(f, wrt="k")(x[:10], 1.0)
    f(x[:10], 1.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert f(x, 2.0) == 7.0
    assert wengert.value_and_grad(f, wrt="k")(x, 2.0) == (7.0, 2.0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000, f"{grown} kB for an array of 320 MB"


def test_results_are_handed_over():
    f = wengert.from_source("def f(n: int):\n    return np.zeros((n, 2))\nimport numpy as np\n", "f")
    y = f(5)
    # Its memory is the one the program has written.
    assert not y.flags.owndata and y.base is not None and y.flags.writeable
    y[0] = 1.0
    assert f(5)[0, 0] == 0.0


def test_arguments_are_never_written_to():
    f = wengert.from_source("def f(x):\n    x[0] = 7.0\n    return np.sum(x)\nimport numpy as np\n", "f")
    x = np.ones(3)
    assert f(x) == 9.0 and x[0] == 1.0
    np.testing.assert_array_equal(wengert.grad(f)(x), [0.0, 1.0, 1.0])


def test_single_precision():
    f = wengert.from_source("def f(x):\n    return np.sum(x * x)\nimport numpy as np\n", "f")
    x = np.array([0.1, 0.2], dtype=np.float32)
    value, slope = wengert.value_and_grad(f)(x)
    assert type(value) is np.float32 or type(value) is float
    assert slope.dtype == np.float32
    np.testing.assert_allclose(slope, 2 * x, rtol=1e-6)


def test_a_decorated_function_in_another():
    @wengert.differentiable(threads=1)
    def f(x):
        return root(x) * root(x)

    assert f(9.0) == pytest.approx(9.0)
    assert wengert.grad(f)(9.0) == pytest.approx(1.0)


def test_the_same_function_again():
    again = wengert.differentiable(root, backend="interp")
    assert again.python is root.python and again.options == {"backend": "interp"}
    assert bits(again(2.0)) == bits(root(2.0))


def test_functools_partial_is_refused():
    with pytest.raises(wengert.CompileError, match="has no source in Python"):
        wengert.differentiable(functools.partial(half, 2.0))


def test_columns_and_docstrings_of_indented_functions():
    def outer():
        @wengert.differentiable
        def f(x):
            """What is written here
        stands where it stands."""
            if x > 0:
                return x
            return -x

        return f

    assert outer()(-3.0) == 3.0 and "stands" in outer().__doc__


def test_what_python_has_of_the_library():
    for f in (wengert.sigmoid, wengert.softplus, wengert.relu):
        inside = wengert.from_source(f"import wengert\ndef f(x):\n    return wengert.{f.__name__}(x)\n", "f")
        for x in (-3.0, 0.5, 40.0):
            assert inside(x) == pytest.approx(float(f(x)), rel=1e-14)
    x = np.array([0.5, -1.0, 3.0])
    for name in ("softmax", "logsumexp"):
        inside = wengert.from_source(f"import wengert\ndef f(x):\n    return wengert.{name}(x)\n", "f")
        np.testing.assert_allclose(inside(x), getattr(wengert, name)(x), rtol=1e-14)
    assert wengert.stop_gradient(3.0) == 3.0 and list(wengert.parallel(range(2))) == [0, 1]
