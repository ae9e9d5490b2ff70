# Workload d2: workload d with a reaction, 0.01 (c - c^3), in every cell.
# Now the adjoint needs the state of every step.

import numpy as np


def react(u, n):
    for step in range(n):
        c = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = c + 0.2 * (around - 4 * c) + 0.01 * (c - c**3)
    return 0.5 * np.sum(u * u)
