# An element that is overwritten after it was set: the product uses what is there last.
# The gradient is (y, x + 1).

import numpy as np


def overwriting(x, y):
    a = np.zeros(2)
    a[0] = x
    a[1] = y
    a[0] = a[0] + 1
    return a[0] * a[1]
