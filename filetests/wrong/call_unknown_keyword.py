# call: f(x=1.0)
def g(a, scale=1.0):
    return a * scale


def f(x):
    return g(x, scael=2.0)
