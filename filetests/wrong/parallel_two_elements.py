# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    y = x * 1.0
    for i in wengert.parallel(range(len(x) - 1)):
        y[i + 1] = x[i]
        y[i] = 2.0
    return y
