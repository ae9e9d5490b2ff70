# Makes the rows of a matrix orthogonal, in place: each row is a view, and loses its part along those
# before it. Returns the volume the rows span.

import numpy as np


def volume(A):
    product = 1.0
    for i in range(len(A)):
        row = A[i]
        for j in range(i):
            row -= np.dot(row, A[j]) * A[j]
        length = np.linalg.norm(row)
        row /= length
        product *= length
    return product
