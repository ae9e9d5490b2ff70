# The logarithm of the determinant of a positive matrix, by Cholesky's factors made in its lower half.
# Only that half is read, so an element below the diagonal stands for two: its derivative is twice that
# of the inverse, and the half above has none.

import math

import numpy as np


def log_determinant(A):
    total = 0.0
    for j in range(len(A)):
        A[j, j] = math.sqrt(A[j, j] - np.dot(A[j, :j], A[j, :j]))
        for i in range(j + 1, len(A)):
            A[i, j] = (A[i, j] - np.dot(A[i, :j], A[j, :j])) / A[j, j]
        total += 2 * math.log(A[j, j])
    return total
