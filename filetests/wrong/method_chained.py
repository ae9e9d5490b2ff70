# call: f(x=[3.0, 1.0, 2.0])
def f(x):
    return x.cumsum().byteswap().sum()
