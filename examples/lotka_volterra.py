# Predators and prey. The slope is a function inside the function: it sees the rates around it,
# and the method for one step takes it as an argument.


def rk2(f, x, y, dt):
    ax, ay = f(x, y)
    bx, by = f(x + dt / 2 * ax, y + dt / 2 * ay)
    return x + dt * bx, y + dt * by


def predators(birth, death, eaten, x, y, dt, n):
    growth = 0.5 * eaten

    def slope(x, y):
        return birth * x - eaten * x * y, growth * x * y - death * y

    for step in range(n):
        x, y = rk2(slope, x, y, dt)
    return y
