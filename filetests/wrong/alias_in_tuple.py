# call: f(x=[1.0, 2.0, 3.0, 4.0])
def f(x):
    pair = (x.reshape(2, 2), 3.0)
    x[0] = pair[1]
    return pair[0][0, 0]
