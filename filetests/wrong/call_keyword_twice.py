# call: f(x=1.0)
def g(a, scale=1.0):
    return a * scale


def f(x):
    return g(x, 2.0, scale=3.0)
