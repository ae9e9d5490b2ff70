# call: f(x=1.0)
SCALE = 2.0


def f(x):
    y = SCALE * x
    SCALE = 3.0
    return y * SCALE
