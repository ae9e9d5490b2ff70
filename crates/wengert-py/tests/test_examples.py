"""Every example: decorated as it stands, with the bits that the same text has in Rust, and the values it is known to have."""

import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import EXAMPLES, bits, module_of, records, value

import wengert

RECORDS = records()
NAMES = [f"{k}-{r['file'].removesuffix('.py')}" for k, r in enumerate(RECORDS)]


def seeds(record):
    """One adjoint for each result."""
    if "seed" not in record:
        return 1.0
    if record["result"] == "tuple":
        return tuple(value(one) for one in record["seed"])
    return value(record["seed"])


def close(got, want, tolerance):
    got, want = np.ravel(np.asarray(got, dtype=float)), np.ravel(np.asarray(want, dtype=float))
    return got.shape == want.shape and np.all(np.abs(got - want) <= tolerance)


@pytest.mark.parametrize("record", RECORDS, ids=NAMES)
def test_value_and_gradient(record):
    path = EXAMPLES / record["file"]
    args = {name: value(x) for name, x in record["args"].items()}
    wrt = tuple(record["wrt"])
    decorated = wengert.differentiable(getattr(module_of(path), record["function"]))
    value_, pull = wengert.vjp(decorated, wrt=wrt, **args)
    found = pull(seeds(record))

    # What it is known to be.
    tolerance = record["tolerance"]
    flat = lambda x: [y for one in x for y in flat(one)] if isinstance(x, list) else [x]
    wanted = [x for name in wrt for x in flat(record["grad"][name])]
    most = tolerance * max(map(abs, wanted), default=0.0)
    for name, got in zip(wrt, found):
        assert close(got, flat(record["grad"][name]), most), name
    results = value_ if record["result"] == "tuple" else (value_,)
    expected = record["value"] if record["result"] == "tuple" else [record["value"]]
    scale = max(abs(x) for one in expected for x in flat(one))
    for got, want in zip(results, expected):
        assert close(got, flat(want), tolerance * scale)

    # The same text, read as a whole: as `Function::from_source` does in Rust.
    whole = wengert.from_source(path.read_text(), record["function"], str(path))
    other, pull = wengert.vjp(whole, wrt=wrt, **args)
    assert bits(other) == bits(value_)
    assert bits(pull(seeds(record))) == bits(found)

    if record["result"] == "number":
        both = wengert.value_and_grad(decorated, wrt=wrt)(**args)
        assert bits(both) == bits((value_, found))


@pytest.mark.parametrize("record", RECORDS[::9], ids=NAMES[::9])
def test_the_command_gives_the_same_bits(record, tmp_path):
    path = EXAMPLES / record["file"]
    typed = tmp_path / "args.json"
    typed.write_text(json.dumps(record["args"]))
    command = [sys.executable, "-m", "wengert", "grad", f"{path}:{record['function']}", "--json"]
    command += ["--args", str(typed), "--wrt", ",".join(record["wrt"])]
    if "seed" in record:
        command += ["--seed", json.dumps(record["seed"])]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    args = {name: value(x) for name, x in record["args"].items()}
    f = wengert.differentiable(getattr(module_of(path), record["function"]))
    wrt = tuple(record["wrt"])
    _, pull = wengert.vjp(f, wrt=wrt, **args)
    for name, got in zip(wrt, pull(seeds(record))):
        assert bits(np.asarray(got, dtype=float)) == bits(np.asarray(said["grad"][name], dtype=float)), name
