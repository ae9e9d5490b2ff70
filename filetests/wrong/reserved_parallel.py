# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    total = 0.0
    for i in wengert.parallel(len(x)):
        total += x[i]
    return total
