# The mean without the k smallest and the k largest.
# Sorting moves derivatives to where the elements came from: 1 / (n - 2k) for those that stay.

import numpy as np


def trimmed_mean(x, k: int):
    y = np.sort(x)
    return np.mean(y[k : len(x) - k])
