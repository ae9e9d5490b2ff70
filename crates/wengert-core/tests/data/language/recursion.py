# Functions that call themselves.
import numpy as np


def power(x, n: int):
    if n == 0:
        return 1.0
    if n % 2 == 1:
        return x * power(x, n - 1)
    half = power(x, n // 2)
    return half * half


def factorial(n: int):
    return 1 if n <= 1 else n * factorial(n - 1)


def fibonacci(x, n: int):
    def step(v):
        return v * 0.9

    if n < 2:
        return x, 1.0
    a, b = fibonacci(step(x), n - 1)
    return a + b, a * 0.5


def even(x, n: int):
    return x if n == 0 else odd(x * 1.5, n - 1)


def odd(x, n: int):
    return -x if n == 0 else even(x + 0.25, n - 1)


def fill(x, lo: int, hi: int, v):
    if hi - lo == 1:
        x[lo] = v * v
        return v
    mid = (lo + hi) // 2
    a = fill(x, lo, mid, v * 0.5)
    b = fill(x, mid, hi, v + 0.1)
    x[lo] += a
    return a + b


def divide_and_conquer(x, v):
    total = fill(x, 0, len(x), v)
    return x, total


def merged(x):
    if len(x) == 1:
        return x * 2.0
    m = len(x) // 2
    return np.concatenate([merged(x[m:]), merged(x[:m])])


def halved(x, n: int):
    if n <= 0:
        return x * 2
    return halved(x / 2, n - 1) + x


def of_both_kinds(x):
    return halved(3, 2) + halved(x, 2)
