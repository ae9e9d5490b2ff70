"""Executes an example's text with numbers of another kind.

`numpy` and `math` are stood in for by modules whose arrays hold these numbers (dtype object). The text is
changed in three ways so that no double gets between: literals such as `0.1` become numbers of 50 digits with
the value the double has, and `/` and `@` are calls, since `1 / n` would be a double and `@` of nothing none.
"""

import ast
import builtins
import hashlib
import math
import sys
import types
from pathlib import Path

import numpy as np
from mpmath import mp, mpf

mp.dps = 50
# A loop that may run in any order runs in order here.
sys.modules.setdefault("wengert", types.SimpleNamespace(parallel=lambda over: over))
FOLDER = Path(__file__).resolve().parent.parent / "examples"


# Numbers that carry derivatives.


class Dual:
    """A double and its derivatives along several directions."""

    __slots__ = ("x", "d")

    def __init__(self, x, d):
        self.x, self.d = x, d

    @staticmethod
    def of(other):
        if isinstance(other, Dual):
            return other
        if isinstance(other, (int, float, np.integer, np.floating)):
            return Dual(float(other), 0.0)
        return None


def binary(apply):
    def forward(a, b):
        b = Dual.of(b)
        return NotImplemented if b is None else apply(a, b)

    def backward(b, a):
        a = Dual.of(a)
        return NotImplemented if a is None else apply(a, b)

    return forward, backward


def dual_divide(a, b):
    y = a.x / b.x
    return Dual(y, (a.d - y * b.d) / b.x)


def dual_power(a, b):
    y = a.x**b.x
    d = b.x * a.x ** (b.x - 1) * a.d
    return Dual(y, d if np.all(b.d == 0) else d + y * math.log(a.x) * b.d)


for name, apply in {
    "add": lambda a, b: Dual(a.x + b.x, a.d + b.d),
    "sub": lambda a, b: Dual(a.x - b.x, a.d - b.d),
    "mul": lambda a, b: Dual(a.x * b.x, a.x * b.d + b.x * a.d),
    "truediv": dual_divide,
    "pow": dual_power,
}.items():
    forward, backward = binary(apply)
    setattr(Dual, f"__{name}__", forward)
    setattr(Dual, f"__r{name}__", backward)
for name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Dual, f"__{name}__", binary(lambda a, b, op=getattr(float, f"__{name}__"): op(a.x, b.x))[0])
Dual.__hash__ = None
Dual.__neg__ = lambda a: Dual(-a.x, -a.d)
Dual.__pos__ = lambda a: a
Dual.__abs__ = lambda a: -a if a.x < 0 else a
Dual.__int__ = lambda a: int(a.x)
Dual.__bool__ = lambda a: a.x != 0

# Functions of one number with their derivatives, the second from the number and the result.
RULES = {
    "exp": (math.exp, lambda x, y: y),
    "log": (math.log, lambda x, y: 1 / x),
    "log2": (math.log2, lambda x, y: 1 / (x * math.log(2))),
    "sqrt": (math.sqrt, lambda x, y: 0.5 / y),
    "sin": (math.sin, lambda x, y: math.cos(x)),
    "cos": (math.cos, lambda x, y: -math.sin(x)),
    "tanh": (math.tanh, lambda x, y: 1 - y * y),
    "erfc": (math.erfc, lambda x, y: -2 / math.sqrt(math.pi) * math.exp(-x * x)),
}


def dual_function(name):
    f, slope = RULES[name]

    def apply(a):
        a = Dual.of(a)
        y = f(a.x)
        return Dual(y, slope(a.x, y) * a.d)

    return apply


def precise_function(name):
    f = {"log2": lambda x: mp.log(x) / mp.log(2)}.get(name) or getattr(mp, name)
    return lambda x: f(precise(x))


def precise(x):
    """An exact number of 50 digits."""
    return mpf(int(x)) if isinstance(x, (int, np.integer)) else mpf(x)


KINDS = {
    "precise": (precise, precise_function),
    "dual": (lambda x: Dual(float(x), 0.0), dual_function),
}


# Modules that stand in for numpy and math.


def plain(x):
    """What an array of no axes holds."""
    return x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x


def modules(kind):
    number, function = KINDS[kind]
    convert = np.frompyfunc(number, 1, 1)

    def floats(x):
        """An array of numbers; integers stay."""
        x = np.array(x)
        return x if x.dtype.kind in "ib" else convert(x)

    def filled(shape, value, dtype=None):
        if dtype in (int, bool):
            return np.full(shape, value, dtype=dtype)
        out = np.empty(shape, dtype=object)
        out.fill(number(value) if not isinstance(value, (mpf, Dual)) else value)
        return out

    def dot(a, b):
        a, b = np.asarray(a), np.asarray(b)
        if a.ndim == 0 or b.ndim == 0:
            return a * b
        if a.ndim == 1 and b.ndim == 1:
            assert len(a) == len(b)
            total = number(0)
            for x, y in zip(a, b):
                total = total + x * y
            return total
        if a.ndim == 1:
            return np.array([dot(a, column) for column in b.T], dtype=object)
        return np.array([dot(row, b) for row in a], dtype=object)

    def root_of_squares(x, axis=None, keepdims=False):
        return each("sqrt")(np.sum(x * x, axis=axis, keepdims=keepdims))

    def each(name):
        vector = np.frompyfunc(function(name), 1, 1)
        return lambda x: plain(vector(x))

    def extreme(pick):
        vector = np.frompyfunc(pick, 2, 1)
        return lambda a, b: plain(vector(a, b))

    def matrix_of(n):
        out = filled((n, n), 0)
        for i in range(n):
            out[i, i] = number(1)
        return out

    numpy = types.SimpleNamespace(
        pi=number(math.pi),
        inf=number(math.inf),
        newaxis=None,
        float64=float,
        zeros=lambda shape, dtype=None: filled(shape, 0, dtype),
        empty=lambda shape, dtype=None: filled(shape, 0, dtype),
        ones=lambda shape, dtype=None: filled(shape, 1, dtype),
        full=filled,
        zeros_like=lambda a: filled(a.shape, 0, a.dtype.type if a.dtype.kind in "ib" else None),
        ones_like=lambda a: filled(a.shape, 1),
        eye=matrix_of,
        identity=matrix_of,
        array=floats,
        asarray=lambda x: x if isinstance(x, np.ndarray) else floats(x),
        copy=np.copy,
        arange=np.arange,
        dot=dot,
        matmul=dot,
        outer=np.outer,
        einsum=lambda formula, *xs: plain(np.einsum(formula, *xs)),
        where=lambda c, a, b: plain(np.where(c, a, b)),
        maximum=extreme(lambda a, b: a if a >= b else b),
        minimum=extreme(lambda a, b: a if a <= b else b),
        square=lambda x: x * x,
        linalg=types.SimpleNamespace(norm=root_of_squares),
        **{name: each(name) for name in RULES},
        **{
            name: getattr(np, name)
            for name in "sum mean prod max min argmax argmin any all cumsum abs sort argsort "
            "concatenate stack transpose reshape ravel".split()
        },
    )
    inner = types.SimpleNamespace(
        pi=number(math.pi), e=number(math.e), inf=number(math.inf), **{n: function(n) for n in RULES}
    )
    helpers = {
        "__number__": number,
        "__matmul__": dot,
        "__divide__": lambda a, b: number(a) / b if isinstance(a, (int, np.integer)) else a / b,
    }
    return {"numpy": numpy, "math": inner}, helpers


def flat(result):
    """The numbers of a result, in order."""
    if isinstance(result, (tuple, list, np.ndarray)):
        return [y for x in result for y in flat(x)]
    return [result]


class Exact(ast.NodeTransformer):
    """Literals, `/` and `@` as calls."""

    def call(self, name, args, node):
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), args, []), node)

    def visit_Constant(self, node):
        return self.call("__number__", [node], node) if isinstance(node.value, float) else node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        name = {ast.Div: "__divide__", ast.MatMult: "__matmul__"}.get(type(node.op))
        return self.call(name, [node.left, node.right], node) if name else node


class Program:
    """An example: its functions in each of the ways to execute it."""

    def __init__(self, file):
        self.file = file
        self.path = FOLDER / file
        tree = ast.parse(self.path.read_text())
        self.function = [s for s in tree.body if isinstance(s, ast.FunctionDef)][-1].name
        self.lines = {s.lineno for s in ast.walk(tree) if isinstance(s, ast.stmt)}
        self.built = {}

    def build(self, kind):
        if kind in self.built:
            return self.built[kind]
        tree = ast.parse(self.path.read_text())
        space = {"__name__": "example"}
        if kind != "numpy":
            stand_ins, helpers = modules(kind)
            tree = ast.fix_missing_locations(Exact().visit(tree))
            own = dict(vars(builtins))
            own["__import__"] = lambda name, *rest: stand_ins.get(name) or sys.modules[name]
            own["float"] = KINDS[kind][0]
            space.update(helpers, __builtins__=own)
        exec(compile(tree, str(self.path), "exec"), space)
        self.built[kind] = space[self.function]
        return self.built[kind]

    def run(self, kind, args):
        """What is returned, and a digest of the lines that ran."""
        f = self.build(kind)
        digest, last = hashlib.sha256(), None

        def trace(frame, event, arg):
            nonlocal last
            if frame.f_code.co_filename != str(self.path):
                return None
            if event == "line" and frame.f_lineno in self.lines and frame.f_lineno != last:
                last = frame.f_lineno
                digest.update(b"%d " % last)
            return trace

        sys.settrace(trace)
        try:
            result = f(**args)
        finally:
            sys.settrace(None)
        return result, digest.hexdigest()
