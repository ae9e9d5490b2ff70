"""Derivatives in every form: against each other, and against what they are known to be."""

import math

import numpy as np
import pytest
from conftest import bits

import wengert

A = np.array([[2.0, -1.0, 0.5], [0.0, 1.5, 1.0], [1.0, 1.0, 3.0]])


@wengert.differentiable
def energy(x, k, n=2):
    total = 0.0
    for i in range(len(x)):
        total += k * x[i] ** n
    return total


@wengert.differentiable
def curve(x, k):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = math.sin(k * x[i]) + (x[i - 1] if i > 0 else 0.0) ** 2
    return y, np.sum(x) * k


@wengert.differentiable
def square(x):
    return A @ x * x


@wengert.differentiable
def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


@wengert.differentiable
def newton(a, x):
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x


X = np.array([0.3, -1.2, 2.0])


def difference(f, x, v, h=1e-6):
    return (f(x + h * v) - f(x - h * v)) / (2 * h)


def test_what_a_gradient_is_by():
    by_x, by_k = 2 * 3.0 * X, np.sum(X * X)
    np.testing.assert_allclose(wengert.grad(energy, wrt="x")(X, 3.0), by_x)
    np.testing.assert_allclose(wengert.grad(energy, wrt=0)(X, 3.0), by_x)
    assert wengert.grad(energy, wrt=1)(X, 3.0) == pytest.approx(by_k)
    assert wengert.grad(energy, wrt=-2)(X, 3.0) == pytest.approx(by_k)
    both = wengert.grad(energy, wrt=("k", 0))(X, 3.0)
    assert type(both) is tuple and both[0] == pytest.approx(by_k)
    np.testing.assert_allclose(both[1], by_x)
    assert type(wengert.grad(energy, wrt=["k"])(X, 3.0)) is tuple
    named = wengert.grad(energy)(X, 3.0)
    assert list(named) == ["x", "k", "n"]
    one = wengert.grad(rosenbrock)(X)
    assert isinstance(one, np.ndarray) and one.shape == X.shape


def test_value_and_gradient():
    value, slope = wengert.value_and_grad(energy, wrt="x")(X, 3.0, n=3)
    assert value == energy(X, 3.0, 3) == pytest.approx(energy.python(X, 3.0, 3))
    assert bits(slope) == bits(wengert.grad(energy, wrt="x")(X, k=3.0, n=3))
    v = np.array([1.0, 2.0, -1.0])
    along = difference(lambda x: energy.python(x, 3.0, 3), X, v)
    assert slope @ v == pytest.approx(along, rel=1e-7)


@pytest.mark.parametrize("backend", ["auto", "jit", "interp", "cc"])
def test_all_backends_give_the_same_bits(backend):
    if backend == "cc" and wengert.doctor().found["compiler"] is None:
        pytest.skip("there is no C compiler")
    want = bits(wengert.value_and_grad(rosenbrock)(X))
    assert bits(wengert.value_and_grad(rosenbrock, backend=backend)(X)) == want
    assert bits(wengert.differentiable(rosenbrock, backend=backend)(X)) == want[0]


@pytest.mark.parametrize("memory", [200, "1kB", "1MiB"])
def test_limited_memory_gives_the_same_bits(memory):
    def orbit(x, r, n):
        for i in range(n):
            x = r * x * (1.0 - x)
        return x

    want = wengert.value_and_grad(orbit, wrt=("x", "r"))(0.3, 3.7, 1000)
    assert bits(wengert.value_and_grad(orbit, wrt=("x", "r"), memory=memory)(0.3, 3.7, 1000)) == bits(want)
    decorated = wengert.differentiable(orbit, memory=memory)
    assert bits(wengert.value_and_grad(decorated, wrt=("x", "r"))(0.3, 3.7, 1000)) == bits(want)


def test_memory_and_disk(tmp_path):
    def orbit(x, n):
        for i in range(n):
            x += 1e-4 * math.sin(x)
        return x

    want = wengert.grad(orbit, wrt="x")(0.3, 20_000)
    for disk in ((tmp_path / "run", "1MiB"), f"{tmp_path / 'other'}:1MB"):
        assert wengert.grad(orbit, wrt="x", memory="2kB", disk=disk)(0.3, 20_000) == want
    resumed = wengert.grad(orbit, wrt="x", memory="2kB", disk=(tmp_path / "run", "1MB"), resume=tmp_path / "run")
    assert resumed(0.3, 20_000) == want


def test_loops_that_are_taken_back():
    def swing(x, v, n):
        for i in range(n):
            v -= 0.01 * math.sin(x)
            x += 0.01 * v
        return x

    want = wengert.grad(swing, wrt="x")(1.0, 0.0, 1000)
    for invert in (True, {"every": 100}):
        assert wengert.grad(swing, wrt="x", invert=invert)(1.0, 0.0, 1000) == pytest.approx(want, rel=1e-9)
    assert wengert.grad(swing, wrt="x", invert={"every": 1})(1.0, 0.0, 1000) == want


def test_forward_mode():
    v = np.array([1.0, 0.5, -1.0])
    (y, s), (dy, ds) = wengert.jvp(curve, (X, 0.7), (v, None))
    assert bits(y) == bits(curve(X, 0.7)[0]) and s == curve(X, 0.7)[1]
    np.testing.assert_allclose(dy, difference(lambda x: curve.python(x, 0.7)[0], X, v), rtol=1e-7)
    assert ds == pytest.approx(0.7 * 0.5)
    named = wengert.jvp(curve, (X, 0.7), {"x": v})
    assert bits(named) == bits(((y, s), (dy, ds)))
    _, (by_k, _) = wengert.jvp(curve, (X, 0.7), {"k": 1.0})
    np.testing.assert_allclose(by_k, X * np.cos(0.7 * X))
    assert wengert.jvp(lambda x: x * x, (3.0,), (1.0,)) == (9.0, 6.0)


def test_reverse_mode_is_the_transpose_of_forward_mode():
    u, w = np.array([1.0, -2.0, 0.5]), 3.0
    v, t = np.array([0.1, 1.0, 2.0]), 0.4
    value, pull = wengert.vjp(curve, X, 0.7, wrt=("x", "k"))
    assert bits(value) == bits(curve(X, 0.7))
    by_x, by_k = pull((u, w))
    _, (dy, ds) = wengert.jvp(curve, (X, 0.7), (v, t))
    assert by_x @ v + by_k * t == pytest.approx(dy @ u + ds * w, rel=1e-13)
    assert set(wengert.vjp(curve, X, 0.7)[1]((u, w))) == {"x", "k"}


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_jacobians(mode):
    rows, total = wengert.jacobian(curve, wrt=("x", "k"), mode=mode)(X, 0.7)
    want = np.diag(0.7 * np.cos(0.7 * X)) + np.diag(2 * X[:-1], -1)
    np.testing.assert_allclose(rows[0], want, rtol=1e-14)
    np.testing.assert_allclose(rows[1], X * np.cos(0.7 * X), rtol=1e-14)
    np.testing.assert_allclose(total[0], [0.7] * 3)
    assert total[1] == pytest.approx(np.sum(X))
    np.testing.assert_allclose(wengert.jacobian(square)(X), A * X[:, None] + np.diag(A @ X))
    assert set(wengert.jacobian(curve)(X, 0.7)[0]) == {"x", "k"}


def test_hessians():
    h = wengert.hessian(rosenbrock)(X)
    assert np.array_equal(h, h.T)
    for k in range(3):
        v = np.eye(3)[k]
        np.testing.assert_allclose(h @ v, difference(wengert.grad(rosenbrock), X, v), rtol=1e-6)
        assert bits(wengert.hvp(rosenbrock)(X, v)) == bits(h[:, k])
    f = lambda x, y: x * x * y
    assert wengert.hessian(f, wrt=("x", "y"))(3.0, 5.0) == ((10.0, 6.0), (6.0, 0.0))
    assert wengert.hessian(f)(3.0, 5.0)["y"]["x"] == 6.0
    assert wengert.hessian(f, wrt="x")(3.0, 5.0) == 10.0


def test_hessian_products():
    f = lambda x, y: x * x * y
    assert wengert.hvp(f, wrt="x")(3.0, 5.0, 2.0) == 20.0
    assert wengert.hvp(f, wrt="x")(3.0, y=5.0, direction=2.0) == 20.0
    assert wengert.hvp(f, wrt=("x", "y"))(3.0, 5.0, (1.0, 1.0)) == (16.0, 6.0)
    assert wengert.hvp(f)(3.0, 5.0, {"x": 1.0, "y": 1.0}) == {"x": 16.0, "y": 6.0}


def test_sparse_derivatives(monkeypatch):
    def chain(x):
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = x[i] * x[i - 1]
        return y

    x = np.linspace(1.0, 2.0, 50)
    dense = wengert.jacobian(chain)(x)
    sparse = pytest.importorskip("scipy.sparse")
    found = wengert.sparse_jacobian(chain)(x)
    assert isinstance(found, sparse.csr_array) and found.nnz == 98
    np.testing.assert_array_equal(found.toarray(), dense)
    np.testing.assert_allclose(wengert.sparse_hessian(rosenbrock)(x).toarray(), wengert.hessian(rosenbrock)(x), rtol=1e-12)
    monkeypatch.setitem(__import__("sys").modules, "scipy.sparse", None)
    plain = wengert.sparse_jacobian(chain)(x)
    assert isinstance(plain, wengert.Sparse) and plain.shape == (50, 50)
    np.testing.assert_array_equal(plain.toarray(), dense)


def test_linear_operators():
    pytest.importorskip("scipy.sparse.linalg")
    J = wengert.linearize(square, X)
    assert bits(J.value) == bits(square(X)) and J.shape == (3, 3)
    dense = wengert.jacobian(square)(X)
    v = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(J @ v, dense @ v, rtol=1e-14)
    np.testing.assert_allclose(J.T @ v, dense.T @ v, rtol=1e-14)
    by_k = wengert.linearize(lambda x, k: k * x, X, 2.0, wrt="k")
    np.testing.assert_array_equal(by_k @ np.array([1.0]), X)


def test_derivatives_are_no_functions():
    def f(x: float) -> float:
        return x * x

    with pytest.raises(TypeError, match=r"the gradient of f cannot .* `wengert.grad\(wengert.batch\(f, over=..\)\)`"):
        wengert.batch(wengert.grad(f), over="x")
    for made in (wengert.grad(f), wengert.hessian(f)):
        with pytest.raises(TypeError, match="of f cannot be used as a function here: second derivatives are `wengert.hessian"):
            wengert.grad(made)


def test_batches():
    roots = wengert.batch(newton, over="a")
    a = np.array([2.0, 100.0, 2500.0])
    np.testing.assert_array_equal(roots(a, 1.0), [newton(x, 1.0) for x in a])
    values, by = wengert.value_and_grad(roots, wrt=("a", "x"))(a, 1.0)
    alone = [wengert.value_and_grad(newton, wrt=("a", "x"))(x, 1.0) for x in a]
    np.testing.assert_array_equal(values, [v for v, _ in alone])
    np.testing.assert_array_equal(by[0], [g[0] for _, g in alone])
    assert by[1] == pytest.approx(sum(g[1] for _, g in alone))
    assert set(wengert.grad(roots)(a, 1.0)) == {"a", "x"}
    both = wengert.batch(newton, over=("a", 1))
    np.testing.assert_array_equal(both(a, np.ones(3)), roots(a, 1.0))
    assert "batch of newton over a" in repr(roots)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_no_bit(threads):
    def total(Z, s):
        total = 0.0
        for i in wengert.parallel(range(len(Z))):
            x = 1.0
            for t in range(Z.shape[1]):
                x *= 1.0 + s * Z[i, t]
            total += x
        return total

    Z = np.sin(np.arange(4000.0)).reshape(200, 20)
    want = wengert.value_and_grad(total, wrt=("Z", "s"), threads=3)(Z, 0.1)
    assert bits(wengert.value_and_grad(total, wrt=("Z", "s"), threads=threads)(Z, 0.1)) == bits(want)
    batch = wengert.batch(newton, over="a", threads=threads)
    a = np.linspace(1.0, 9.0, 500)
    assert bits(wengert.grad(batch)(a, 1.0)) == bits(wengert.grad(wengert.batch(newton, over="a"))(a, 1.0))


def test_optimisers_take_it_in_one_line():
    optimize = pytest.importorskip("scipy.optimize")
    start = np.array([1.3, 0.7, 0.8, 1.9])
    found = optimize.minimize(wengert.value_and_grad(rosenbrock), start, jac=True, method="BFGS")
    np.testing.assert_allclose(found.x, np.ones(4), atol=1e-5)
    found = optimize.minimize(
        rosenbrock, start, jac=wengert.grad(rosenbrock), hessp=wengert.hvp(rosenbrock), method="trust-ncg"
    )
    np.testing.assert_allclose(found.x, np.ones(4), atol=1e-5)
    found = optimize.least_squares(square, np.ones(3), jac=wengert.jacobian(square))
    np.testing.assert_allclose(square(found.x), 0.0, atol=1e-4)


def test_checks():
    report = wengert.check(energy, X, 3.0)
    assert report and report.passes and "value against Python" in str(report)
    assert "agree along 4 directions" in str(wengert.check(energy, X, k=3.0, directions=4, wrt="x"))
    assert wengert.check(rosenbrock, X, order=2)
    kink = wengert.check(lambda x: abs(x), 0.0)
    assert "kink" in str(kink)


def test_a_check_compares_with_python():
    other = wengert.differentiable(lambda x: x * x)
    other.python = lambda x: x * x + 1e-3
    other._program()
    # Not the same function: what was compiled was read before.
    assert other(2.0) == 4.0
    report = wengert.check(other, 2.0)
    assert not report and "value against Python" in str(report)


def test_plans():
    def orbit(x, n):
        for i in range(n):
            x = 3.7 * x * (1.0 - x)
        return x

    plan = wengert.plan(orbit, 0.3, 100_000, wrt="x", memory="8kB")
    (loop,) = plan.loops
    # Four iterations are taken as one.
    assert loop["steps"] == 25_000 and loop["line"] == orbit.__code__.co_firstlineno + 1
    assert any(row["memory"] == 8000 and row["bytes"] <= 8000 for row in loop["forecasts"])
    assert f"the loop of line {loop['line']}: 25000 iterations" in str(plan)
    assert "everything is kept" in str(wengert.plan(lambda x: x * x, 1.0))


def test_stages():
    assert "func @newton" in wengert.show(newton, 2.0, 1.0)
    assert "newton.vjp" in wengert.show(newton, 2.0, 1.0, stage="vjp", wrt="a")
    assert "ssa" in wengert.stages()
    for stage in wengert.stages():
        assert wengert.show(energy, X, 3.0, stage=stage, wrt="x"), stage


def test_the_doctor():
    found = wengert.doctor()
    assert found.found["cranelift"] == "works" and "processor" in str(found)


def test_call_overhead():
    """A call of a compiled scalar function, beside one of a plain function of the module."""
    import time

    f = wengert.from_source("def f(x):\n    return x * x + 1.0\n")
    plain = wengert._wengert.address

    def best(call, n=2000):
        times = []
        for _ in range(15):
            start = time.process_time()
            for _ in range(n):
                call()
            times.append((time.process_time() - start) / n)
        return min(times)

    f(1.0)
    over = best(lambda: f(1.5)) - best(lambda: plain(1.5))
    gradient = wengert.grad(f)
    gradient(1.0)
    of_gradient = best(lambda: gradient(1.5)) - best(lambda: plain(1.5))
    print(f"\ncall overhead: {over * 1e6:.2f} µs, of a gradient {of_gradient * 1e6:.2f} µs")
    # About 1.2 and 1.4 in a release on an idle machine; one that does other things takes longer.
    assert over < 8e-6 and of_gradient < 8e-6
