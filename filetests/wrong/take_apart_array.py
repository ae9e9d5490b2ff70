# call: f(x=[1.0, 2.0, 3.0])
def f(x):
    a, b = x
    return a * b
