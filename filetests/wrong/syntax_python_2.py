# call: f(x=1.0)
def f(x):
    print x
    return x
