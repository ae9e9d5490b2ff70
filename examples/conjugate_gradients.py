# The method of conjugate gradients for A x = b, until the residual is small.
# After as many steps as unknowns it is exact, and its derivative is that of the solution.

import numpy as np


def energy(A, b):
    x = np.zeros(len(b))
    r = np.copy(b)
    p = r
    rr = np.dot(r, r)
    while rr > 1e-20:
        Ap = A @ p
        alpha = rr / np.dot(p, Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = np.dot(r, r)
        p = r + new / rr * p
        rr = new
    return -0.5 * np.dot(b, x)
