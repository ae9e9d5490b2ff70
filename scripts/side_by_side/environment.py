"""The environment the peers run in: made on demand, with what the package index has of each, and this project's own wheel.

A peer that cannot be installed is told, and its column says so; the others run.
"""

import subprocess
import sys

from field import PEERS
from workloads import ROOT

FOLDER = ROOT / "target/side_by_side"


def python_of(folder):
    bin, exe = ("Scripts", ".exe") if sys.platform == "win32" else ("bin", "")
    return folder / bin / f"python{exe}"


def has(python, package):
    program = f"import importlib.metadata as m; m.version({package!r})"
    return subprocess.run([str(python), "-c", program], capture_output=True).returncode == 0


def ready(peers, wheel=None):
    """The Python all peers run in; installs what is missing."""
    environment = FOLDER / "venv"
    python = python_of(environment)
    if not python.exists():
        print("making", environment, flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    if wheel or not has(python, "wengert"):
        print("installing wengert, from", wheel or "this clone", flush=True)
        subprocess.run([*pip, "--force-reinstall", "--no-deps", str(wheel or ROOT)], check=True)
    wanted = ["numpy", "scipy", *dict.fromkeys(p for name in peers for p in PEERS[name].packages)]
    for package in wanted:
        if not has(python, package):
            print("installing", package, flush=True)
            if subprocess.run([*pip, package]).returncode:
                print(f"{package} cannot be installed; its column will say so", flush=True)
    return python


