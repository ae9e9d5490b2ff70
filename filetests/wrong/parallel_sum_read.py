# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    s = 0.0
    for i in wengert.parallel(range(len(x))):
        s += x[i]
        if s > 1.0:
            s += 1.0
    return s
