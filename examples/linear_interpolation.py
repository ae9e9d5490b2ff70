# Looks a number up in a table, by bisection, and interpolates.
# The search only compares, so no derivative passes through it; the derivative is by x and two entries.


def interpolate(xs, ys, x):
    low, high = 0, len(xs) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if xs[middle] <= x:
            low = middle
        else:
            high = middle
    t = (x - xs[low]) / (xs[high] - xs[low])
    return (1 - t) * ys[low] + t * ys[high]
