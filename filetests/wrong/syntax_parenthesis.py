# call: f(x=1.0)
def f(x):
    y = (x * (x + 1)
    return y
