# Shortest paths between all pairs of nodes (Floyd and Warshall), in place. Returns the mean distance.
# Each derivative counts the shortest paths that use an edge.

import numpy as np


def mean_distance(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if i != k and j != k:
                    d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return np.mean(d)
