# call: f(x=1.0)
def g(a):
    return a * a


def f(x):
    return g(x, 2.0)
