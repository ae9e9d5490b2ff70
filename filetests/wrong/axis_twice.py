# call: f(x=[[1.0, 2.0]])
import numpy as np


def f(x):
    return np.sum(x, axis=(0, -2))
