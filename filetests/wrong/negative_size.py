# call: f(x=1.0, n=2)
import numpy as np


def f(x, n):
    a = np.zeros(n - 5)
    return x + np.sum(a)
