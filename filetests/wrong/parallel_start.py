# call: f(x=[1.0, 2.0, 3.0], a=-1)
import wengert


def f(x, a: int):
    y = x * 1.0
    for i in wengert.parallel(range(a, len(x))):
        y[i] = 2.0 * x[i]
    return y[0]
