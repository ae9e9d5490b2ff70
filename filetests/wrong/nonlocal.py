# call: f(x=1.0)
def f(x):
    total = 0.0

    def add(y):
        nonlocal total
        total = total + y
        return total

    return add(x)
