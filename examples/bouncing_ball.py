# A ball that bounces, from one bounce to the next, as long as there is time. Returns its height.
# How many bounces there are depends on the arguments; between changes of it the derivative is exact.

import math


def height(h, bounce, time, g=9.81):
    t = math.sqrt(2 * h / g)
    v = math.sqrt(2 * g * h)
    bounces = 0
    if time < t:
        return h - 0.5 * g * time * time
    while True:
        v *= bounce
        flight = 2 * v / g
        bounces += 1
        if t + flight > time or bounces == 1000:
            break
        t += flight
    return v * (time - t) - 0.5 * g * (time - t) ** 2
