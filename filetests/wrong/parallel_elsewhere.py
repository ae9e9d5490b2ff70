# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    total = 0.0
    for k, i in enumerate(wengert.parallel(range(len(x)))):
        total += k * x[i]
    return total
