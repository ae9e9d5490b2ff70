# Workload f3: a chain of equations a x_i = b_i + x_{i-1} + x_{i+1}, solved in place by Gauss and Seidel's
# method until no element changes by more than 1e-12. Returns the sum of squares.

import numpy as np


def gauss_seidel(a, b):
    n = len(b)
    x = np.zeros(n + 2)
    change = 1.0
    while change > 1e-12:
        change = 0.0
        for i in range(1, n + 1):
            new = (b[i - 1] + x[i - 1] + x[i + 1]) / a
            change = max(change, abs(new - x[i]))
            x[i] = new
    return np.sum(x * x)
