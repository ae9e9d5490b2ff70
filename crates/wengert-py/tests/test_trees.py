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
    with pytest.raises(wengert.ArgumentError, match="`p` is made of parts, and a linear operator is by one"):
        wengert.linearize(of_dict, {"sigma": 1.0, "rho": 0.3}, 1.1, wrt="p")
    with pytest.raises(wengert.ArgumentError, match="the direction of `p` is not made of the parts"):
        wengert.hvp(of_dict, wrt="p")({"sigma": 1.0, "rho": 0.3}, 1.1, {"sigma": 1.0})
    with pytest.raises(wengert.ArgumentError, match="`p` has a part that is one number for all members"):
        wengert.batch(of_dict, over="p")({"sigma": np.ones(3), "rho": 0.3}, 1.1)
    with pytest.raises(wengert.CompileError, match="as is something that all arrays have"):
        wengert.differentiable(lambda p: p.shape * 2.0)(dataclasses.make_dataclass("P", ["shape"])(1.0))


def test_texts_and_what_was_pickled():
    f = wengert.from_source("import math\n\ndef f(p):\n    return math.sin(p['sin']) * p['k']\n")
    assert wengert.grad(f)({"sin": 0.0, "k": 3.0}) == {"sin": 3.0, "k": 0.0}
    m = np.array([1.0, 2.0])
    g = wengert.differentiable(lambda p: np.sum(m * p["x"]))
    again = pickle.loads(pickle.dumps(wengert.grad(g)))
    assert again({"x": 2.0}) == wengert.grad(g)({"x": 2.0}) == {"x": 3.0}


@wengert.differentiable
def spread(m, x):
    out = np.zeros(len(m.weights))
    for i in range(len(m.weights)):
        out[i] = m.k * m.weights[i] * math.sin(m.params.sigma * x["a"] + i * m.params.rho) * x["b"][i]
    return out


@wengert.differentiable
def total_of_spread(m, x):
    return np.sum(spread(m, x) ** 2)


def by_parts(sigma, rho, weights, k, a, b):
    out = np.zeros(len(weights))
    for i in range(len(weights)):
        out[i] = k * weights[i] * math.sin(sigma * a + i * rho) * b[i]
    return out


def total_by_parts(sigma, rho, weights, k, a, b):
    return np.sum(by_parts(sigma, rho, weights, k, a, b) ** 2)


M = Model(Params(2.0, 0.5), np.array([1.0, 3.0]), 0.7)
D = {"a": 0.4, "b": np.array([0.2, -1.3]), "n": 7}
PARTS = (2.0, 0.5, M.weights, 0.7, 0.4, D["b"])
NAMES = ("sigma", "rho", "weights", "k", "a", "b")


def parts_of_m(by):
    """The parts of what is made as `M` is, and of nothing else."""
    assert type(by) is Model and type(by.params) is Params and by.params.steps is None
    return by.params.sigma, by.params.rho, by.weights, by.k


def parts_of_d(by):
    assert list(by) == ["a", "b", "n"] and by["n"] is None
    return by["a"], by["b"]


def close(got, want):
    assert len(got) == len(want)
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


def test_jacobians():
    want = wengert.jacobian(by_parts, wrt=NAMES)(*PARTS)
    found = wengert.jacobian(spread)(M, D)
    close(parts_of_m(found["m"]) + parts_of_d(found["x"]), want)
    close(parts_of_d(wengert.jacobian(spread, wrt="x", mode="forward")(M, D)), want[4:])
    again = pickle.loads(pickle.dumps(wengert.jacobian(spread, wrt=("x", "m"))))(M, D)
    close(parts_of_d(again[0]) + parts_of_m(again[1]), want[4:] + want[:4])


def test_hessians_and_their_products():
    want = wengert.hessian(total_by_parts, wrt=NAMES)(*PARTS)
    found = wengert.hessian(total_of_spread)(M, D)
    rows = parts_of_m(found["m"]) + parts_of_d(found["x"])
    for row, want_row in zip(rows, want):
        close(parts_of_m(row["m"]) + parts_of_d(row["x"]), want_row)
    one = wengert.hessian(total_of_spread, wrt="m")(M, D)
    close(parts_of_m(parts_of_m(one)[0]), want[0][:4])
    along = Model(Params(1.0, -1.0, None), np.array([0.3, 0.1]), 2.0)
    product = wengert.hvp(total_of_spread, wrt="m")(M, D, along)
    directions = (1.0, -1.0, along.weights, 2.0)
    close(parts_of_m(product), wengert.hvp(total_by_parts, wrt=NAMES[:4])(*PARTS, directions))
    both = wengert.hvp(total_of_spread)(M, D, {"m": along, "x": {"a": 0.0, "b": np.zeros(2), "n": None}})
    close(parts_of_m(both["m"]), parts_of_m(product))


def test_directions_and_adjoints():
    along = Model(Params(1.0, -1.0, None), np.array([0.3, 0.1]), None)
    value, change = wengert.jvp(spread, (M, D), {"m": along})
    want = wengert.jvp(by_parts, PARTS, (1.0, -1.0, along.weights))
    close((value, change), want)
    close((change,), (wengert.jvp(spread, (M, D), (along, None))[1],))
    value, pull = wengert.vjp(spread, M, D)
    found = pull(np.array([1.0, -2.0]))
    close(parts_of_m(found["m"]) + parts_of_d(found["x"]), wengert.vjp(by_parts, *PARTS, wrt=NAMES)[1](np.array([1.0, -2.0])))


def test_sparse_derivatives_have_parts_side_by_side():
    # In the order of the parts, those of each argument together.
    want = [np.atleast_2d(block.T).T for block in wengert.jacobian(by_parts, wrt=NAMES)(*PARTS)]
    np.testing.assert_allclose(wengert.sparse_jacobian(spread)(M, D).toarray(), np.hstack(want), rtol=1e-13)
    want = wengert.sparse_hessian(total_by_parts, wrt=NAMES)(*PARTS).toarray()
    np.testing.assert_allclose(wengert.sparse_hessian(total_of_spread)(M, D).toarray(), want, rtol=1e-13)


def test_batches():
    members = [Model(Params(s, 0.5), np.array([1.0, w]), 0.7) for s, w in ((2.0, 3.0), (1.0, -1.0), (0.3, 0.2))]
    many = Model(
        Params(np.array([2.0, 1.0, 0.3]), np.full(3, 0.5), np.full(3, 3)),
        np.array([m.weights for m in members]),
        np.full(3, 0.7),
    )
    got = wengert.batch(spread, over="m")(many, D)
    assert bits(got) == bits(np.array([spread(m, D) for m in members]))
    values, by = wengert.value_and_grad(wengert.batch(total_of_spread, over="m"))(many, D)
    each = [wengert.value_and_grad(total_of_spread)(m, D) for m in members]
    assert values.tolist() == [value for value, _ in each]
    for k, (_, one) in enumerate(each):
        close([part[k] for part in parts_of_m(by["m"])], parts_of_m(one["m"]))
    close(parts_of_d(by["x"]), [sum(parts) for parts in zip(*(parts_of_d(one["x"]) for _, one in each))])


def test_what_there_is_to_know():
    assert wengert.check(total_of_spread, M, D)
    assert "total_of_spread" in wengert.show(total_of_spread, M, D)
    assert wengert.plan(of_class, Params(0.9, 0.3, 1000), 1.1, wrt="p").loops


def test_linear_operators():
    pytest.importorskip("scipy.sparse.linalg")
    operator = wengert.linearize(lambda x, m: x * m["k"], np.array([1.0, 3.0]), {"k": 2.0}, wrt="x")
    assert (operator @ np.array([1.0, 1.0])).tolist() == (operator.T @ np.array([1.0, 1.0])).tolist() == [2.0, 2.0]


def test_least_squares():
    optimize = pytest.importorskip("scipy.optimize")
    times = np.linspace(0.0, 1.0, 8)
    data = 2.0 * np.exp(-1.5 * times)

    @wengert.differentiable
    def residuals(p):
        return p[0] * np.exp(-p[1] * times) - data

    found = optimize.least_squares(residuals, [1.0, 1.0], jac=wengert.jacobian(residuals))
    np.testing.assert_allclose(found.x, [2.0, 1.5], rtol=1e-8)
