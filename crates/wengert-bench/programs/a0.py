import math
def last_state(w, b, h0, n):
    h = h0
    for i in range(n):
        h = math.tanh(w * h + b)
    return h
