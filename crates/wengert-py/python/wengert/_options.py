"""How to run: what the keywords mean."""

import os

from ._wengert import RunOptions

# What every function that runs something takes.
NAMES = (
    "memory",
    "disk",
    "resume",
    "fsync",
    "threads",
    "backend",
    "progress",
    "max_iterations",
    "tape_limit",
    "precision",
    "invert",
)

_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}


def size(value, name="memory"):
    """Bytes, from a number or a text.

    >>> size("64MiB"), size("1.5kB"), size(100)
    (67108864, 1500, 100)
    """
    if isinstance(value, str):
        text = value.strip()
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
        unit = text[len(digits) :].strip().lower()
        try:
            number = float(digits)
        except ValueError:
            number = -1.0
        if unit in _UNITS and 0 <= number * _UNITS[unit] < 2**63:
            return int(number * _UNITS[unit])
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**63:
        return int(value)
    raise ValueError(f"{name}={value!r}: give a number of bytes, or a text such as '64MiB' or '2GB'")


def checked(given):
    """The options among keywords, without those that say nothing; an unknown one is an error."""
    for name in given:
        if name not in NAMES:
            raise TypeError(f"there is no option `{name}`; there are {', '.join(NAMES)}")
    return {name: value for name, value in given.items() if value is not None}


def run_options(given):
    """Options as the compiler takes them."""
    given = checked(given)
    out = {}
    if "memory" in given:
        out["memory"] = size(given["memory"])
    if "tape_limit" in given:
        out["tape_limit"] = size(given["tape_limit"], "tape_limit")
    disk, resume = given.get("disk"), given.get("resume")
    if disk is not None or resume is not None:
        if "memory" not in given:
            raise ValueError("`disk` and `resume` need `memory`: how much of it may be used beside the folder")
        out["disk"] = (*_folder(disk, resume), resume is not None, bool(given.get("fsync", False)))
    for name in ("threads", "max_iterations"):
        if name in given:
            number = given[name]
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise ValueError(f"{name}={number!r}: give a whole number of 1 or more")
            out[name] = number
    for name in ("backend", "precision"):
        if name in given:
            out[name] = given[name]
    if given.get("precision", "exact") != "exact" and "memory" not in given:
        raise ValueError("`precision` needs `memory`: it says how states are kept that fit in there")
    if given.get("invert"):
        out["invert"] = _invert(given["invert"])
    return RunOptions(watched=bool(given.get("progress", False)), **out)


def _folder(disk, resume):
    """A folder and how many bytes it may take: ``("run", "10GiB")``, or ``"run:10GiB"``."""
    if disk is None:
        return os.fspath(resume), 2**64 - 1
    if isinstance(disk, str) and ":" in disk:
        folder, _, bytes = disk.rpartition(":")
        disk = (folder, bytes)
    if not isinstance(disk, tuple) or len(disk) != 2:
        raise ValueError(f"disk={disk!r}: give a folder and how much it may take, as in ('run', '10GiB')")
    folder, bytes = disk
    return os.fspath(folder), size(bytes, "disk")


def _invert(invert):
    """Which loop is taken back: ``True`` (all), a line, or a dictionary with ``line``, ``every`` and ``within``."""
    if invert is True:
        return (None, None, 1e-6)
    if isinstance(invert, int):
        return (invert, None, 1e-6)
    if isinstance(invert, dict) and set(invert) <= {"line", "every", "within"}:
        return (invert.get("line"), invert.get("every"), float(invert.get("within", 1e-6)))
    raise ValueError(f"invert={invert!r}: give True, the line of a loop, or a dictionary with line, every and within")
