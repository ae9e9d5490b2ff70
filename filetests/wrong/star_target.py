# call: f(x=[1.0, 2.0, 3.0])
def f(x):
    first, *rest = x
    return first
