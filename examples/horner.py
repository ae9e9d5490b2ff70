# A polynomial by Horner's rule, from the highest coefficient down.
# The derivative by x is the derivative of the polynomial, by the coefficients the powers of x.


def horner(coefficients, x):
    value = 0.0
    for c in coefficients:
        value = value * x + c
    return value
