# call: f(x=1.0)
def f(x):
    y = x or 2.0
    return y
