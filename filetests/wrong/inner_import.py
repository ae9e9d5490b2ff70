# call: f(x=1.0)
def f(x):
    import math

    return math.sin(x)
