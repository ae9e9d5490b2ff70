# Adam on a quadratic with different curvatures, from a start x.
# The state is three arrays; the derivative is by the start, the curvatures and the learning rate.

import numpy as np


def adam(x, curvature, rate, n, beta1=0.9, beta2=0.99):
    m = np.zeros(len(x))
    v = np.zeros(len(x))
    for step in range(1, n + 1):
        g = curvature * x
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        x = x - rate * (m / (1 - beta1**step)) / (np.sqrt(v / (1 - beta2**step)) + 1e-8)
    return 0.5 * np.sum(curvature * x**2)
