"""What notebooks show, and adjoints along loops."""

import math
import re
import xml.etree.ElementTree as xml

import numpy as np
import pytest
from conftest import ecosystem

import wengert


@wengert.differentiable
def swing(angle, length, steps):
    x, v = angle, 0.0
    count = 0
    for step in range(steps):
        v -= 9.81 / length * math.sin(x) * 0.01
        x += v * 0.01
        count += 1
    return x * x


SCALE = np.array([2.0, 3.0])


@wengert.differentiable
def network(w, h, n):
    total = 0.0
    for warm in range(2):
        total += warm
    k = 0
    while True:
        h = np.tanh(w @ h)
        total += np.sum(h)
        if k > 5 and h[0] > 10.0:
            return total
        k += 1
        if k >= n:
            break
    return np.sum(SCALE * h) + 0.5 * total


def test_adjoints_along_a_loop():
    found = wengert.adjoint_norms(swing, 0.5, 1.3, 12)
    assert found.line == swing.python.__code__.co_firstlineno + 4 and sorted(found.norms) == ["v", "x"]
    assert found.iterations.tolist() == list(range(12))
    # By hand: the state after k steps, and the gradient of what is left by it.
    rest = wengert.grad(
        wengert.from_source(
            "import math\n\ndef rest(x, v, length, steps):\n    for step in range(steps):\n"
            "        v -= 9.81 / length * math.sin(x) * 0.01\n        x += v * 0.01\n    return x * x\n"
        ),
        wrt=("x", "v"),
    )
    x, v = 0.5, 0.0
    for k in range(12):
        by_x, by_v = rest(x, v, 1.3, 12 - k)
        assert found.norms["x"][k] == pytest.approx(abs(by_x), rel=1e-12)
        assert found.norms["v"][k] == pytest.approx(abs(by_v), rel=1e-12)
        v -= 9.81 / 1.3 * math.sin(x) * 0.01
        x += v * 0.01
    assert found.norms["x"][0] == pytest.approx(abs(wengert.grad(swing, wrt="angle")(0.5, 1.3, 12)), rel=1e-12)


def test_the_loop_that_runs_most_and_arrays():
    w, h = np.array([[0.5, 0.2], [-0.3, 0.4]]), np.ones(2)
    found = wengert.adjoint_norms(network, w, h, 20)
    first = network.python.__code__.co_firstlineno
    assert found.line == first + 6 and sorted(found.norms) == ["h", "total"]
    by = wengert.grad(network, wrt="h")(w, h, 20)
    assert found.norms["h"][0] == pytest.approx(np.sqrt(np.sum(by**2)), rel=1e-12)
    assert found.norms["total"].tolist() == [0.5] * 20
    other = wengert.adjoint_norms(network, w, h, 20, line=first + 3)
    assert other.line == first + 3 and other.norms["total"].tolist() == [0.5, 0.5]
    some = wengert.adjoint_norms(network, w, h, 20, most=7, memory="1kB")
    assert some.iterations.tolist() == [0, 3, 6, 9, 12, 15, 18]
    np.testing.assert_allclose(some.norms["h"], found.norms["h"][::3], rtol=1e-12)


def test_adjoints_of_arguments_made_of_parts():
    @wengert.differentiable
    def f(p, n):
        x = p["x"]
        for i in range(n):
            x = p["k"] * x
        return x

    assert wengert.adjoint_norms(f, {"x": 3.0, "k": 2.0}, 3).norms["x"].tolist() == [8.0, 4.0, 2.0]


def test_what_loops_carry():
    def walk(x, n):
        total, pair = 0, (x, 1.0)
        for i in range(n):
            a, b = pair
            total += 2.0 * a
            pair = (0.5 * a, b)
        return total

    # It begins as a whole number; and tuples are told of.
    found = wengert.adjoint_norms(walk, 1.0, 3)
    assert found.norms["total"].tolist() == [1.0, 1.0, 1.0] and list(found.norms) == ["total"]
    assert found.left_out == ["pair"] and "because they are tuples: pair" in str(found)

    def narrow(x, n):
        for i in range(n):
            x *= 2.0
        return np.sum(x)

    found = wengert.adjoint_norms(narrow, np.ones(4, np.float32), 2)
    assert found.norms["x"].tolist() == [8.0, 4.0]


def test_adjoints_that_there_are_not():
    with pytest.raises(wengert.ArgumentError, match="runs no loop"):
        wengert.adjoint_norms(lambda x: x * x, 1.0)
    with pytest.raises(wengert.ArgumentError, match="no loop at line 1"):
        wengert.adjoint_norms(swing, 0.5, 1.3, 3, line=1)
    with pytest.raises(wengert.RunError):
        wengert.adjoint_norms(wengert.from_source("def f(x):\n    for i in range(3):\n        x[i] = 0.0\n    return x[0]\n"), np.ones(2))

    def counts(x, n):
        k = 0
        for i in range(n):
            k += 1
        return x * k

    with pytest.raises(wengert.ArgumentError, match="carries no floats"):
        wengert.adjoint_norms(counts, 1.0, 3)


def test_pictures():
    found = wengert.adjoint_norms(swing, 0.5, 1.3, 200)
    root = xml.fromstring(found._repr_svg_())
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"x", "v", "iteration"} <= set(texts) and any("size of adjoints" in t for t in texts)
    paths = [node for node in root.iter("{http://www.w3.org/2000/svg}path") if len(node.get("d")) > 500]
    assert len(paths) == 2
    box = [float(x) for x in root.get("viewBox").split()]
    for path in paths:
        for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path.get("d")):
            assert 0 <= float(x) <= box[2] and 0 <= float(y) <= box[3]
    # Of one iteration, and of adjoints that are zero.
    one = wengert.from_source("def f(x, k):\n    y = 0.0\n    for i in range(k):\n        y = 0.0 * y\n        x = x * 1.0\n    return x\n")
    for k in (1, 3):
        shown = wengert.adjoint_norms(one, 1.0, k)._repr_svg_()
        xml.fromstring(shown)
        assert "y: 0</text>" in shown and ("<circle" in shown) == (k == 1)


def test_functions_and_plans():
    shown = swing._repr_html_()
    loop = swing.python.__code__.co_firstlineno + 4
    assert f"{loop:>4}  </span>    for step in range(steps):" in shown and __file__ in shown
    assert "captured: SCALE: float64 2" in network._repr_html_() and "&gt;" in network._repr_html_()
    plan = wengert.plan(swing, 0.5, 1.3, 100_000, memory="20kB")
    shown = plan._repr_html_()
    drawing = shown[shown.index("<svg") : shown.index("</svg>") + 6]
    title = next(node.text for node in xml.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text"))
    assert re.fullmatch(r"\d+ steps, of \d+ iterations each, in 20.0 kB", title)
    assert "everything" in shown and "<td>" in shown
    assert "everything is kept" in wengert.plan(lambda x: x * x, 1.0)._repr_html_()


NOTEBOOK = """
import wengert, time
import wengert._progress as progress
progress.PATIENCE, progress.PAUSE = 0.05, 0.05

@wengert.differentiable(progress=True, memory="10kB")
def orbit(x, n):
    for i in range(n):
        x = 3.7 * x * (1.0 - x)
    return x

wengert.grad(orbit, wrt="x")(0.3, 8_000_000)
"""


def test_a_notebook(tmp_path):
    ecosystem("ipykernel")
    nbformat, nbclient = ecosystem("nbformat"), ecosystem("nbclient")
    cells = [NOTEBOOK, "orbit", "wengert.plan(orbit, 0.3, 1000, wrt='x')", "wengert.adjoint_norms(orbit, 0.3, 50)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    seen = []

    class Client(nbclient.NotebookClient):
        def process_message(self, msg, cell, index):
            if msg["msg_type"] in ("display_data", "update_display_data"):
                seen.append(msg["content"]["data"]["text/html"])
            return super().process_message(msg, cell, index)

    Client(notebook, resources={"metadata": {"path": str(tmp_path)}}, timeout=60).execute()
    assert any("<progress value=" in text and "iteration" in text for text in seen), seen
    # It goes when the run ends.
    assert seen[-1] == ""
    outputs = [cell.outputs[0]["data"] for cell in notebook.cells[1:]]
    assert "for i in range(n)" in outputs[0]["text/html"]
    assert "<svg" in outputs[1]["text/html"]
    assert outputs[2]["image/svg+xml"].startswith("<svg")
