# call: f(x=[1.0, 2.0, 3.0])
import numpy as np


def f(x):
    y = np.array([v * v for v in x])
    return np.sum(y)
