# call: f(x=[1.0, 2.0, 3.0])
def f(x):
    return sum(v * v for v in x)
