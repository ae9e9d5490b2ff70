# A small image filtered by a kernel (what networks call a convolution), without padding.
# The result is an image; the adjoint spreads each of its elements over what it was made of.

import numpy as np


def convolve(image, kernel):
    m, n = image.shape
    p, q = kernel.shape
    out = np.zeros((m - p + 1, n - q + 1))
    for i in range(m - p + 1):
        for j in range(n - q + 1):
            out[i, j] = np.sum(image[i : i + p, j : j + q] * kernel)
    return out
