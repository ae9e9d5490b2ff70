# The volatility that explains the price of an option: Newton's method on the formula of Black and Scholes.
# Its derivative by the price is 1 / vega, by the theorem on implicit functions.

import math


def cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def implied_volatility(price, spot, strike, rate, years):
    sigma = 0.3
    error = 1.0
    while abs(error) > 1e-10:
        root = sigma * math.sqrt(years)
        d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / root
        call = spot * cdf(d1) - strike * math.exp(-rate * years) * cdf(d1 - root)
        vega = spot * math.sqrt(years / (2 * math.pi)) * math.exp(-0.5 * d1 * d1)
        error = call - price
        sigma -= error / vega
    return sigma
