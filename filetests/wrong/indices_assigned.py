# call: f(x=[1.0, 2.0, 3.0], v=[5.0, 6.0])
import numpy as np


def f(x, v):
    places = np.array([0, 2])
    x[places] = v
    return np.sum(x)
