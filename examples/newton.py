# The square root of a by Newton's method, from the first guess x0.
# The loop runs as often as it takes; its derivative is the derivative of what ran.


def newton(a, x0):
    x = x0
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x
