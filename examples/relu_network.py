# A network of several layers that share one buffer, its negative elements set to zero in place.
# The derivative passes only where an element was positive.

import numpy as np


def network(x, weights, biases):
    h = np.copy(x)
    for k in range(len(weights)):
        h[:] = weights[k] @ h + biases[k]
        h[h < 0] = 0.0
    return np.sum(h)
