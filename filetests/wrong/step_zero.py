# call: f(x=1.0, n=5)
def f(x, n):
    for i in range(0, n, 0):
        x = x + 1
    return x
