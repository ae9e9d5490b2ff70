"""Arguments made of parts: tuples, named tuples, dictionaries and dataclasses of numbers and arrays, inside each other.

In a program they are tuples. What the user's function calls by a name, ``p.sigma`` or ``p["sigma"]``, is written as a place there, ``p[1]``, and
a function around it takes every part by itself and puts them together. A name has the same place in all of them, so that
nothing need be known of what a variable stands for; places that one has no use for hold a zero.

Reading order: :class:`Structure`, :func:`of`, :class:`Around`, :class:`Flat`.
"""

import ast
import dataclasses

import numpy as np

from ._errors import ArgumentError, CompileError, told
from ._function import Differentiable
from ._source import Collected
from ._wengert import Program

# What arrays have under a name of their own.
_OF_ARRAYS = frozenset(name for name in dir(np.ndarray) if not name.startswith("_"))


def is_tree(value):
    """Whether an argument is made of parts. Lists are arrays."""
    return isinstance(value, (tuple, dict)) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


@dataclasses.dataclass(frozen=True)
class Structure:
    """What an argument is made of: a leaf (its annotation), or parts by name; of tuples, the names are numbers."""

    kind: str
    cls: type | None = None
    names: tuple = ()
    parts: tuple = ()

    @property
    def is_leaf(self):
        return self.cls is None


def of(value, name):
    """The structure of an argument."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) and key for key in value):
            raise _refused(name, "has keys that are no text", "name its parts by text")
        kind, names, parts = "dict", tuple(value), tuple(value.values())
    elif isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        kind = "tuple" if fields is None else "namedtuple"
        names, parts = tuple(range(len(value))) if fields is None else tuple(fields), tuple(value)
    elif is_tree(value):
        names = tuple(field.name for field in dataclasses.fields(value))
        kind, parts = "dataclass", tuple(getattr(value, n) for n in names)
    else:
        return Structure(_annotation(value))
    if not parts:
        raise _refused(name, "is empty", "leave it out, or give it parts")
    inside = tuple(of(part, _path(name, kind, n)) for n, part in zip(names, parts))
    return Structure(kind, type(value), names, inside)


def _refused(name, what, help):
    return told(ArgumentError, "argument-type", f"`{name}` {what}", help)


def _path(name, kind, part):
    """A part as the user's function calls it."""
    return f"{name}.{part}" if kind in ("dataclass", "namedtuple") else f"{name}[{part!r}]"


def _annotation(value):
    """How a part is declared. Whole numbers stay integers."""
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, np.float32):
        return "float32"
    if isinstance(value, (float, np.floating)):
        return "float"
    return "ndarray"


def leaves(value, structure):
    """The numbers and arrays of an argument, in order."""
    if structure.is_leaf:
        return [value]
    if structure.kind == "dict":
        parts = [value[name] for name in structure.names]
    elif structure.kind == "dataclass":
        parts = [getattr(value, name) for name in structure.names]
    else:
        parts = list(value)
    return [leaf for part, inside in zip(parts, structure.parts) for leaf in leaves(part, inside)]


def rebuilt(structure, values):
    """An argument of that structure with these parts, an iterator."""
    if structure.is_leaf:
        return next(values)
    parts = [rebuilt(inside, values) for inside in structure.parts]
    if structure.kind == "dict":
        return dict(zip(structure.names, parts))
    if structure.kind == "tuple":
        return tuple(parts)
    if structure.kind == "namedtuple":
        return structure.cls._make(parts)
    made = object.__new__(structure.cls)
    for name, part in zip(structure.names, parts):
        # Its own way of being made may ask for more, or forbid assignments.
        object.__setattr__(made, name, part)
    return made


class Around(Differentiable):
    """A function written around another: its text follows the other's, which may be changed for it."""

    def __new__(cls, function, *_):
        return super().__new__(cls, function.python, function.options, None)

    def __init__(self, function):
        super().__init__(function.python, function.options, None)
        self._of = function

    def _changed(self, parts):
        """The parts of the text it is around."""
        return parts

    def _collected(self):
        inner = self._of._collected()
        # It stands where the function does.
        file, line, _ = inner.parts[-1]
        parts = [*self._changed(inner.parts), (file, line, self._around)]
        return Collected(self._name, parts, inner.captured, inner.watched)

    def _program(self):
        collected = self._collected()
        key = collected.key()
        if self._last is not None and self._last[0] == key:
            values = [value for _, value in collected.captured]
            return self._last[1].around(values, collected.watched)
        program = Program(collected.parts, self._name, {}, collected.captured, collected.watched)
        self._last = (key, program)
        return program


class Flat(Around):
    """A function that takes the parts of its arguments by themselves."""

    def __init__(self, function, structures):
        super().__init__(function)
        self._structures = structures
        self._write(function._collected().name, function.program().parameters)

    def _write(self, inner, parameters):
        """The function around, and the names of the parts of each parameter."""
        self._places = _places(self._structures)
        taken, self.leaf_names, given, declared = set(parameters), [], [], []
        for name, structure in zip(parameters, self._structures):
            names = []
            given.append(_put_together(structure, name, names, taken, self._places))
            self.leaf_names.append([leaf for leaf, _ in names])
            declared += [f"{leaf}: {kind}" if not structure.is_leaf else leaf for leaf, kind in names]
        self._name = f"{inner}_of_parts"
        self._around = f"def {self._name}({', '.join(declared)}):\n    return {inner}({', '.join(given)})\n"

    def _changed(self, parts):
        libraries = _libraries(parts)
        return [(file, line, self._placed(text, file, line, libraries)) for file, line, text in parts]

    def _placed(self, text, file, line, libraries):
        """A text in which parts that are called by a name are called by their place."""
        lines = text.encode().splitlines(keepends=True)
        edits = []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute):
                name, is_own = node.attr, isinstance(node.value, ast.Name) and node.value.id in libraries
                if name not in self._places or is_own:
                    continue
                if name in _OF_ARRAYS:
                    raise told(
                        CompileError,
                        "field",
                        f"a part is called `{name}`, as is something that all arrays have",
                        "give it another name",
                        (file, line + node.lineno - 1, node.col_offset + 1),
                        text.splitlines()[node.lineno - 1],
                    )
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                name = node.slice.value
                if not isinstance(name, str) or name not in self._places:
                    continue
            else:
                continue
            edits.append((node.value, node, self._places[name]))
        # From the end, so that what is before stays where it is.
        for value, node, place in sorted(edits, key=lambda e: (e[1].end_lineno, e[1].end_col_offset), reverse=True):
            if value.end_lineno != node.end_lineno:
                continue
            k = node.end_lineno - 1
            start, end = value.end_col_offset, node.end_col_offset
            written = f"[{place}]".encode().ljust(end - start)
            lines[k] = lines[k][:start] + written + lines[k][end:]
        return b"".join(lines).decode()


def _libraries(parts):
    """The names that modules go by."""
    imports = [node for _, _, text in parts for node in ast.parse(text).body if isinstance(node, ast.Import)]
    return {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}


def _places(structures):
    """The place of each name: that of named tuples is theirs, others come where there is room."""
    places = {}
    work = [s for s in structures if not s.is_leaf]
    every = []
    while work:
        structure = work.pop(0)
        every.append(structure)
        work += [part for part in structure.parts if not part.is_leaf]
    for structure in every:
        if structure.kind == "namedtuple":
            for k, name in enumerate(structure.names):
                if places.setdefault(name, k) != k:
                    raise told(
                        ArgumentError,
                        "field",
                        f"two named tuples have `{name}` at different places",
                        "give one of them another name, or use dataclasses",
                    )
    for structure in every:
        if structure.kind in ("dict", "dataclass"):
            used = {places[name] for name in structure.names if name in places}
            free = (k for k in range(10**6) if k not in used and k not in places.values())
            for name in structure.names:
                if name not in places:
                    places[name] = next(free)
    return places


def _put_together(structure, name, names, taken, places):
    """An argument put together of its parts, whose names and kinds are added to ``names``."""
    if structure.is_leaf:
        leaf = name
        while leaf in taken and leaf != name:
            leaf += "_"
        names.append((leaf, structure.kind))
        return leaf
    parts = {}
    for k, (part, inside) in enumerate(zip(structure.names, structure.parts)):
        leaf = f"{name}_{part}"
        leaf = "".join(c if c.isalnum() or c == "_" else "_" for c in leaf)
        while leaf in taken:
            leaf += "_"
        taken.add(leaf)
        at = places[part] if structure.kind in ("dict", "dataclass") else k
        parts[at] = _put_together(inside, leaf, names, taken, places)
    items = [parts.get(k, "0.0") for k in range(max(parts) + 1)]
    return f"({', '.join(items)},)"


def flat(function, args):
    """The function that takes the parts of these arguments, one argument for each parameter; their structures; the parts."""
    names = function.program().parameters
    structures = tuple(of(x, name) if is_tree(x) else Structure("") for x, name in zip(args, names))
    parts = [leaf for x, structure in zip(args, structures) for leaf in leaves(x, structure)]
    found = function._flats.get(structures)
    if found is None:
        found = function._flats[structures] = Flat(function, structures)
    return found, structures, parts


def first(value, name):
    """The first member of an argument of which every part has one value per member."""
    structure = of(value, name)
    try:
        return rebuilt(structure, iter([np.asarray(leaf)[0] for leaf in leaves(value, structure)]))
    except IndexError:
        help = "every part has one more axis, the first, or leave the argument out of `over`"
        raise _refused(name, "has a part that is one number for all members", help) from None
