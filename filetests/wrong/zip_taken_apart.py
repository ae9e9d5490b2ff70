# call: f(x=[1.0, 2.0], y=[3.0, 4.0])
def f(x, y):
    total = 0.0
    for a, b, c in zip(x, y):
        total += a * b * c
    return total
