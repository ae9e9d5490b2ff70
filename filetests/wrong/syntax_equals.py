# call: f(x=1.0)
def f(x):
    if x = 1:
        return x
    return 2 * x
