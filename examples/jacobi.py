# Jacobi's iteration for A x = b: all elements from the old ones, until the change is small.
# The rows of A are read one by one, each as a view.

import numpy as np


def jacobi(A, b, tol=1e-11):
    x = np.zeros(len(b))
    change = 1.0
    while change > tol:
        new = np.zeros(len(b))
        for i, row in enumerate(A):
            new[i] = x[i] + (b[i] - np.dot(row, x)) / row[i]
        change = np.max(np.abs(new - x))
        x = new
    return x[0] + x[-1]
