# Workload d: heat in a plate, n steps of a stencil, the edge unchanged; half the sum of squares.
# The steps are linear, so the adjoint is the same stencil run backwards, and needs no stored values.

import numpy as np


def heat(u, n):
    for step in range(n):
        c = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = c + 0.2 * (around - 4 * c)
    return 0.5 * np.sum(u * u)
