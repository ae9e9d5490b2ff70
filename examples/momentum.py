# Gradient descent with momentum on Rosenbrock's function, the slope written by hand.
# The derivative by the rate and by the momentum tells how to tune them.


def descend(x, y, rate, momentum, n):
    u, v = 0.0, 0.0
    for step in range(n):
        gx = -2 * (1 - x) - 40 * x * (y - x * x)
        gy = 20 * (y - x * x)
        u = momentum * u - rate * gx
        v = momentum * v - rate * gy
        x, y = x + u, y + v
    return (1 - x) ** 2 + 10 * (y - x * x) ** 2
