# Bodies that attract each other, by the leapfrog method. Returns the distance of the first two.
# Its derivatives by masses and starting velocities are what is needed to aim.

import numpy as np


def accelerations(x, m):
    a = np.zeros_like(x)
    for i in range(len(m)):
        for j in range(len(m)):
            if i != j:
                d = x[j] - x[i]
                a[i] += m[j] * d / (np.dot(d, d) + 0.01) ** 1.5
    return a


def distance(x, v, m, dt, n):
    a = accelerations(x, m)
    for step in range(n):
        v = v + 0.5 * dt * a
        x = x + dt * v
        a = accelerations(x, m)
        v = v + 0.5 * dt * a
    return np.linalg.norm(x[0] - x[1])
