# call: f(x=1.0)
import numpy as np


def f(x):
    with np.errstate(divide="ignore"):
        y = 1 / x
    return y
