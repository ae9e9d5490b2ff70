# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    last = 0.0
    for i in wengert.parallel(range(len(x))):
        last = x[i]
    return last
