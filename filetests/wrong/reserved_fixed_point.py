# call: f(x=1.0)
import wengert


def f(x):
    return wengert.fixed_point(lambda y: 0.5 * (y + x / y), x)
