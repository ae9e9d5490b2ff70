# The expected cost of a Markov chain over n steps, discounted.
# Derivatives by transition probabilities say which transition it would pay to change.

import numpy as np


def expected_cost(p, P, cost, discount, n):
    total = 0.0
    weight = 1.0
    for step in range(n):
        total += weight * np.dot(p, cost)
        p = p @ P
        weight *= discount
    return total
