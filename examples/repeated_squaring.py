# x to the power n with a number of products that grows like log n.
# Which products are made depends on the binary digits of n; the derivative is n x^(n - 1) all the same.


def power(x, n):
    result = 1.0
    while n > 0:
        if n % 2 == 1:
            result *= x
        x = x * x
        n = n // 2
    return result
