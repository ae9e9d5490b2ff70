# call: f(x=2.0)
def f(x):
    total = 0.0
    for i in range(x / 2):
        total += x
    return total
