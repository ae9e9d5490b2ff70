"""What C++ is called with: for each row the numbers it is differentiated by, in the order of the gradient, and all the others."""

import numpy as np

from workloads import DIRECTION, ROOT

LOOPS = ROOT / "scripts/side_by_side/cpp"


def split(row, given):
    def numbers(*names):
        return np.concatenate([np.ravel(given[name]).astype(float) for name in names] or [np.zeros(0)])

    active, constant = {
        "a": (("w", "b", "h0"), ()),
        "a0": (("w", "b"), ()),
        "b": (("W", "U", "b"), ("X",)),
        "c": (("sigma", "rho", "beta", "x", "y", "z"), ()),
        "d": (("u",), ()),
        "d2": (("u",), ()),
        "e": (("v0", "kappa", "theta", "xi", "rho"), ("Z1", "Z2")),
        "f1": (("A",), ("v",)),
        "f2": (("M", "e"), ()),
        "f3": (("b", "a"), ()),
        "g": (("lr", "b1", "b2"), ("A", "y")),
        "h": (("x",), ()),
        "l": (("sigma", "rho", "beta"), ("x", "y", "z")),
        "l_hvp": (("sigma", "rho", "beta"), ("x", "y", "z")),
    }[row]
    return numbers(*active), numbers(*constant)


def directions(row):
    """Those along which second derivatives are taken."""
    return {"l": np.eye(3), "l_hvp": DIRECTION[None, :]}.get(row)
