# call: f(x=-1.0)
def f(x):
    assert x > 0, "x must be positive"
    return x
