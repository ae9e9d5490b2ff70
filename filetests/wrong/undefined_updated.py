# call: f(x=1.0)
def f(x):
    total += x
    return total
