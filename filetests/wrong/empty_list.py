# call: f(x=1.0)
import numpy as np


def f(x):
    a = np.array([])
    return x + np.sum(a)
