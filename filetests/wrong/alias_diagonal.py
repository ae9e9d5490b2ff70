# call: f(A=[[1, 2], [3, 4]])
import numpy as np


def f(A):
    d = np.diag(A)
    A[0, 0] = 10.0
    return np.sum(d)
