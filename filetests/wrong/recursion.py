# call: f(x=1.0)
def f(x):
    return x * f(x - 1)
