# call: f(x=1.0)
def g(x):
    return x


def g(x):
    return 2 * x


def f(x):
    return g(x)
