"""Runs programs with CPython and NumPy, for the Rust tests that compare wengert with them.

    python3 scripts/run_programs.py PROGRAMS.json RESULTS.json

The first file is a list of `{"text": ..., "function": ..., "args": [...]}`; nested lists are arrays. The
second gets, for each, `{"results": [{"kind": ..., "shape": ..., "data": [...]}, ...]}` or `{"error":
"IndexError", "message": ...}`. Numbers that JSON does not have are written as text.
"""

import json
import signal
import sys
import warnings

import numpy as np

SECONDS = 10
KINDS = {"f": "float", "i": "int", "u": "int", "b": "bool"}


def plain(x):
    if isinstance(x, float) and (x != x or x in (float("inf"), float("-inf"))):
        return repr(x)
    return x


def described(value):
    array = np.asarray(value)
    kind = KINDS[array.dtype.kind]
    return {"kind": kind, "shape": list(array.shape), "data": [plain(x) for x in array.ravel().tolist()]}


def stop(signum, frame):
    raise TimeoutError(f"no result after {SECONDS} seconds")


def run(program):
    scope = {"__name__": "program"}
    args = [np.array(a) if isinstance(a, list) else a for a in program["args"]]
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        exec(compile(program["text"], "program", "exec"), scope)
        value = scope[program["function"]](*args)
        values = value if isinstance(value, tuple) else (value,)
        return {"results": [described(v) for v in values]}
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    signal.signal(signal.SIGALRM, stop)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with open(sys.argv[1]) as file:
        programs = json.load(file)
    results = [run(program) for program in programs]
    with open(sys.argv[2], "w") as file:
        json.dump(results, file)


main()
