# call: f(x=1.0)
def even(x):
    return odd(x - 1)


def odd(x):
    return even(x - 1)


def f(x):
    return even(x)
