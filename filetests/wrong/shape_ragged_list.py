# call: f(x=1.0)
import numpy as np


def f(x):
    A = np.array([[x, 1.0], [2.0]])
    return np.sum(A)
