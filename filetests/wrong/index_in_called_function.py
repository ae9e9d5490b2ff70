# call: f(x=[1.0, 2.0, 3.0])
def last(x, n):
    return x[n]


def f(x):
    return last(x, len(x))
