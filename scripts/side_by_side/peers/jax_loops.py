"""The workloads in JAX. What kind of loop they use is up to a `Loops`: see jax_scan.py and the other modules beside it."""

from functools import partial

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from workloads import DIRECTION

jax.config.update("jax_enable_x64", True)


class Loops:
    """How loops are written, and in which mode they are differentiated."""

    @staticmethod
    def times(step, state, n):
        """So many steps."""
        return lax.scan(lambda state, _: (step(state, None), None), state, None, length=n)[0]

    @staticmethod
    def over(step, state, xs):
        """A step for each row."""
        return lax.scan(lambda state, x: (step(state, x), None), state, xs)[0]

    @staticmethod
    def until(goes_on, step, state):
        """Steps as long as a condition holds."""
        return lax.while_loop(goes_on, step, state)

    @staticmethod
    def derivative(function, by):
        return jax.value_and_grad(function, argnums=by)


def compiled(loops, function, given, by=(0,)):
    derivative = jax.jit(loops.derivative(function, by))
    given = jax.tree.map(jnp.asarray, given)
    return lambda: jax.block_until_ready(derivative(*given))


def numbers(result):
    value, parts = result
    return float(value), np.concatenate([np.ravel(x) for x in jax.tree.leaves(parts)])


def a(loops, given):
    n = given["n"]

    def mean_state(w, b, h0):
        def step(state, _):
            h, total = state
            h = jnp.tanh(w * h + b)
            return h, total + h

        return loops.times(step, (h0, 0.0), n)[1] / n

    return compiled(loops, mean_state, (given["w"], given["b"], given["h0"]), (0, 1, 2))


def a0(loops, given):
    def last_state(w, b, h0):
        return loops.times(lambda h, _: jnp.tanh(w * h + b), h0, given["n"])

    return compiled(loops, last_state, (given["w"], given["b"], given["h0"]), (0, 1))


def b(loops, given):
    def rnn(W, U, b, X):
        # All products with inputs at once: the loop is left with one.
        pushes = X @ U.T + b

        def step(state, push):
            h, total = state
            h = jnp.tanh(W @ h + push)
            return h, total + 0.5 * jnp.dot(h, h)

        return loops.over(step, (jnp.zeros(64), 0.0), pushes)[1] / len(X)

    return compiled(loops, rnn, tuple(given.values()), (0, 1, 2))


def slope(state, sigma, rho, beta):
    x, y, z = state
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz(loops, n, sigma, rho, beta, x, y, z):
    dt = 2.0 / n

    def step(state, _):
        slopes = partial(slope, sigma=sigma, rho=rho, beta=beta)

        def moved(by, along):
            return tuple(s + by * k for s, k in zip(state, along))

        k1 = slopes(state)
        k2 = slopes(moved(dt / 2, k1))
        k3 = slopes(moved(dt / 2, k2))
        k4 = slopes(moved(dt, k3))
        return tuple(s + dt / 6 * (p + 2 * q + 2 * r + t) for s, p, q, r, t in zip(state, k1, k2, k3, k4))

    return loops.times(step, (x, y, z), n)[0]


def c(loops, given):
    *point, n = given.values()
    return compiled(loops, partial(lorenz, loops, n), tuple(point), tuple(range(6)))


def plate(loops, given, reaction):
    def heat(u):
        def step(u, _):
            c = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            return u.at[1:-1, 1:-1].set(c + 0.2 * (around - 4 * c) + reaction(c))

        u = loops.times(step, u, given["n"])
        return 0.5 * jnp.sum(u * u)

    return compiled(loops, heat, (given["u"],))


def d(loops, given):
    return plate(loops, given, lambda c: 0.0)


def d2(loops, given):
    return plate(loops, given, lambda c: 0.01 * (c - c**3))


def e(loops, given):
    given = dict(given)
    # A row for each day, all paths side by side.
    Z = np.stack([given.pop("Z1").T, given.pop("Z2").T], axis=1)
    dt, r = 1 / 252, given.pop("r")

    def price(v0, kappa, theta, xi, rho, Z):
        other = jnp.sqrt(1 - rho**2)

        def step(state, z):
            X, v = state
            vp = jnp.maximum(v, 1e-6)
            s = jnp.sqrt(vp * dt)
            X = X + (r - vp / 2) * dt + s * z[0]
            return X, v + kappa * (theta - vp) * dt + xi * s * (rho * z[0] + other * z[1])

        paths = Z.shape[2]
        X, _ = loops.over(step, (jnp.full(paths, jnp.log(100.0)), jnp.full(paths, v0)), Z)
        return jnp.exp(-r) * jnp.mean(jnp.maximum(jnp.exp(X) - 100.0, 0.0))

    return compiled(loops, price, (*given.values(), Z), (0, 1, 2, 3, 4))


def f1(loops, given):
    def leading(A, v, tol):
        def step(state):
            v, _ = state
            new = A @ v
            new = new / jnp.linalg.norm(new)
            return new, jnp.linalg.norm(new - v)

        v, _ = loops.until(lambda state: state[1] > tol, step, (v, jnp.asarray(1.0)))
        return v @ A @ v + jnp.sum(jnp.sin(jnp.arange(64.0)) * v)

    return compiled(loops, leading, tuple(given.values()))


def f2(loops, given):
    def kepler(M, e):
        def step(state):
            E, _ = state
            new = M + e * jnp.sin(E)
            return new, new - E

        return loops.until(lambda state: jnp.abs(state[1]) > 1e-14, step, (M, jnp.asarray(1.0)))[0]

    return compiled(loops, kepler, tuple(given.values()), (0, 1))


def f3(loops, given):
    def gauss_seidel(b, a):
        # A sweep: each element from the new one before it and the old one behind it.
        def sweep(state):
            x, _ = state

            def element(before, row):
                b, old, behind = row
                new = (b + before + behind) / a
                return new, (new, jnp.abs(new - old))

            behind = jnp.append(x[1:], 0.0)
            _, (x, changes) = lax.scan(element, 0.0, (b, x, behind))
            return x, jnp.max(changes)

        x, _ = loops.until(lambda state: state[1] > 1e-12, sweep, (jnp.zeros(32), jnp.asarray(1.0)))
        return jnp.sum(x * x)

    return compiled(loops, gauss_seidel, (given["b"], given["a"]), (0, 1))


def g(loops, given):
    def final_loss(lr, b1, b2, A, y):
        def step(state, _):
            x, mean, var, p1, p2 = state
            slope = A.T @ (A @ x - y) / 100
            mean = b1 * mean + (1 - b1) * slope
            var = b2 * var + (1 - b2) * slope * slope
            p1, p2 = p1 * b1, p2 * b2
            x = x - lr * (mean / (1 - p1)) / (jnp.sqrt(var / (1 - p2)) + 1e-8)
            return x, mean, var, p1, p2

        nothing = jnp.zeros(50)
        x = loops.times(step, (nothing, nothing, nothing, 1.0, 1.0), given["n"])[0]
        r = A @ x - y
        return jnp.dot(r, r) / 200

    return compiled(loops, final_loss, tuple(given[name] for name in ("lr", "b1", "b2", "A", "y")), (0, 1, 2))


def h(loops, given):
    def chain(x):
        # Nothing is overwritten: a scan carries the element before and gives out the new ones.
        def step(before, old):
            new = before * old + jnp.sin(old)
            return new, new

        return x[0] + jnp.sum(lax.scan(step, x[0], x[1:])[1])

    return compiled(loops, chain, (given["x"],))


def settings(loops, given):
    """Row l's function, of the three parameters as one array."""
    *point, n = given.values()
    return (lambda p: lorenz(loops, n, *p, *point[3:])), jnp.array(point[:3])


def l(loops, given):  # noqa: E743
    function, p = settings(loops, given)
    curvature = jax.jit(lambda p: (function(p), jax.hessian(function)(p)))
    return lambda: jax.block_until_ready(curvature(p))


def l_hvp(loops, given):
    function, p = settings(loops, given)
    along = jnp.asarray(DIRECTION)

    @jax.jit
    def product(p):
        (value, _), (_, turned) = jax.jvp(jax.value_and_grad(function), (p,), (along,))
        return value, turned

    return lambda: jax.block_until_ready(product(p))


ROWS = {"a": a, "a0": a0, "b": b, "c": c, "d": d, "d2": d2, "e": e, "f1": f1, "f2": f2, "f3": f3, "g": g, "h": h,
        "l": l, "l_hvp": l_hvp}  # fmt: skip


def all_rows(loops, rows=ROWS):
    """The functions of a peer's module."""
    return {row: partial(ROWS[row], loops) for row in rows}
