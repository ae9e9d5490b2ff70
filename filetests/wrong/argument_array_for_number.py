# call: f(x=[1.0, 2.0])
def f(x: float):
    return x * x
