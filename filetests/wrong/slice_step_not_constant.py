# call: f(x=[1.0, 2.0, 3.0], k=2)
import numpy as np


def f(x, k):
    return np.sum(x[::k])
