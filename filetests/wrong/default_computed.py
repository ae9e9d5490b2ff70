# call: f(x=1.0)
import math


def f(x, rate=math.sqrt(2)):
    return x * rate
