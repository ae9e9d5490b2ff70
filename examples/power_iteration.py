# The largest eigenvalue of a symmetric matrix, by n steps of power iteration and a Rayleigh quotient.
# The gradient by the matrix tends to v v', the projection on the eigenvector.

import numpy as np


def eigenvalue(A, n):
    v = np.ones(len(A))
    for step in range(n):
        v = A @ v
        v = v / np.sqrt(np.sum(v * v))
    return np.dot(v, A @ v)
