# call: f(x=1.0)
def f(x):
    if x > 0:
        y = x * x
    return y
