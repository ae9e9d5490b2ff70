# call: f(x=1.0)
def f(x):
    y = x + total
    total = y * y
    return total
