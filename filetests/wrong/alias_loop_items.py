# call: f(A=[[1, 2], [3, 4]])
import numpy as np


def f(A):
    total = 0.0
    for v in A.reshape(-1):
        total += v
        A[1, 1] = total
    return total
