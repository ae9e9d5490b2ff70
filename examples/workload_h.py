# Workload h: a recurrence over an array in place, each element from the new one before it.
# What is overwritten is needed again by the derivative.

import math

import numpy as np


def in_place(x):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * x[i] + math.sin(x[i])
    return np.sum(x)
