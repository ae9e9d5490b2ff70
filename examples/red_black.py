# Poisson's equation on a line: the odd points from the even ones, then the even from the odd, in place.
# At the end the odd points are doubled through a view of every second element.

import numpy as np


def relax(u, f, omega, sweeps):
    for sweep in range(sweeps):
        for first in (1, 2):
            for i in range(first, len(u) - 1, 2):
                u[i] += omega * (0.5 * (u[i - 1] + u[i + 1] + f[i]) - u[i])
    odd = u[1::2]
    odd *= 2.0
    return np.sum(u * u)
