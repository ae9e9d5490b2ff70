"""PyTorch in eager mode: the loop in Python, every operation recorded as it runs."""

import math

import numpy as np
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def leaf(x):
    return torch.tensor(x, requires_grad=True)


def gradient(function, by):
    """Value and gradient by these tensors; `function` has no arguments."""

    def call():
        value = function()
        return value.detach(), torch.autograd.grad(value, by)

    return call


def numbers(result):
    value, parts = result
    return float(value), np.concatenate([x.numpy().ravel() for x in parts])


def a(given):
    w, b, h0 = leaf(given["w"]), leaf(given["b"]), leaf(given["h0"])

    def mean_state():
        h, total = h0, 0.0
        for _ in range(given["n"]):
            h = torch.tanh(w * h + b)
            total = total + h
        return total / given["n"]

    return gradient(mean_state, (w, b, h0))


def a0(given):
    w, b, h0 = leaf(given["w"]), leaf(given["b"]), torch.tensor(given["h0"])

    def last_state():
        h = h0
        for _ in range(given["n"]):
            h = torch.tanh(w * h + b)
        return h

    return gradient(last_state, (w, b))


def b(given):
    W, U, b, X = leaf(given["W"]), leaf(given["U"]), leaf(given["b"]), torch.tensor(given["X"])

    def rnn():
        h, states = torch.zeros(64), []
        for push in (X @ U.T + b).unbind():
            h = torch.tanh(torch.mv(W, h) + push)
            states.append(h)
        return 0.5 * torch.stack(states).square().sum() / len(X)

    return gradient(rnn, (W, U, b))


def slope(s, sigma, rho, beta):
    x, y, z = s.unbind()
    return torch.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def lorenz(n, sigma, rho, beta, s):
    dt = 2.0 / n
    for _ in range(n):
        k1 = slope(s, sigma, rho, beta)
        k2 = slope(s + dt / 2 * k1, sigma, rho, beta)
        k3 = slope(s + dt / 2 * k2, sigma, rho, beta)
        k4 = slope(s + dt * k3, sigma, rho, beta)
        s = s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return s[0]


def c(given):
    *point, n = given.values()
    point = [leaf(x) for x in point]
    return gradient(lambda: lorenz(n, *point[:3], torch.stack(point[3:])), point)


def plate(given, reaction):
    start = leaf(given["u"])

    def heat():
        u = start
        for _ in range(given["n"]):
            c = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            # The edge stays: what is added is zero there.
            u = u + torch.nn.functional.pad(0.2 * (around - 4 * c) + reaction(c), (1, 1, 1, 1))
        return 0.5 * u.square().sum()

    return gradient(heat, (start,))


def d(given):
    return plate(given, lambda c: 0.0)


def d2(given):
    return plate(given, lambda c: 0.01 * (c - c**3))


def e(given):
    given = dict(given)
    Z1, Z2 = (torch.tensor(np.ascontiguousarray(given.pop(name).T)) for name in ("Z1", "Z2"))
    dt, r = 1 / 252, given.pop("r")
    v0, kappa, theta, xi, rho = point = [leaf(x) for x in given.values()]

    def price():
        X, v = torch.full((Z1.shape[1],), math.log(100.0)), v0.expand(Z1.shape[1])
        other = torch.sqrt(1 - rho**2)
        for z1, z2 in zip(Z1, Z2):
            vp = v.clamp(min=1e-6)
            s = torch.sqrt(vp * dt)
            X = X + (r - vp / 2) * dt + s * z1
            v = v + kappa * (theta - vp) * dt + xi * s * (rho * z1 + other * z2)
        return math.exp(-r) * torch.relu(torch.exp(X) - 100.0).mean()

    return gradient(price, point)


def f1(given):
    A, start = leaf(given["A"]), torch.tensor(given["v"])

    def leading():
        v, change = start, 1.0
        while change > given["tol"]:
            new = torch.mv(A, v)
            new = new / torch.linalg.norm(new)
            change = float(torch.linalg.norm(new.detach() - v.detach()))
            v = new
        return v @ A @ v + torch.sum(torch.sin(torch.arange(64.0)) * v)

    return gradient(leading, (A,))


def f2(given):
    M, e = leaf(given["M"]), leaf(given["e"])

    def kepler():
        E, change = M, 1.0
        while abs(change) > 1e-14:
            new = M + e * torch.sin(E)
            change = float(new.detach() - E.detach())
            E = new
        return E

    return gradient(kepler, (M, e))


def f3(given):
    b, a = leaf(given["b"]), leaf(given["a"])

    def gauss_seidel():
        # Elements one by one: what is overwritten in place could not be differentiated.
        zero = torch.tensor(0.0)
        x, right, change = [zero] * 34, b.unbind(), 1.0
        while change > 1e-12:
            change = 0.0
            for i in range(1, 33):
                new = (right[i - 1] + x[i - 1] + x[i + 1]) / a
                change = max(change, abs(float(new.detach()) - float(x[i].detach())))
                x[i] = new
        return torch.stack(x).square().sum()

    return gradient(gauss_seidel, (b, a))


def g(given):
    A, y = torch.tensor(given["A"]), torch.tensor(given["y"])
    lr, b1, b2 = point = [leaf(given[name]) for name in ("lr", "b1", "b2")]

    def final_loss():
        x = mean = var = torch.zeros(50)
        p1 = p2 = 1.0
        for _ in range(given["n"]):
            slope = torch.mv(A.T, torch.mv(A, x) - y) / 100
            mean = b1 * mean + (1 - b1) * slope
            var = b2 * var + (1 - b2) * slope * slope
            p1, p2 = p1 * b1, p2 * b2
            x = x - lr * (mean / (1 - p1)) / (torch.sqrt(var / (1 - p2)) + 1e-8)
        r = torch.mv(A, x) - y
        return torch.dot(r, r) / 200

    return gradient(final_loss, point)


def h(given):
    start = leaf(given["x"])

    def chain():
        # New elements in a list: the array itself could not be overwritten.
        x = list(start.unbind())
        rest = torch.sin(start).unbind()
        for i in range(1, len(x)):
            x[i] = torch.addcmul(rest[i], x[i - 1], x[i])
        return torch.stack(x).sum()

    return gradient(chain, (start,))


def settings(given):
    *point, n = given.values()
    return (lambda p: lorenz(n, *p.unbind(), torch.tensor(point[3:]))), torch.tensor(point[:3], requires_grad=True)


def l(given):  # noqa: E743
    function, p = settings(given)

    def curvature():
        value = function(p)
        (slope,) = torch.autograd.grad(value, p, create_graph=True)
        rows = [torch.autograd.grad(s, p, retain_graph=True)[0] for s in slope]
        return value.detach(), (torch.stack(rows),)

    return curvature


def l_hvp(given):
    from workloads import DIRECTION

    function, p = settings(given)
    along = torch.tensor(DIRECTION)

    def product():
        value = function(p)
        (slope,) = torch.autograd.grad(value, p, create_graph=True)
        return value.detach(), torch.autograd.grad(slope @ along, p)

    return product
