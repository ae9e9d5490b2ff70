# call: f(x=3.0)
def f(x):
    while True:
        if x < 1.0:
            break
        y = x
        x = x * 0.5
    return y
