# The solution of x = a cos(x), by putting x into the right side until it no longer changes.
# The derivative of the solution is cos(x) / (1 + a sin(x)), and the first guess does not matter.

import math


def fixed_point(a, x, limit=1000):
    for i in range(limit):
        new = a * math.cos(x)
        if abs(new - x) < 1e-13:
            break
        x = new
    return x
