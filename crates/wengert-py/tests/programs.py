"""Programs that other libraries are given."""

import math

import wengert


@wengert.differentiable
def swing(angle, length, steps):
    x, v = angle, 0.0
    for step in range(steps):
        v -= 9.81 / length * math.sin(x) * 0.01
        x += v * 0.01
    return x


@wengert.differentiable
def heat(u, k, n):
    for step in range(n):
        left = u[0]
        for i in range(1, len(u) - 1):
            here = u[i]
            u[i] = here + k * (left - 2 * here + u[i + 1]) * (1.0 + 0.1 * here)
            left = here
    return u


@wengert.differentiable
def both(x, k):
    total, count = 0.0, 0
    for i in range(len(x)):
        total += k * x[i] * x[i] * math.sin(x[i])
        count += 1
    return total, k * x * x, count


@wengert.differentiable
def root(a, x, tolerance=1e-6):
    while abs(x * x - a) > tolerance:
        x = x - (x * x - a) / (2 * x)
    return x
