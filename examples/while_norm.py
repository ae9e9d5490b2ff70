# Solves A x = b by Richardson's iteration, until the residual is small.
# The loop ends by a norm, and the derivative is that of the steps taken.

import numpy as np


def solve(A, b, rate, tol=1e-10):
    x = np.zeros(len(b))
    r = b - A @ x
    while np.linalg.norm(r) > tol:
        x = x + rate * r
        r = b - A @ x
    return np.sum(x * x)
