# The price of an American put option on a binomial tree: backwards in time, one array overwritten.
# The maximum decides in every node whether to exercise, and its derivative follows the decision.

import math

import numpy as np


def american_put(spot, strike, rate, sigma, years, n):
    dt = years / n
    up = math.exp(sigma * math.sqrt(dt))
    down = 1 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    value = np.zeros(n + 1)
    for i in range(n + 1):
        value[i] = max(strike - spot * up ** (2 * i - n), 0.0)
    for step in reversed(range(n)):
        for i in range(step + 1):
            hold = discount * (p * value[i + 1] + (1 - p) * value[i])
            value[i] = max(strike - spot * up ** (2 * i - step), hold)
    return value[0]
