"""NVIDIA Warp on the processor: the loop in a kernel of one thread.

Every state is an element of an array. A state in a local variable, which the loop overwrites, would give a wrong gradient without a word.
"""

import tempfile

import numpy as np
import warp as wp

wp.config.quiet = True
wp.config.kernel_cache_dir = tempfile.mkdtemp()

real = wp.float64


@wp.kernel
def recurrence(p: wp.array(dtype=real), h: wp.array(dtype=real), total: wp.array(dtype=real), n: int):
    h[0] = p[2]
    total[0] = real(0.0)
    for i in range(n):
        h[i + 1] = wp.tanh(p[0] * h[i] + p[1])
        total[i + 1] = total[i] + h[i + 1] / real(n)


@wp.kernel
def last(p: wp.array(dtype=real), h: wp.array(dtype=real), n: int):
    h[0] = p[2]
    for i in range(n):
        h[i + 1] = wp.tanh(p[0] * h[i] + p[1])


@wp.func
def slope(s: wp.vec3d, p: wp.array(dtype=real)):
    return wp.vec3d(p[0] * (s[1] - s[0]), s[0] * (p[1] - s[2]) - s[1], s[0] * s[1] - p[2] * s[2])


@wp.kernel
def lorenz(p: wp.array(dtype=real), s: wp.array(dtype=wp.vec3d), n: int, out: wp.array(dtype=real)):
    dt = real(2.0) / real(n)
    s[0] = wp.vec3d(p[3], p[4], p[5])
    for i in range(n):
        a = slope(s[i], p)
        b = slope(s[i] + dt / real(2.0) * a, p)
        c = slope(s[i] + dt / real(2.0) * b, p)
        d = slope(s[i] + dt * c, p)
        s[i + 1] = s[i] + dt / real(6.0) * (a + real(2.0) * b + real(2.0) * c + d)
    out[0] = s[n][0]


@wp.kernel
def chain(x: wp.array(dtype=real), y: wp.array(dtype=real), total: wp.array(dtype=real), n: int):
    y[0] = x[0]
    total[0] = x[0]
    for i in range(1, n):
        y[i] = y[i - 1] * x[i] + wp.sin(x[i])
        total[i] = total[i - 1] + y[i]


def states(n, kind=real):
    return wp.zeros(n, dtype=kind, requires_grad=True, device="cpu")


def gradient(launch, value, point, by):
    """What a recorded launch gives; `value` is an array whose last element is the result."""
    seed = np.zeros(value.shape)
    seed[-1] = 1.0

    def call():
        with wp.Tape() as tape:
            launch()
        tape.backward(grads={value: wp.array(seed, dtype=real, device="cpu")})
        result = value.numpy()[-1], point.grad.numpy()[:by].copy()
        tape.zero()
        return result

    return call


def run(kernel, inputs):
    return lambda: wp.launch(kernel, dim=1, inputs=inputs, device="cpu")


def active(numbers):
    return wp.array(np.asarray(numbers, dtype=float), dtype=real, requires_grad=True, device="cpu")


def numbers(result):
    return result


def a(given):
    p, n = active([given["w"], given["b"], given["h0"]]), given["n"]
    total = states(n + 1)
    return gradient(run(recurrence, [p, states(n + 1), total, n]), total, p, 3)


def a0(given):
    p, n = active([given["w"], given["b"], given["h0"]]), given["n"]
    h = states(n + 1)
    return gradient(run(last, [p, h, n]), h, p, 2)


def c(given):
    *point, n = given.values()
    p, out = active(point), states(1)
    return gradient(run(lorenz, [p, states(n + 1, wp.vec3d), n, out]), out, p, 6)


def h(given):
    x, n = active(given["x"]), len(given["x"])
    total = states(n)
    return gradient(run(chain, [x, states(n), total, n]), total, x, n)
