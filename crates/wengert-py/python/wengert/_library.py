"""Functions that programs may use beside those of ``math``, ``numpy`` and ``scipy.special``. Here is what they are in Python; in a program
they are the compiler's own."""

import numpy as np


def parallel(iterations):
    """``for i in wengert.parallel(range(n)):`` says that iterations have nothing to do with each other: they run on all cores."""
    return iterations


def stop_gradient(x):
    """``x`` as a constant: derivatives do not pass."""
    return x


def sigmoid(x):
    """``1 / (1 + exp(-x))``."""
    e = np.exp(-np.abs(x))
    return np.where(np.asarray(x) >= 0, 1.0 / (1.0 + e), e / (1.0 + e))[()]


def softplus(x):
    """``log(1 + exp(x))``."""
    return np.logaddexp(x, 0.0)


def relu(x):
    """``max(x, 0)``."""
    return np.maximum(x, 0.0)


def logsumexp(x, axis=None, keepdims=False):
    """``log(sum(exp(x)))``."""
    largest = np.max(x, axis=axis, keepdims=True)
    total = np.log(np.sum(np.exp(x - largest), axis=axis, keepdims=True)) + largest
    return total if keepdims else np.squeeze(total, axis=axis)[()]


def softmax(x, axis=None):
    """``exp(x) / sum(exp(x))``."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)
