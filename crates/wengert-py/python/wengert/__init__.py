"""Derivatives of programs with loops and state: decorate the loop, get the gradient.

>>> import wengert
>>> @wengert.differentiable
... def logistic(r, x, n):
...     for i in range(n):
...         x = r * x * (1 - x)
...     return x
>>> value, gradient = wengert.value_and_grad(logistic, wrt=("r", "x"))(3.4, 0.5, 10)

The function's source is read and compiled to native code, with its loops, branches and arrays that are overwritten; derivatives are exact,
and have the same bits on every backend, with every number of threads and in every memory.

- :func:`differentiable`, :func:`from_source`: functions
- :func:`grad`, :func:`value_and_grad`, :func:`jvp`, :func:`vjp`, :func:`jacobian`, :func:`hessian`, :func:`hvp`,
  :func:`sparse_jacobian`, :func:`sparse_hessian`, :func:`linearize`: derivatives
- :func:`batch`: many runs at once
- :func:`check`, :func:`plan`, :func:`adjoint_norms`, :func:`show`, :func:`explain`, :func:`doctor`: what happens, and why
- :class:`Error` and its subclasses: what can go wrong
- :mod:`wengert.jax`, :mod:`wengert.torch`: functions for JAX and for PyTorch
"""

import importlib

from ._derivatives import (
    Batch,
    Sparse,
    batch,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    linearize,
    sparse_hessian,
    sparse_jacobian,
    value_and_grad,
    vjp,
)
from ._errors import ArgumentError, BackendError, CompileError, Error, RunError
from ._function import Differentiable, differentiable, from_source
from ._inspect import Plan, Report, check, doctor, explain, plan, show, stages
from ._library import logsumexp, parallel, relu, sigmoid, softmax, softplus, stop_gradient
from ._norms import AdjointNorms, adjoint_norms
from ._wengert import __version__

__all__ = [
    "AdjointNorms",
    "ArgumentError",
    "BackendError",
    "Batch",
    "CompileError",
    "Differentiable",
    "Error",
    "Plan",
    "Report",
    "RunError",
    "Sparse",
    "__version__",
    "adjoint_norms",
    "batch",
    "check",
    "differentiable",
    "doctor",
    "explain",
    "from_source",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "linearize",
    "logsumexp",
    "parallel",
    "plan",
    "relu",
    "show",
    "sigmoid",
    "softmax",
    "softplus",
    "sparse_hessian",
    "sparse_jacobian",
    "stages",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]


def __getattr__(name):
    # Imported when they are asked for: they import what they are for.
    if name in ("jax", "torch"):
        return importlib.import_module(f"wengert.{name}")
    raise AttributeError(f"module 'wengert' has no attribute {name!r}")
