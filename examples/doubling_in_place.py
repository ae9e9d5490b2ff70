# Every element of an array is doubled where it stands, n times.
# The values that were overwritten are gone; the derivative, 2^n for each element, does not need them.


def doubling(x, n):
    for step in range(n):
        for i in range(len(x)):
            x[i] = 2 * x[i]
    return x[0] + 10 * x[-1]
