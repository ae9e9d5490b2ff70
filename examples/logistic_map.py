# The logistic map. Below r = 3.57 it settles on a cycle and derivatives stay small;
# above, it is chaotic, and derivatives about double in every step.


def logistic(r, x, n):
    for i in range(n):
        x = r * x * (1 - x)
    return x
