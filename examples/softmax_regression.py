# The loss of softmax regression: the mean of minus the log-probability of the right class.
# The gradient by the logits is the difference of predicted and true probabilities.

import numpy as np


def loss(X, labels, W, b, decay):
    logits = X @ W + b
    logits = logits - np.max(logits, axis=1, keepdims=True)
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    total = 0.0
    for i in range(len(X)):
        total -= logp[i, int(labels[i])]
    return total / len(X) + decay * np.sum(W**2)
