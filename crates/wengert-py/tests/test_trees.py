"""Arguments made of parts, and gradients made of the same parts."""

import dataclasses
import math
import pickle
import typing

import numpy as np
import pytest
from conftest import bits

import wengert


@dataclasses.dataclass
class Params:
    sigma: float
    rho: float
    steps: int = 3


@dataclasses.dataclass(frozen=True)
class Model:
    params: Params
    weights: np.ndarray
    k: float = 1.0


class State(typing.NamedTuple):
    x: float
    v: np.ndarray


def plain(sigma, rho, x):
    for i in range(3):
        x = sigma * math.sin(x) + rho
    return x


@wengert.differentiable
def of_class(p, x):
    for i in range(p.steps):
        x = p.sigma * math.sin(x) + p.rho
    return x


@wengert.differentiable
def of_dict(p, x):
    for i in range(3):
        x = p["sigma"] * math.sin(x) + p["rho"]
    return x


@wengert.differentiable
def of_tuple(p, x):
    sigma, rho = p
    for i in range(3):
        x = p[0] * math.sin(x) + rho + 0.0 * sigma
    return x


WANT = wengert.value_and_grad(plain)(0.9, 0.3, 1.1)


def test_dataclasses():
    p = Params(0.9, 0.3)
    assert of_class(p, 1.1) == of_class.python(p, 1.1) == WANT[0]
    value, by = wengert.value_and_grad(of_class, wrt="p")(p, 1.1)
    assert value == WANT[0] and type(by) is Params
    assert (by.sigma, by.rho, by.steps) == (WANT[1]["sigma"], WANT[1]["rho"], None)
    both = wengert.grad(of_class)(p, x=1.1)
    assert both == {"p": by, "x": WANT[1]["x"]}
    assert wengert.grad(of_class, wrt="x")(p, 1.1) == WANT[1]["x"]


def test_dictionaries():
    p = {"rho": 0.3, "sigma": 0.9}
    assert of_dict(p, 1.1) == WANT[0]
    by = wengert.grad(of_dict, wrt=("x", "p"))(p, 1.1)
    assert by == (WANT[1]["x"], {"rho": WANT[1]["rho"], "sigma": WANT[1]["sigma"]})
    assert list(by[1]) == ["rho", "sigma"]


def test_tuples():
    assert of_tuple((0.9, 0.3), 1.1) == WANT[0]
    by = wengert.grad(of_tuple, wrt="p")((0.9, 0.3), 1.1)
    assert type(by) is tuple and by == pytest.approx((WANT[1]["sigma"], WANT[1]["rho"]))


def test_named_tuples_of_arrays():
    @wengert.differentiable
    def energy(s, k):
        x, v = s
        return 0.5 * k * s.x * x + 0.5 * np.sum(v * s.v)

    s = State(3.0, np.array([1.0, 2.0]))
    assert energy(s, 2.0) == energy.python(s, 2.0) == 11.5
    by = wengert.grad(energy, wrt="s")(s, 2.0)
    assert type(by) is State and by.x == 6.0
    np.testing.assert_array_equal(by.v, [1.0, 2.0])


def scaled(p, x):
    return p.sigma * x + p.rho


def test_parts_of_parts_and_functions_that_are_given_them():
    @wengert.differentiable
    def f(m, data):
        total = 0.0
        for i in range(len(m.weights)):
            total += m.weights[i] * scaled(m.params, data["x"][i]) * m.k
        return total

    m = Model(Params(2.0, 0.5), np.array([1.0, 3.0]))
    data = {"x": np.array([0.2, 0.4]), "n": 7}
    assert f(m, data) == pytest.approx(f.python(m, data))
    value, by = wengert.value_and_grad(f, wrt="m")(m, data)
    assert type(by) is Model and type(by.params) is Params
    np.testing.assert_allclose(by.weights, [0.9, 1.3])
    assert by.params.rho == 4.0 and by.params.sigma == pytest.approx(1.4) and by.k == pytest.approx(value)
    everything = wengert.grad(f)(m, data)
    np.testing.assert_allclose(everything["data"]["x"], [2.0, 6.0])
    assert everything["data"]["n"] is None


def test_a_state_that_is_carried():
    @wengert.differentiable
    def walk(s, h, n):
        for i in range(n):
            x, v = s
            s = (x + h * v, v - h * math.sin(x))
        return s[0]

    @wengert.differentiable
    def flat(x, v, h, n):
        for i in range(n):
            x, v = x + h * v, v - h * math.sin(x)
        return x

    value, by = wengert.value_and_grad(walk, wrt="s")((1.0, 0.0), 0.1, 20)
    want, by_x, by_v = (lambda r: (r[0], *r[1]))(wengert.value_and_grad(flat, wrt=("x", "v"))(1.0, 0.0, 0.1, 20))
    assert bits(value) == bits(want) and by == (by_x, by_v)


def test_other_structures_and_kinds_are_other_programs():
    assert of_tuple((np.float32(0.5), 0.3), 1.1) == pytest.approx(of_tuple((0.5, 0.3), 1.1))
    f = wengert.differentiable(lambda p: np.sum(p["a"] * p["b"]) if True else 0.0)
    assert f({"a": 2.0, "b": np.ones(3)}) == 6.0 == f({"b": np.ones(3), "a": 2.0})
    assert f({"a": np.ones(3), "b": 2.0}) == 6.0
    by = wengert.grad(f)({"a": np.ones(2), "b": 2.0})
    assert by["b"] == 2.0 and list(by["a"]) == [2.0, 2.0]
    g = wengert.differentiable(lambda p: p[0] * p[1][1])
    assert g((2.0, (3.0, 5.0))) == 10.0
    assert wengert.grad(g)((2.0, (3.0, 5.0))) == (5.0, (0.0, 2.0))


def test_what_surrounds_it_is_looked_at_in_every_call():
    k = np.array([1.0, 2.0])

    @wengert.differentiable
    def f(p):
        return np.sum(k * p["x"])

    assert f({"x": 3.0}) == 9.0
    k = np.array([2.0, 2.0])
    assert f({"x": 3.0}) == 12.0 and wengert.grad(f)({"x": 3.0}) == {"x": 4.0}


def test_errors_are_in_lines_of_the_file():
    @wengert.differentiable
    def f(p, x):
        y = 0.0
        for i in range(4):
            y += p["w"][i] * x
        return y

    with pytest.raises(wengert.RunError) as caught:
        wengert.grad(f, wrt="x")({"w": np.zeros(3)}, 1.0)
    assert caught.value.line == f.python.__code__.co_firstlineno + 4 and caught.value.file == __file__


def test_what_is_refused():
    with pytest.raises(wengert.ArgumentError, match="has keys that are no text"):
        of_dict({1: 2.0}, 1.1)
    with pytest.raises(wengert.ArgumentError, match="`p` is empty"):
        of_dict({}, 1.1)
    with pytest.raises(wengert.ArgumentError, match="`p_rho` cannot be a `str`"):
        of_dict({"sigma": 1.0, "rho": "0.3"}, 1.1)
    with pytest.raises(wengert.ArgumentError, match="which has no floats"):
        wengert.grad(of_class, wrt="p")(Params(1, 2), 1.1)
    with pytest.raises(wengert.ArgumentError, match="only functions, `grad` and `value_and_grad` take"):
        wengert.jacobian(of_dict, wrt="x")({"sigma": 1.0, "rho": 0.3}, 1.1)
    with pytest.raises(wengert.CompileError, match="as is something that all arrays have"):
        wengert.differentiable(lambda p: p.shape * 2.0)(dataclasses.make_dataclass("P", ["shape"])(1.0))


def test_texts_and_what_was_pickled():
    f = wengert.from_source("import math\n\ndef f(p):\n    return math.sin(p['sin']) * p['k']\n")
    assert wengert.grad(f)({"sin": 0.0, "k": 3.0}) == {"sin": 3.0, "k": 0.0}
    m = np.array([1.0, 2.0])
    g = wengert.differentiable(lambda p: np.sum(m * p["x"]))
    again = pickle.loads(pickle.dumps(wengert.grad(g)))
    assert again({"x": 2.0}) == wengert.grad(g)({"x": 2.0}) == {"x": 3.0}
