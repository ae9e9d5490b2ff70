# Shortest paths from the first node over a list of edges (Bellman and Ford).
# The derivative by the length of an edge is 1 if the shortest path uses it, else 0.

import numpy as np


def shortest_path(tail, head, length, nodes: int):
    dist = np.full(nodes, np.inf)
    dist[0] = 0.0
    for sweep in range(nodes - 1):
        changed = False
        for k in range(len(length)):
            i, j = int(tail[k]), int(head[k])
            if dist[i] + length[k] < dist[j]:
                dist[j] = dist[i] + length[k]
                changed = True
        if not changed:
            break
    return dist[nodes - 1]
