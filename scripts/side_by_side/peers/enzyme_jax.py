"""Enzyme: the loops in C++, differentiated by Enzyme as LLVM sees them. It is had from the package index as part of Enzyme-JAX, which
calls C++ from JAX; the first call compiles. With `ENZYME_FAST=1` arithmetic may be reordered."""

import os
from functools import partial
from pathlib import Path

import jax
import numpy as np
from enzyme_ad.jax import cpp_call
from jax import numpy as jnp

from peers.cpp_rows import LOOPS, split
from workloads import ROWS

jax.config.update("jax_enable_x64", True)

HEAD = """
extern "C" { double tanh(double); double sin(double); double exp(double); double log(double); double sqrt(double);
             void* malloc(std::size_t); void free(void*); }
#define ARRAY(T, name, n) T* name = (T*)malloc(sizeof(T) * (n));
#define DONE(name) free(name);
static inline double number(double x) { return x; }
extern int enzyme_const;
"""
# The gradient is asked for in C++: JAX's own derivative of a call runs the two sweeps apart, and has to save far more between them.
CALL = """
template <typename... T> double __enzyme_autodiff(T...);
static void into(double* out, const double* x, const double* c) { *out = ROW<double>(x, c); }
template <std::size_t N, std::size_t M>
void f(enzyme::tensor<double, 1>& value, enzyme::tensor<double, N>& g,
       const enzyme::tensor<double, N>& x, const enzyme::tensor<double, M>& c) {
    double seed = 1.0;
    for (std::size_t i = 0; i < N; i++) g[i] = 0.0;
    __enzyme_autodiff(into, enzyme_dup, &value[0], &seed, enzyme_dup, &x[0], &g[0], enzyme_const, &c[0]);
}
"""


def processor():
    """What the compiler is told of the machine."""
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ()
    levels = [("avx512vl", "x86-64-v4"), ("avx2", "x86-64-v3")]
    return next((("-target-cpu", level) for flag, level in levels if flag in flags), ())


FLAGS = ("-O3", *(["-ffast-math"] if os.environ.get("ENZYME_FAST") else []), *processor())


def prepare(row, given):
    x, constant = (jnp.asarray(part if len(part) else np.zeros(1)) for part in split(row, given))
    source = HEAD + (LOOPS / "loops.hpp").read_text() + CALL.replace("ROW", f"row_{row}")
    out = [jax.core.ShapedArray([1], np.float64), jax.core.ShapedArray(x.shape, np.float64)]
    derivative = jax.jit(lambda x, c: cpp_call(x, c, out_shapes=out, source=source, fn="f", argv=FLAGS))
    return lambda: jax.block_until_ready(derivative(x, constant))


def numbers(result):
    value, gradient = result
    return float(value[0]), np.asarray(gradient)


globals().update({row: partial(prepare, row) for row in ROWS if row not in ("l", "l_hvp")})
