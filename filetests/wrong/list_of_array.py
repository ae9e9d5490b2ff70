# call: f(x=[[1.0, 2.0], [3.0, 4.0]])
def f(x):
    y = list(x)
    return y[0]
