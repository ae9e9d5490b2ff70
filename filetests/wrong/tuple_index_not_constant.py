# call: f(x=1.0, n=2)
import numpy as np


def f(x, n):
    pair = (np.zeros(2), np.ones(2))
    total = 0.0
    for i in range(n):
        total += np.sum(pair[i]) * x
    return total
