# call: f(x=1.0)
def g(a, b):
    return a * b


def f(x):
    return g(x)
