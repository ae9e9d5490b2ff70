# call: f(x=1.0)
RATIO = 1 // 0


def f(x):
    return x * RATIO
