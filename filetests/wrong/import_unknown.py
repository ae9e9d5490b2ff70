# call: f(x=1.0)
import pandas


def f(x):
    return x * x
