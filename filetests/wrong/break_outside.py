# call: f(x=1.0)
def f(x):
    if x > 0:
        break
    return x
