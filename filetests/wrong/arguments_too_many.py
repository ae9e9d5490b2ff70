# call: f(1.0, 2.0, 3.0)
def f(x, y):
    return x * y
