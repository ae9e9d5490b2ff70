"""A line that shows how far a long run is."""

import contextlib
import sys
import threading
import time

# Seconds before anything is shown, and between two looks.
PATIENCE = 0.5
PAUSE = 0.2

BAR = 20


@contextlib.contextmanager
def shown_while(options, what, out=None):
    """Shows on ``out`` (standard error) where the loop stands that is being run, until the block ends."""
    out = out or sys.stderr
    ended = threading.Event()

    def show():
        start, width = time.monotonic(), 0
        wait = PATIENCE
        while not ended.wait(wait):
            wait = PAUSE
            line = told(what, options.seen(), time.monotonic() - start)
            # A carriage return goes back to the start of the line, in notebooks too.
            out.write("\r" + line.ljust(width))
            out.flush()
            width = len(line)
        if width:
            out.write("\r" + " " * width + "\r")
            out.flush()

    thread = threading.Thread(target=show, name="wengert progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def told(what, seen, seconds):
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
        full = int(part * BAR)
        left = seconds * (1 - part) / max(part, 1e-9)
        line = f"[{'#' * full}{'-' * (BAR - full)}] {100 * part:.0f}%, about {left:.0f} s left, "
    of = f" of {seen['steps']}" if seen["steps"] is not None else ""
    sweep = "on the way back at" if seen["is_back"] else "at"
    return f"{line}{sweep} iteration {seen['position']}{of}, {seconds:.0f} s"
