# Workload f1: the leading eigenvector of a symmetric matrix by power iteration, until it settles.
# Returns v'Av plus the sum of sin(i) v_i, i counted from 0.

import numpy as np


def leading(A, v, tol=1e-10):
    change = 1.0
    while change > tol:
        new = A @ v
        new = new / np.linalg.norm(new)
        change = np.linalg.norm(new - v)
        v = new
    return v @ A @ v + np.sum(np.sin(np.arange(len(v))) * v)
