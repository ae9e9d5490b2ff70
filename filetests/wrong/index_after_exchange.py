# call: f(x=[1.0, 2.0, 3.0, 4.0], y=[], u=[1.0], n=5)
import numpy as np
def f(x, y, u, n: int):
    a2 = np.full(4, 1.0)
    for i3 in range(0, 5, 2):
        y, a2 = a2, y
    a5 = x[0:4]
    while True:
        if 0.4 > a2[n % len(a5)]:
            break
    return x[0]
