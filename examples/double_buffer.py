# The wave equation on a string with three buffers that change places after every step.
# Swapping names moves no element; the derivative follows the arrays, not the names.

import numpy as np


def wave(u, speed, n):
    old = np.copy(u)
    now = np.copy(u)
    new = np.zeros(len(u))
    for step in range(n):
        for i in range(1, len(u) - 1):
            new[i] = 2 * now[i] - old[i] + speed * speed * (now[i - 1] - 2 * now[i] + now[i + 1])
        old, now, new = now, new, old
    return np.sum(now * now)
