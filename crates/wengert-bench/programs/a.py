import math
def mean_state(w, b, h0, n):
    h = h0
    s = 0.0
    for i in range(n):
        h = math.tanh(w * h + b)
        s += h
    return s / n
