import numpy as np


def pendulum(theta, omega, g, h):
    for k in range(20):
        omega = omega - h * g * np.sin(theta)
        theta = theta + h * omega
    return 0.5 * omega * omega + g * (1.0 - np.cos(theta))
