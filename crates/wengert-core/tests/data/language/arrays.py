# Whole arrays: arithmetic, broadcasting, reductions, products.
import math
import numpy as np


def axpy(a, x, y):
    return a * x + y


def mixed(x, n: int):
    y = x * 2 - 1 / x
    return -y + n, x ** 2, x ** -1, 2.0 ** x


def matrix(a, x):
    y = a @ x
    return np.tanh(y) + np.dot(x, x), a.T @ y


def products(a, b):
    return a @ b, np.dot(a, b), np.outer(a[0], b[:, 1])


def reductions(x):
    return np.sum(x), np.mean(x), np.max(x), x.min(), np.prod(x), np.argmax(x), x.argmin()


def by_axis(a):
    return np.sum(a, axis=0), a.mean(axis=1), np.max(a, axis=0), a.min(axis=-1), np.prod(a, 1)


def centred(a):
    return a - a.mean(axis=0, keepdims=True), a / np.sum(a, axis=1)[:, None]


def outer_sum(x, y):
    return x[:, None] + y[None, :], x[:, np.newaxis] * y


def comparisons(x, y):
    return np.where(x < y, x, 2 * y), np.maximum(x, y), np.minimum(x, 0.5), np.clip(x, 0.3, 0.7)


def masks(x):
    y = np.copy(x)
    y[x < 0.5] = 0.0
    y[y > 0.8] *= 2
    return y, np.any(x > 0.9), np.all(x > 0.0), (x > 0.2) & ~(x > 0.6)


def shapes(a):
    n, m = a.shape
    b = np.reshape(a, (m, n))
    c = a.reshape(-1)
    return b[0, 1] + c[2], len(a), a.size, a.ndim, np.ravel(a)[-1], a.T.reshape(n * m)


def joins(x, y):
    return np.concatenate([x, y]), np.stack([x, y]), np.array([x[0], y[1], 3.0]), np.array([x, y]).T


def makes(n, v):
    x = np.linspace(0.0, 1.0, n)
    return np.arange(n) * v, x * v, np.eye(n) * v, np.full(n, v), np.ones((2, n)) * v, np.zeros_like(x) + v


def sorted_things(x, v):
    return np.sort(x), np.argsort(x), np.searchsorted(np.sort(x), v), np.cumsum(x), np.cumprod(x), np.interp(v, [0.0, 0.5, 1.0], [1.0, 3.0, 2.0])


def norms(x, a):
    return np.linalg.norm(x), np.linalg.norm(a), np.linalg.norm(a, axis=1)


def sums_of_products(a, b):
    return np.einsum("ij,jk->ik", a, b), np.einsum("ij->j", a), np.einsum("ij,ij->", a, a)


def elementwise(x):
    return np.sin(x) + np.exp(-x) * np.sqrt(x), np.abs(x - 0.5), np.floor(3 * x), np.arctan2(x, 1.0 - x)


def integers(n: int):
    k = np.arange(n)
    return k // 2, k % 3, np.sum(k), k * 1.5


def floats_with_remainder(a, b):
    return a // b, a % b, (-a) // b, (-a) % b, a % (-b)


def bits(n: int, m: int):
    return n & m, n | m, n ^ m, n << 3, n >> 1, ~n


def powers(x, y, n: int):
    return x ** y, x ** n, 2 ** n, x ** 0.5, (-x) ** 3, n ** 2


def operators_by_name(x, y):
    a = np.add(x, y) * np.subtract(x, 2.0) - np.multiply(3, x)
    return np.divide(a, y), np.power(x, 3), np.negative(x), np.true_divide(a, 2), np.floor_divide(7.5, 2)


def products_of_other_kinds(a, b, x, y):
    c = np.cross(x[:3], y[2:])
    t = np.tensordot(a, b, axes=1)
    return c, t, np.tensordot(a, a), np.convolve(x, y), np.convolve(x, y[:2], "same"), np.convolve(x, y[1:3], mode="valid")


def triangles(a, n: int):
    return np.tril(a), np.triu(a, 1), np.tril(a, k=-1), np.triu(a, k=n - 4)


def medians(a, x):
    return np.median(x), np.median(a), np.median(a, axis=0), np.median(a, axis=-1, keepdims=True)


def several_axes(a):
    c = a[:, :, None] * np.array([1.0, 2.5])
    s = np.sum(c, axis=(0, 2)) + c.mean(axis=(0, -1))
    return s, np.max(c, axis=(1, 2)), np.sum(c, axis=(0, 1, 2)), np.sum(c, axis=(1, 2), keepdims=True), c.sum((0, 1))


def clipped_on_one_side(x, n: int):
    low = np.clip(x, 0.4, None) + np.clip(x, None, a_max=0.7)
    return low, np.clip(n, 5, None), np.clip(n, 0, 3), np.clip(x, 0.2, 0.6), np.clip(0.9, None, x)


def picked_one_by_one(a, y, n):
    rows = np.arange(n)
    return a[rows, y], a[np.arange(n), -y] * 2.0, a[1, y], np.sum(a[rows, y]) * a[-1, 0]


def picked_along(a, y):
    return a[:, y], a[1:, y], a[:1, y[::-1]] * 3.0


def zipped_tuples(x, y):
    total = 0.0
    for u, v in zip((x, y, 2.0 * x), (y, x, y)):
        total = total * 0.5 + np.sum(u * v)
    for k, (w, f) in enumerate(zip([1.0, 2.0, 3.0], x)):
        total += k * w * f
    for k, u in enumerate((x, y), start=2):
        total += k * np.sum(u)
    for u in reversed((x, y)):
        total = total * 2.0 + u[0]
    for i, f in zip(range(1, 4), (0.5, 0.25)):
        total += i * f
    return total
