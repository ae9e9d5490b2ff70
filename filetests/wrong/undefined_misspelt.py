# call: f(x=1.0)
def f(x):
    velocity = 2 * x
    return velocty + 1
