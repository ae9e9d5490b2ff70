"""CasADi: a step as a symbolic function, repeated by `fold`, differentiated as a graph, and run by CasADi's virtual machine, or with
`CASADI_C=1` as C.

Parameters go through the loop as part of its state, as that is what a fold carries.
"""

import os

import casadi as ca
import numpy as np

from workloads import DIRECTION

UNTIL = "CasADi has no loop whose end depends on what it computes"
REFUSED = {"f1": UNTIL, "f2": UNTIL, "f3": UNTIL}

OPTIONS = {}
if os.environ.get("CASADI_C"):
    OPTIONS = {"jit": True, "compiler": "shell", "jit_options": {"flags": ["-O3", "-march=native"], "verbose": False}}


def numbers(result):
    value, gradient = result
    # CasADi counts the elements of matrices by columns.
    return float(value), np.concatenate([np.asarray(x.full()).ravel() for x in gradient])


def run(function, point):
    def call():
        value, *gradient = function(*point)
        return value, gradient

    return call


def compiled(make, point):
    """Value and gradient, made in the first call, as everything is that others do there."""
    made = []

    def call():
        if not made:
            symbols = [ca.MX.sym(f"p{k}", *np.shape(np.atleast_1d(x))) for k, x in enumerate(point)]
            value = make(*symbols)
            gradient = [ca.gradient(value, s) for s in symbols]
            made.append(run(ca.Function("f", symbols, [value, *gradient], OPTIONS), point))
        return made[0]()

    return call


def tanh_step(sums):
    h, total, w, b = (ca.SX.sym(name) for name in ("h", "total", "w", "b"))
    new = ca.tanh(w * h + b)
    state = ca.vertcat(h, total, w, b)
    return ca.Function("step", [state], [ca.vertcat(new, total + new if sums else 0, w, b)])


def a(given):
    n = given["n"]
    return compiled(
        lambda w, b, h0: tanh_step(True).fold(n)(ca.vertcat(h0, 0, w, b))[1] / n, (given["w"], given["b"], given["h0"])
    )


def a0(given):
    return compiled(
        lambda w, b: tanh_step(False).fold(given["n"])(ca.vertcat(given["h0"], 0, w, b))[0], (given["w"], given["b"])
    )


def b(given):
    X = given["X"].T

    def rnn(W, U, b):
        h, total, weights, push = ca.MX.sym("h", 64), ca.MX.sym("total"), ca.MX.sym("W", 4096), ca.MX.sym("push", 64)
        new = ca.tanh(ca.reshape(weights, 64, 64) @ h + push)
        after = ca.vertcat(new, total + 0.5 * ca.dot(new, new), weights)
        steps = ca.Function("step", [ca.vertcat(h, total, weights), push], [after]).fold(X.shape[1])
        pushes = U @ X + ca.repmat(b, 1, X.shape[1])
        return steps(ca.vertcat(ca.DM.zeros(65), ca.vec(W)), pushes)[64] / X.shape[1]

    return compiled(rnn, (given["W"], given["U"], given["b"]))


def lorenz(n):
    s, p = ca.SX.sym("s", 3), ca.SX.sym("p", 3)

    def slope(s):
        x, y, z = ca.vertsplit(s)
        sigma, rho, beta = ca.vertsplit(p)
        return ca.vertcat(sigma * (y - x), x * (rho - z) - y, x * y - beta * z)

    dt = 2.0 / n
    k1 = slope(s)
    k2 = slope(s + dt / 2 * k1)
    k3 = slope(s + dt / 2 * k2)
    k4 = slope(s + dt * k3)
    new = s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return ca.Function("step", [ca.vertcat(s, p)], [ca.vertcat(new, p)]).fold(n)


def c(given):
    *point, n = given.values()
    return compiled(lambda *p: lorenz(n)(ca.vertcat(*p[3:], *p[:3]))[0], point)


def plate(given, reaction):
    def heat(u):
        v = ca.MX.sym("v", 256, 256)
        c = v[1:-1, 1:-1]
        around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
        new = ca.MX(v)
        new[1:-1, 1:-1] = c + 0.2 * (around - 4 * c) + reaction(c)
        last = ca.Function("step", [v], [new]).fold(given["n"])(u)
        return 0.5 * ca.sumsqr(last)

    return compiled(heat, (given["u"],))


def d(given):
    return plate(given, lambda c: 0)


def d2(given):
    return plate(given, lambda c: 0.01 * (c - c**3))


def e(given):
    given = dict(given)
    Z = np.stack([given.pop("Z1"), given.pop("Z2")], axis=-1)
    paths, steps, _ = Z.shape
    # Path after path, a column for each day.
    columns = ca.DM(np.ascontiguousarray(Z.reshape(paths * steps, 2).T))
    dt, r = 1 / 252, given.pop("r")

    def price(*point):
        X, v, z = ca.SX.sym("X"), ca.SX.sym("v"), ca.SX.sym("z", 2)
        p = ca.SX.sym("p", 4)
        kappa, theta, xi, rho = ca.vertsplit(p)
        vp = ca.fmax(v, 1e-6)
        s = ca.sqrt(vp * dt)
        new = ca.vertcat(
            X + (r - vp / 2) * dt + s * z[0],
            v + kappa * (theta - vp) * dt + xi * s * (rho * z[0] + ca.sqrt(1 - rho**2) * z[1]),
        )
        step = ca.Function("step", [ca.vertcat(X, v, p), z], [ca.vertcat(new, p)])
        path = step.fold(steps).map(paths)
        ends = path(ca.repmat(ca.vertcat(ca.log(100), *point), 1, paths), columns)[0, :]
        return np.exp(-r) * ca.sum2(ca.fmax(ca.exp(ends) - 100, 0)) / paths

    return compiled(price, tuple(given.values()))


def g(given):
    A, y = ca.DM(given["A"]), ca.DM(given["y"])

    def final_loss(lr, b1, b2):
        x, mean, var = (ca.MX.sym(name, 50) for name in ("x", "mean", "var"))
        s = ca.MX.sym("s", 5)
        rate, decay1, decay2, p1, p2 = ca.vertsplit(s)
        slope = A.T @ (A @ x - y) / 100
        m = decay1 * mean + (1 - decay1) * slope
        v = decay2 * var + (1 - decay2) * slope * slope
        q1, q2 = p1 * decay1, p2 * decay2
        new = x - rate * (m / (1 - q1)) / (ca.sqrt(v / (1 - q2)) + 1e-8)
        settings = ca.vertcat(rate, decay1, decay2, q1, q2)
        step = ca.Function("step", [ca.vertcat(x, mean, var, s)], [ca.vertcat(new, m, v, settings)])
        last = step.fold(given["n"])(ca.vertcat(ca.DM.zeros(150), lr, b1, b2, 1, 1))[:50]
        return ca.sumsqr(A @ last - y) / 200

    return compiled(final_loss, (given["lr"], given["b1"], given["b2"]))


def h(given):
    n = len(given["x"])

    def chain(x):
        before, old = ca.SX.sym("before"), ca.SX.sym("old")
        new = before * old + ca.sin(old)
        steps = ca.Function("step", [before, old], [new]).mapaccum(n - 1)
        return x[0] + ca.sum2(steps(x[0], x[1:].T))

    return compiled(chain, (given["x"],))


def second(given, derivative):
    *point, n = given.values()
    made = []

    def call():
        if not made:
            p = ca.MX.sym("p", 3)
            value = lorenz(n)(ca.vertcat(*point[3:], p))[0]
            made.append(run(ca.Function("f", [p], [value, derivative(value, p)], OPTIONS), (point[:3],)))
        return made[0]()

    return call


def l(given):  # noqa: E743
    return second(given, lambda value, p: ca.hessian(value, p)[0])


def l_hvp(given):
    return second(given, lambda value, p: ca.jtimes(ca.gradient(value, p), p, DIRECTION))
