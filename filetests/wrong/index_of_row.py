# call: f(A=[[1.0, 2.0], [3.0, 4.0]], n=3)
import numpy as np


def f(A, n):
    total = 0.0
    for i in range(n):
        total += np.sum(A[i])
    return total
