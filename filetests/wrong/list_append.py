# call: f(x=1.0, n=3)
import numpy as np


def f(x, n):
    states = []
    for i in range(n):
        x = x * 1.5
        states.append(x)
    return np.sum(np.array(states))
