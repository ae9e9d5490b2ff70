# call: f(x=[1.0, 2.0, 3.0])
import numpy as np


def f(x):
    x += np.ones((2, 3))
    return np.sum(x)
