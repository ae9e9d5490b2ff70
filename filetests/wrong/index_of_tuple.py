# call: f(x=1.0)
def f(x):
    pair = (x, 2 * x)
    return pair[2]
