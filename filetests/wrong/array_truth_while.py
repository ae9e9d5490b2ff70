# call: f(x=[1.0, 2.0, 3.0])
import numpy as np


def f(x):
    while x < 10:
        x = 2 * x
    return np.sum(x)
