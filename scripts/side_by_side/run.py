"""Runs cells: each in a process of its own, on one core, with a limit of time and of memory; what is found is kept after each."""

import json
import os
import platform
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from field import ONE_THREAD, PEERS

FOLDER = Path(__file__).resolve().parent


def resident(pid):
    """Bytes a process holds, where the system tells."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def one(python, peer, row, seconds, limit, memory):
    """What a cell says of itself, or why it was ended."""
    cell = {}
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, **ONE_THREAD, **PEERS[peer].environment, "WENGERT_CACHE": cache, "TMPDIR": cache}
        # Some leave files where they are run.
        command = [str(Path(python).absolute()), str(FOLDER / "cell.py"), PEERS[peer].module, row, str(seconds)]
        process = subprocess.Popen(
            command,
            cwd=cache,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {max(os.sched_getaffinity(0))})
        errors = []
        try:
            ended = follow(process, cell, errors, time.monotonic() + limit, memory)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    if ended == "time" and "first" in cell:
        # Once was all there was time for.
        cell.setdefault("seconds", cell["first"])
    elif ended:
        cell["over"] = f"over {limit:g} s" if ended == "time" else f"over {memory / 1e9:g} GB"
    elif not cell:
        cell["failed"] = (errors or ["ended without a word"])[-1][:300]
    return cell


def follow(process, cell, errors, end, memory):
    """Reads what the process says until it ends, or has to be ended: then says which limit it met."""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(timeout=0.1):
                line = key.fileobj.readline()
                if not line:
                    selector.unregister(key.fileobj)
                elif line.startswith("\x1e"):
                    cell.update(json.loads(line[1:]))
                elif key.fileobj is process.stderr and line.strip():
                    errors.append(line.strip())
            if time.monotonic() > end:
                return "time"
            if resident(process.pid) > memory:
                return "memory"
    return None


# First calls that take longer are made once.
SHORT = 3.0


def run(python, store, rows, peers, seconds, limit, memory, starts=1):
    """All cells of some rows, added to those a file has. First calls are made in so many processes, of which the fastest counts."""
    results = json.loads(store.read_text()) if store.exists() else {}
    results["machine"] = machine()
    results["versions"] = versions(python)
    cells = results.setdefault("cells", {})
    for row in rows:
        cells.setdefault(row, {})
    total = len(rows) * len(peers)
    start = time.monotonic()
    for k, (row, peer) in enumerate((row, peer) for row in rows for peer in peers):
        print(f"[{k + 1:3}/{total}] {row:6} {peer:15}", end=" ", flush=True)
        cell = one(python, peer, row, seconds, limit, memory)
        for _ in range(starts - 1):
            if cell.get("first", SHORT) < SHORT:
                again = one(python, peer, row, 0, limit, memory)
                cell["first"] = min(cell["first"], again.get("first", cell["first"]))
        cells.setdefault(row, {})[peer] = least(cells[row].get(peer, {}), cell)
        store.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        print(f"{said(cell):60} {time.monotonic() - start:6.0f} s", flush=True)


def least(before, cell):
    """What a machine with other things to do adds to a time is nobody's fault: the least times of all runs of a cell count."""
    if not (before.get("agrees") and cell.get("agrees")):
        return cell
    return cell | {what: min(before[what], cell[what]) for what in ("first", "seconds") if what in before and what in cell}


def said(cell):
    if "first" not in cell:
        return cell.get("over") or cell.get("refused") or cell.get("failed") or "-"
    wrong = "" if cell["agrees"] else f", WRONG by {cell['error']:.1e}"
    return f"{cell.get('seconds', cell['first']):.3g} s, first call {cell['first']:.3g} s{wrong}"


def machine():
    model = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"processor": model, "system": platform.system(), "date": time.strftime("%Y-%m-%d")}


def versions(python):
    names = sorted({p for peer in PEERS.values() for p in peer.packages} | {"wengert", "numpy"})
    program = (
        "import importlib.metadata as m, json, sys, platform\n"
        "found = {'Python': platform.python_version()}\n"
        "for name in sys.argv[1:]:\n"
        "    try: found[name] = m.version(name)\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    return json.loads(subprocess.run([str(python), "-c", program, *names], capture_output=True, text=True, check=True).stdout)


if sys.version_info < (3, 11):
    sys.exit("Python 3.11 or newer is needed")
