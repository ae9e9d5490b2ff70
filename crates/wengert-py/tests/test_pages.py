"""Examples of docstrings and of the pages."""

import doctest
import importlib
import pkgutil
import re

import numpy as np
import pytest
from conftest import ROOT, ecosystem

import wengert

MODULES = ["wengert"] + [f"wengert.{m.name}" for m in pkgutil.iter_modules(wengert.__path__)]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", [m for m in MODULES if m.split(".")[-1] not in ("_wengert", "__main__")])
def test_docstrings(name):
    if name in ("wengert.jax", "wengert.torch"):
        ecosystem(name.removeprefix("wengert."))
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0


def test_every_function_has_an_example_or_says_what_it_is():
    for name in wengert.__all__:
        made = getattr(wengert, name)
        if callable(made):
            assert made.__doc__, name


PAGES = ["docs/python.md", "docs/tutorial.md", "docs/limits.md"]


@pytest.mark.parametrize("page", PAGES)
def test_pages(page, tmp_path, monkeypatch):
    run_page(page, tmp_path, monkeypatch)


def run_page(page, tmp_path, monkeypatch):
    """The `python` parts of a page are one program, each `>>>` part a session of its own; both must do what they say. Gives the names
    that the program leaves."""
    text = (ROOT / page).read_text()
    monkeypatch.chdir(tmp_path)
    parts = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert parts
    names = {"__name__": "page"}
    path = tmp_path / "page.py"
    done = ""
    for part in parts:
        if part.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(part, names, page, page, 0)
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0
            names.update(test.globs)
            continue
        # Written to a file, where functions have their source.
        before = done.count("\n")
        done += part + "\n"
        path.write_text(done)
        exec(compile("\n" * before + part, str(path), "exec"), names)
    return names


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_what_pages_say_of_other_libraries(library):
    """Not `python` parts, because these are not there in every run."""
    ecosystem(library)
    text = (ROOT / "docs/python.md").read_text()
    (part,) = (p for p in re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL) if f"import wengert.{library}\n" in p)
    swing = "import math\n\ndef swing(angle, length, steps):\n    x, v = angle, 0.0\n    for step in range(steps):\n"
    swing += "        v -= 9.81 / length * math.sin(x) * 0.01\n        x += v * 0.01\n    return x\n"
    exec(part, {"swing": wengert.from_source(swing), "np": np})


def test_versions_are_one():
    manifest = (ROOT / "Cargo.toml").read_text()
    assert re.search(r'^version = "(.*)"', manifest, re.MULTILINE).group(1) == wengert.__version__


def test_stubs_name_everything():
    from pathlib import Path

    stubs = (Path(wengert.__file__).parent / "__init__.pyi").read_text()
    assert (Path(wengert.__file__).parent / "py.typed").exists()
    for name in wengert.__all__:
        assert re.search(rf"^(def|class) {name}\b|^{name}: ", stubs, re.MULTILINE), name
