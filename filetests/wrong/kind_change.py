# call: f(x=1.0, n=3)
import numpy as np


def f(x, n):
    state = x
    for i in range(n):
        state = np.full(3, state)
    return np.sum(state)
