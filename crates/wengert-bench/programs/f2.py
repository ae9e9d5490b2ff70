import math
def kepler(M, e):
    E = M
    dE = 1.0
    while abs(dE) > 1e-14:
        new = M + e * math.sin(E)
        dE = new - E
        E = new
    return E
