# Workload a: a recurrence of tanh, and the mean of its states.
# As many states as steps pass on a derivative, and each also receives one from the mean.

import math


def mean_state(w=0.9, b=0.1, h0=0.5, n=1000):
    h = h0
    total = 0.0
    for i in range(n):
        h = math.tanh(w * h + b)
        total += h
    return total / n
