# call: f(x=-1.0)
import math


def f(x):
    nan = math.nan * x
    return x + int(nan)
