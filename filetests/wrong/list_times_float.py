# call: f(x=1.0)
def f(x):
    a = [x, 2.0]
    b = a * x
    return b[0]
