# The determinant of a matrix by elimination with pivots. Each row is a view: to change it is to change A.
# The gradient is the determinant times the transposed inverse.


def determinant(A):
    n = len(A)
    det = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if p != k:
            for j in range(n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
            det = -det
        det *= A[k, k]
        for i in range(k + 1, n):
            row = A[i]
            row -= row[k] / A[k, k] * A[k]
    return det
