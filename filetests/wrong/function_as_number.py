# call: f(x=1.0)
def g(x):
    return x * x


def f(x):
    return g * x
