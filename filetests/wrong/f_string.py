# call: f(x=1.0)
def f(x):
    print(f"x is {x}")
    return x
