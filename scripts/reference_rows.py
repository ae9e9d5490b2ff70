#!/usr/bin/env python3
"""Makes crates/wengert-core/tests/data/rows.txt: the rows of the rule table at high precision.

    pip install mpmath
    python3 scripts/reference_rows.py > crates/wengert-core/tests/data/rows.txt

The tests do not need this script, only the file. A new row of the table needs a line in ROWS below: what
it computes, in mpmath's words, and the points. Derivatives are differences of that at hundreds of digits,
so no derivative is written here either.
"""

import math
import struct
import sys

from mpmath import mp, mpf

mp.dps = 60


# Derivatives by differences.


def scale(f, x):
    """A power of two of the size of x, or the length of a wave."""
    size = math.frexp(x)[1] if x else 0
    return mpf(2) ** (min(size, 0) if f in (mp.sin, mp.cos, mp.tan) else size)


def resolved(make):
    """make(digits) at growing precision, until two agree. Differences that fade with the precision are
    rounding errors of a zero."""
    last = None
    for digits in (200, 400, 800, 1600):
        # Digits of large arguments come on top.
        with mp.workdps(digits + 320):
            value, size = make(digits)
            if value == 0 or (digits >= 800 and abs(value) < size * mpf(10) ** (-digits // 4)):
                return mpf(0)
            if last is not None and abs(value - last) <= abs(value) * mpf(10) ** -30:
                return +value
        last = value
    raise ValueError("the differences do not settle")


def partial(f, args, by):
    """The derivative of f by the inputs listed, at most two."""

    def make(digits):
        step = mpf(2) ** -int(digits * 3.32 / 6)
        steps = {k: step * scale(f, args[k]) for k in by}

        def at(*signs):
            moved = [mpf(a) if isinstance(a, float) else a for a in args]
            for k, sign in zip(by, signs):
                moved[k] += sign * steps[k]
            return f(*moved)

        here = abs(f(*[mpf(a) if isinstance(a, float) else a for a in args])) + mpf(10) ** -400
        if len(by) == 1:
            h = steps[by[0]]
            return (at(1) - at(-1)) / (2 * h), here / h
        j, k = by
        h2 = steps[j] * steps[k]
        if j == k:
            return (at(1, 0) - 2 * at(0, 0) + at(-1, 0)) / h2, here / h2
        return (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h2), here / h2

    return resolved(make)


# Functions that mpmath has not, or not as the table has them.


def sign(x):
    return mpf((x > 0) - (x < 0))


def trunc(x):
    return mp.floor(x) if x >= 0 else mp.ceil(x)


def even(x):
    """Rounding to the nearest integer, ties to even."""
    low = mp.floor(x)
    if x - low == mpf(0.5):
        return low if int(low) % 2 == 0 else low + 1
    return mp.floor(x + mpf(0.5))


def cbrt(x):
    return mp.cbrt(x) if x >= 0 else -mp.cbrt(-x)


def power(a, b):
    if b == int(b):
        return a ** int(b)
    return mp.exp(b * mp.log(a))


def logaddexp(a, b):
    return max(a, b) + mp.log1p(mp.exp(-abs(a - b)))


def normcdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def norminv(p):
    """Newton's iteration from a few digits, each step with twice the digits of the one before."""
    if p > 0.5:
        return -norminv(1 - p)
    with mp.workdps(30):
        y = -mp.sqrt(-2 * mp.log(p)) if p < 0.1 else mpf(0)
        for _ in range(60):
            y -= (normcdf(y) - p) / (mp.exp(-y * y / 2) / mp.sqrt(2 * mp.pi))
    for _ in range(8):
        y -= (normcdf(y) - p) / (mp.exp(-y * y / 2) / mp.sqrt(2 * mp.pi))
    return y


def lgamma(x):
    return mp.log(abs(mp.gamma(x)))


def polygamma(n, x):
    if n == 0:
        return mp.digamma(x)
    return (-1) ** (n + 1) * mp.factorial(n) * mp.zeta(n + 1, x)


def bits(x):
    return struct.unpack("<q", struct.pack("<d", x))[0]


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


# Points. Deterministic: a multiplicative congruence.

SEED = [12345]


def uniform(lo, hi):
    SEED[0] = (SEED[0] * 6364136223846793005 + 1442695040888963407) % 2**64
    return lo + (hi - lo) * ((SEED[0] >> 11) / 2**53)


def spread(lo, hi, n=18):
    """Points of a range."""
    return [uniform(lo, hi) for _ in range(n)]


def sizes(lo, hi, n=8):
    """Points of many sizes, both signs where lo is negative."""
    return [10.0 ** uniform(lo, hi) for _ in range(n)]


def both(points):
    return points + [-x for x in points]


def near(*places):
    """Points beside places."""
    out = []
    for c in places:
        unit = abs(c) if c else 1.0
        out += [c + unit * 1e-3, c - unit * 1e-3, c + unit * 1e-7, c - unit * 1e-7]
    return out


def one(*groups):
    return [(x,) for group in groups for x in group]


def pairs(a, b, n=30):
    return [(uniform(*a), uniform(*b)) for _ in range(n)]


def triples(a, b, c, n=30):
    return [(uniform(*a), uniform(*b), uniform(*c)) for _ in range(n)]


TWO = pairs((-10, 10), (-10, 10)) + [(1e200, 1e-200), (-3e-160, 2e-140), (1e300, 7e299), (0.1, -0.1)]
PLAIN = one(spread(-10, 10, 24), sizes(-300, 300, 8), [-1e-300, 1.5, -2.0])
STEPS = one(spread(-10, 10), [0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -0.3, 1e15, 4503599627370497.0, 1e300, 1e-300])
COMPARED = TWO + [(1.0, 1.0), (-2.5, -2.5), (0.0, -0.0), (1.0, 1.0000000000000002)]
NAN = float("nan")

# Name: (function, points, inputs with a derivative). No inputs: the value alone is given.
ROWS = {
    "add": (lambda a, b: a + b, TWO, (0, 1)),
    "sub": (lambda a, b: a - b, TWO, (0, 1)),
    "mul": (lambda a, b: a * b, TWO, (0, 1)),
    "div": (lambda a, b: a / b, TWO, (0, 1)),
    "fma": (lambda a, b, c: a * b + c, triples((-10, 10), (-10, 10), (-10, 10)) + [(1.0 + 2**-30, 1.0 - 2**-30, -1.0)], (0, 1, 2)),
    "neg": (lambda x: -x, PLAIN, (0,)),
    "abs": (abs, PLAIN + one(near(0.0)), (0,)),
    "min": (min, TWO + [(1.0, 1.0001), (1.0001, 1.0)], (0, 1)),
    "max": (max, TWO + [(1.0, 1.0001), (1.0001, 1.0)], (0, 1)),
    "floor": (mp.floor, STEPS, ()),
    "round": (even, STEPS, ()),
    "flush": (lambda x: x, PLAIN, (0,)),
    "stop_gradient": (lambda x: x, PLAIN, ()),
    "ceil": (mp.ceil, STEPS, ()),
    "trunc": (trunc, STEPS, ()),
    "sign": (sign, PLAIN + [(0.0,)], ()),
    "copysign": (lambda a, b: abs(a) * (1 if b > 0 else -1), TWO + [(0.5, 1e-3), (-0.5, -1e-3)], (0, 1)),
    "relu": (lambda x: x if x > 0 else mpf(0), PLAIN + one(near(0.0)), (0,)),
    "clamp": (lambda x, lo, hi: min(max(x, lo), hi), triples((-10, 10), (-6, -2), (2, 6)) + [(2.001, -1.0, 2.0), (1.999, -1.0, 2.0), (-1.001, -1.0, 2.0), (0.5, 3.0, 2.0)], (0, 1, 2)),
    "rem": (lambda a, b: a - b * trunc(a / b), pairs((-50, 50), (-7, 7), 26) + [(20.5, 3.1), (1e10, 3.3), (-7.5, 2.0), (0.3, 5.0), (9.001, 3.0), (8.999, 3.0)], (0, 1)),
    "sqrt": (mp.sqrt, one(spread(0.01, 100), sizes(-150, 150)), (0,)),
    "exp": (mp.exp, one(spread(-5, 5, 14), spread(-700, 700, 10), both(sizes(-20, 0, 5)), [708.5, -705.0, 0.0]), (0,)),
    "log": (mp.log, one(spread(0.01, 100, 14), sizes(-150, 150), near(1.0, 2**0.5)), (0,)),
    "sin": (mp.sin, one(spread(-10, 10, 14), both(sizes(-8, 5, 6)), [1e15, 3e22, 1e300, -7e100], near(math.pi, 2 * math.pi)), (0,)),
    "cos": (mp.cos, one(spread(-10, 10, 14), both(sizes(-8, 5, 6)), [1e15, 3e22, 1e300, -7e100], near(math.pi / 2)), (0,)),
    "tanh": (mp.tanh, one(spread(-4, 4), both(sizes(-10, 0, 5)), near(0.9), [8.0, -12.0, 19.0]), (0,)),
    "cbrt": (cbrt, one(both(spread(0.1, 100, 9)), both(sizes(-150, 150, 8))), (0,)),
    "exp2": (lambda x: mpf(2) ** x, one(spread(-5, 5, 14), spread(-1000, 1000, 10), both(sizes(-20, 0, 5))), (0,)),
    "expm1": (mp.expm1, one(spread(-5, 5, 14), spread(-40, 700, 8), both(sizes(-20, 0, 5)), near(0.55)), (0,)),
    "log2": (lambda x: mp.log(x) / mp.log(2), one(spread(0.01, 100, 14), sizes(-150, 150), near(1.0, 2**0.5)), (0,)),
    "log10": (lambda x: mp.log(x) / mp.log(10), one(spread(0.01, 100, 14), sizes(-150, 150), near(1.0, 2**0.5)), (0,)),
    "log1p": (mp.log1p, one(spread(-0.9, 50, 14), sizes(0, 150, 5), both(sizes(-20, -1, 5)), near(-0.29, 0.41), [-0.999999]), (0,)),
    "tan": (mp.tan, one(spread(-1.2, 1.2, 14), spread(-100, 100, 8), both(sizes(-8, 0, 4)), near(math.pi / 2, math.pi), [1e15, 3e22]), (0,)),
    "asin": (mp.asin, one(spread(-0.9, 0.9), both(sizes(-8, 0, 5)), near(0.5), [0.999, -0.9999999, 1e-6, -3e-8]), (0,)),
    "acos": (mp.acos, one(spread(-0.9, 0.9), both(sizes(-8, 0, 5)), near(0.5), [0.999, -0.9999999, 1e-6, -3e-8]), (0,)),
    "atan": (mp.atan, one(spread(-10, 10, 14), both(sizes(-8, 8, 6)), near(1.0)), (0,)),
    "atan2": (mp.atan2, pairs((-10, 10), (-10, 10)) + [(1e-5, 3.0), (3.0, 1e-5), (1e-5, -3.0), (-1e-5, -3.0), (1e150, 2e150), (2e-150, 1e-150), (1.0, 1.0)], (0, 1)),
    "sinh": (mp.sinh, one(spread(-5, 5, 14), both(sizes(-10, 0, 4)), spread(-700, 700, 6), near(1.0)), (0,)),
    "cosh": (mp.cosh, one(spread(-5, 5, 14), both(sizes(-10, 0, 4)), spread(-700, 700, 6), near(1.0)), (0,)),
    "asinh": (mp.asinh, one(spread(-10, 10, 14), both(sizes(-10, 80, 8))), (0,)),
    "acosh": (mp.acosh, one(spread(1.1, 50), sizes(0.01, 80, 6), [1.001, 1.0000001, 1.00000000001]), (0,)),
    "atanh": (mp.atanh, one(spread(-0.9, 0.9), both(sizes(-8, 0, 5)), [0.999, -0.9999999, 1e-6, -3e-8, 0.5]), (0,)),
    "pow": (power, pairs((0.1, 5), (-3, 3), 24) + [(2.0, 3.0), (1e-3, 40.5), (1.0000001, 1e6), (0.9999, -1e5), (30.0, 150.25), (1e100, -1.5), (1e-80, 0.5), (7.0, 0.0)], (0, 1)),
    "powi": (lambda x, n: x**n, [(uniform(-3, 3), n) for n in range(-6, 8) for _ in range(2)] + [(1.0001, 100000), (0.99, -2000), (1e50, 5), (-1e-20, 7)], (0,)),
    "hypot": (lambda a, b: mp.sqrt(a * a + b * b), pairs((-10, 10), (-10, 10)) + [(1.0, 1e-5), (1e-5, -1.0), (1e150, 2e150), (2e-150, 1e-150), (3.0, -4.0)], (0, 1)),
    "xlogy": (lambda x, z: x * mp.log(z), pairs((-10, 10), (0.01, 100)) + [(3.0, 1.0000001), (-2.0, 0.9999999), (1e-300, 5.0), (2.5, 1e-310), (7.0, 1e300), (1e10, 1.5)], (0, 1)),
    "logaddexp": (logaddexp, pairs((-10, 10), (-10, 10)) + [(800.0, 801.0), (-800.0, -799.5), (30.0, 0.0), (0.0, 30.0), (2.0, 2.0), (-0.5, -1.0), (-0.6931471805599453, -0.7)], (0, 1)),
    "erf": (mp.erf, one(spread(-2.5, 2.5), both(sizes(-10, 0, 5)), near(0.48), [4.0, -5.5, 10.0, 15.0]), (0,)),
    "erfc": (mp.erfc, one(spread(-2.5, 2.5), both(sizes(-10, 0, 5)), near(0.47), [4.0, -5.5, 10.0, 20.0, 25.5]), (0,)),
    "normcdf": (normcdf, one(spread(-3, 3), both(sizes(-10, 0, 5)), near(0.5, -0.68), [-8.0, 7.0, -20.0, -37.0, 12.0]), (0,)),
    "norminv": (norminv, one(spread(0.05, 0.95), sizes(-20, -2, 6), near(0.5, 0.12, 0.88), [0.9999, 0.999999, 1e-150]), (0,)),
    "lgamma": (lgamma, one(spread(0.3, 10), sizes(-8, 20, 8), near(1.0, 2.0), [-0.3, -0.7, -1.5, -2.2, -7.6, -20.3, 1.4616321449, -0.504083008, 0.5, 3.0, 8.0]), (0,)),
    "polygamma": (polygamma, [(n, uniform(0.5, 10)) for n in range(5) for _ in range(4)] + [(n, x) for n in (0, 1, 2, 7) for x in (1e-3, -0.7, -3.4, 50.0, 1e4)] + [(0, 1.46), (0, 1.462)], (1,)),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), one(spread(-5, 5), both(sizes(-8, 0, 4)), [30.0, -30.0, 45.0, -45.0, -600.0, 100.0]), (0,)),
    "softplus": (lambda x: mp.log1p(mp.exp(x)), one(spread(-5, 5), both(sizes(-8, 0, 4)), [30.0, -30.0, 45.0, -45.0, -600.0, 100.0]), (0,)),
    "lt": (lambda a, b: a < b, COMPARED, ()),
    "le": (lambda a, b: a <= b, COMPARED, ()),
    "gt": (lambda a, b: a > b, COMPARED, ()),
    "ge": (lambda a, b: a >= b, COMPARED, ()),
    "eq": (lambda a, b: a == b, COMPARED, ()),
    "ne": (lambda a, b: a != b, COMPARED, ()),
    "select": (lambda c, a, b: a if c else b, [(k % 2 == 0, *p) for k, p in enumerate(TWO)], (1, 2)),
    "itof": (lambda n: mpf(n), [(n,) for n in [0, 1, -1, 7, -1000000, 2**53, 2**53 + 1, -(2**62) - 1, 2**63 - 1, -(2**63)]], ()),
    "ftoi": (lambda x: max(min(int(trunc(x)), 2**63 - 1), -(2**63)), STEPS + [(-1e300,), (9.3e18,)], ()),
    "bits": (lambda x: bits(float(x)), PLAIN, ()),
    "frombits": (lambda n: mpf(struct.unpack("<d", struct.pack("<q", n))[0]), [(bits(x[0]),) for x in PLAIN], ()),
    "demote": (lambda x: x, one(spread(-10, 10, 24), sizes(-30, 30, 8)), (0,)),
    "promote": (lambda x: x, one([single(x) for x in spread(-10, 10, 24) + sizes(-30, 30, 8)]), (0,)),
}


# Text.


def shown(x):
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, int):
        return str(x)
    return repr(nearest(x))


def nearest(x):
    """The nearest double, subnormals too (float() of mpmath would round twice there)."""
    sign, man, exp, size = x._mpf_
    if not man:
        return 0.0
    drop = max(exp + size - 53, -1074) - exp
    if drop > 0:
        low = man & ((1 << drop) - 1)
        man >>= drop
        half = 1 << (drop - 1)
        man += low > half or (low == half and man & 1)
        exp += drop
    try:
        return math.ldexp(-int(man) if sign else int(man), exp)
    except OverflowError:
        return math.inf


def given(x):
    return x.hex() if isinstance(x, float) else shown(x)


def holds(x):
    """Whether a derivative is a number that a double can hold well, or zero."""
    return x == 0 or mpf(10) ** -290 < abs(x) < mpf(10) ** 290


def main():
    print("# Every row of the rule table that takes or gives floats, made by scripts/reference_rows.py:")
    print("# row | inputs | value | partials by float inputs | second partials by pairs of those, all")
    print("# correctly rounded. Rows without derivatives end after the value.")
    for name, (f, points, by) in ROWS.items():
        lines = 0
        for args in points:
            exact = [mpf(a) if isinstance(a, float) else a for a in args]
            fields = [name, " ".join(map(given, args))]
            value = f(*exact)
            if name == "demote":
                fields.append(repr(single(nearest(value))))
            else:
                fields.append(shown(value))
            if by:
                first = [partial(f, args, (k,)) for k in by]
                second = [partial(f, args, (j, k)) for n, j in enumerate(by) for k in by[n:]]
                if not all(map(holds, first + second)):
                    continue
                fields += [" ".join(map(shown, first)), " ".join(map(shown, second))]
            print(" | ".join(fields))
            lines += 1
        print(name, lines, file=sys.stderr)


main()
