# call: f(x=1.0)
def f(x):
    name = "rate" + "s"
    return x
