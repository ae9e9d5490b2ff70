# The method of Gauss and Seidel for A x = b: like Jacobi's, but x is overwritten, so that each element
# uses the new values of those before it. A fixed number of sweeps; the array x is the result.

import numpy as np


def gauss_seidel(A, b, x, sweeps):
    for sweep in range(sweeps):
        for i in range(len(b)):
            x[i] += (b[i] - np.dot(A[i], x)) / A[i, i]
    return x
