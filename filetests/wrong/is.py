# call: f(x=1.0)
def f(x, y=0.0):
    if y is None:
        return x
    return x + y
