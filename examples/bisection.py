# The root of x^3 + a x = b by bisection. The ends only ever move to fixed places, so their derivative
# is 0, however near they are to the root; one step of Newton's method at the end makes it right.


def root(a, b):
    low, high = -10.0, 10.0
    while high - low > 1e-8:
        middle = 0.5 * (low + high)
        if middle**3 + a * middle < b:
            low = middle
        else:
            high = middle
    x = 0.5 * (low + high)
    return x - (x**3 + a * x - b) / (3 * x**2 + a)
