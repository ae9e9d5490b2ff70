# Workload f2: Kepler's equation E = M + e sin(E), by putting E into the right side until it settles.
# The derivatives are 1 / (1 - e cos(E)) and sin(E) / (1 - e cos(E)).

import math


def kepler(M, e):
    E = M
    change = 1.0
    while abs(change) > 1e-14:
        new = M + e * math.sin(E)
        change = new - E
        E = new
    return E
