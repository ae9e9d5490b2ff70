# call: f(A=[[1.0, 2.0], [3.0, 4.0]], k=1)
import numpy as np


def f(A, k: int):
    return np.sum(np.sum(A, axis=k) ** 2)
