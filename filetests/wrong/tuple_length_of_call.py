# call: f(x=1.0)
def split(x):
    return x, x + 1, x + 2


def f(x):
    low, high = split(x)
    return low * high
