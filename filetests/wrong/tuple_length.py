# call: f(x=1.0)
def f(x):
    a, b = x, 2 * x, 3 * x
    return a * b
