# Storage: names, views, and who sees a write.
import numpy as np


def shared(x):
    y = x
    y[0] = 10.0
    return x[0] + y[1]


def copied(x):
    y = np.copy(x)
    y[0] = 10.0
    return x[0] + y[0]


def slice_is_a_view(x, v):
    part = x[1:4]
    part[0] = v
    x[2] = 7.0
    return x, part, part[1] * v


def view_of_a_view(x, v):
    part = x[1:][::2]
    part[1] = v
    part[-1] += 1.0
    return x, part


def row_is_a_view(a, v):
    row = a[1]
    row[0] = v
    row *= 2.0
    a[1, 1] = row[0] * v
    return a, row


def column(a, v):
    c = a[:, 0]
    c += v
    c[0] = c[1] * v
    return a


def transposed(a, v):
    b = a.T
    b[0, 1] = v
    a[0, 0] += b[1, 0]
    return a, b


def slices(x):
    return x[:3], x[-2:], x[::-1], x[4:0:-2], x[10:], x[-100:2], x[1:-1:2]


def slice_assignment(x, y):
    x[1:3] = y
    x[3:] = 0.5
    x[::2] *= 3.0
    return x


def overlapping(x):
    x[1:] = x[:-1]
    x[:-1] += x[1:]
    return x


def block(a, v):
    a[1:, :2] = v
    a[0, :] = a[1, :] * 2.0
    a[:, -1] = [1.0, 2.0, 3.0]
    return a


def written_by_a_function(x, v):
    def put(y, k, w):
        y[k] = w * v

    put(x, 0, 3.0)
    put(x[1:], 0, 4.0)
    return x


def returned_view(x, v):
    def tail(y):
        return y[1:]

    t = tail(x)
    t[0] = v
    return x


def swapped(x, n: int):
    a = np.copy(x)
    b = np.zeros(len(x))
    for step in range(n):
        for i in range(len(x)):
            b[i] = 0.5 * a[i] + 0.25 * a[i - 1]
        a, b = b, a
    return a, b[0]


def old_and_new(x, n: int):
    old = x
    for i in range(n):
        x = x - 0.1 * x * x
    return x + old


def keeps_the_last(x, n: int):
    last = x
    total = 0.0
    for i in range(n):
        new = last * 0.9 + 0.1
        total += np.sum((new - last) ** 2)
        last = new
    return total, last


def either(x, y, flag):
    if flag > 0:
        z = x
    else:
        z = y
    return z * 2.0, x + y


def chosen(x, y, flag):
    z = x if flag > 0 else y * 2.0
    return z + 1.0


def updated_in_place(x, n: int):
    y = x
    for i in range(n):
        x += 0.5 * i
        x[0] *= 2.0
    return y


def reshaped_and_read(a):
    v = a.reshape(-1)
    s = 0.0
    for i in range(len(v)):
        s += v[i] * (i + 1)
    return s + a[0, 0]


def ravelled_then_rebound(x, v):
    x = np.reshape(x, (2, 2))
    x[0, 1] = v
    return x @ x


def nested_rows(a):
    total = 0.0
    for row in a:
        for value in row:
            total += value * value
        row[0] = total
    return total, a


def carried_row(a):
    row = a[0]
    for i in range(1, len(a)):
        row = row * 0.5 + a[i]
    return row


def iterated_while_written(x, v):
    total = 0.0
    for item in x:
        total += item
        x[-1] = total * v
    return total, x


def factor_with_effect(x, v):
    def bump(y):
        y[0] += v
        return y

    return np.dot(bump(x), x), x[0]


def diagonal_read(a, v):
    d = np.diag(a)
    s = np.sum(d) + np.flip(a[0])[0]
    a[0, 0] = v
    return s * a[0, 0]


def iterated_while_rebound(x):
    s = 0.0
    for v in x:
        s += v
        x = x * 0.5
    for i, (v, w) in enumerate(zip(x, reversed(x))):
        s += i * v * w
        x = x[1:]
    return s


def written_then_continued(x, v):
    y = np.copy(x)
    for i in range(3):
        if v > 0:
            y[0] += v
            y = y * 1.0
            continue
    return y[0]


def written_onto_itself(x):
    y = +x
    y[0] = 8.0
    x[:] = x
    x[::-1] = x
    z = x
    x[:] = z
    return x, y


def list_slices(v):
    y = [v, 1.0, 2.0]
    z = y[:]
    z[0] = 5.0
    w = y[1:]
    w[0] = v
    return y[0], y[1], z[0], w[0]


def picked(x, k):
    total = 0.0
    for i in k:
        total += x[i]
    return total + np.sum(x[k]) + x[k[0]] * 2.0


def until(x):
    while True:
        x = x * 0.5
        if x < 0.1:
            return x


def onto_itself(x):
    x[:] = x
    x[::-1] = x
    y = x
    y[...] = x
    return x


def transposed_onto_itself(w):
    w[:, :] = w.T
    w.T[:] = w
    return w


def rebound_after_a_return(x, v):
    if v > 0.2:
        if v > 0.9:
            return np.sin(x)
        x = np.tanh(x)
    y = x * 2.0
    if v > 0.3:
        if x[0] > 5.0:
            return y[:2]
        y = y[1:]
        x = y
    return x + y


def made_on_one_side(x, v):
    a = np.zeros(2)
    if v > 0.9:
        a = np.cos(x)
        return a
    else:
        b = np.sin(x)
        a = b
    b[0] = v
    return a + b


def remainders(x, v):
    s = 0.0
    for e in x:
        s += e % 0.25 + e // 2 + 7 % 3 / 4 / v
        x[0] = s
    return s


def row_of_one_side(w, n: int):
    k = 2
    m = w
    if n == 1:
        return m[0, 1], w[0]
    elif n == 2:
        k //= 2
    else:
        m = np.tanh(m)
        return 1.5, m[1]
    return k + m[-2, -1], w[0]
