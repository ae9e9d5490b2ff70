# call: f(x=[[1.0, 2.0], [3.0, 4.0]])
def f(x: list[list[float]]):
    x[0], x[1] = x[1], x[0]
    return x[0][0]
