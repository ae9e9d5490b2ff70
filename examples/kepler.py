# The place of a planet at a time: Kepler's equation E - e sin(E) = M by Newton's method.
# The derivative by M is the speed, which is largest where the planet is nearest to the sun.

import math


def position(M, e, a=1.0):
    E = M
    step = 1.0
    while abs(step) > 1e-12:
        step = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E = E - step
    return a * (math.cos(E) - e), a * math.sqrt(1 - e * e) * math.sin(E)
