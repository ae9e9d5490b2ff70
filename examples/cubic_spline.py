# A natural cubic spline through points, at x: a tridiagonal system for the curvatures, then a search.
# The value at x depends on every point, with weights that fade with the distance.

import numpy as np


def spline(xs, ys, x):
    n = len(xs)
    h = xs[1:] - xs[:-1]
    slope = (ys[1:] - ys[:-1]) / h
    m = np.zeros(n)
    c = np.zeros(n)
    for i in range(1, n - 1):
        w = 2 * (h[i - 1] + h[i]) - h[i - 1] * c[i - 1]
        c[i] = h[i] / w
        m[i] = (6 * (slope[i] - slope[i - 1]) - h[i - 1] * m[i - 1]) / w
    for i in range(n - 2, 0, -1):
        m[i] -= c[i] * m[i + 1]
    k = 0
    while k < n - 2 and x > xs[k + 1]:
        k += 1
    a = (xs[k + 1] - x) / h[k]
    b = 1 - a
    bend = (a**3 - a) * m[k] + (b**3 - b) * m[k + 1]
    return a * ys[k] + b * ys[k + 1] + bend * h[k] ** 2 / 6
