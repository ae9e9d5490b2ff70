# call: f(x=1.0)
import numpy as np


@np.vectorize
def f(x):
    return x * x
