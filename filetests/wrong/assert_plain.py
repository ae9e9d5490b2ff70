# call: f(x=0.4, n=10)
def f(x, n):
    for i in range(n):
        x = x + 0.1
        assert x < 1
    return x
