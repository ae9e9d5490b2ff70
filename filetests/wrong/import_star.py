# call: f(x=1.0)
from math import *


def f(x):
    return sin(x)
