# call: f(x=[[1.0, 2.0], [3.0, 4.0]])
import numpy as np


def f(x: list[np.ndarray]):
    y = x + x
    return y[0][0]
