"""What there is to know about a function: plans, checks, stages of the compiler, and what the machine has."""

import copy
import os

import numpy as np

from . import _options
from ._derivatives import _call, _function
from ._wengert import doctor as _doctor
from ._wengert import explain as _explain
from ._wengert import stages as _stages
from ._wrt import At


def _split(f, kwargs):
    """Keywords that are arguments of the function, and those that are options."""
    names = f.program().parameters
    given = {name: kwargs.pop(name) for name in list(kwargs) if name in _options.NAMES and name not in names}
    return kwargs, given


def _bytes(n):
    """A number of bytes for people.

    >>> _bytes(300), _bytes(24_000_000)
    ('300 bytes', '24.0 MB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.1f} {unit}"
    return f"{n} bytes"


def _seconds(s):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if s >= size:
            return f"{s / size:.1f} {unit}"
    return f"{s * 1e9:.0f} ns"


class Plan:
    """What the loops of a gradient take, in all the memory there is and in less. Made by :func:`plan`; ``loops`` has it as data."""

    def __init__(self, loops, memory=None):
        self.memory = memory
        # What remains of a loop whose iterations are taken several at a time may be none.
        self.loops = [of for of in loops if of["steps"] != 0]
        for of in self.loops:
            of["forecasts"].sort(key=lambda row: -row["memory"])

    def _repr_html_(self):
        from . import _display

        return _display.plan(self, _bytes, _seconds)

    def __repr__(self):
        if not self.loops:
            return "no loop of it can be reversed in less memory: everything is kept"
        lines = []
        for of in self.loops:
            head = f"the loop of line {of['line']}: "
            head += f"{of['steps']} iterations" if of["steps"] is not None else "its end is not known"
            if of["state_bytes"] is not None:
                head += f"; a state takes {_bytes(of['state_bytes'])}, the record of an iteration {_bytes(of['record_bytes'])}"
            lines.append(head)
            for row in of["forecasts"]:
                name = "everything" if row["memory"] == of["everything"] else "in"
                per = row["evaluations"] / max(of["steps"], 1)
                lines.append(
                    f"  {name} {_bytes(row['memory'])}".ljust(26)
                    + f"{per:.2f} evaluations of each, at most {_bytes(row['bytes'])}, about {_seconds(row['seconds'])}"
                )
        return "\n".join(lines)


def plan(f, /, *args, wrt=None, **kwargs):
    """What the gradient's loops would take in limited memory, before it is run.

    >>> import wengert
    >>> def orbit(x, n):
    ...     for i in range(n):
    ...         x = 3.7 * x * (1.0 - x)
    ...     return x
    >>> of = wengert.plan(orbit, 0.3, 1_000_000, wrt="x", memory="80kB").loops[0]
    >>> of["line"], of["steps"]
    (2, 250000)
    >>> row = next(row for row in of["forecasts"] if row["memory"] == 80_000)
    >>> row["bytes"] <= 80_000, row["evaluations"] / of["steps"] < 3
    (True, True)

    Of short loops several iterations are taken as one.
    """
    f = _function(f)
    kwargs, given = _split(f, kwargs)
    _, args, options = _call(f, args, kwargs, given)
    at = At(f, args, wrt)
    memory = {**f.options, **given}.get("memory")
    return Plan(at.program.plan(at.args, at.by, options), None if memory is None else _options.size(memory))


class Report:
    """What a check has found. It is true where everything agrees; printed, it says what was compared. Made by :func:`check`."""

    def __init__(self, passes, text):
        self.passes, self.text = passes, text

    def __bool__(self):
        return self.passes

    def __repr__(self):
        return self.text


def check(f, /, *args, wrt=None, directions=10, order=1, **kwargs):
    """Compares forward mode with finite differences and reverse mode with forward mode, along random directions; looks for kinks, NaN and
    loops that might have stopped an iteration earlier; and compares what the function returns with what Python makes of it.

    ``order=2`` and ``order=3`` check derivatives of derivatives as well.

    >>> import wengert
    >>> report = wengert.check(lambda x, y: x * y + x, 3.0, 5.0)
    >>> bool(report)
    True
    >>> print(str(report).splitlines()[0])
    derivatives agree along 10 directions
    """
    f = _function(f)
    kwargs, given = _split(f, kwargs)
    _, args, options = _call(f, args, kwargs, given)
    at = At(f, args, wrt)
    if order not in (1, 2, 3):
        raise ValueError(f"order={order!r}: it is 1, 2 or 3")
    passes, text = at.program.check(at.args, at.by, directions, order, options)
    agrees, told = _against_python(f, args)
    return Report(passes and agrees, f"{text}\n{told}")


def _against_python(f, args):
    """Whether Python makes the same of the function, up to rounding."""
    ours = f(*args)
    try:
        with np.errstate(all="ignore"):
            theirs = f.python(*copy.deepcopy(args))
    except Exception as error:  # noqa: BLE001: whatever the user's function raises
        return True, f"  not compared with Python, which raises {type(error).__name__}: {error}"
    ours, theirs = ((x if isinstance(x, tuple) else (x,)) for x in (ours, theirs))
    if len(ours) != len(theirs):
        return False, f"  Python returns {len(theirs)} values, not {len(ours)}"
    worst = 0.0
    for a, b in zip(ours, theirs):
        if a is None and b is None:
            continue
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        if a.shape != b.shape:
            return False, f"  Python returns an array of shape {b.shape}, not {a.shape}"
        both = np.isfinite(a) & np.isfinite(b)
        if not np.array_equal(a[~both], b[~both], equal_nan=True):
            return False, "  value against Python                 one is not finite where the other is"
        scale = max(float(np.max(np.abs(b[both]), initial=0.0)), 1e-300)
        worst = max(worst, float(np.max(np.abs(a[both] - b[both]), initial=0.0)) / scale)
    return worst < 1e-6, f"  value against Python                {worst:.1e}"


def show(f, /, *args, stage="ssa", wrt=None, **kwargs):
    """The program at a stage of the compiler, as text; :func:`stages` names them.

    >>> import wengert
    >>> print(wengert.show(lambda x: x * x, 3.0).strip())
    func @lambda_(%x.0: f64) -> (f64) {
      %2 = mul %x.0, %x.0
      return %2
    }
    """
    f = _function(f)
    kwargs, given = _split(f, kwargs)
    _, args, options = _call(f, args, kwargs, given)
    at = At(f, args, wrt)
    return at.program.show(stage, at.args, at.by, options)


def stages():
    """The stages of the compiler that :func:`show` prints, in order, each with a line about it."""
    return dict(_stages())


def explain(code):
    """What an error code means, as in ``error[index-out-of-range]``.

    >>> import wengert
    >>> "index" in wengert.explain("index-out-of-range")
    True
    """
    text = _explain(code.removeprefix("error").strip("[]"))
    if text is None:
        raise ValueError(f"there is no error {code!r}")
    return text


class Doctor:
    """What programs run with on this machine. Made by :func:`doctor`; ``found`` has it as data."""

    def __init__(self, found):
        self.found = found

    def __repr__(self):
        found = self.found
        lines = [
            f"processor   {found['architecture']}: {' '.join(found['features'])}",
            f"cranelift   {found['cranelift']}",
        ]
        if found["compiler"] is None:
            lines.append("C compiler  none: programs run as native code all the same, some of them slower")
        else:
            program, version = found["compiler"]
            lines.append(f"C compiler  {program}, {version}: {found['compiles']}")
        cache = f"cache       {found['cache']}"
        if "cached" in found:
            entries, size, limit = found["cached"]
            cache += f": {entries} libraries, {_bytes(size)} of {_bytes(limit)}"
        lines.append(cache)
        lines.append(f"threads     {os.cpu_count()}")
        return "\n".join(lines)


def doctor():
    """What programs run with on this machine: processor, compilers, the folder of compiled code."""
    return Doctor(_doctor())
