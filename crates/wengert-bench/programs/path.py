import numpy as np


def path(z, rate, volatility):
    price = 1.0
    for k in range(len(z)):
        price = price * np.exp(rate + volatility * z[k])
    return max(price - 1.0, 0.0)
