# A network with long short-term memory. The cell c is changed by sums and products with gates, so its
# derivative by an early input fades more slowly than in a plain recurrent network.

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(inputs, Wf, Wi, Wo, Wc, bias):
    n = len(Wf)
    h = np.zeros(n)
    c = np.zeros(n)
    for x in inputs:
        z = np.concatenate([h, x])
        keep = sigmoid(Wf @ z + bias)
        c = keep * c + sigmoid(Wi @ z) * np.tanh(Wc @ z)
        h = sigmoid(Wo @ z) * np.tanh(c)
    return np.sum(h * h)
