# call: f(x=1.0)
def g(a):
    a = a + 1


def f(x):
    return x * g(x)
