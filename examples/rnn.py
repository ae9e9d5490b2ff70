# A recurrent network with one hidden layer, and the squared error of its last output.
# The same three matrices are used in every step, so their gradients are sums over the steps.

import numpy as np


def rnn(inputs, target, W, U, V, b):
    h = np.zeros(len(b))
    for x in inputs:
        h = np.tanh(W @ h + U @ x + b)
    error = V @ h - target
    return 0.5 * np.dot(error, error)
