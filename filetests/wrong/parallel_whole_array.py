# call: f(x=[1.0, 2.0, 3.0])
import numpy as np
import wengert


def f(x):
    y = np.zeros(3)
    for i in wengert.parallel(range(len(x))):
        y += x[i] * x
    return y[0]
