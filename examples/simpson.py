# An integral by Simpson's rule, the number of intervals doubled until the result settles.
# The derivatives by the ends are the integrand there, with its sign.

import math


def simpson(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        weight = 4 if i % 2 == 1 else 2
        total += weight * f(a + i * h)
    return total * h / 3


def integral(a, b, width, tol=1e-9):
    n = 2
    value = simpson(lambda x: math.exp(-((x / width) ** 2)), a, b, n)
    change = 1.0
    while change > tol:
        n = 2 * n
        new = simpson(lambda x: math.exp(-((x / width) ** 2)), a, b, n)
        change = abs(new - value)
        value = new
    return value
