# call: f(x=[1.0, 2.0, 3.0])
import numpy as np


def f(x):
    places = np.array([0, 0, 2])
    x[places] += 1.0
    return np.sum(x)
