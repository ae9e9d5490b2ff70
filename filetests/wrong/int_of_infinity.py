# call: f(x=1e308)
def f(x):
    return int(x * 10) * 1.0
