# call: f(x=1.0)
import numpy as np


def f(x):
    a = np.zeros(2)
    b = np.ones(2)
    if x > 0:
        c = a
    else:
        c = b
    a[0] = x
    return c[0]
