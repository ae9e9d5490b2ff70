# call: f(x=1.0)
def f(x):
    total = 0.0
    for v in x:
        total += v
    return total
