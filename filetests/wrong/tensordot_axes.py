# call: f(x=[[1.0, 2.0]])
import numpy as np


def f(x):
    return np.sum(np.tensordot(x, x, axes=([0], [0])))
