# call: f(x=1.0)
def f(x):
    while x > 0:
        x = x + 1
    return x
