# The time at which a falling body with drag reaches a depth: the loop is left from inside, and the time
# within the last step is interpolated. Where it is never reached, the result is a constant.


def crossing_time(depth, drag, dt=0.01, limit=500):
    x, v = 0.0, 0.0
    for step in range(limit):
        old = x
        v += dt * (9.81 - drag * v * v)
        x += dt * v
        if x > depth:
            return dt * (step + (depth - old) / (x - old))
    return -1.0
