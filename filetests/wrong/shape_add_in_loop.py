# call: f(x=[1.0, 2.0, 3.0], n=3)
import numpy as np


def f(x, n):
    total = 0.0
    for k in range(n):
        total += np.sum(x[k:] + x[:2])
    return total
