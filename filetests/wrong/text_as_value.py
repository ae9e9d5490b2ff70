# call: f(x=1.0)
def f(x):
    unit = "metres"
    return x
