# call: f(x=1.0)
def f(x):
    def g(y):
        return y * scale

    return g(x)
