# call: f(x=1.0)
def f(x):
    if x in (1.0, 2.0):
        return x
    return 2 * x
