# The score of the best sequence of hidden states (Viterbi).
# The gradient is 1 for each transition and emission on the best path, and needs no second pass to find it.

import numpy as np


def best_score(start, step, emit, observed):
    n = len(start)
    score = start + emit[:, int(observed[0])]
    for o in observed[1:]:
        new = np.zeros(n)
        for j in range(n):
            best = score[0] + step[0, j]
            for i in range(1, n):
                best = max(best, score[i] + step[i, j])
            new[j] = best + emit[j, int(o)]
        score = new
    return np.max(score)
