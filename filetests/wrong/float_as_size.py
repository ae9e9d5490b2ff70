# call: f(x=1.0)
import numpy as np


def f(x):
    return np.sum(np.zeros(x * 2))
