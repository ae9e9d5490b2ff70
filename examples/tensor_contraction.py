# A three-way array contracted with the same vector on two sides, over and over: the power method for
# tensors. The formula of einsum says which axes are summed.

import numpy as np


def tensor_power(T, v, n):
    for step in range(n):
        v = np.einsum("ijk,j,k->i", T, v, v)
        v = v / np.sqrt(np.einsum("i,i->", v, v))
    return np.einsum("ijk,i,j,k->", T, v, v, v)
