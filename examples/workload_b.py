# Workload b: a recurrent network, h = tanh(W h + U x + b), and the mean of half the squares of its states.
# The gradients of W and U are sums of as many outer products as there are steps.

import numpy as np


def rnn(W, U, b, X):
    h = np.zeros(len(b))
    total = 0.0
    for t in range(len(X)):
        h = np.tanh(W @ h + U @ X[t] + b)
        total += 0.5 * np.dot(h, h)
    return total / len(X)
