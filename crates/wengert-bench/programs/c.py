def lorenz(sigma, rho, beta, x, y, z, n):
    dt = 2.0 / n
    for i in range(n):
        ax = sigma * (y - x)
        ay = x * (rho - z) - y
        az = x * y - beta * z
        x1 = x + 0.5 * dt * ax
        y1 = y + 0.5 * dt * ay
        z1 = z + 0.5 * dt * az
        bx = sigma * (y1 - x1)
        by = x1 * (rho - z1) - y1
        bz = x1 * y1 - beta * z1
        x2 = x + 0.5 * dt * bx
        y2 = y + 0.5 * dt * by
        z2 = z + 0.5 * dt * bz
        cx = sigma * (y2 - x2)
        cy = x2 * (rho - z2) - y2
        cz = x2 * y2 - beta * z2
        x3 = x + dt * cx
        y3 = y + dt * cy
        z3 = z + dt * cz
        dx = sigma * (y3 - x3)
        dy = x3 * (rho - z3) - y3
        dz = x3 * y3 - beta * z3
        x = x + dt / 6.0 * (ax + 2.0 * bx + 2.0 * cx + dx)
        y = y + dt / 6.0 * (ay + 2.0 * by + 2.0 * cy + dy)
        z = z + dt / 6.0 * (az + 2.0 * bz + 2.0 * cz + dz)
    return x
