# A recurrence of one number: h becomes tanh(w h + b), n times.
# Its derivative collects a term from every step; a step's term has passed through all steps after it.

import math


def recurrence(w, b, h, n):
    for i in range(n):
        h = math.tanh(w * h + b)
    return h
