# call: f(x=[1.0, 2.0, 3.0, 4.0])
import numpy as np


def f(x):
    A = x.reshape(2, 2)
    A[0, 0] = 10.0
    return np.sum(x)
