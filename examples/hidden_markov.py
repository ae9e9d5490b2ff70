# The log-likelihood of observations under a hidden Markov model, by the forward algorithm.
# Sums of exponentials are made safe by taking out the largest. The gradient gives the expected counts
# of the Baum-Welch algorithm.

import numpy as np


def log_likelihood(start, step, emit, observed):
    alpha = start + emit[:, int(observed[0])]
    for o in observed[1:]:
        paths = alpha[:, None] + step
        top = np.max(paths, axis=0)
        alpha = top + np.log(np.sum(np.exp(paths - top), axis=0)) + emit[:, int(o)]
    best = np.max(alpha)
    return best + np.log(np.sum(np.exp(alpha - best)))
