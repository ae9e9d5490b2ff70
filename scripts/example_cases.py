"""The arguments every example is called with, and formulas for what must come out where there are some.

A case has `args`, and may have
- `wrt`: what to differentiate by; all arguments that are not integers where it is left out,
- `seed`: weights of the elements of the result, where it is an array or a tuple,
- `formula`: a function of the arguments that gives, by name, the weighted value and derivatives, and
  `formula_error`: how far off it may be, as where an iteration ends before it is exact,
- `tolerance` and `reason`: what doubles cannot do better than, and why.
"""

import math

import numpy as np
from example_numbers import flat, precise
from mpmath import mp, mpf


# Arguments.


def wave(*shape, phase=0.0, size=1.0, about=0.0):
    """Numbers that look random, with three decimals."""
    out = np.zeros(shape)
    for k, at in enumerate(np.ndindex(*shape)):
        out[at] = round(about + size * math.sin(1.0 + 2.4 * k + 0.37 * k * k % 6.3 + phase), 3)
    return out.tolist()


def identity(n, factor):
    return [[factor if i == j else 0.0 for j in range(n)] for i in range(n)]


def plus(a, b):
    return np.round(np.array(a) + np.array(b), 3).tolist()


def symmetric(n, diagonal, size=0.5, phase=0.0):
    a = np.array(wave(n, n, phase=phase, size=size))
    return np.round((a + a.T) / 2 + diagonal * np.eye(n), 3).tolist()


# Formulas, of the arguments at 50 digits.


def matrix(a):
    return mp.matrix(np.array(a).tolist())


def nested(m):
    return m.tolist()


def solved(A, b):
    return mp.lu_solve(matrix(A), mp.matrix(list(b)))


def quadratic_of_solution(A, b):
    """x = A^-1 b and y = A^-T 2 x: for the sum of squares of x."""
    x = solved(A, b)
    y = mp.lu_solve(matrix(A).T, 2 * x)
    n = len(b)
    return x, [y[i] for i in range(n)], [[-y[i] * x[j] for j in range(n)] for i in range(n)]


def cosine_solution(a, x, limit):
    s = mp.findroot(lambda x: x - a * mp.cos(x), mpf(x))
    return {"value": s, "a": mp.cos(s) / (1 + a * mp.sin(s)), "x": 0}


def kepler_position(M, e, a):
    E = mp.findroot(lambda E: E - e * mp.sin(E) - M, mpf(M) + e * mp.sin(M))
    return E, 1 / (1 - e * mp.cos(E))


def orbit(M, e, a):
    # Weighted as the seed below: 1 and 0.5.
    E, speed = kepler_position(M, e, a)
    b = mp.sqrt(1 - e * e)
    by_E = -a * mp.sin(E) + a * b * mp.cos(E) / 2
    return {
        "value": a * (mp.cos(E) - e) + a * b * mp.sin(E) / 2,
        "M": by_E * speed,
        "e": by_E * mp.sin(E) * speed - a - a * e / b * mp.sin(E) / 2,
        "a": mp.cos(E) - e + b * mp.sin(E) / 2,
    }


def fixed_kepler(M, e):
    E, speed = kepler_position(M, e, 1)
    return {"value": E, "M": speed, "e": mp.sin(E) * speed}


def tridiagonal(lower, diagonal, upper, x):
    n = len(x)
    A = mp.matrix(n, n)
    for i in range(n):
        A[i, i] = diagonal[i]
        if i + 1 < n:
            A[i + 1, i], A[i, i + 1] = lower[i], upper[i]
    s = mp.lu_solve(A, mp.matrix(list(x)))
    y = mp.lu_solve(A.T, mp.matrix([precise(w) for w in SEED_4]))
    return {
        "x": [y[i] for i in range(n)],
        "diagonal": [-y[i] * s[i] for i in range(n)],
        "lower": [-y[i + 1] * s[i] for i in range(n - 1)],
        "upper": [-y[i] * s[i + 1] for i in range(n - 1)],
    }


def determinant(A):
    m = matrix(A)
    return {"value": mp.det(m), "A": nested(mp.det(m) * (m**-1).T)}


def log_determinant(A):
    m = matrix(A)
    n = m.rows
    for i in range(n):
        for j in range(i + 1, n):
            m[i, j] = m[j, i]
    inverse = m**-1
    by = [[inverse[i, j] * (2 if i > j else 1 if i == j else 0) for j in range(n)] for i in range(n)]
    return {"value": mp.log(mp.det(m)), "A": by}


def volume(A):
    m = matrix(A)
    gram = m * m.T
    v = mp.sqrt(mp.det(gram))
    return {"value": v, "A": nested(v * (gram**-1) * m)}


def black_scholes(price, spot, strike, rate, years):
    def call(sigma):
        root = sigma * mp.sqrt(years)
        d1 = (mp.log(spot / strike) + (rate + sigma**2 / 2) * years) / root
        return spot * mp.ncdf(d1) - strike * mp.exp(-rate * years) * mp.ncdf(d1 - root), d1

    sigma = mp.findroot(lambda s: call(s)[0] - price, mpf("0.3"))
    d1 = call(sigma)[1]
    vega = spot * mp.sqrt(years) * mp.npdf(d1)
    return {"value": sigma, "price": 1 / vega, "spot": -mp.ncdf(d1) / vega}


def bell(a, b, width, tol):
    at = lambda x: mp.exp(-((x / width) ** 2))  # noqa: E731
    value = mp.quad(at, [a, b])
    return {"value": value, "a": -at(a), "b": at(b)}


def horner(c, x):
    n = len(c)
    return {
        "value": sum(c[k] * x ** (n - 1 - k) for k in range(n)),
        "coefficients": [x ** (n - 1 - k) for k in range(n)],
        "x": sum(c[k] * (n - 1 - k) * x ** (n - 2 - k) for k in range(n - 1)),
    }


def cubic_root(a, b):
    x = mp.findroot(lambda x: x**3 + a * x - b, mpf(1))
    slope = 3 * x**2 + a
    return {"value": x, "a": -x / slope, "b": 1 / slope}


def eigenvalue(A, n):
    values, vectors = mp.eigsy(matrix(A))
    v = vectors[:, len(values) - 1]
    return {"value": values[len(values) - 1], "A": nested(v * v.T)}


def minimal_energy(A, b):
    x = solved(A, b)
    n = len(b)
    # Half the derivative of a symmetric change goes to each of the two elements.
    return {"value": -sum(b[i] * x[i] for i in range(n)) / 2, "b": [-x[i] for i in range(n)]}


def chain(a, b):
    n = len(b)
    A = mp.matrix(n, n)
    for i in range(n):
        A[i, i] = a
        if i + 1 < n:
            A[i, i + 1] = A[i + 1, i] = -1
    x = mp.lu_solve(A, mp.matrix(list(b)))
    y = mp.lu_solve(A, 2 * x)
    return {
        "value": sum(x[i] ** 2 for i in range(n)),
        "b": [y[i] for i in range(n)],
        "a": -sum(y[i] * x[i] for i in range(n)),
    }


def linear_heat(u, n):
    """The steps are a symmetric matrix inside, so the gradient is the transposed steps of the end."""
    size = len(u)
    state = {at: u[at] for at in np.ndindex(size, size)}
    inner = [at for at in state if 0 < at[0] < size - 1 and 0 < at[1] < size - 1]
    around = lambda i, j: [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]  # noqa: E731
    fifth = precise(0.2)
    for _ in range(n):
        old = dict(state)
        for at in inner:
            state[at] = old[at] + fifth * (sum(old[p] for p in around(*at)) - 4 * old[at])
    value = sum(x * x for x in state.values()) / 2
    for _ in range(n):
        old = dict(state)
        for at in inner:
            state[at] = (1 - 4 * fifth) * old[at]
        for at in inner:
            for p in around(*at):
                if p in inner:
                    continue
                state[p] += fifth * old[at]
        for at in inner:
            state[at] += fifth * sum(old[p] for p in around(*at) if p in inner)
    return {"value": value, "u": [[state[i, j] for j in range(size)] for i in range(size)]}


SEED_4 = [1.0, -0.5, 2.0, 0.25]

CASES = {
    "tanh_recurrence.py": [
        dict(args=dict(w=0.9, b=0.1, h=0.5, n=10)),
        dict(args=dict(w=-1.2, b=0.3, h=0.5, n=25)),
        dict(
            args=dict(w=0.9, b=0.1, h=0.5, n=0),
            formula=lambda w, b, h, n: dict(value=h, w=0, b=0, h=1),
        ),
    ],
    "sum_of_squares.py": [
        dict(args=dict(x=wave(5)), formula=lambda x: dict(value=sum(x * x), x=2 * x)),
        dict(args=dict(x=[3.0])),
    ],
    "two_variable_recurrence.py": [dict(args=dict(a=0.3, x=1.0, y=0.5, n=12))],
    "array_map.py": [dict(args=dict(x=wave(4)), seed=SEED_4)],
    "prefix_sum.py": [
        dict(
            args=dict(x=wave(4)),
            seed=SEED_4,
            formula=lambda x: dict(x=[2.75, 1.75, 2.25, 0.25]),
        )
    ],
    "while_norm.py": [
        dict(
            args=dict(
                A=plus(identity(3, 1.0), wave(3, 3, size=0.3)), b=wave(3, phase=1.0), rate=0.8, tol=1e-10
            ),
            wrt=["A", "b", "rate"],
            formula=lambda A, b, rate, tol: dict(zip(("b", "A"), quadratic_of_solution(A, b)[1:])),
            formula_error=1e-8,
        )
    ],
    "doubling.py": [
        dict(args=dict(x=0.3), formula=lambda x: dict(value=4 * x, x=4)),
        dict(args=dict(x=1.5), formula=lambda x: dict(value=x, x=1)),
        dict(args=dict(x=1e-3), formula=lambda x: dict(value=1024 * x, x=1024)),
    ],
    "fixed_point.py": [
        dict(args=dict(a=0.8, x=1.0, limit=1000), formula=cosine_solution, formula_error=1e-11),
        dict(args=dict(a=0.8, x=1.0, limit=5)),
    ],
    "repeated_squaring.py": [
        dict(args=dict(x=1.1, n=13), formula=lambda x, n: dict(value=x**n, x=n * x ** (n - 1))),
        dict(args=dict(x=-0.9, n=64), formula=lambda x, n: dict(value=x**n, x=n * x ** (n - 1))),
        dict(args=dict(x=2.0, n=0)),
    ],
    "rnn.py": [
        dict(
            args=dict(
                inputs=wave(5, 2),
                target=wave(2, phase=2.0),
                W=wave(3, 3, size=0.6),
                U=wave(3, 2, phase=0.5),
                V=wave(2, 3, phase=1.5),
                b=wave(3, size=0.2),
            )
        )
    ],
    "lstm.py": [
        dict(
            args=dict(
                inputs=wave(6, 2),
                Wf=wave(3, 5, phase=0.1),
                Wi=wave(3, 5, phase=0.7),
                Wo=wave(3, 5, phase=1.3),
                Wc=wave(3, 5, phase=1.9),
                bias=1.0,
            )
        )
    ],
    "doubling_in_place.py": [
        dict(args=dict(x=wave(4), n=6), formula=lambda x, n: dict(x=[64, 0, 0, 640])),
        dict(args=dict(x=[0.5], n=3), formula=lambda x, n: dict(x=[88])),
    ],
    "overwriting.py": [
        dict(args=dict(x=2.5, y=-0.7), formula=lambda x, y: dict(value=(x + 1) * y, x=y, y=x + 1))
    ],
    "aliased_buffers.py": [
        dict(
            args=dict(x=1.5, y=0.4),
            formula=lambda x, y: dict(
                value=x * y * (x + x * y), x=2 * x * y * (1 + y), y=x * x * (1 + 2 * y)
            ),
        )
    ],
    "relu_network.py": [
        dict(args=dict(x=wave(3), weights=wave(3, 3, 3), biases=wave(3, 3, phase=2.0, size=0.3))),
    ],
    "markov_chain.py": [
        dict(
            args=dict(
                p=[1.0, 0.0, 0.0],
                P=[[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.05, 0.15, 0.8]],
                cost=[1.0, -2.0, 4.0],
                discount=0.95,
                n=20,
            )
        )
    ],
    "edit_distance.py": [
        dict(args=dict(x=wave(5), y=wave(4, phase=0.4), gap=0.6, t=0.1)),
        dict(args=dict(x=wave(2), y=wave(6, phase=0.4), gap=0.3, t=1.0)),
    ],
    "bellman_ford.py": [
        dict(
            args=dict(
                tail=[0, 0, 1, 1, 2, 3, 2],
                head=[1, 2, 2, 3, 3, 4, 4],
                length=[1.0, 4.5, 2.0, 6.0, 1.5, 1.0, 3.5],
                nodes=5,
            ),
            formula=lambda *_: dict(value=5.5, length=[1, 0, 1, 0, 1, 1, 0]),
        ),
        dict(
            args=dict(tail=[2, 1, 0], head=[3, 2, 1], length=[-0.5, 2.0, 1.0], nodes=4),
            formula=lambda *_: dict(value=2.5, length=[1, 1, 1]),
        ),
    ],
    "floyd_warshall.py": [
        dict(
            args=dict(
                d=[
                    [0.0, 1.3, 9.0, 7.1],
                    [2.2, 0.0, 1.7, 8.3],
                    [6.4, 5.9, 0.0, 1.1],
                    [1.9, 8.8, 9.7, 0.0],
                ]
            )
        )
    ],
    "momentum.py": [dict(args=dict(x=-0.5, y=0.8, rate=0.005, momentum=0.8, n=40))],
    "adam.py": [
        dict(
            args=dict(x=[1.0, -2.0, 0.5], curvature=[1.0, 4.0, 9.0], rate=0.05, n=15, beta1=0.9, beta2=0.99)
        )
    ],
    "jacobi.py": [
        dict(
            args=dict(A=plus(identity(4, 3.0), wave(4, 4, size=0.6)), b=wave(4, phase=1.0), tol=1e-11),
            wrt=["A", "b"],
            formula=lambda A, b, tol: dict(
                value=solved(A, b)[0] + solved(A, b)[3],
                b=list(mp.lu_solve(matrix(A).T, mp.matrix([1, 0, 0, 1]))),
            ),
            formula_error=1e-8,
        )
    ],
    "gauss_seidel.py": [
        dict(
            args=dict(
                A=plus(identity(4, 3.0), wave(4, 4, size=0.6)),
                b=wave(4, phase=1.0),
                x=wave(4, phase=2.0),
                sweeps=4,
            ),
            seed=SEED_4,
        ),
        dict(
            args=dict(A=[[2.0, 0.5], [0.25, 4.0]], b=[1.0, 2.0], x=[0.0, 0.0], sweeps=40),
            seed=[1.0, 1.0],
            formula=lambda A, b, x, n: dict(
                value=sum(solved(A, b)), b=list(mp.lu_solve(matrix(A).T, mp.matrix([1, 1])))
            ),
        ),
    ],
    "kepler.py": [
        dict(args=dict(M=0.8, e=0.3, a=1.5), seed=[1.0, 0.5], formula=orbit, formula_error=1e-12),
        dict(args=dict(M=2.5, e=0.9, a=1.0), seed=[1.0, 0.5], formula=orbit, formula_error=1e-10),
    ],
    "n_body.py": [
        dict(
            args=dict(
                x=[[0.0, 0.0], [1.0, 0.2], [-0.6, 0.9]],
                v=[[0.0, 0.1], [0.0, 0.9], [0.7, 0.3]],
                m=[1.0, 0.3, 0.2],
                dt=0.05,
                n=8,
            )
        )
    ],
    "heat.py": [
        dict(args=dict(u=[1.0, 0.0, 0.0, 0.0, 0.0], k=0.25, n=10)),
        dict(args=dict(u=wave(7), k=0.2, n=5)),
    ],
    "heat_2d.py": [dict(args=dict(u=wave(5, 6), k=0.15, n=4))],
    "lorenz.py": [
        dict(args=dict(sigma=10.0, rho=28.0, beta=2.5, dt=0.01, n=200)),
        dict(args=dict(sigma=10.0, rho=14.0, beta=2.5, dt=0.01, n=50)),
    ],
    "newton.py": [
        dict(
            args=dict(a=2.0, x0=1.0),
            formula=lambda a, x0: dict(value=mp.sqrt(a), a=1 / (2 * mp.sqrt(a)), x0=0),
            formula_error=1e-20,
        ),
        dict(args=dict(a=1e-3, x0=3.0)),
    ],
    "thomas.py": [
        dict(
            args=dict(
                lower=[0.5, -0.4, 0.3], diagonal=[2.0, 2.5, -3.0, 1.5], upper=[0.7, 0.2, -0.6], x=wave(4)
            ),
            seed=SEED_4,
            formula=tridiagonal,
        )
    ],
    "workload_a.py": [dict(args=dict(w=0.9, b=0.1, h0=0.5, n=200))],
    "workload_b.py": [
        dict(
            args=dict(
                W=wave(8, 8, size=0.4),
                U=wave(8, 8, phase=0.5, size=0.4),
                b=wave(8, size=0.1),
                X=wave(20, 8),
            )
        )
    ],
    "workload_c.py": [
        dict(args=dict(sigma=10.0, rho=28.0, beta=8 / 3, x=1.0, y=1.0, z=1.0, n=200)),
    ],
    "workload_d.py": [dict(args=dict(u=wave(12, 12), n=10), formula=linear_heat)],
    "workload_d2.py": [dict(args=dict(u=wave(12, 12), n=10))],
    "workload_e.py": [
        dict(
            args=dict(
                Z1=wave(6, 12, size=1.6, about=0.3),
                Z2=wave(6, 12, phase=1.0, size=1.6),
                v0=0.04,
                kappa=2.0,
                theta=0.05,
                xi=0.3,
                rho=-0.7,
                r=0.02,
            ),
            wrt=["v0", "kappa", "theta", "xi", "rho"],
        ),
        dict(
            args=dict(
                Z1=wave(6, 12, size=1.6),
                Z2=wave(6, 12, phase=1.0, size=1.6),
                v0=0.0005,
                kappa=2.0,
                theta=0.001,
                xi=0.9,
                rho=-0.7,
                r=0.02,
            ),
            wrt=["Z1", "v0", "kappa", "theta", "xi", "rho"],
        ),
    ],
    "workload_f1.py": [
        dict(
            args=dict(
                A=plus(symmetric(5, 1.0), np.diag([3.0, 0.5, 0.2, 0.0, 0.0]).tolist()),
                v=wave(5, about=1.0),
                tol=1e-10,
            ),
            wrt=["A"],
        )
    ],
    "workload_f2.py": [
        dict(args=dict(M=1.0, e=0.5), formula=fixed_kepler, formula_error=1e-11),
        dict(args=dict(M=2.4, e=0.8), formula=fixed_kepler, formula_error=1e-10),
    ],
    "workload_f3.py": [dict(args=dict(a=2.5, b=wave(10)), formula=chain, formula_error=1e-9)],
    "workload_g.py": [
        dict(
            args=dict(A=wave(6, 3), y=wave(6, phase=1.0), lr=0.05, b1=0.9, b2=0.99, n=20),
            wrt=["lr", "b1", "b2"],
        ),
        dict(args=dict(A=wave(6, 3), y=wave(6, phase=1.0), lr=0.05, b1=0.9, b2=0.99, n=7)),
    ],
    "workload_h.py": [dict(args=dict(x=wave(12)))],
    "gaussian_elimination.py": [
        dict(args=dict(A=plus(identity(4, 2.0), wave(4, 4, size=0.5))), formula=determinant),
        dict(args=dict(A=wave(3, 3)), formula=determinant),
    ],
    "double_buffer.py": [
        dict(args=dict(u=[0.0] + wave(6) + [0.0], speed=0.7, n=9)),
        dict(args=dict(u=[0.0] + wave(6) + [0.0], speed=0.7, n=1)),
    ],
    "clenshaw.py": [dict(args=dict(c=wave(5), xs=[-0.8, -0.1, 0.4, 0.9], ys=wave(4, phase=1.0)))],
    "first_crossing.py": [
        dict(args=dict(depth=3.0, drag=0.1, dt=0.05, limit=500)),
        dict(
            args=dict(depth=300.0, drag=0.1, dt=0.01, limit=50),
            formula=lambda *_: dict(value=-1, depth=0, drag=0, dt=0),
        ),
    ],
    "lotka_volterra.py": [
        dict(args=dict(birth=1.1, death=0.4, eaten=0.5, x=2.0, y=1.0, dt=0.05, n=60))
    ],
    "power_iteration.py": [
        dict(
            args=dict(A=plus(symmetric(4, 1.0), np.diag([3.0, 0.0, 0.5, 0.0]).tolist()), n=120),
            formula=eigenvalue,
            formula_error=1e-20,
        ),
        dict(args=dict(A=symmetric(3, 1.0), n=2)),
    ],
    "logistic_map.py": [
        dict(args=dict(r=3.4, x=0.5, n=1000)),
        dict(args=dict(r=3.9, x=0.3, n=12)),
    ],
    "sir.py": [
        dict(
            args=dict(rate=0.5, recovery=0.1, infected=0.01, threshold=threshold, dt=0.5, n=120),
            seed=[1.0, 1.0],
        )
        for threshold in (0.15, 0.9)
    ],
    "pendulum.py": [
        dict(args=dict(angle=1.2, speed=0.3, length=0.8, dt=0.02, n=50, g=9.81), seed=[1.0, 10.0])
    ],
    "binomial_tree.py": [
        dict(args=dict(spot=95.0, strike=100.0, rate=0.05, sigma=0.25, years=1.0, n=20)),
        dict(
            args=dict(spot=60.0, strike=100.0, rate=0.05, sigma=0.15, years=0.5, n=10),
            formula=lambda *_: dict(value=40, spot=-1, strike=1, rate=0, sigma=0, years=0),
        ),
    ],
    "implied_volatility.py": [
        dict(
            args=dict(price=12.5, spot=100.0, strike=105.0, rate=0.03, years=1.25),
            formula=black_scholes,
            formula_error=1e-9,
        )
    ],
    "cubic_spline.py": [
        dict(args=dict(xs=[0.0, 0.7, 1.5, 2.1, 3.0], ys=wave(5), x=x)) for x in (0.2, 1.8, 2.9)
    ],
    "linear_interpolation.py": [
        dict(args=dict(xs=[0.0, 0.7, 1.5, 2.1, 3.0, 4.5], ys=wave(6), x=x)) for x in (0.2, 1.8, 4.0)
    ],
    "hidden_markov.py": [
        dict(
            args=dict(
                start=[-0.5, -1.2, -2.0],
                step=wave(3, 3, about=-1.2, size=0.8),
                emit=wave(3, 2, about=-0.9, size=0.6, phase=1.0),
                observed=[0, 1, 1, 0, 1, 0],
            )
        )
    ],
    "viterbi.py": [
        dict(
            args=dict(
                start=[-0.5, -1.2, -2.0],
                step=wave(3, 3, about=-1.2, size=0.8),
                emit=wave(3, 2, about=-0.9, size=0.6, phase=1.0),
                observed=observed,
            )
        )
        for observed in ([0, 1, 1, 0, 1, 0], [1, 1, 1])
    ],
    "matrix_exponential.py": [
        dict(
            args=dict(A=wave(2, 2, size=0.8)),
            seed=[[1.0, 0.5], [-1.0, 2.0]],
            formula=lambda A: dict(
                value=sum(w * v for w, v in zip([1, 0.5, -1, 2], flat(nested(mp.expm(matrix(A))))))
            ),
            formula_error=1e-16,
        )
    ],
    "horner.py": [dict(args=dict(coefficients=[2.0, -1.0, 0.5, 3.0], x=1.3), formula=horner)],
    "simpson.py": [
        dict(
            args=dict(a=-0.5, b=2.0, width=0.8, tol=1e-9),
            wrt=["a", "b", "width"],
            formula=bell,
            formula_error=1e-7,
        )
    ],
    "softmax_regression.py": [
        dict(
            args=dict(
                X=wave(5, 3),
                labels=[0, 2, 1, 1, 0],
                W=wave(3, 3, phase=1.0),
                b=wave(3, size=0.1),
                decay=0.01,
            )
        )
    ],
    "k_means.py": [
        dict(
            args=dict(
                points=[[0.1, 0.2], [0.3, -0.1], [2.1, 1.9], [1.8, 2.2], [2.0, 2.4]],
                centres=[[0.0, 0.5], [1.5, 1.7]],
            ),
            formula=lambda points, centres: dict(centres=[[0, 0], [0, 0]]),
        ),
        dict(
            args=dict(
                points=[[0.1, 0.2], [0.3, -0.1], [2.1, 1.9]],
                centres=[[0.0, 0.5], [9.0, 9.0], [1.5, 1.7]],
            )
        ),
    ],
    "cholesky.py": [
        dict(args=dict(A=symmetric(4, 2.0)), formula=log_determinant),
    ],
    "convolution.py": [
        dict(args=dict(image=wave(4, 5), kernel=wave(2, 3, phase=1.0)), seed=wave(3, 3, phase=2.0))
    ],
    "random_walk.py": [
        dict(args=dict(drift=0.05, step=1.2, seed=seed, n=40)) for seed in (12345, 99)
    ],
    "escape_time.py": [
        dict(args=dict(cx=0.4, cy=0.3, limit=200)),
        dict(
            args=dict(cx=-0.1, cy=0.2, limit=50),
            formula=lambda *_: dict(value=50, cx=0, cy=0),
        ),
    ],
    "conjugate_gradients.py": [
        dict(args=dict(A=symmetric(4, 2.0), b=wave(4, phase=1.0)), formula=minimal_energy)
    ],
    "kalman_filter.py": [
        dict(args=dict(y=wave(8), seen=[1, 1, 0, 1, 1, 0, 0, 1], q=0.1, r=0.5)),
    ],
    "bisection.py": [dict(args=dict(a=2.0, b=5.0), formula=cubic_root, formula_error=1e-7)],
    "bouncing_ball.py": [
        dict(args=dict(h=2.0, bounce=0.8, time=0.5, g=9.81)),
        dict(args=dict(h=2.0, bounce=0.8, time=3.0, g=9.81)),
    ],
    "trimmed_mean.py": [
        dict(
            args=dict(x=[3.0, -1.0, 7.5, 2.0, 0.5, 9.0], k=1),
            formula=lambda x, k: dict(value=3.25, x=[0.25, 0, 0.25, 0.25, 0.25, 0]),
        ),
    ],
    "gram_schmidt.py": [
        dict(args=dict(A=plus(np.eye(3, 4) * 2, wave(3, 4))), formula=volume),
    ],
    "attention.py": [
        dict(
            args=dict(
                X=wave(4, 3),
                Q=wave(3, 2, phase=0.5),
                K=wave(3, 2, phase=1.0),
                V=wave(3, 2, phase=1.5),
            )
        )
    ],
    "tensor_contraction.py": [dict(args=dict(T=wave(3, 3, 3), v=wave(3, phase=1.0), n=3))],
    "red_black.py": [
        dict(args=dict(u=wave(7), f=wave(7, phase=1.0), omega=1.3, sweeps=3)),
    ],
}
