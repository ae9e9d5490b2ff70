# call: f(x=[1.0, 2.0], a=2.0)
def f(x: list[float], a):
    x *= a
    return x[0]
