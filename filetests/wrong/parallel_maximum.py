# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    best = -1.0
    for i in wengert.parallel(range(len(x))):
        best = max(best, x[i])
    return best
