# How fast a point escapes under z -> z^2 + c, with a fraction that makes the count smooth.
# Points that do not escape all have the same value, and derivative 0.

import math


def escape_time(cx, cy, limit=200):
    x, y = 0.0, 0.0
    n = 0
    while n < limit and x * x + y * y < 1e6:
        x, y = x * x - y * y + cx, 2 * x * y + cy
        n += 1
    if n == limit:
        return float(limit)
    return n + 1 - math.log2(0.5 * math.log(x * x + y * y))
