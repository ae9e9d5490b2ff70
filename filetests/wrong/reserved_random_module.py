# call: f(x=1.0)
import random


def f(x):
    return x * random.random()
