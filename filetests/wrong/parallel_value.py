# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    r = wengert.parallel(range(3))
    return x[0]
