# call: f(x=1.0)
def f(x):
    pair = (x, 2.0)
    pair[0] = 3.0
    return pair[0]
