# Two variables that change together; each step uses the old values of both.
# A rotation by the angle a would keep x^2 + y^2; the sine of y makes it nonlinear.

import math


def recurrence(a, x, y, n):
    c, s = math.cos(a), math.sin(a)
    for i in range(n):
        x, y = c * x - s * math.sin(y), s * x + c * y
    return x * y
