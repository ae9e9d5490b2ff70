# call: f(x=1.0, rat=2.0)
def f(x, rate=1.0):
    return x * rate
