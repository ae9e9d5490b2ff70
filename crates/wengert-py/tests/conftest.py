"""What tests have in common: the examples, and comparisons to the bit."""

import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"


def records():
    """What is known of the examples: their arguments, values and gradients."""
    return json.loads((EXAMPLES / "expected.json").read_text())


def module_of(path):
    """A file as a module, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def value(json_value):
    """An argument of an example: numbers as they are, lists as arrays of floats."""
    return np.array(json_value, dtype=float) if isinstance(json_value, list) else json_value


def bits(x):
    """The kind, the shape and the bits of a result, or of several."""
    if isinstance(x, (tuple, list)):
        return tuple(bits(one) for one in x)
    if isinstance(x, dict):
        return {name: bits(one) for name, one in x.items()}
    if x is None or isinstance(x, (bool, int)):
        return x
    array = np.asarray(x)
    array = np.where(np.isnan(array), np.nan, array) if array.dtype.kind == "f" else array
    return str(array.dtype), array.shape, array.tobytes()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """Compiled code of tests is kept in a folder of theirs."""
    folder = tmp_path_factory.getbasetemp() / "compiled"
    monkeypatch.setenv("WENGERT_CACHE", os.fspath(folder))


def ecosystem(name):
    """A library that is not installed for every run: tests with it are left out where it is missing, unless ``WENGERT_ECOSYSTEM=1``
    makes that an error."""
    if os.environ.get("WENGERT_ECOSYSTEM") == "1":
        return importlib.import_module(name)
    return pytest.importorskip(name)
