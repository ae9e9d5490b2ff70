"""wengert, by its Python package: the loops as they stand in the examples."""

import numpy as np

import wengert
from workloads import DIRECTION, ROOT, function_of

THREADS = 1

# Seconds after which the C compiler's code is there in any case, although it has to share the core.
WARM = 6.0


def program(path):
    return wengert.differentiable(function_of(path), threads=THREADS)


def example(name):
    return program(ROOT / f"examples/workload_{name}.py")


def gradient(function, given, wrt):
    derivative = wengert.value_and_grad(function, wrt=wrt)
    return lambda: derivative(**given)


def a(given):
    return gradient(example("a"), given, ("w", "b", "h0"))


def a0(given):
    return gradient(program(ROOT / "crates/wengert-bench/programs/a0.py"), given, ("w", "b"))


def b(given):
    return gradient(example("b"), given, ("W", "U", "b"))


def c(given):
    return gradient(example("c"), given, ("sigma", "rho", "beta", "x", "y", "z"))


def d(given):
    return gradient(example("d"), given, ("u",))


def d2(given):
    return gradient(example("d2"), given, ("u",))


def e(given):
    return gradient(example("e"), given, ("v0", "kappa", "theta", "xi", "rho"))


def f1(given):
    return gradient(example("f1"), given, ("A",))


def f2(given):
    return gradient(example("f2"), given, ("M", "e"))


def f3(given):
    return gradient(example("f3"), given, ("b", "a"))


def g(given):
    return gradient(example("g"), given, ("lr", "b1", "b2"))


def h(given):
    return gradient(example("h"), given, ("x",))


SETTINGS = ("sigma", "rho", "beta")


def l(given):  # noqa: E743
    function = example("c")
    curvature = wengert.hessian(function, wrt=SETTINGS)
    return lambda: (function(**given), curvature(**given))


def l_hvp(given):
    function = example("c")
    along = wengert.hvp(function, wrt=SETTINGS)
    return lambda: (function(**given), along(*given.values(), tuple(DIRECTION)))


def numbers(result):
    value, parts = result
    return float(value), np.concatenate([np.ravel(x) for x in flat(parts)])


def flat(parts):
    if isinstance(parts, dict):
        parts = parts.values()
    return [y for x in parts for y in (flat(x) if isinstance(x, (dict, tuple)) else [x])]
