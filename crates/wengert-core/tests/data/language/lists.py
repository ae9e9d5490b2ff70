"""Parameters declared as lists behave as lists."""

import numpy as np


def list_parameter(x: list[float], order):
    total = 0.0
    for k in order:
        total += x[k] * len(x)
    for k, v in enumerate(x):
        total += k * v
    x[0] = total
    return total + sum(x) + max(x) * x[-1]


def list_beside_an_array(x: list[float], y):
    z = np.asarray(x)
    z[0] = 7.0
    w = y * x - x / y
    y += x
    return w, y, x[0], np.dot(x, x), z @ x, np.array(x) ** 2, np.sum(x)


def list_of_lists(a: list[list[float]], v):
    row = a[1]
    row[0] = v
    total = 0.0
    for r in a:
        for u in r:
            total = total * 1.5 + u
        r[1] = total
    return total, a[1][0], a[0][1], len(a), len(a[0])


def list_slice_of_lists(a: list[list[float]]):
    tail = a[1:]
    first = a[0][1:]
    first[0] = 9.0
    return tail[0][1] * a[0][1] + first[0] * first[1]


def list_through_recursion(x: list[float], n: int):
    if n == 0:
        return x[0]
    x[0] = x[0] * x[n]
    return list_through_recursion(x, n - 1) + x[n]


def list_copied(x: list[float], v):
    y = x.copy()
    z = list(x)
    y[0] = v
    z[1] = v
    return x[0] * x[1] + y[0] * z[1] + y[2] * z[2]


def sorted_list(x):
    s = sorted(x)
    total = 0.0
    for k in range(len(s)):
        total = total * 2.0 + s[k]
    return total, s[0], np.array(s) * x
