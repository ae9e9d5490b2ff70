# call: f(x=1.0)
def twice(g):
    return g


@twice
def f(x):
    return x * x
