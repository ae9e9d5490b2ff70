# call: f(x=1.0)
import numpy as np


def f(x):
    a = np.zeros(3, dtype="quad")
    a[0] = x
    return a[0]
