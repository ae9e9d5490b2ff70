# call: f(x=1.0, n=2)
import numpy as np


def f(x, n):
    a = np.zeros(2)
    b = np.ones(2)
    for i in range(n):
        a = b
    b[0] = x
    return a[0]
