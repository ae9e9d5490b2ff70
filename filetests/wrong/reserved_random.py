# call: f(x=1.0, n=3)
import numpy as np


def f(x, n):
    for i in range(n):
        x += np.random.normal()
    return x
