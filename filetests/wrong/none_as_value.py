# call: f(x=1.0)
def f(x):
    y = None
    return x
