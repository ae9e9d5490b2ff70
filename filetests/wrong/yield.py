# call: f(x=1.0, n=3)
def f(x, n):
    for i in range(n):
        yield x * i
