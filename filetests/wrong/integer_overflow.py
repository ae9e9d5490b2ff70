# call: f(x=1.0, n=100)
def f(x, n):
    k = 1
    for i in range(n):
        k = k * 2
    return x * (k % 7)
