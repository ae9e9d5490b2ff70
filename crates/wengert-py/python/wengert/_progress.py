"""A line that shows how far a long run is."""

import contextlib
import contextvars
import sys
import threading
import time

# Seconds before anything is shown, and between two looks.
PATIENCE = 0.5
PAUSE = 0.2

BAR = 20


@contextlib.contextmanager
def shown_while(options, what, out=None):
    """Shows where the loop stands that is being run, until the block ends: in a notebook under the cell, otherwise on ``out`` (standard
    error)."""
    shown = _Cell() if out is None and _is_notebook() else _Line(out or sys.stderr)
    ended = threading.Event()

    def show():
        start = time.monotonic()
        wait = PATIENCE
        while not ended.wait(wait):
            wait = PAUSE
            shown.show(what, options.seen(), time.monotonic() - start)
        shown.clear()

    # In the context of the caller, by which notebooks know the cell.
    run = contextvars.copy_context().run
    thread = threading.Thread(target=run, args=(show,), name="wengert progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class _Line:
    """A line of a terminal that is written again and again."""

    def __init__(self, out):
        self.out, self.width = out, 0

    def show(self, what, seen, seconds):
        line = told(what, seen, seconds)
        self.out.write("\r" + line.ljust(self.width))
        self.out.flush()
        self.width = len(line)

    def clear(self):
        if self.width:
            self.out.write("\r" + " " * self.width + "\r")
            self.out.flush()


class _Cell:
    """A bar under a cell of a notebook."""

    def __init__(self):
        self.handle = None

    def show(self, what, seen, seconds):
        from ._display import bar

        shown = {"text/html": bar(told(what, seen, seconds, 0), seen["part"]), "text/plain": told(what, seen, seconds)}
        if self.handle is None:
            from IPython.display import display

            self.handle = display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)

    def clear(self):
        if self.handle is not None:
            self.handle.update({"text/html": "", "text/plain": ""}, raw=True)


def _is_notebook():
    """Whether this is a kernel, to which a browser is the front."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def told(what, seen, seconds, width=BAR):
    """What is known of a run, as a line.

    >>> told("gradient of f", {"steps": None, "position": 0, "is_back": False, "evaluations": 0, "part": None}, 3)
    'gradient of f, 3 s'
    >>> told("f", {"steps": 1000, "position": 500, "is_back": True, "evaluations": 1000, "part": 0.5}, 10)
    '[##########----------] 50%, about 10 s left, on the way back at iteration 500 of 1000, 10 s'
    """
    if not seen["evaluations"]:
        return f"{what}, {seconds:.0f} s"
    line = ""
    if seen["part"] is not None:
        part = seen["part"]
        full = int(part * width)
        left = seconds * (1 - part) / max(part, 1e-9)
        drawn = f"[{'#' * full}{'-' * (width - full)}] " if width else ""
        line = f"{drawn}{100 * part:.0f}%, about {left:.0f} s left, "
    of = f" of {seen['steps']}" if seen["steps"] is not None else ""
    sweep = "on the way back at" if seen["is_back"] else "at"
    return f"{line}{sweep} iteration {seen['position']}{of}, {seconds:.0f} s"
