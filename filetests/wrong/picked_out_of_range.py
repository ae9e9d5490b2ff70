# call: f(x=[[1.0, 2.0], [3.0, 4.0]], y=[0, 2])
import numpy as np


def f(x, y):
    return np.sum(x[np.arange(2), y])
