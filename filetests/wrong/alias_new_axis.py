# call: f(x=[1.0, 2.0, 3.0])
import numpy as np


def f(x):
    column = x[:, None]
    x[0] = 5.0
    return np.sum(column)
