# call: f(x=1.0)
def f(x):
    z = x + 2j
    return abs(z)
