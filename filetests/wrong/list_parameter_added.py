# call: f(x=[1.0, 2.0])
def f(x: list[float]):
    y = x + x
    return y[0]
