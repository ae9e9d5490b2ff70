# One step of k-means: each point goes to its nearest centre, each centre to the mean of its points.
# Returns the squared distances after the step; the choice of the nearest passes no derivative.

import numpy as np


def spread(points, centres):
    k = len(centres)
    sums = np.zeros_like(centres)
    counts = np.zeros(k)
    nearest = np.zeros(len(points), dtype=int)
    for i, p in enumerate(points):
        distances = np.sum((centres - p) ** 2, axis=1)
        nearest[i] = np.argmin(distances)
        sums[nearest[i]] += p
        counts[nearest[i]] += 1
    for j in range(k):
        if counts[j] > 0:
            centres[j] = sums[j] / counts[j]
    total = 0.0
    for i in range(len(points)):
        total += np.sum((points[i] - centres[nearest[i]]) ** 2)
    return total
