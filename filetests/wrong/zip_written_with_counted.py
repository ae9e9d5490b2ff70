# call: f(x=[1.0, 2.0])
import numpy as np


def f(x):
    s = 0.0
    for a, b in zip((x, 2.0), x):
        s += np.sum(a) * b
    return s
