"""Arguments that are no numbers and no arrays in order: what they are taken as."""

import numbers
import sys

import numpy as np

from ._errors import ArgumentError, told


class IsTree(ArgumentError):
    """An argument that is made of parts."""

    def __reduce__(self):
        return ArgumentError, (self.text, self.code, self.message, self.help)


def argument(value, name):
    """A Python number, an array of one of the four kinds in order, or a ``numpy.float32``."""
    if isinstance(value, (dict, tuple)) or hasattr(type(value), "__dataclass_fields__"):
        kind = {dict: "dictionary", tuple: "tuple"}.get(type(value), type(value).__name__)
        message = f"`{name}` is a `{kind}`, where a number or an array is needed"
        help = "pass its parts one by one"
        raise IsTree(f"error[argument-type]: {message}\n  = help: {help}", "argument-type", message, help)
    if isinstance(value, np.generic):
        return _scalar(value, name)
    if isinstance(value, numbers.Integral):
        return _integer(int(value), name)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, np.ma.MaskedArray):
        raise _refused(name, "a masked array", "fill it first: `x.filled(0.0)`")
    if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        value = _shared(value, name)
    if isinstance(value, list) or hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _array(value, name)
    if hasattr(value, "__float__") and not isinstance(value, (str, bytes)):
        return float(value)
    kind = type(value).__name__
    article = "an" if kind[:1].lower() in "aeiou" else "a"
    help = "numbers, arrays, and tuples, dictionaries, named tuples and dataclasses of them are arguments"
    if value is None:
        raise _refused(name, "None", help)
    raise _refused(name, f"{article} `{kind}`", help)


# Devices whose memory the processor reads: its own, and what CUDA and ROCm share with it.
_READABLE = (1, 3, 11, 13)


def _shared(value, name):
    """An array of another library, read where it is, through DLPack; what has no DLPack for its elements, as it is."""
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.core.Tracer):
        raise _refused(
            name, "what JAX traces", "`wengert.jax.function(f)` is a function for `jit`, `grad` and `vmap` of JAX"
        )
    if getattr(value, "requires_grad", False):
        raise _refused(
            name,
            "a tensor that PyTorch differentiates by: its graph would end here",
            "`wengert.torch.function(f)` is a function for PyTorch; or pass `x.detach()`",
        )
    try:
        device, _ = value.__dlpack_device__()
    except ValueError:
        # What DLPack does not know.
        device = None
    if device not in _READABLE:
        what = f"in the memory of `{getattr(value, 'device', 'another device')}`: programs run on the processor"
        raise _refused(name, what, "move it there, as in `x.cpu()` or `jax.device_get(x)`")
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError):
        return value


def _refused(name, what, help):
    return told(ArgumentError, "argument-type", f"`{name}` cannot be {what}", help)


def _integer(value, name):
    if -(2**63) <= value < 2**63:
        return value
    raise told(
        ArgumentError, "argument-type", f"`{name}` does not fit 64 bits", "give a float, as in `float(n)`"
    )


def _scalar(value, name):
    kind = value.dtype.kind
    if kind == "b":
        return bool(value)
    if kind in "iu":
        return _integer(int(value), name)
    if kind == "f":
        return value if value.dtype == np.float32 else float(value)
    raise _refused(name, f"a `{value.dtype}`", "numbers are floats, integers and truth values")


def _array(value, name):
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise _refused(name, f"this list ({error})", "give rows of equal length") from None
    kind = array.dtype.kind
    if kind not in "biuf":
        raise _refused(
            name, f"an array of `{array.dtype}`", "arrays have floats, integers or truth values as elements"
        )
    if array.ndim == 0:
        return _scalar(array[()], name)
    if array.ndim > 8:
        raise _refused(name, f"an array of {array.ndim} dimensions", "there are up to 8")
    if kind == "b":
        dtype = np.bool_
    elif kind in "iu":
        if array.dtype == np.uint64 and array.size and array.max() >= 2**63:
            raise _refused(name, "an array of integers that do not fit 64 bits", "convert it to floats")
        dtype = np.int64
    else:
        dtype = np.float32 if array.dtype.itemsize <= 4 else np.float64
    # In order, aligned and of the machine's byte order; a copy only where it is not. Of a subclass, the array itself.
    plain = np.asarray(array).view(np.ndarray)
    if plain.flags.c_contiguous and plain.flags.aligned and plain.dtype == dtype and plain.dtype.isnative:
        return plain
    return np.array(plain, dtype=dtype, order="C", copy=True)
