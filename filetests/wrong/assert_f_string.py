# call: f(x=1.0)
def f(x):
    assert x > 0, f"{x} is not positive"
    return x
