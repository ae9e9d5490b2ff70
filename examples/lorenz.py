# The Lorenz system, n steps of the classical Runge-Kutta method.
# Returns the mean of z along the trajectory.


def slope(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz(sigma=10.0, rho=28.0, beta=2.5, dt=0.01, n=200):
    x, y, z = 1.0, 1.0, 1.0
    total = 0.0
    for step in range(n):
        ax, ay, az = slope(x, y, z, sigma, rho, beta)
        h = dt / 2
        bx, by, bz = slope(x + h * ax, y + h * ay, z + h * az, sigma, rho, beta)
        cx, cy, cz = slope(x + h * bx, y + h * by, z + h * bz, sigma, rho, beta)
        dx, dy, dz = slope(x + dt * cx, y + dt * cy, z + dt * cz, sigma, rho, beta)
        x += dt / 6 * (ax + 2 * bx + 2 * cx + dx)
        y += dt / 6 * (ay + 2 * by + 2 * cy + dy)
        z += dt / 6 * (az + 2 * bz + 2 * cz + dz)
        total += z
    return total / n
