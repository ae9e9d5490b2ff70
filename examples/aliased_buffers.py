# Two names for one array: what is written through one is read through the other.
# A program that took b for a copy would find 0 here.

import numpy as np


def aliased(x, y):
    a = np.zeros(3)
    b = a
    a[0] = x
    b[1] = y * a[0]
    a[2] = b[0] + b[1]
    return a[1] * b[2]
