# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    y = x * 1.0
    for i in wengert.parallel(range(1, len(x))):
        y[i] = y[i - 1] + x[i]
    return y
