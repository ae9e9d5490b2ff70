# The exponential of a matrix by its Taylor series, until the terms vanish.
# The result is a matrix, and so is what its adjoint is given and gives.

import numpy as np


def exponential(A):
    term = np.eye(len(A))
    total = np.eye(len(A))
    k = 0
    while np.max(np.abs(term)) > 1e-17:
        k += 1
        term = term @ A / k
        total = total + term
    return total
