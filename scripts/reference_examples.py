#!/usr/bin/env python3
"""Makes examples/expected.json: values and derivatives of every example at high precision.

    pip install numpy mpmath
    python3 scripts/reference_examples.py

The tests do not need this script, only the file. Nothing of wengert takes part. Each example's own text is
executed by CPython four times over:

- with numbers of 50 digits: the value, and derivatives as central differences with a step of 1e-20, so that
  both are right to far more digits than a double has;
- with NumPy as it is: the value must agree to 1e-12, and the same lines must have run, in the same order;
- with doubles that carry their derivative: how well doubles can do, which is what tolerances are about;
- where there is a formula for the value or the derivative, that is compared too.

How a text is executed with other numbers is in example_numbers.py; the arguments and formulas are in
example_cases.py, where a new example gets at least one line. With names of examples, only those are made
again and nothing is written:

    python3 scripts/reference_examples.py kepler.py

A record of expected.json:

    file, function   which program, and which function of it (the last)
    args             by name: integers, numbers, and nested lists for arrays (of integers where all are)
    wrt              what is differentiated by
    result           "number", "array" or "tuple"
    value            what is returned; nested lists for arrays, a list for a tuple
    seed             for arrays and tuples: the weight of each element of the result in what is differentiated
    grad             derivatives by name, in the shape of the argument
    tolerance        the largest error allowed, relative to the largest component of the value or of the
                     whole gradient
    reason           why it is larger than 1e-12, where it is
"""

import json
import multiprocessing
import sys

import mpmath
import numpy as np
from example_cases import CASES
from example_numbers import FOLDER, Dual, Program, flat, precise
from mpmath import mpf

STEP = mpf(10) ** -20


# Arguments and results.


def is_integer(x):
    return all(map(is_integer, x)) if isinstance(x, list) else isinstance(x, int)


def argument(x, make):
    """A copy of an argument, its numbers made by `make`, in order."""
    if is_integer(x):
        return np.array(x) if isinstance(x, list) else x
    if isinstance(x, list):
        out = np.empty(np.shape(x), dtype=object)
        for at in np.ndindex(out.shape):
            out[at] = make(float(np.array(x)[at]))
        return out
    return make(x)


def shaped(numbers, like):
    """Numbers in order, in nested lists."""
    if isinstance(like, (tuple, list, np.ndarray)):
        return [shaped(numbers, x) for x in like]
    return next(numbers)


def kind_of(result):
    if isinstance(result, tuple):
        return "tuple"
    return "array" if isinstance(result, np.ndarray) else "number"


def weighted(result, seed):
    values = flat(result)
    weights = flat(seed) if seed is not None else [1.0]
    assert len(values) == len(weights), (len(values), len(weights))
    return sum((precise(w) * precise(v) for w, v in zip(weights, values)), mpf(0))


def differentiate(program, args, wrt, seed):
    """Value, its kind, gradient by central differences, and the lines that ran."""
    result, path = program.run("precise", {n: argument(x, precise) for n, x in args.items()})
    gradient = {}
    for name in wrt:
        assert not is_integer(args[name]), f"{program.file}: `{name}` is an integer"
        slopes = []
        for k in range(np.size(args[name])):
            ends = []
            for sign in (1, -1):
                count = iter(range(np.size(args[name])))
                moved = {n: argument(x, precise) for n, x in args.items() if n != name}
                moved[name] = argument(
                    args[name], lambda x: precise(x) + (sign * STEP if next(count) == k else 0)
                )
                end, other = program.run("precise", moved)
                assert other == path, f"{program.file}: the path changes within 1e-20"
                ends.append(weighted(end, seed))
            slopes.append((ends[0] - ends[1]) / (2 * STEP))
        gradient[name] = slopes
    return result, path, gradient


def differentiate_doubles(program, args, wrt, seed):
    """The gradient with doubles, from the first input to the last at once."""
    directions = sum(np.size(args[n]) for n in wrt)
    count = iter(range(directions))

    def input_(x):
        d = np.zeros(directions)
        d[next(count)] = 1.0
        return Dual(x, d)

    given = {n: argument(args[n], input_) for n in wrt}
    given |= {n: argument(x, lambda x: Dual(x, 0.0)) for n, x in args.items() if n not in wrt}
    result, path = program.run("dual", given)
    weights = flat(seed) if seed is not None else [1.0]
    total = np.zeros(directions)
    for w, v in zip(weights, flat(result)):
        total = total + w * Dual.of(v).d
    return total, path


def largest(numbers):
    return max((abs(float(x)) for x in numbers), default=0.0) or 1.0


def apart(a, b):
    """The largest difference, relative to the largest number."""
    return max((abs(float(x - y)) for x, y in zip(a, b)), default=0.0) / largest(a)


def record(file, case):
    """The record of one case, and its line of the table."""
    program = Program(file)
    args, seed = case["args"], case.get("seed")
    wrt = case.get("wrt") or [n for n, x in args.items() if not is_integer(x)]
    result, path, gradient = differentiate(program, args, wrt, seed)
    slopes = [g for name in wrt for g in gradient[name]]

    as_numpy = {
        n: np.array(x, dtype=None if is_integer(x) else float) if isinstance(x, list) else x
        for n, x in args.items()
    }
    with np.errstate(all="raise", under="ignore"):
        doubles, ran = program.run("numpy", as_numpy)
    assert ran == path, f"{file}: NumPy takes another path"
    values = [precise(v) for v in flat(result)]
    value_error = apart(values, [precise(float(v)) for v in flat(doubles)])

    dual, ran = differentiate_doubles(program, args, wrt, seed)
    assert ran == path, f"{file}: doubles take another path"
    gradient_error = apart(slopes, [mpf(float(d)) for d in dual])

    tolerance = case.get("tolerance", 1e-12)
    assert (tolerance > 1e-12) == ("reason" in case), f"{file}: a reason for a larger tolerance"
    assert value_error < min(tolerance, 1e-12), f"{file}: NumPy differs by {value_error}"
    assert gradient_error < tolerance, f"{file}: doubles differ by {gradient_error}"

    formula = ""
    if "formula" in case:
        allowed = mpf(case.get("formula_error", 1e-25))
        expected = case["formula"](*(argument(x, precise) for x in args.values()))
        expected = {name: [precise(v) for v in flat(known)] for name, known in expected.items()}
        scale = max(abs(x) for known in expected.values() for x in known) or mpf(1)
        off = mpf(0)
        for name, known in expected.items():
            found = [weighted(result, seed)] if name == "value" else gradient[name]
            assert len(known) == len(found), f"{file}: the formula for {name} has {len(known)} numbers"
            off = max([off] + [abs(x - y) / scale for x, y in zip(known, found)])
        assert off <= allowed, f"{file}: a formula differs by {mpmath.nstr(off, 3)}"
        formula = f"{float(off):.1e}"

    # Differences of equal numbers are off by the last of 50 digits.
    noise = mpf(10) ** -27 * max([mpf(1)] + [abs(v) for v in values])
    clean = {n: iter(0.0 if abs(g) < noise else float(g) for g in gradient[n]) for n in wrt}
    out = {
        "file": file,
        "function": program.function,
        "args": args,
        "wrt": wrt,
        "result": kind_of(result),
        "value": shaped(iter([float(v) for v in values]), result),
    }
    if seed is not None:
        out["seed"] = seed
    out["grad"] = {n: shaped(clean[n], args[n]) for n in wrt}
    out["tolerance"] = tolerance
    if "reason" in case:
        out["reason"] = case["reason"]
    line = f"{file:28} {value_error:8.1e}  {gradient_error:8.1e}  {formula:8}  {len(slopes):5}"
    return out, line


def numbered(job):
    file, k = job
    try:
        return record(file, CASES[file][k])
    except Exception as error:  # noqa: BLE001
        return None, f"{file:28} {type(error).__name__}: {error}"


def main():
    missing = {p.name for p in FOLDER.glob("*.py")} ^ set(CASES)
    assert not missing, f"without a case, or without a file: {sorted(missing)}"
    files = sys.argv[1:] or sorted(CASES)
    jobs = [(file, k) for file in files for k in range(len(CASES[file]))]
    with multiprocessing.Pool() as pool:
        done = pool.map(numbered, jobs, chunksize=1)
    print(f"{'example':28} {'NumPy':8}  {'doubles':8}  {'formula':8}  inputs")
    for _, line in done:
        print(line)
    failed = sum(out is None for out, _ in done)
    print(f"{len(files)} examples, {len(done)} records, {failed} failed")
    if failed:
        sys.exit(1)
    if len(files) == len(CASES):
        lines = ",\n".join(json.dumps(out) for out, _ in done)
        (FOLDER / "expected.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
