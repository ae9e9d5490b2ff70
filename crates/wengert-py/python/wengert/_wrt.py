"""What derivatives are by, and the form they are handed over in.

By one parameter it is the derivative itself, by several named ones a tuple, by all there are a dictionary. Of an argument made of parts it is
made of the same parts.

Reading order: :func:`form`, :func:`formed`, :class:`At`.
"""

import numpy as np

from . import _trees
from ._errors import refused


def parameters(f):
    return f.program().parameters


def form(f, wrt):
    """How derivatives by these are handed over, and their names."""
    if wrt is None:
        return ("single" if len(parameters(f)) == 1 else "dict"), None
    if isinstance(wrt, (str, int)):
        return "single", [name_of(f, wrt)]
    return "tuple", [name_of(f, one) for one in wrt]


def name_of(f, one):
    """The name of a parameter, which may be named by its position."""
    names = parameters(f)
    if isinstance(one, (int, np.integer)) and not isinstance(one, bool):
        if -len(names) <= one < len(names):
            return names[one]
        what = f"`{f.__name__}` has {len(names)} parameter{'' if len(names) == 1 else 's'}, and none at {one}"
        raise refused("unknown-argument", what, f"its parameters are {', '.join(names)}, counted from 0")
    if not isinstance(one, str):
        raise TypeError(f"wrt={one!r}: parameters are named by text or by position")
    if one not in names:
        raise refused(
            "unknown-argument", f"`{f.__name__}` has no parameter `{one}`", f"its parameters are {', '.join(names)}"
        )
    return one


def formed(form, names, values):
    """Derivatives by name, as they were asked for."""
    if form == "dict":
        return dict(values)
    if form == "tuple":
        return tuple(values[name] for name in names)
    if len(values) != 1:
        return tuple(values.values())
    return next(iter(values.values()))


def by_name(f, given, what):
    """Directions by name: they are given so, or in the order of the parameters, with ``None`` where there is none."""
    if isinstance(given, dict):
        return {name_of(f, name): value for name, value in given.items()}
    names = parameters(f)
    if not isinstance(given, (tuple, list)):
        given = (given,)
    if len(given) > len(names):
        message = f"`{f.__name__}` has {len(names)} parameters, but {len(given)} {what} are given"
        raise refused("argument-count", message, "give one for each parameter, or a dictionary by name")
    return {name: value for name, value in zip(names, given) if value is not None}


class At:
    """Where a derivative is taken: the function that is run there and its arguments, which are parts where arguments are made of parts;
    and what it is by. Of the parameters ``over``, every part has one value per member, along its first axis."""

    def __init__(self, function, args, wrt=None, over=()):
        self.form, self.names = form(function, wrt)
        self.function, self.args, self.by, self.over = function, tuple(args), self.names, list(over)
        self.leaves = None
        if any(map(_trees.is_tree, args)):
            self._take_apart(function, args)

    def _take_apart(self, function, args):
        every = parameters(function)
        one = [_trees.first(x, name) if name in self.over else x for x, name in zip(args, every)]
        self.function, structures, ones = _trees.flat(function, one)
        self.structures = dict(zip(every, structures))
        self.args = tuple(leaf for x, s in zip(args, structures) for leaf in _trees.leaves(x, s))
        self.leaves = dict(zip(every, self.function.leaf_names))
        floats = set(self.function.program().floats(tuple(ones)))
        for name in self.names or ():
            if not floats.intersection(self.leaves[name]):
                message = f"there is no derivative by `{name}`, which has no floats"
                raise refused("not-differentiable", message, "whole numbers among parts stay integers: write 2.0 for 2")
        if self.names is None:
            self.names = [name for name in every if floats.intersection(self.leaves[name])]
        self.by = [leaf for name in dict.fromkeys(self.names) for leaf in self.leaves[name] if leaf in floats]
        self.over = [leaf for name in self.over for leaf in self.leaves[name]]

    @property
    def program(self):
        return self.function.program()

    def formed(self, found):
        """Derivatives by what is run, as they were asked for; ``None`` for parts that have none."""
        if self.leaves is None:
            return formed(self.form, self.names, found)
        made = {}
        for name in self.names:
            values = [found.get(leaf) for leaf in self.leaves[name]]
            made[name] = _trees.rebuilt(self.structures[name], iter(values))
        return formed(self.form, self.names, made)

    def directions(self, given):
        """Directions by parameter, as directions of what is run; what they leave out stays fixed."""
        if self.leaves is None:
            return given
        made = {}
        for name, value in given.items():
            try:
                parts = _trees.leaves(value, self.structures[name])
            except (AttributeError, IndexError, KeyError, TypeError):
                parts = []
            if len(parts) != len(self.leaves[name]):
                message = f"the direction of `{name}` is not made of the parts that the argument is made of"
                raise refused("argument-type", message, "give each part its own, and None to a whole number")
            made |= {leaf: part for leaf, part in zip(self.leaves[name], parts) if part is not None}
        return made
