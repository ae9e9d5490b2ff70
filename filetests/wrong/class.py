# call: f(x=1.0)
class Model:
    rate = 2.0


def f(x):
    return 2 * x
