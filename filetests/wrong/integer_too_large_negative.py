# call: f(x=1.0)
def f(x):
    return x * -9223372036854775809
