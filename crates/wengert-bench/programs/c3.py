# Workload c with the state as a vector of three and its slope as a function of vectors.

import numpy as np


def slope(s, sigma, rho, beta):
    x, y, z = s
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def lorenz(sigma, rho, beta, x, y, z, n):
    s = np.array([x, y, z])
    dt = 2.0 / n
    for step in range(n):
        a = slope(s, sigma, rho, beta)
        b = slope(s + dt / 2 * a, sigma, rho, beta)
        c = slope(s + dt / 2 * b, sigma, rho, beta)
        d = slope(s + dt * c, sigma, rho, beta)
        s = s + dt / 6 * (a + 2 * b + 2 * c + d)
    return s[0]
