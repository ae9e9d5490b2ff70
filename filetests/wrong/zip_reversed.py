# call: f(x=[1.0, 2.0, 3.0])
def f(x):
    total = 0.0
    for i, v in reversed(enumerate(x)):
        total += i * v
    return total
