# Doubles x until it is at least 1. How often depends on x, so the result jumps where x is a power of 2;
# between the jumps the derivative is the power of 2 it was multiplied by.


def doubling(x):
    while x < 1:
        x = 2 * x
    return x
