# call: f(x=1.0)
def f(x):
    x * 2
    return x
