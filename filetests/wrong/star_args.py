# call: f(x=1.0)
def f(*values):
    return values[0]
