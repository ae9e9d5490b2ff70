# call: f(x=[1.0, 2.0, 3.0])
import numpy as np


def f(x):
    y = np.zeros(4)
    y[1:3] = x
    return np.sum(y)
