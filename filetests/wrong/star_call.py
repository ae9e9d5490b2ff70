# call: f(x=1.0)
def g(a, b):
    return a * b


def f(x):
    pair = (x, 2.0)
    return g(*pair)
