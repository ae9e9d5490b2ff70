# call: f(x=[1.0, 2.0, 3.0])
def f(x):
    y = x[0]
    del x
    return y
