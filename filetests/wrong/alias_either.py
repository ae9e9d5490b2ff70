# call: f(x=1.0)
import numpy as np


def f(x):
    a = np.zeros(2)
    b = np.ones(2)
    c = a if x > 0 else b
    c[0] = x
    return a[0] + b[0]
