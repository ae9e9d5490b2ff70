# A tridiagonal system by Thomas's method: one sweep down, one sweep up, in place.
# Gives the solution x; derivatives by the matrix come out of the elimination itself.


def solve(lower, diagonal, upper, x):
    n = len(x)
    for i in range(1, n):
        w = lower[i - 1] / diagonal[i - 1]
        diagonal[i] -= w * upper[i - 1]
        x[i] -= w * x[i - 1]
    x[-1] /= diagonal[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - upper[i] * x[i + 1]) / diagonal[i]
    return x
