# call: f(x=1.0, n=5, k=0)
def f(x, n, k):
    for i in range(0, n, k):
        x = x + 1
    return x
