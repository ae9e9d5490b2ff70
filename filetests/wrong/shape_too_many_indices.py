# call: f(x=[1.0, 2.0, 3.0])
def f(x):
    return x[0, 1]
