# call: f(x=1.0)
import numpy as np


def f(x):
    a = np.zeros(2)
    b = np.ones(2)
    kept = a
    if x > 0:
        a, b = b, a
    a[0] = x
    return kept[0]
