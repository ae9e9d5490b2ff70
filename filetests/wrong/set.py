# call: f(x=1.0)
def f(x):
    seen = {1.0, 2.0}
    return x * len(seen)
