# Workload g: n steps of Adam on f = |A x - y|^2 / (2 m), and f at the end.
# Its gradient by the settings of Adam is a hypergradient: how to tune the optimiser.

import numpy as np


def final_loss(A, y, lr=0.01, b1=0.9, b2=0.999, n=1000):
    m, d = A.shape
    x = np.zeros(d)
    mean = np.zeros(d)
    var = np.zeros(d)
    p1, p2 = 1.0, 1.0
    for step in range(n):
        g = A.T @ (A @ x - y) / m
        mean = b1 * mean + (1 - b1) * g
        var = b2 * var + (1 - b2) * g * g
        p1 *= b1
        p2 *= b2
        x = x - lr * (mean / (1 - p1)) / (np.sqrt(var / (1 - p2)) + 1e-8)
    r = A @ x - y
    return np.dot(r, r) / (2 * m)
