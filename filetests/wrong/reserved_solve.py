# call: f(A=[[2.0, 1.0], [1.0, 3.0]], b=[1.0, 2.0])
import numpy as np


def f(A, b):
    return np.sum(np.linalg.solve(A, b))
