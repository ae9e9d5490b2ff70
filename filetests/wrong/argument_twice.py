# call: f(1.0, x=2.0)
def f(x, y=1.0):
    return x * y
