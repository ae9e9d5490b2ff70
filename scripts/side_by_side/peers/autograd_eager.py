"""HIPS autograd: NumPy wrapped, every operation recorded as it runs."""

import autograd.numpy as np
import numpy
from autograd import hessian_vector_product, jacobian, value_and_grad

from workloads import DIRECTION, ROOT, function_of


def gradient(function, *point):
    """Value and gradient of a function of some numbers and arrays."""
    derivative = value_and_grad(lambda point: function(*point))
    return lambda: derivative(point)


def numbers(result):
    value, parts = result
    return float(value), numpy.concatenate([numpy.ravel(x) for x in parts])


def plain(x):
    """The number of what autograd has wrapped."""
    return getattr(x, "_value", x)


def a(given):
    def mean_state(w, b, h):
        total = 0.0
        for _ in range(given["n"]):
            h = np.tanh(w * h + b)
            total = total + h
        return total / given["n"]

    return gradient(mean_state, given["w"], given["b"], given["h0"])


def a0(given):
    def last_state(w, b):
        h = given["h0"]
        for _ in range(given["n"]):
            h = np.tanh(w * h + b)
        return h

    return gradient(last_state, given["w"], given["b"])


def b(given):
    X = given["X"]

    def rnn(W, U, b):
        h, total, pushes = np.zeros(64), 0.0, np.dot(X, U.T) + b
        for t in range(len(X)):
            h = np.tanh(np.dot(W, h) + pushes[t])
            total = total + 0.5 * np.dot(h, h)
        return total / len(X)

    return gradient(rnn, given["W"], given["U"], given["b"])


# Arithmetic alone, which autograd follows as it stands.
lorenz = function_of(ROOT / "examples/workload_c.py")


def c(given):
    *point, n = given.values()
    return gradient(lambda *point: lorenz(*point, n), *point)


def plate(given, reaction):
    def heat(u):
        for _ in range(given["n"]):
            c = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            u = u + np.pad(0.2 * (around - 4 * c) + reaction(c), 1, "constant")
        return 0.5 * np.sum(u * u)

    return gradient(heat, given["u"])


def d(given):
    return plate(given, lambda c: 0.0)


def d2(given):
    return plate(given, lambda c: 0.01 * (c - c**3))


def e(given):
    given = dict(given)
    Z1, Z2 = (numpy.ascontiguousarray(given.pop(name).T) for name in ("Z1", "Z2"))
    dt, r = 1 / 252, given.pop("r")

    def price(v0, kappa, theta, xi, rho):
        X, v, other = numpy.full(Z1.shape[1], numpy.log(100.0)), v0 + numpy.zeros(Z1.shape[1]), np.sqrt(1 - rho**2)
        for z1, z2 in zip(Z1, Z2):
            vp = np.maximum(v, 1e-6)
            s = np.sqrt(vp * dt)
            X = X + (r - vp / 2) * dt + s * z1
            v = v + kappa * (theta - vp) * dt + xi * s * (rho * z1 + other * z2)
        return np.exp(-r) * np.mean(np.maximum(np.exp(X) - 100.0, 0.0))

    return gradient(price, *given.values())


def f1(given):
    def leading(A):
        v, change = given["v"], 1.0
        while change > given["tol"]:
            new = np.dot(A, v)
            new = new / np.sqrt(np.dot(new, new))
            change = numpy.linalg.norm(plain(new) - plain(v))
            v = new
        return np.dot(v, np.dot(A, v)) + np.sum(np.sin(np.arange(64.0)) * v)

    return gradient(leading, given["A"])


def f2(given):
    def kepler(M, e):
        E, change = M, 1.0
        while abs(change) > 1e-14:
            new = M + e * np.sin(E)
            change = plain(new) - plain(E)
            E = new
        return E

    return gradient(kepler, given["M"], given["e"])


def f3(given):
    def gauss_seidel(b, a):
        x, right, change = [0.0] * 34, [b[i] for i in range(32)], 1.0
        while change > 1e-12:
            change = 0.0
            for i in range(1, 33):
                new = (right[i - 1] + x[i - 1] + x[i + 1]) / a
                change = max(change, abs(plain(new) - plain(x[i])))
                x[i] = new
        return sum(one * one for one in x)

    return gradient(gauss_seidel, given["b"], given["a"])


def g(given):
    A, y = given["A"], given["y"]

    def final_loss(lr, b1, b2):
        x = mean = var = numpy.zeros(50)
        p1 = p2 = 1.0
        for _ in range(given["n"]):
            slope = np.dot(A.T, np.dot(A, x) - y) / 100
            mean = b1 * mean + (1 - b1) * slope
            var = b2 * var + (1 - b2) * slope * slope
            p1, p2 = p1 * b1, p2 * b2
            x = x - lr * (mean / (1 - p1)) / (np.sqrt(var / (1 - p2)) + 1e-8)
        r = np.dot(A, x) - y
        return np.dot(r, r) / 200

    return gradient(final_loss, given["lr"], given["b1"], given["b2"])


def h(given):
    n = len(given["x"])

    def chain(start):
        rest = np.sin(start)
        before = total = start[0]
        for i in range(1, n):
            before = before * start[i] + rest[i]
            total = total + before
        return total

    return gradient(chain, given["x"])


def settings(given):
    *point, n = given.values()
    return (lambda p: lorenz(*p, *point[3:], n)), numpy.array(point[:3])


def l(given):  # noqa: E743
    function, p = settings(given)
    slope = value_and_grad(function)
    curvature = jacobian(lambda p: slope(p)[1])
    return lambda: (function(p), (curvature(p),))


def l_hvp(given):
    function, p = settings(given)
    product = hessian_vector_product(function)
    return lambda: (function(p), (product(p, DIRECTION),))
