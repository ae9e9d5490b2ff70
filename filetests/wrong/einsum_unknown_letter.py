# call: f(A=[[1.0, 2.0], [3.0, 4.0]], x=[1.0, 2.0])
import numpy as np


def f(A, x):
    return np.sum(np.einsum("ij,j->k", A, x))
