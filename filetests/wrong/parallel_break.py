# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    s = 0.0
    for i in wengert.parallel(range(len(x))):
        if x[i] > 2.0:
            break
        s += x[i]
    return s
