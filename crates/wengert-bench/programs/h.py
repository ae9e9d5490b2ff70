import math
def in_place(x):
    s = x[0]
    for i in range(1, len(x)):
        x[i] = x[i - 1] * x[i] + math.sin(x[i])
        s += x[i]
    return s
