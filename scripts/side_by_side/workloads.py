"""The workloads: their inputs, and the gradients everybody has to find.

A workload is a row of the table. `inputs(row)` makes what all peers compute with, `disagreement(row, value, gradient)` compares a
result with the reference. References of one value and gradient stand in crates/wengert-bench/src/catalogue.rs, to extended
precision, and are read from there.
"""

import importlib.util
import math
import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]

ABOUT = {
    "a": "recurrence of tanh, the mean of its states, 10⁶ steps",
    "a0": "the same, its last state",
    "b": "recurrent network, 64 wide, 1000 steps",
    "c": "Lorenz system, Runge-Kutta, 10⁶ steps",
    "d": "heat in a plate of 256 by 256, 1000 steps",
    "d2": "the same with a reaction",
    "e": "Heston's model, 20,000 paths of 252 days",
    "f1": "power iteration until it settles (205 iterations)",
    "f2": "Kepler's equation until it settles (425 iterations)",
    "f3": "Gauss and Seidel in place until it settles (1195 sweeps)",
    "g": "1000 steps of Adam, by its settings",
    "h": "recurrence over an array of 10⁵, in place",
    "l": "c with 10⁴ steps: the Hessian by three parameters",
    "l_hvp": "the same: gradient, and Hessian times a direction",
}
ROWS = list(ABOUT)

# Rows whose gradient is compared by digests of so many numbers each; the others number by number.
DIGESTS = {"b": [4096, 4096, 64], "d": [65536], "d2": [65536], "f1": [4096], "f3": [33], "h": [100_000]}

# The Hessian of row l, and the direction of l_hvp.
HESSIAN = np.array([
    [0.35465482120450, 0.21315822910809, -2.1931644597087],
    [0.21315822910809, 0.19243463499193, -1.9010291339900],
    [-2.1931644597087, -1.9010291339900, -7.8420710881088],
])  # fmt: skip
DIRECTION = np.array([1.0, 2.0, 3.0])


def function_of(path):
    """The last function of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [f for f in vars(module).values() if callable(f) and getattr(f, "__module__", "") == path.stem][-1]


def bits(numbers):
    """Random bits by number: splitmix64, seed 42."""
    with np.errstate(over="ignore"):
        z = np.uint64(42) + (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def uniform(start, count):
    return (bits(np.arange(start, start + count)) >> np.uint64(11)) * 2.0**-53 - 0.5


def inputs(row):
    """What a workload computes with, by name."""
    return {
        "a": lambda: {"w": 0.9, "b": 0.1, "h0": 0.5, "n": 1_000_000},
        "a0": lambda: {"w": 0.9, "b": 0.1, "h0": 0.5, "n": 1_000_000},
        "b": network,
        "c": lambda: lorenz(1_000_000),
        "d": plate,
        "d2": plate,
        "e": heston,
        "f1": power,
        "f2": lambda: {"M": 0.01, "e": 0.99},
        "f3": lambda: {"a": 2.01, "b": np.sin(np.arange(1.0, 33.0))},
        "g": least_squares,
        "h": lambda: {"x": 0.8 * np.sin(0.1 * np.arange(100_000.0))},
        "l": lambda: lorenz(10_000),
        "l_hvp": lambda: lorenz(10_000),
    }[row]()


def network():
    t, j = np.arange(1.0, 1001.0)[:, None], np.arange(1.0, 65.0)
    W, U = 0.3 * uniform(0, 4096).reshape(64, 64), 0.5 * uniform(4096, 4096).reshape(64, 64)
    return {"W": W, "U": U, "b": 0.1 * uniform(8192, 64), "X": np.sin(0.01 * t * j)}


def lorenz(n):
    return {"sigma": 10.0, "rho": 28.0, "beta": 8 / 3, "x": 1.0, "y": 1.0, "z": 1.0, "n": n}


def plate():
    i, j = np.arange(256.0)[:, None], np.arange(256.0)
    u = np.sin(3 * math.pi * i / 255) * np.sin(2 * math.pi * j / 255) + 0.1 * np.cos(0.01 * i * j)
    return {"u": u, "n": 1000}


def heston():
    """One row of normal numbers for each path."""
    steps, paths = 252, 20_000
    k = np.arange(steps * paths).reshape(steps, paths)
    u1 = ((bits(2 * k) >> np.uint64(11)) + np.uint64(1)) * 2.0**-53
    u2 = (bits(2 * k + 1) >> np.uint64(11)) * 2.0**-53
    radius = np.sqrt(-2 * np.log(u1))
    Z1, Z2 = radius * np.cos(2 * math.pi * u2), radius * np.sin(2 * math.pi * u2)
    point = {"v0": 0.04, "kappa": 2.0, "theta": 0.05, "xi": 0.3, "rho": -0.7, "r": 0.02}
    return {"Z1": np.ascontiguousarray(Z1.T), "Z2": np.ascontiguousarray(Z2.T), **point}


def power():
    M = uniform(0, 4096).reshape(64, 64)
    return {"A": (M + M.T) / 2 + 5 / 64 + 20 * np.eye(64), "v": np.full(64, 0.125), "tol": 1e-12}


def least_squares():
    A, y = uniform(0, 5000).reshape(100, 50), uniform(5000, 100)
    return {"A": A, "y": y, "lr": 0.001, "b1": 0.9, "b2": 0.999, "n": 1000}


def reference(row):
    """The value and the gradient or its digests, and how far from them a result may be."""
    if row == "a0":
        return [*fixed_point()], 1e-10
    if row == "l":
        return [-8.17349993223953655, *HESSIAN.ravel()], 1e-9
    if row == "l_hvp":
        return [-8.17349993223953655, *HESSIAN @ DIRECTION], 1e-9
    text = (ROOT / "crates/wengert-bench/src/catalogue.rs").read_text()
    text = text[text.index(f'name: "{row}"') :]
    if shared := re.match(r".*?reference: Some\(([A-Z_]+)\)", text[: text.find("\n    },")], re.DOTALL):
        text = text[text.index(f"const {shared.group(1)}") :]
    expected = re.search(r"expected: &\[(.*?)\]", text, re.DOTALL).group(1)
    tolerance = re.search(r"tolerance: ([-\de.]+)", text).group(1)
    return [float(x) for x in expected.replace("\n", " ").split(",") if x.strip()], float(tolerance)


def fixed_point():
    """Value and gradient of a0: after 10⁶ steps it has long settled at h = tanh(w h + b)."""
    w, b, h = 0.9, 0.1, 0.5
    for _ in range(10_000):
        h = math.tanh(w * h + b)
    slope = 1 - h * h
    return h, h * slope / (1 - w * slope), slope / (1 - w * slope)


def digest(g):
    return [g[0], g[len(g) // 2], g[-1], g.sum(), g @ np.cos(np.arange(len(g)))]


def disagreement(row, value, gradient):
    """The largest difference from the reference, relative to the largest number of its part, and whether that may be."""
    (first, *expected), tolerance = reference(row)
    gradient = np.asarray(gradient, dtype=float)
    parts = DIGESTS.get(row, [])
    if len(gradient) != (sum(parts) or len(expected)):
        return math.inf, False
    worst, at = abs(value / first - 1), 0
    for count in parts or [None]:
        got = gradient if count is None else digest(gradient[at : at + count])
        want, expected = np.array(expected[: len(got)]), expected[len(got) :]
        worst = np.maximum(worst, np.max(np.abs(got - want)) / np.max(np.abs(want)))
        at += count or 0
    return float(worst), bool(worst <= tolerance)
