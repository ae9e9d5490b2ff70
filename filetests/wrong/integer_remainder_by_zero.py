# call: f(x=1.0, n=4)
def f(x, n):
    total = 0
    for i in range(n):
        total += 5 % (2 - i)
    return x * total
