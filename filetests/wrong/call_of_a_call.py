# call: f(x=1.0)
def make():
    return lambda x: 2 * x


def f(x):
    return make()(x)
