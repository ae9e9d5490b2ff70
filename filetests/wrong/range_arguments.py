# call: f(x=1.0, n=3)
def f(x, n):
    for i in range(0, n, 1, 2):
        x = x + i
    return x
