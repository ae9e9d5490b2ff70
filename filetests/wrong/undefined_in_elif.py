# call: f(x=1.0)
def f(x):
    if x > 1:
        y = x
    elif x > 0:
        y = 2 * x
    return y
