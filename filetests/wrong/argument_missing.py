# call: f(x=1.0)
def f(x, y, z=2.0):
    return x * y * z
