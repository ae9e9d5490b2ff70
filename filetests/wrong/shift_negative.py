# call: f(x=1.0, n=-1)
def f(x, n):
    return x * (8 >> n)
