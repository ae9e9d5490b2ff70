import math
def in_place(x):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * x[i] + math.sin(x[i])
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s
