"""Pickling, processes, threads, and Ctrl-C."""

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import bits, ecosystem

import wengert

SCALE = 2.0


@wengert.differentiable
def logistic(r, x, n):
    for i in range(n):
        x = r * x * (1 - x)
    return SCALE * x


def make(k, m):
    @wengert.differentiable(memory="1MB")
    def f(x, n=2):
        for i in range(n):
            x = np.tanh(k * (m @ x))
        return np.sum(x)

    return f


M = np.array([[0.5, -0.2], [0.1, 0.3]])


def test_functions_of_modules_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(logistic)) is logistic


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_closures_are_pickled_by_text(protocol):
    f = make(1.5, M)
    g = pickle.loads(pickle.dumps(f, protocol))
    x = np.array([0.3, 0.7])
    assert bits(g(x)) == bits(f(x)) and bits(g(x, 3)) == bits(f(x, n=3))
    assert bits(wengert.grad(g, wrt="x")(x)) == bits(wengert.grad(f, wrt="x")(x))
    assert g.options == {"memory": "1MB"} and g.__name__ == "f"
    assert g.python(x) == pytest.approx(f.python(x))
    assert bits(pickle.loads(pickle.dumps(g))(x)) == bits(f(x))


@pytest.mark.parametrize(
    "made",
    [
        lambda f: wengert.grad(f, wrt="x"),
        lambda f: wengert.value_and_grad(f, wrt=("x",), backend="jit"),
        lambda f: wengert.jacobian(f, wrt="x"),
        lambda f: wengert.hessian(f, wrt="x"),
        lambda f: wengert.sparse_hessian(f, wrt="x"),
        lambda f: wengert.grad(wengert.batch(f, over="x"), wrt="x"),
    ],
)
def test_what_is_made_of_functions_is_pickled(made):
    f = made(make(1.5, M))
    g = pickle.loads(pickle.dumps(f))
    x = np.array([[0.3, 0.7], [0.1, 0.2]]) if "Batch" in repr(type(f)) else np.array([0.3, 0.7])
    ours, theirs = f(x), g(x)
    if hasattr(ours, "toarray"):
        ours, theirs = ours.toarray(), theirs.toarray()
    assert bits(ours) == bits(theirs)


def test_hessian_products_are_pickled():
    f = wengert.hvp(make(1.5, M), wrt="x")
    x, v = np.array([0.3, 0.7]), np.array([1.0, 0.0])
    assert bits(pickle.loads(pickle.dumps(f))(x, v)) == bits(f(x, v))


def gradient(x):
    return wengert.value_and_grad(logistic, wrt=("r", "x"))(3.5, x, 100)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    starts = [0.1, 0.2, 0.3, 0.4]
    want = [gradient(x) for x in starts]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert bits(pool.map(gradient, starts)) == bits(want)


def test_closures_in_processes():
    f = wengert.grad(make(1.5, M), wrt="x")
    xs = [np.array([0.1 * k, 0.2]) for k in range(4)]
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert bits(list(pool.map(f, xs))) == bits([f(x) for x in xs])


MAIN = """
import pickle, subprocess, sys
import numpy as np
import wengert

WEIGHTS = np.array([1.0, 2.0])

@wengert.differentiable
def orbit(x, n=3):
    for i in range(n):
        x = 3.7 * x * (1 - x)
    return x

@wengert.differentiable
def weighed(x):
    return np.sum(WEIGHTS * x)

slope = wengert.grad(orbit, wrt="x")

def through_a_global(x):
    return slope(x) + weighed(x)
"""


def test_functions_of_the_program_that_was_started():
    # A process that was started otherwise has another `__main__`.
    there = "import pickle, sys; f, g = pickle.load(sys.stdin.buffer); print(f(0.3), g(2.0))"
    program = MAIN + textwrap.dedent(
        f"""
        assert pickle.loads(pickle.dumps(orbit)) is orbit
        ran = subprocess.run([sys.executable, "-c", {there!r}], input=pickle.dumps((slope, weighed)), capture_output=True)
        assert ran.returncode == 0, ran.stderr.decode()
        assert ran.stdout.decode().split() == [str(slope(0.3)), str(weighed(2.0))]
        """
    )
    ran = run(program)
    assert ran.returncode == 0, ran.stderr


WAYS = {
    "joblib": "from joblib import Parallel, delayed\n    found = Parallel(n_jobs=2)(delayed({})(x) for x in xs)",
    "dask": "import dask\n    found = dask.compute(*[dask.delayed({})(x) for x in xs], scheduler='processes')",
}


@pytest.mark.parametrize("library", WAYS)
@pytest.mark.parametrize("function", ["slope", "through_a_global"])
def test_libraries_that_run_processes(library, function):
    ecosystem(library)
    program = f"""{MAIN}
if __name__ == "__main__":
    xs = [0.1, 0.2, 0.3, 0.4]
    {WAYS[library].format(function)}
    assert list(found) == [{function}(x) for x in xs]
    print("the same")
"""
    ran = run(program)
    assert ran.stdout.strip() == "the same", ran.stderr


@pytest.mark.parametrize("library", WAYS)
def test_libraries_that_run_processes_take_functions_of_modules(library):
    ecosystem(library)
    f, xs = wengert.grad(make(1.5, M), wrt="x"), [np.array([0.1 * k, 0.2]) for k in range(4)]
    if library == "joblib":
        import joblib

        found = joblib.Parallel(n_jobs=2)(joblib.delayed(f)(x) for x in xs)
    else:
        import dask

        found = dask.compute(*[dask.delayed(f)(x) for x in xs], scheduler="processes")
    assert bits(list(found)) == bits([f(x) for x in xs])


def test_threads():
    f = wengert.value_and_grad(make(1.5, M), wrt="x")
    xs = [np.array([0.01 * k, 0.2]) for k in range(200)]
    want = bits([f(x) for x in xs])
    g = wengert.value_and_grad(make(1.5, M), wrt="x")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert bits(list(pool.map(g, xs))) == want
        # Kinds of arguments that are new to all of them at once.
        again = wengert.value_and_grad(wengert.differentiable(lambda x: np.sum(x * x)))
        ran = [pool.submit(again, x.astype(np.float32) if k % 2 else x) for k, x in enumerate(xs)]
        assert [r.result()[1].dtype for r in ran[:2]] == [np.float64, np.float32]


def test_other_threads_run_meanwhile():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    n = 1_000_000
    start = time.monotonic()
    logistic(3.5, 0.5, n)
    n = int(n * 0.5 / max(time.monotonic() - start, 1e-3))
    logistic(3.5, 0.5, 10)
    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    logistic(3.5, 0.5, n)
    end = time.monotonic()
    stop.set()
    thread.join()
    during = [t for t in ticks if start < t < end]
    assert len(during) > (end - start) / 0.005 / 20


ENDLESS = """
    import signal, threading, time, os, sys
    import wengert

    @wengert.differentiable(max_iterations=10**15)
    def endless(x):
        while x > 0:
            x = x + 1e-9
        return x

    wengert.grad(lambda x: x * x)(1.0)
    threading.Timer({after}, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start < 8)
    # Python goes on as before, and can be interrupted again.
    print(wengert.grad(lambda x: x * x)(3.0))
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        endless(1.0)
    except KeyboardInterrupt:
        print("again")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
@pytest.mark.parametrize(
    "call",
    [
        "endless(1.0)",
        "wengert.jvp(endless, (1.0,), (1.0,))",
        "wengert.batch(endless, over='x')(__import__('numpy').ones(3))",
    ],
)
def test_ctrl_c(call):
    program = textwrap.dedent(ENDLESS).replace("{after}", "0.5").replace("{call}", call)
    ran = run(program)
    assert ran.stdout.splitlines() == ["interrupted True", "6.0", "again"], ran.stderr


def run(program):
    """Runs a program from a file, where its functions have a source."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(program)
        # What runs in the background of a shell is started without Ctrl-C.
        heard = None if sys.platform == "win32" else lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        command = [sys.executable, path]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=heard)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
def test_the_handler_of_python_stays_its_own():
    before = signal.getsignal(signal.SIGINT)
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(True))
    try:
        logistic(3.5, 0.5, 10)
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100):
            if seen:
                break
            time.sleep(0.01)
        assert seen == [True]
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_that_raises_nothing_ends_the_run_with_an_error():
    program = textwrap.dedent(ENDLESS).split("threading.Timer")[0] + textwrap.dedent(
        """
        signal.signal(signal.SIGINT, lambda *_: print("noted"))
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            endless(1.0)
        except wengert.RunError as error:
            print(error.code)
        """
    )
    ran = run(program)
    assert ran.stdout.splitlines() == ["noted", "interrupted"], ran.stderr


def test_progress(capsys):
    from wengert._progress import shown_while

    class Options:
        def seen(self):
            return {"steps": 10, "position": 5, "is_back": False, "evaluations": 5, "part": 0.25}

    with shown_while(Options(), "it", out=sys.stderr):
        time.sleep(0.8)
    assert "[#####---------------] 25%" in capsys.readouterr().err

    def orbit(x, n):
        for i in range(n):
            x = 0.5 * x * (1.0 - x)
        return x

    f = wengert.grad(orbit, wrt="x", memory="1kB", progress=True)
    assert f(0.3, 1000) == wengert.grad(orbit, wrt="x")(0.3, 1000)
    assert pickle.loads(pickle.dumps(wengert.grad(logistic, progress=True))).options["progress"] is True


def test_the_command():
    ran = subprocess.run([sys.executable, "-m", "wengert", "--version"], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout == f"wengert {wengert.__version__}\n"
    ran = subprocess.run([sys.executable, "-m", "wengert", "grad", "nowhere.py"], capture_output=True, text=True)
    assert ran.returncode == 2 and "cannot read `nowhere.py`" in ran.stderr
    ran = subprocess.run([sys.executable, "-m", "wengert", "frobnicate"], capture_output=True, text=True)
    assert ran.returncode == 2 and "frobnicate" in ran.stderr
