# call: f(x=1.0, n=2.5)
def f(x, n: int):
    return x * n
