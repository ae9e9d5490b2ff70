# call: f(x=1.0)
def f(x):
    return x * float("one")
