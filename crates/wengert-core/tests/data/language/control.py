# Loops, branches, functions.
import math
import numpy as np
import os
from collections import OrderedDict

SCALE = 2.5
FIRST = SECOND = 0.25
STEPS = 3


def each(x):
    s = 0.0
    for v in x:
        s += v * v
    return s


def numbered(x):
    s = 0.0
    for i, v in enumerate(x):
        s += (i + 1) * v
    for i, v in enumerate(x, 10):
        s += i * v
    return s


def paired(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s += a * b
    for i, (a, b) in enumerate(zip(x, y)):
        s += i * a / b
    return s


def backwards(x, n: int):
    s = 0.0
    for v in reversed(x):
        s = s * 0.5 + v
    for i in reversed(range(n)):
        s = s * 0.9 + i
    for i in range(n, 0, -2):
        s += i * 0.1
    return s


def early(x, limit):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        if s > limit:
            return s * 10.0, i
    return s, -1


def early_array(x, limit):
    y = np.zeros(2)
    for i in range(len(x)):
        y = y + x[i]
        if y[0] > limit:
            return y * 10.0
    return y


def skips(x):
    s = 0.0
    for v in x:
        if v < 0.3:
            continue
        if v > 0.9:
            break
        s += v
    return s


def inner(x, a):
    def square(v):
        return v * v + a

    b = square(x)
    a = 3.0
    return b + square(x), SCALE * x + STEPS


def passed(x):
    def twice(f, v):
        return f(f(v))

    def half(v):
        return v / 2

    return twice(half, x) + twice(lambda v: v * v + 1, x)


def tuples(x):
    pair = (x, x * 2)
    a, b = pair
    c = pair[1] + pair[-1]
    state = (1.0, x)
    for i in range(3):
        state = (state[0] * 0.5 + state[1], state[0])
    return a + b + c, state[0] - state[1]


def swaps(a, b):
    a, b = b, a + b
    a, b = b, a
    return a - 2 * b


def lists(x, n: int):
    y = [x, 2 * x, 3.0]
    z = [0.0] * n
    for i in range(n):
        z[i] = y[i % 3]
    w1, w2 = [x, 4.0]
    return z[-1] + w1 * w2, len(y)


def layers(x, w, v):
    for m in (w, v, w):
        x = np.tanh(m @ x)
    return x


def kinds(n: int):
    s = 0
    for i in range(n):
        s = s + i / 2
    t = 0
    while t < 5:
        t = t + 2
    flag = False
    for i in range(n):
        flag = flag or i > 2
    return s, t, flag


def nested_breaks(x, n: int):
    count = 0.0
    for i in range(n):
        for j in range(n):
            if i * j > 6:
                break
            if (i + j) % 2 == 0:
                continue
            count += x * (i + j)
        if count > 30:
            break
    return count


def chained(x, y):
    a = 1.0 if 0 < x < y < 10 else 2.0
    b = 3.0 if x < y and not (x > 1 or y > 5) else 4.0
    return a * x + b * y


def defaults(x, k=2.0, n=3):
    def power(v, times=2, scale=1.0):
        r = scale
        for i in range(times):
            r *= v
        return r

    return power(x) + power(x, 3) + power(x, scale=k, times=n)


def asserted(x):
    assert x > 0, "x must be positive"
    return math.log(x)


def grows(x, n: int):
    y = np.array([x])
    for i in range(n):
        y = np.concatenate([y, y[-1:] * 0.5])
    return np.sum(y), len(y)


def unpacked(a):
    p, q = a
    (r, s), t = (p, q), a[0, 1]
    return p + r * s, t


def rebound_inside(x, limit):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, x)):
        x = np.concatenate([x[1:], x[:1]]) * limit
        total += a * b * x[i]
    for v in x:
        x = x * 0.5
        total += v
    return total, x


def named_like_another(x):
    def twice(rebound_inside, v):
        return rebound_inside(rebound_inside(v) * 0.5)

    return twice(lambda v: v * v + 1, x)


def apply(caller_of_apply, v):
    return caller_of_apply(v) * 2.0


def caller_of_apply(x):
    return apply(lambda v: v * v, x)


def set_before_break(x):
    while True:
        y = x * 0.5 + 0.1
        if y < 0.3:
            break
        x = y
    return y * x


def set_at_each_break(x, y):
    k = 0
    while True:
        k += 1
        x = x * 0.8 + 0.02 * y
        if x < 0.3:
            last = x * y
            why = 1
            break
        elif k > 5:
            last, why = x + y, 2.5
            break
    return last * why


def set_in_nested_branches(x, limit):
    n = 0
    while True:
        n += 1
        x = x * 1.3
        if x > limit:
            z = np.array([x, x * x])
            w = [x, 2.0]
            if x > 2.0 * limit:
                break
            if n > 3:
                w[1] = 7.0
                z[0] = limit * x
                break
        elif n > 50:
            return x, x, 0
        else:
            continue
    return z[0] * w[1], z[1], n


def loops_inside_each_other(x):
    while True:
        while True:
            y = x * 0.7
            x = y
            if y < 0.5:
                break
        z = y * 2.0
        if z < 0.9:
            break
    return z + y


def logarithms_to_a_base(x, y):
    return math.log(x, 2) + math.log(y, x + 1.0) * math.log(x), math.log(8, 2)


def numbers_from_text(x):
    best = float("inf")
    worst = -float("Infinity")
    for v in [x, 2.0 * x, 0.3]:
        best = min(best, v)
        worst = max(worst, v)
    return best + worst * float("1e-1"), np.isnan(float("nan"))


def computed_defaults(x, dt=1.0 / 100, turn=2 * math.pi, n=2**3 - 1, scale=-SCALE * 2):
    return x * dt + turn, n * x * scale + FIRST * SECOND


def with_defaults(x):
    return computed_defaults(x, n=3)


def one_name_in_both_loops(x):
    while True:
        x = x * 0.9
        while True:
            y = x * 0.7
            x = x * 0.8
            if y < 0.9:
                break
        if y < 0.5:
            y = y * 3.0
            break
        if x > 5.0:
            continue
        y = np.array([x, y])
        if x < 0.7:
            y = y[0] * 2.0
            break
    return y + x
