# A pendulum by the leapfrog method, which keeps its energy nearly constant for all times.
# Returns the angle and the drift of the energy.

import math


def pendulum(angle, speed, length, dt, n, g=9.81):
    start = 0.5 * (length * speed) ** 2 - g * length * math.cos(angle)
    speed -= 0.5 * dt * g / length * math.sin(angle)
    for step in range(n):
        angle += dt * speed
        speed -= dt * g / length * math.sin(angle)
    speed += 0.5 * dt * g / length * math.sin(angle)
    end = 0.5 * (length * speed) ** 2 - g * length * math.cos(angle)
    return angle, end - start
