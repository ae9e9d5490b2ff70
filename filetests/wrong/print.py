# call: f(x=1.0)
def f(x):
    y = x * x
    print(x, y)
    return y
