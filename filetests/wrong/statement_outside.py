# call: f(x=1.0)
print("loading")


def f(x):
    return x
