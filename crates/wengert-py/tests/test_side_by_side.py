"""The comparison with other libraries (scripts/side_by_side): the package's own column, what is said of cells, and cells that go wrong."""

import importlib
import sys
import xml.etree.ElementTree

import numpy as np
import pytest
from conftest import ROOT

FOLDER = ROOT / "scripts/side_by_side"
ROWS = ["a", "a0", "b", "c", "d", "d2", "e", "f1", "f2", "f3", "g", "h", "l", "l_hvp"]


@pytest.fixture
def part(monkeypatch):
    """A module of the script by name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


@pytest.mark.parametrize("row", ROWS)
def test_own_gradients_are_those_of_reference(part, row):
    workloads, peer = part("workloads"), part("peers.wengert_peer")
    assert list(workloads.ROWS) == ROWS
    value, gradient = peer.numbers(getattr(peer, row)(workloads.inputs(row))())
    error, agrees = workloads.disagreement(row, value, gradient)
    assert agrees, error
    # One number that is off is seen, wherever it is.
    for at in (0, -1):
        wrong = np.array(gradient)
        wrong[at] += 1e-3 * max(abs(wrong).max(), 1.0)
        assert not workloads.disagreement(row, value, wrong)[1]
    assert not workloads.disagreement(row, value, gradient[:-1])[1]
    assert not workloads.disagreement(row, value * (1 + 1e-6), gradient)[1]
    assert not workloads.disagreement(row, value, np.full_like(gradient, np.nan))[1]


def results(**peers):
    return {"cells": {"a": peers}, "machine": {"processor": "p", "system": "s", "date": "d"}, "versions": {"Python": "3"}}


def cell(seconds, agrees=True):
    return {"seconds": seconds, "first": 10 * seconds, "agrees": agrees, "error": 0.1, "memory": 2e6}


def test_table_tells_who_is_faster_wrong_late_and_refused(part):
    table, plot = part("table"), part("plot")
    told = results(
        wengert=cell(2e-3),
        JAX=cell(1e-3),
        Equinox=cell(4e-3),
        PyTorch=cell(1e-9, agrees=False),
        CasADi={"over": "over 5 s"},
        autograd={"refused": "ValueError: no"},
    )
    text = table.markdown(told)
    assert "| a | 2 ms | **1 ms (0.5)** | 4 ms (2.0) | **wrong** (1e-01) | over 5 s | refused |" in text
    assert "- a: JAX, 1 ms against 2 ms" in text and "PyTorch, " not in text
    assert "- autograd (a): ValueError: no" in text
    picture = xml.etree.ElementTree.fromstring(plot.svg(told))
    titles = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert "a, JAX: 1 ms" in titles and "a, CasADi: over 5 s" in titles


def test_least_times_count_where_gradients_are_right(part):
    least = part("run").least
    assert least(cell(1.0), cell(2.0)) == cell(1.0) and least(cell(2.0), cell(1.0)) == cell(1.0)
    assert least({"over": "over 5 s"}, cell(1.0)) == cell(1.0) and least({}, cell(1.0)) == cell(1.0)
    assert least(cell(1.0), cell(2.0, agrees=False)) == cell(2.0, agrees=False)
    assert least(cell(1.0, agrees=False), cell(2.0)) == cell(2.0)


PEER = '''
import time
def numbers(result): return result
def wait(given): return lambda: time.sleep(60)
def fill(given):
    def call():
        kept = bytearray(600_000_000)
        time.sleep(60)
    return call
def crash(given):
    import os
    open("left.c", "w").close()
    return lambda: os._exit(3)
def raises(given):
    def call(): raise ValueError("not this")
    return call
'''


def test_cells_that_go_wrong_end(part, tmp_path, monkeypatch):
    run, field = part("run"), part("field")
    (tmp_path / "peers").mkdir()
    (tmp_path / "peers/bad.py").write_text(PEER)
    for name in ("cell.py", "workloads.py"):
        text = (FOLDER / name).read_text().replace('    return {\n        "a": lambda', '    return {\n        row: dict,\n        "a": lambda')
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(run, "FOLDER", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(field.PEERS, "bad", field.Peer("bad", [], ""))

    def ends(row, limit=30.0):
        return run.one(sys.executable, "bad", row, 0.1, limit, 3e8)

    assert ends("wait", limit=3.0) == {"over": "over 3 s"}
    assert ends("fill") == {"over": "over 0.3 GB"} or not sys.platform.startswith("linux")
    assert "without a word" in ends("crash")["failed"]
    # What a library leaves where it is run goes with the cell.
    assert not (tmp_path / "left.c").exists()
    assert ends("raises") == {"refused": "ValueError: not this"}
    assert ends("nothing") == {"absent": True}
