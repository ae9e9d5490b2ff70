"""One cell of the table, in a process of its own: `python cell.py MODULE ROW SECONDS`, run by run.py.

Tells what it finds as lines of JSON: the time of the first call and how far its gradient is from the reference, then the least time
of the calls that fit into so many seconds (none of both if these are 0), then the most memory the process took beyond what it held before the first call.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path


def tell(**what):
    print("\x1e" + json.dumps(what), flush=True)


def resident(field):
    """`VmRSS` or `VmHWM` of this process in bytes, where the system tells."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field)), None)


def main(name, row, seconds):
    import workloads

    module = importlib.import_module(f"peers.{name}")
    if row in getattr(module, "REFUSED", {}):
        return tell(refused=module.REFUSED[row])
    if not hasattr(module, row):
        return tell(absent=True)
    call = getattr(module, row)(workloads.inputs(row))
    try:
        # From here on the peak is that of the peer's own work.
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass
    before = resident("VmRSS")

    start = time.perf_counter()
    try:
        result = call()
    except Exception as refusal:
        return tell(refused=" ".join(f"{type(refusal).__name__}: {refusal}".split())[:300])
    first = time.perf_counter() - start
    error, agrees = workloads.disagreement(row, *module.numbers(result))
    tell(first=first, error=error, agrees=agrees)
    if not seconds:
        return

    # Some get better code after a while.
    seconds = max(seconds, getattr(module, "WARM", 0.0))
    least, calls, end = None, 0, time.perf_counter() + seconds
    # Once more in any case, unless once takes long.
    while time.perf_counter() < end and not (calls == 0 and first > 10 * seconds):
        start = time.perf_counter()
        again = call()
        took = time.perf_counter() - start
        least, calls = took if least is None else min(least, took), calls + 1
    if calls:
        error, agrees = workloads.disagreement(row, *module.numbers(again))
        tell(seconds=least, calls=calls, error=error, agrees=agrees)
    else:
        tell(seconds=first, calls=1)
    peak = resident("VmHWM")
    tell(memory=None if peak is None or before is None else max(peak - before, 0))


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
