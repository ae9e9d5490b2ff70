# A random walk between soft walls. The random numbers are a hash of a counter, in integers: the same seed
# gives the same walk, so its derivative by the drift and the step makes sense.

import math


def scramble(k):
    k = ((k >> 16) ^ k) * 0x45D9F3B & 0xFFFFFFFF
    k = ((k >> 16) ^ k) * 0x45D9F3B & 0xFFFFFFFF
    return (k >> 16) ^ k


def walk(drift, step, seed, n):
    x = 0.0
    total = 0.0
    for i in range(n):
        u = (scramble(seed + i) + 0.5) / 2**32
        x = 3 * math.tanh((x + drift + step * (2 * u - 1)) / 3)
        total += x * x
    return total / n
