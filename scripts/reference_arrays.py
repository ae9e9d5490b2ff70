"""Writes crates/wengert-core/tests/data/arrays.txt: what numpy makes of small arrays.

    python3 scripts/reference_arrays.py > crates/wengert-core/tests/data/arrays.txt

One case per line: a key that crates/wengert-core/tests/array_functions/numpy.rs gives a meaning, the arguments,
the result. A value is its kind (d: doubles, i: whole numbers, b: truth values), its shape and its elements.
"""

import sys

import numpy as np

np.seterr(all="ignore")
generator = np.random.default_rng(7)


def floats(*shape):
    return np.round(generator.uniform(-2, 2, shape), 3)


def ints(*shape):
    return generator.integers(-5, 6, shape)


def bools(*shape):
    return generator.integers(0, 2, shape) == 1


def text(value):
    value = np.asarray(value)
    kind = {"f": "d", "i": "i", "b": "b"}[value.dtype.kind]
    shape = ",".join(str(n) for n in value.shape)
    show = (lambda x: repr(float(x))) if kind == "d" else (lambda x: str(int(x)))
    return f"{kind}[{shape}] " + " ".join(show(x) for x in value.ravel())


def case(key, function, *args):
    result = function(*args)
    line = " | ".join([key] + [text(a).strip() for a in args]) + " => " + text(result).strip()
    print(line)


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def logsumexp(x, axis):
    return np.log(np.exp(x).sum(axis=axis))


nan, inf = np.nan, np.inf
x, y, v, w = floats(3, 4), floats(3, 4), floats(5), floats(5)
t = floats(2, 3, 4)
i, j, u = ints(3, 4), ints(3, 4), ints(5)
b, c, f = bools(3, 4), bools(3, 4), bools(5)
row, column = floats(4), floats(3, 1)
empty, wide, tall = np.zeros(0), np.zeros((0, 3)), np.zeros((2, 0))

for name, function in [
    ("sum", np.sum),
    ("prod", np.prod),
    ("mean", np.mean),
    ("max", np.max),
    ("min", np.min),
    ("argmax", np.argmax),
    ("argmin", np.argmin),
    ("any", np.any),
    ("all", np.all),
]:
    for a in (x, i, b):
        for axis in (None, 0, 1):
            case(f"{name} {axis}", lambda a: function(a, axis=axis), a)
    for a in (v, u, f):
        case(f"{name} 0", lambda a: function(a, axis=0), a)
    case(f"{name} 1", lambda a: function(a, axis=1), t)
for name, function in [("sum", np.sum), ("prod", np.prod), ("mean", np.mean), ("any", np.any), ("all", np.all)]:
    case(f"{name} None", function, empty)
    case(f"{name} 0", lambda a: function(a, axis=0), wide)
    case(f"{name} 1", lambda a: function(a, axis=1), wide)
    case(f"{name} 1", lambda a: function(a, axis=1), tall)
for name, function in [("max", np.max), ("min", np.min), ("argmax", np.argmax), ("argmin", np.argmin)]:
    case(f"{name} 1", lambda a: function(a, axis=1), wide)
    ties = np.array([[1.0, 3.0, 3.0], [2.0, nan, nan], [0.0, 0.0, -0.0]])
    for axis in (None, 0, 1):
        case(f"{name} {axis}", lambda a: function(a, axis=axis), ties)
        case(f"{name} {axis}", lambda a: function(a, axis=axis), np.array([[1, 3, 3], [2, -9, -9], [0, 0, 0]]))
for name, function in [("cumsum", np.cumsum), ("cumprod", np.cumprod)]:
    for a in (x, i, b):
        for axis in (None, 0, 1):
            case(f"{name} {axis}", lambda a: function(a, axis=axis), a)
    for a in (v, u, f, empty):
        case(f"{name} 0", lambda a: function(a, axis=0), a)
    case(f"{name} 1", lambda a: function(a, axis=1), t)
    case(f"{name} 1", lambda a: function(a, axis=1), tall)
for a in (x, i, t):
    case("norm None", lambda a: np.sqrt((np.asarray(a, float) ** 2).sum()), a)
    case("norm 1", lambda a: np.sqrt((np.asarray(a, float) ** 2).sum(axis=1)), a)
    for axis in (None, 0, 1):
        for ddof in (0, 1):
            case(f"variance {axis} {ddof}", lambda a: np.var(a, axis=axis, ddof=ddof), a)
            case(f"std {axis} {ddof}", lambda a: np.std(a, axis=axis, ddof=ddof), a)
        case(f"softmax {axis}", lambda a: softmax(a, axis), a)
        case(f"logsumexp {axis}", lambda a: logsumexp(a, axis), a)
case("variance 0 1", lambda a: np.var(a, axis=0, ddof=1), v)
case("softmax 0", lambda a: softmax(a, 0), v)
case("logsumexp 0", lambda a: logsumexp(a, 0), v)

for start, stop, step in [(0, 5, 1), (2, 11, 3), (2, 12, 3), (5, 0, -2), (5, 0, 2), (0, 0, 1), (-3, 3, 7)]:
    case("arange", np.arange, np.int64(start), np.int64(stop), np.int64(step))
    case("arange", lambda a, o, s: a + s * np.arange(len(np.arange(a, o, s))), *map(np.float64, (start, stop, step)))
case("arange", lambda a, o, s: a + s * np.arange(10), 0.05, 1.05, 0.1)
for n in (0, 1, 2, 5):
    case("linspace True", lambda a, o, n: np.linspace(a, o, int(n)), 0.1, 0.7, n)
    case("linspace False", lambda a, o, n: np.linspace(a, o, int(n), endpoint=False), 0.1, 0.7, n)
for n, m in [(2, 3), (3, 2), (0, 2), (3, 3)]:
    case("eye f64", lambda n, m: np.eye(int(n), int(m)), n, m)
    case("eye i64", lambda n, m: np.eye(int(n), int(m), dtype=int), n, m)
for a in (v, u, f, empty, x, i, x.T):
    case("diag", np.diag, a)
for a in (x, i, b, x.T):
    case("trace", np.trace, a)
for a in (x, i, b):
    for axis in (None, 0, 1):
        case(f"flip {axis}", lambda a: np.flip(a, axis), a)
        case(f"roll {axis}", lambda a, n: np.roll(a, int(n), axis), a, 3)
        case(f"roll {axis}", lambda a, n: np.roll(a, int(n), axis), a, -6)
case("roll None", lambda a, n: np.roll(a, int(n)), v, 2)
case("roll None", lambda a, n: np.roll(a, int(n)), empty, 2)
for a in (v, u, x, np.float64(1.5), empty):
    for n in (0, 1, 3):
        case("tile", lambda a, n: np.tile(a, int(n)), a, n)
        case("repeat_elements", lambda a, n: np.repeat(a, int(n)), a, n)
for a in (x, i, b, t):
    for axis in (0, 1):
        case(f"diff {axis}", lambda a: np.diff(a, axis=axis), a)
    case("diff None", np.diff, a)
case("diff None", np.diff, v[:1])
case("diff None", np.diff, empty)
places = np.sort(w)
case("trapezoid", np.trapezoid, v)
case("trapezoid x", lambda y, x: np.trapezoid(y, x), v, places)
case("trapezoid dx", lambda y, d: np.trapezoid(y, dx=d), v, 0.25)
case("trapezoid", np.trapezoid, x)
case("trapezoid x", lambda y, x: np.trapezoid(y, x), x, np.sort(row))
case("trapezoid x", lambda y, x: np.trapezoid(y, x), x, y)
case("trapezoid dx", lambda y, d: np.trapezoid(y, dx=d), i, 0.5)
for a in (x, i, v):
    for axis in range(a.ndim + 1):
        case(f"expand_dims {axis}", lambda a: np.expand_dims(a, axis), a)
case("expand_dims 0", lambda a: np.expand_dims(a, 0), np.float64(2.5))
case("squeeze 1", lambda a: np.squeeze(a, 1), column)
case("squeeze 0", lambda a: np.squeeze(a, 0), v[:1])
case("swapaxes 0 2", lambda a: np.swapaxes(a, 0, 2), t)
case("swapaxes 1 1", lambda a: np.swapaxes(a, 1, 1), t)
case("transpose_by 2 0 1", lambda a: np.transpose(a, (2, 0, 1)), t)
case("transpose", np.transpose, t)
case("flatten", np.ravel, t)
for a in (x, i, b):
    case("reshape n m", lambda a, n, m: a.reshape(n, m), a, 2, 6)
    case("reshape n _", lambda a, n: a.reshape(n, -1), a, 6)
    case("reshape _", lambda a: a.reshape(-1), a)
case("reshape", lambda a: a.reshape(()), v[:1])
case("reshape n _", lambda a, n: a.reshape(n, -1), empty, 3)

m1, m2, k1, k2 = floats(2, 3), floats(3, 4), ints(2, 3), ints(3, 4)
for name, function in [("dot", lambda a, c: (a * c).sum()), ("vdot", np.vdot)]:
    for a, d in ((x, y), (i, j), (v, w), (x, i)):
        case(name, function, a, d)
case("vdot", np.vdot, x, t[0].reshape(4, 3))
for a, d in ((v, w), (x, y), (t, x), (x, row), (u, u)):
    case("inner", np.inner, a, d)
for a, d in (
    (v, w), (m1, m2), (m1, m2[:, 0]), (m1[0], m2), (u, u), (k1, k2), (k1, k2[:, 0]), (k1[0], k2), (m1, k2),
    (floats(2, 3, 4), floats(2, 4, 2)), (floats(2, 3, 4), floats(4, 2)), (floats(2, 3, 4), row),
    (floats(3), floats(2, 3, 2)), (floats(2, 3), floats(2, 3, 2)), (floats(2, 1, 2, 3), floats(1, 3, 2)),
):
    case("matmul", np.matmul, a, d)
for a, d in ((v, row), (u, ints(3)), (m1, v), (f, u)):
    case("outer", np.outer, a, d)

for axis in (0, 1):
    case(f"take {axis}", lambda a, n: np.take(a, n, axis=axis), x, 1)
    case(f"take {axis}", lambda a, n: np.take(a, n, axis=axis), x, -1)
    case(f"take {axis}", lambda a, n: np.take(a, n, axis=axis), x, np.array([2, 0, -1, 2, -3]))
    case(f"take {axis}", lambda a, n: np.take(a, n, axis=axis), i, np.array([0, 1]))
    case(f"take {axis}", lambda a, n: np.take(a, n, axis=axis), x, np.array([[2, 0], [-1, 1]]))
    case(f"take {axis}", lambda a, n: np.take(a, n, axis=axis), x, np.zeros(0, int))
case("take 1", lambda a, n: np.take(a, n, axis=1), t, np.array([2, 1, 2, 0]))
case("take 2", lambda a, n: np.take(a, n, axis=2), t, np.array([[3], [1]]))
case("take 0", lambda a, n: np.take(a, n), v, -5)
steps = np.array([-1.0, 0.0, 0.5, 0.5, 2.0])
queries = np.array([[-2.0, -1.0, 0.5], [0.75, 2.0, 3.0]])
for side in ("left", "right"):
    case(f"searchsorted {side}", lambda a, q: np.searchsorted(a, q, side), steps, queries)
    case(f"searchsorted {side}", lambda a, q: np.searchsorted(a, q, side), steps, 0.5)
    case(f"searchsorted {side}", lambda a, q: np.searchsorted(a, q, side), np.array([1, 3, 3, 8]), np.array([0, 3, 9, 8]))
    case(f"searchsorted {side}", lambda a, q: np.searchsorted(a, q, side), np.array([1, 3, 3, 8]), 2.5)
    case(f"searchsorted {side}", lambda a, q: np.searchsorted(a, q, side), empty, queries[0])
points, heights = np.array([0.0, 1.0, 3.0, 4.0]), np.array([1.0, 2.0, -2.0, 0.5])
case("interp", np.interp, np.array([0.25, 2.0, 3.5, -1.0, 9.0]), points, heights)
case("interp", np.interp, np.array([[0.25, 2.5], [3.25, 0.125]]), points, heights)
case("interp", np.interp, 2.25, points, heights)
case("interp", np.interp, np.array([0.5, 2.0]), points[:1], heights[:1])
case("interp", np.interp, np.array([nan, inf, -inf]), points, heights)
case("interp", np.interp, np.array([1, 2]), np.array([0, 4]), heights[:2])
for name, function in [("sort", lambda a, n: np.sort(a, n)), ("argsort", lambda a, n: np.argsort(a, n, kind="stable"))]:
    for a in (x, i, b, t):
        for axis in (0, 1):
            case(f"{name} {axis}", lambda a: function(a, axis), a)
        case(f"{name} None", lambda a: function(a, -1), a)
    case(f"{name} None", lambda a: function(a, -1), v)
    case(f"{name} None", lambda a: function(a, -1), np.array([2.0, nan, 1.0, -inf, nan, inf]))
    case(f"{name} 0", lambda a: function(a, 0), tall)
    case(f"{name} 1", lambda a: function(a, 1), tall)

for name, function in [("maximum", np.maximum), ("minimum", np.minimum)]:
    for a, d in ((x, y), (i, j), (b, c), (x, 0.25), (i, 2), (x, i), (x, row), (0.5, row)):
        case(name, function, a, d)
    case(name, function, np.array([nan, 1.0, nan]), np.array([1.0, nan, nan]))
    case(name, function, nan, 1.0)
    case(name, function, 1.0, nan)
for a, d in ((x, y), (i, j), (x, 0.5), (2, 3), (x, row), (row, x), (i, 0.5)):
    case("choose", np.where, b, a, d)
case("choose", np.where, b[0], x, y)
case("choose", np.where, np.bool_(True), x, y)
for a, low, high in ((x, -0.5, 0.75), (i, -2, 3), (x, y, 1.0), (x, row, row + 1), (1.5, 0.0, 1.0)):
    case("clip", np.clip, a, low, high)
case("clip", np.clip, np.array([nan, inf, -inf]), -1.0, 1.0)
kinds = {"f64": float, "i64": int, "bool": bool}
for kind, to in kinds.items():
    for a in (x, i, b, np.float64(-1.75), 3, np.bool_(True)):
        case(f"convert {kind}", lambda a: np.asarray(a).astype(to), a)
case("heaviside", np.heaviside, np.array([-1.5, 0.0, 2.0, nan, -0.0]), 0.5)
case("heaviside", np.heaviside, x, y)
for a in (x, i, 1.5, 3):
    case("square", np.square, a)
case("round_half_even", np.round, np.array([0.5, 1.5, 2.5, -0.5, 2.4, -2.6]))
case("round_half_even", np.round, i)
odd = np.array([1.0, nan, inf, -inf, 0.0])
for name, function in [("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)]:
    for a in (odd, x, i, b, 1.5, nan, 3):
        case(name, function, a)
for a, d in ((x, y), (x, row), (x, 2.0), (column, row), (x, column), (row[:1], row)):
    case("elementwise", np.multiply, a, d)
for a, d in ((x, y), (x, row), (row, x), (2.0, x)):
    case("elementwise_same", np.multiply, a, d)
case("elementwise_same expanded", lambda a, d: a[:, None] * d, v, floats(5, 3))
case("einsum ij,jk", lambda a, d: np.einsum("ij,jk", a, d), m1, k2)
case("stack 1", lambda a, d: np.stack([a, d], 1), x, y)
case("stack 0", lambda a, d: np.stack([a, d], 0), v, u)
case("stack 0", lambda a, d: np.stack([a, d], 0), 1.5, 2.5)
case("concatenate 1", lambda a, d: np.concatenate([a, d], 1), x, i)
case("concatenate 0", lambda a, d: np.concatenate([a, d], 0), f, u)
case("concatenate 1", lambda a, d: np.concatenate([a, d], 1), tall, tall)
for a, d in ((floats(3), floats(3)), (ints(3), ints(3)), (floats(4, 3), floats(4, 3)), (ints(3), floats(3))):
    case("cross", np.cross, a, d)
deep, flat_one = floats(3, 4, 2), floats(4, 5)
for axes, a, d in ((1, x, flat_one), (2, t, deep), (2, x, y), (0, v, row), (1, v, w), (1, t, row), (2, i, j)):
    case(f"tensordot {axes}", lambda a, d: np.tensordot(a, d, axes), a, d)
for mode in ("full", "same", "valid"):
    for a, d in ((v, floats(3)), (floats(2), v), (v, w), (row, floats(2)), (u, floats(4)), (floats(1), floats(1))):
        case(f"convolve {mode}", lambda a, d: np.convolve(a, d, mode), a, d)
for axis in (None, 0, 1):
    for a in (x, floats(5, 2), i, b):
        case(f"median {axis}", lambda a: np.median(a, axis), a)
for a in (v, row, np.array([1.0, nan, 0.5]), np.array([inf, 1.0, 2.0])):
    case("median None", np.median, a)
case("median 2", lambda a: np.median(a, 2), t)
for k in (0, 1, -1, -7):
    for a in (x, i, floats(5, 2)):
        case(f"triangle lower {k}", lambda a: np.tril(a, k), a)
        case(f"triangle upper {k}", lambda a: np.triu(a, k), a)
sys.stdout.flush()
