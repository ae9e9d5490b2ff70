# call: f(x=1.0)
def f(x):
    p = {"rate": 2.0}
    return x * p["rate"]
