# call: f(x=1.0)
def f(x):
    a = [x, 2 * x]
    b = a + [3.0]
    return b[2]
