# call: f(x=1.0)
def f(x):
    x = x * x
    return
