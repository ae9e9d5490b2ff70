# call: f(x=1.0)
def f(x):
    while x < 10:
        x = x * 2
    else:
        x = x + 1
    return x
