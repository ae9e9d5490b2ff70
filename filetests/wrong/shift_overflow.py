# call: f(x=1.0, n=70)
def f(x, n):
    return x * (1 << n)
