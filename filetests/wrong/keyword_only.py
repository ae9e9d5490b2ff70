# call: f(x=1.0)
def f(x, *, rate=2.0):
    return x * rate
