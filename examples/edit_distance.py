# The edit distance of two sequences of numbers, with a soft minimum in the place of the minimum.
# Its derivative by the cost of a gap is how many gaps there are, averaged over all alignments.

import math

import numpy as np


def soft_min(a, b, c, t):
    low = min(a, b, c)
    return low - t * math.log(
        math.exp((low - a) / t) + math.exp((low - b) / t) + math.exp((low - c) / t)
    )


def edit_distance(x, y, gap, t):
    m, n = len(x), len(y)
    d = np.zeros((m + 1, n + 1))
    for i in range(1, m + 1):
        d[i, 0] = i * gap
    for j in range(1, n + 1):
        d[0, j] = j * gap
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            change = (x[i - 1] - y[j - 1]) ** 2
            d[i, j] = soft_min(d[i - 1, j - 1] + change, d[i - 1, j] + gap, d[i, j - 1] + gap, t)
    return d[m, n]
