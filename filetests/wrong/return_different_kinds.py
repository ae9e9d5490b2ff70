# call: f(x=1.0)
import numpy as np


def f(x):
    if x > 0:
        return x
    return np.zeros(2)
