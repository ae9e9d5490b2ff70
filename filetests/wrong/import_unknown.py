# call: f(x=1.0)
import os
import pandas


def f(x):
    return pandas.Series(x)
