"""CoDiPack: the loops in C++, recorded by its types. The first call compiles them with the machine's C++ compiler.

CoDiPack is in no package index: `CODIPACK` names a clone of it.
"""

import ctypes
import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from peers.cpp_rows import LOOPS, directions, split
from workloads import ROWS

FLAGS = ["-std=c++17", "-O3", "-march=native", "-shared", "-fPIC"]
DOUBLES = ctypes.POINTER(ctypes.c_double)


def built(row):
    library = Path(tempfile.mkdtemp()) / "row.so"
    name = {"l_hvp": "row_l"}.get(row, f"row_{row}")
    defines = [f"-DROW={name}"] + ["-DPATHWISE"] * (row == "e") + ["-DSECOND"] * (directions(row) is not None)
    include = Path(os.environ["CODIPACK"]) / "include"
    command = [os.environ.get("CXX", "g++"), *FLAGS, *defines, f"-I{include}", str(LOOPS / "codipack.cpp"), "-o", str(library)]
    subprocess.run(command, check=True)
    made = ctypes.CDLL(str(library)).gradient
    made.restype = ctypes.c_double
    return made


def pointer(array):
    return array.ctypes.data_as(DOUBLES)


def prepare(row, given):
    x, constant = split(row, given)
    along, made = directions(row), []

    def call():
        if not made:
            made.append(built(row))
        if along is None:
            g = np.empty_like(x)
            return made[0](pointer(x), len(x), pointer(constant), pointer(g)), g
        g = np.empty(along.shape)
        for k, direction in enumerate(along):
            value = made[0](pointer(x), len(x), pointer(constant), pointer(g[k]), pointer(np.ascontiguousarray(direction)))
        return value, g.ravel()

    return call


def numbers(result):
    return result


if "CODIPACK" in os.environ:
    globals().update({row: partial(prepare, row) for row in ROWS})
else:
    REFUSED = dict.fromkeys(ROWS, "CoDiPack is in no package index; CODIPACK names a clone of it")
