# A sum of Chebyshev polynomials by Clenshaw's recurrence, from the last coefficient to the first,
# and the squared error at several points.


def chebyshev(c, x):
    b1, b2 = 0.0, 0.0
    for ck in reversed(c):
        b1, b2 = 2 * x * b1 - b2 + ck, b1
    return b1 - x * b2


def error(c, xs, ys):
    total = 0.0
    for k, (x, y) in enumerate(zip(xs, ys), start=1):
        total += k * (chebyshev(c, x) - y) ** 2
    return total
