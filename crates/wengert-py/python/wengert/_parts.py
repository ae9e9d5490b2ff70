"""A function as other libraries see it: of numbers and arrays in order, for one call or for many members at once.

JAX and PyTorch differentiate by calling: for values, for derivatives along directions, for adjoints pulled back, and for these of those. A
:class:`Parts` answers with NumPy's arrays. With ``batched`` (whether each argument has one value per member, along a first axis) there
is an answer per member, and :func:`wengert.batch` runs them where it can.

Reading order: :func:`taken`, :class:`Parts`, :func:`answered`, :class:`Weighted`.
"""

import numpy as np

from . import _trees
from ._derivatives import Batch, _call, _function, _Task, batch, value_and_grad
from ._errors import refused


def taken(f, options, library):
    """The function that another library is given."""
    if isinstance(f, (Batch, _Task)):
        help = f"give the function itself: {library} makes gradients and batches of it"
        raise refused("unsupported-function", f"`{f.__name__}` is made of a function for NumPy", help)
    return _function(f)._run_as(options) if options else _function(f)


def example(dtype, rank):
    """The smallest argument of a kind."""
    one = np.ones((1,) * rank, dtype)
    return one if rank else one[()]


class Weighted(_trees.Around):
    """The sum of a function's float results, each element times a weight: one float, whose gradient pulls weights back."""

    def __init__(self, function, types):
        super().__init__(function)
        inner, names = function._collected().name, list(function.program().parameters)
        taken = set(names)

        def fresh(name):
            while name in taken:
                name += "_"
            taken.add(name)
            return name

        results = [fresh(f"result_{k}") for k in range(len(types))]
        self.weight_names, terms = [], []
        library = fresh("np_of_weights")
        for name, kind in zip(results, types):
            if is_float(kind):
                self.weight_names.append(fresh(f"weight_{len(terms)}"))
                product = f"{name} * {self.weight_names[-1]}"
                terms.append(f"{library}.sum({product})" if rank_of(kind) else product)
        self._name = fresh(f"{inner}_weighted")
        given = f"    {', '.join(results)}{',' if len(results) == 0 else ''} = {inner}({', '.join(names)})\n"
        self._around = f"import numpy as {library}\n\ndef {self._name}({', '.join(names + self.weight_names)}):\n"
        self._around += f"{given}    return {' + '.join(terms)}\n"


def rank_of(kind):
    """How many axes a result of that type has."""
    return kind.count("[")


def is_float(kind):
    return kind.strip("[]") in ("f64", "f32")


def dtype_of(kind):
    """The elements of a result of that type, for NumPy.

    >>> dtype_of("[[f32]]"), dtype_of("i64")
    (dtype('float32'), dtype('int64'))
    """
    return np.dtype({"f64": "float64", "f32": "float32", "i64": "int64", "bool": "bool"}[kind.strip("[]")])


class Parts:
    """A function of numbers and arrays, and its derivatives.

    ``by``, in all of these, are positions of arguments. Weights are given for the float results, tangents and directions for the arguments
    they are of. What comes back are lists of arrays.
    """

    def __init__(self, function, args):
        self.function = function
        self.names = list(function.program().parameters)
        self.types = function.program().result_types(tuple(args))
        self.floats = [k for k, kind in enumerate(self.types) if is_float(kind)]
        self.is_one_float = len(self.types) == 1 and is_float(self.types[0]) and not rank_of(self.types[0])
        self.name = function.__name__
        self._weighted = None
        self._made = {}

    @property
    def weighted(self):
        if self._weighted is None:
            self._weighted = Weighted(self.function, self.types)
        return self._weighted

    def _gradient(self, of, names):
        key = (of is self.function, names)
        if key not in self._made:
            self._made[key] = value_and_grad(of, names)
        return self._made[key]

    def values(self, args, batched=None):
        """What it returns."""
        if batched is None:
            return _list(self.function(*args))
        if not any(batched):
            return [np.broadcast_to(x, (batched.size, *np.shape(x))) for x in self.values(args)]
        return _list(batch(self.function, self._over(batched))(*args))

    def gradient(self, by, args, batched=None):
        """The value of a function of one float, and its derivatives."""
        return self._pulled(self.function, by, args, batched)

    def pull(self, by, args, weights, batched=None, batched_weights=None):
        """Adjoints of the arguments for weights of the results."""
        if batched is not None:
            batched = Members(batched.size, (*batched, *batched_weights))
        return self._pulled(self.weighted, by, [*args, *weights], batched)[1]

    def _pulled(self, of, by, args, batched):
        names = tuple(of.program().parameters[k] for k in by)
        if batched is None:
            value, found = self._gradient(of, names)(*args)
            return value, list(found)
        # Each member's derivative, not their sum, also by what all share.
        shared = [k for k in by if not batched[k]]
        args, flags = list(args), list(batched)
        for k in shared:
            args[k] = np.ascontiguousarray(np.broadcast_to(args[k], (batched.size, *np.shape(args[k]))))
            flags[k] = True
        if not any(flags):
            value = of(*args)
            return np.full(batched.size, value), []
        names_over = [name for name, flag in zip(of.program().parameters, flags) if flag]
        if not by:
            return batch(of, names_over)(*args), []
        value, found = value_and_grad(batch(of, names_over), names)(*args)
        return value, list(found)

    def push(self, by, args, tangents, batched=None, batched_tangents=None):
        """Tangents of the float results."""
        if batched is not None:
            return self._each(self.push, by, args, tangents, batched, batched_tangents)
        program, args, options = _call(self.function, tuple(args), None)
        named = {self.names[k]: tangent for k, tangent in zip(by, tangents)}
        _, found = program.jvp(args, named, options)
        return list(found)

    def second(self, by, args, weights, along, directions, batched=None, batched_more=None):
        """How adjoints for these weights change along a direction of the arguments ``along``: derivatives of :meth:`pull`."""
        if batched is not None:
            more = [*weights, *directions]
            count = len(weights)
            one = lambda by, args, more: self.second(by, args, more[:count], along, more[count:])
            return self._each(one, by, args, more, batched, batched_more)
        program, args, options = _call(self.weighted, (*args, *weights), None)
        wanted = sorted({*by, *along})
        direction = {self.names[k]: d for k, d in zip(along, directions)}
        for k in wanted:
            direction.setdefault(self.names[k], args[k] * 0)
        _, _, found = program.hvp(args, direction, [self.names[k] for k in wanted], options)
        return [found[self.names[k]] for k in by]

    def _over(self, batched):
        return [name for name, flag in zip(self.names, batched) if flag]

    @staticmethod
    def _each(one, by, args, more, batched, batched_more):
        """Member after member."""
        found = []
        for m in range(batched.size):
            of = lambda values, flags: [np.asarray(x)[m] if flag else x for x, flag in zip(values, flags)]
            found.append(one(by, of(args, batched), of(more, batched_more)))
        return [np.stack([np.asarray(x) for x in column]) for column in zip(*found)]


class Members(tuple):
    """Which arguments have one value per member, and how many members there are."""

    def __new__(cls, size, flags):
        self = super().__new__(cls, flags)
        self.size = size
        return self


def _list(values):
    return [] if values is None else list(values) if isinstance(values, tuple) else [values]


def merged(fixed, rest):
    """All arguments, in order: those at fixed positions, and the rest."""
    fixed, rest = dict(fixed), list(rest)
    return [fixed[k] if k in fixed else rest.pop(0) for k in range(len(fixed) + len(rest))]


def answered(task, of, fixed, operands, by=(), along=(), flags=(), size=0):
    """The answer to what another library asks: ``call``, ``grad`` (the value, then derivatives), ``push``, ``pull`` or ``second``.

    Operands are the arguments but for those at ``fixed`` positions, and after them tangents, or weights and then directions. ``by`` and
    ``along`` are positions of operands. Where there are members, ``flags`` say which operands have one value for each.
    """
    count = len(of.names) - len(fixed)
    free = [k for k in range(len(of.names)) if k not in dict(fixed)]
    args, more = merged(fixed, operands[:count]), list(operands[count:])
    by, along = [free[k] for k in by], [free[k] for k in along]
    weights = len(of.floats) if task in ("pull", "second") else 0
    more[:weights] = [_weight(x, dtype_of(of.types[k])) for x, k in zip(more[:weights], of.floats)]
    about = ()
    if flags:
        rest = iter(flags)
        about = (Members(size, [k in free and next(rest) for k in range(len(of.names))]), tuple(rest))
    if task == "call":
        out = of.values(args, *about[:1])
    elif task == "grad":
        value, found = of.gradient(by, args, *about[:1])
        out = [value, *found]
    elif task == "second":
        out = of.second(by, args, more[:weights], along, more[weights:], *about)
    else:
        out = (of.push if task == "push" else of.pull)(by, args, more, *about)
    return [np.asarray(x) for x in out]


def _weight(x, dtype):
    x = np.asarray(x, dtype)
    return x if x.ndim else x[()]
