# Workload e: the price of a call option under Heston's model of volatility, by simulation.
# The normal numbers are drawn beforehand: Z1 and Z2 have one row for each path, one column for each day.
# Paths have nothing to do with each other, so they are simulated on all cores.

import math

import wengert

STRIKE = 100.0
DT = 1 / 252


def price(Z1, Z2, v0=0.04, kappa=2.0, theta=0.05, xi=0.3, rho=-0.7, r=0.02):
    paths, steps = Z1.shape
    other = math.sqrt(1 - rho**2)
    total = 0.0
    for i in wengert.parallel(range(paths)):
        X = math.log(100.0)
        v = v0
        for t in range(steps):
            vp = max(v, 1e-6)
            s = math.sqrt(vp * DT)
            X += (r - vp / 2) * DT + s * Z1[i, t]
            v += kappa * (theta - vp) * DT + xi * s * (rho * Z1[i, t] + other * Z2[i, t])
        total += max(math.exp(X) - STRIKE, 0.0)
    return math.exp(-r) * total / paths
