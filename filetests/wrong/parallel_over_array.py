# call: f(x=[1.0, 2.0, 3.0])
import wengert


def f(x):
    for i in wengert.parallel(x):
        pass
    return x[0]
