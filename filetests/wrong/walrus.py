# call: f(x=1.0)
def f(x):
    while (y := x * x) < 10:
        x = x + 1
    return y
