# call: f(x=1.0)
import math


def f(x):
    return math.sin(x, 2.0)
