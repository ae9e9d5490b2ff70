# call: f(x=2.0, n=20)
import numpy as np


def f(x, n):
    a = np.zeros(17)
    for i in range(n):
        a[i] = x * i
    return a[0]
