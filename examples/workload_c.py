# Workload c: the Lorenz system for 2 units of time in n steps of the classical Runge-Kutta method.
# Returns x at the end. The system is chaotic, so derivatives grow with time.


def slope(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz(sigma, rho, beta, x=1.0, y=1.0, z=1.0, n=1000):
    dt = 2.0 / n
    h = dt / 2
    for step in range(n):
        ax, ay, az = slope(x, y, z, sigma, rho, beta)
        bx, by, bz = slope(x + h * ax, y + h * ay, z + h * az, sigma, rho, beta)
        cx, cy, cz = slope(x + h * bx, y + h * by, z + h * bz, sigma, rho, beta)
        dx, dy, dz = slope(x + dt * cx, y + dt * cy, z + dt * cz, sigma, rho, beta)
        x += dt / 6 * (ax + 2 * bx + 2 * cx + dx)
        y += dt / 6 * (ay + 2 * by + 2 * cy + dy)
        z += dt / 6 * (az + 2 * bz + 2 * cz + dz)
    return x
