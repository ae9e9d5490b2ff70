# The log-likelihood of measurements under a random walk seen through noise, by a Kalman filter.
# Its gradient by the two variances is what fits them. Measurements that are missing (0) are skipped.

import math


def log_likelihood(y, seen, q, r):
    x, p = 0.0, 1.0
    total = 0.0
    for value, there in zip(y, seen):
        p += q
        if there < 0.5:
            continue
        s = p + r
        e = value - x
        total -= 0.5 * (math.log(2 * math.pi * s) + e * e / s)
        x += p / s * e
        p *= r / s
    return total
