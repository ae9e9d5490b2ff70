# call: f(x=[1.0, 2.0])
import numpy as np


def f(x):
    return np.max(x, bins=3)
