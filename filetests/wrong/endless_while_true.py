# call: f(x=1.0)
def f(x):
    while True:
        x = 0.5 * x
    return x
