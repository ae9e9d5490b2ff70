"""Wengert's functions in JAX programs: ``wengert.jax.function(f)`` is a function that ``jit``, ``grad``, ``jvp`` and ``vmap`` take.

>>> import jax, wengert.jax
>>> def root(a, x):
...     while abs(x * x - a) > 1e-6 * a:
...         x = x - (x * x - a) / (2 * x)
...     return x
>>> slope = jax.jit(jax.grad(wengert.jax.function(root)))
>>> print(f"{slope(4.0, 1.0):.5f}")
0.25000

JAX sees five operations, each a call into compiled code: the function (``call``), its value and gradient (``grad``, of functions of one
float), tangents (``push``), adjoints (``pull``), and how adjoints change along a direction (``second``). Their rules are written in terms
of each other, in both modes and for members of a batch, so what JAX makes of JAX's own operations it makes of these; third derivatives
are an error. In a batch, members run through :func:`wengert.batch` where it can.

Reading order: :class:`Function`, :func:`_host` (what runs), the rules.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _trees
from ._errors import Error, refused
from ._parts import Parts, answered, dtype_of, example, merged, rank_of, taken

__all__ = ["Function", "function"]


def function(f=None, result=None, double=False, **options):
    """A function for JAX programs, of the same arguments: numbers, arrays, and tuples, dictionaries and dataclasses of them.

    It works under ``jit``, ``vmap``, ``grad``, ``value_and_grad``, ``jvp``, ``jacfwd``, ``jacrev`` and ``hessian``, in any order, up to second
    derivatives, and computes on the processor. Whole numbers that Python passes are constants to JAX; those that JAX traces may
    say how often a loop runs, but there is no derivative by them.

    Under ``jit`` JAX asks for the shape of a result before there is one. That of a float is known. That of an array is found by running the
    function on ones, once for arguments of these shapes; where this fails, ``result`` gives it: a ``jax.ShapeDtypeStruct``, or what else has
    ``shape`` and ``dtype``, for each result; or a function of the arguments that gives this. A result of another shape is an error, never
    another number.

    It computes in the precision of its arguments, which in JAX is single unless ``jax_enable_x64`` is on. With ``double=True`` it computes in double
    precision in any case, and what JAX cannot hold is rounded when it comes back.

    ``options`` are those of :func:`wengert.differentiable`, and as that it decorates: ``@wengert.jax.function`` or
    ``@wengert.jax.function(double=True)``.
    """
    if f is None:
        return functools.partial(function, result=result, double=double, **options)
    return Function(f, result, double, options)


class Function:
    """A function for JAX programs. Made by :func:`function`."""

    def __init__(self, f, result, double, options):
        self.function = taken(f, options, "JAX")
        self._result, self._double = result, double
        functools.update_wrapper(self, self.function)
        self._parts, self._shapes = {}, {}

    def __reduce__(self):
        return Function, (self.function, self._result, self._double, {})

    def __repr__(self):
        return f"<{self.function!r} for JAX>"

    def __call__(self, *args, **kwargs):
        names = self.function.program().parameters
        given = self.function.program().bind(args, kwargs)
        structures = tuple(_trees.of(_listed(x), name) for x, name in zip(given, names))
        leaves = [leaf for x, s in zip(given, structures) for leaf in _trees.leaves(_listed(x), s)]
        # Whole numbers of Python are part of the program for JAX.
        fixed = tuple((k, x) for k, x in enumerate(leaves) if isinstance(x, (bool, int, np.bool_, np.integer)))
        operands = [_operand(x, self.function.__name__) for k, x in enumerate(leaves) if k not in dict(fixed)]
        of = self._of(structures, dict(fixed), operands)
        results = self._results(of, fixed, operands, given)
        out = call_p.bind(*operands, **_params(of, fixed, results, self._double))
        return None if not out else out[0] if len(out) == 1 else tuple(out)

    def _of(self, structures, fixed, operands):
        """The program for arguments of these kinds."""
        kinds = tuple((_host_dtype(x.dtype, self._double), np.ndim(x)) for x in operands)
        key = (structures, kinds, tuple((k, type(x)) for k, x in fixed.items()))
        if key not in self._parts:
            rest = iter([example(*kind) for kind in kinds])
            leaves = [fixed[k] if k in fixed else next(rest) for k in range(len(fixed) + len(kinds))]
            flat, of = self.function, iter(leaves)
            args = tuple(_trees.rebuilt(s, of) for s in structures)
            if any(not s.is_leaf for s in structures):
                flat, _, leaves = _trees.flat(self.function, args)
            self._parts[key] = Parts(flat, leaves)
        return self._parts[key]

    def _results(self, of, fixed, operands, given):
        """Shape and elements of each result."""
        dtypes = [jax.dtypes.canonicalize_dtype(dtype_of(kind)) for kind in of.types]
        if self._result is not None:
            asked = self._result(*given) if callable(self._result) else self._result
            asked = asked if isinstance(asked, (tuple, list)) else (asked,)
            asked = [one if hasattr(one, "shape") else np.asarray(one) for one in asked]
            ranks = [len(one.shape) for one in asked]
            if ranks != [rank_of(kind) for kind in of.types]:
                told = f"`{of.name}` returns {', '.join(of.types) or 'nothing'}, but `result` has {ranks} axes"
                raise refused("result-shape", told, "give what has the shape of each result")
            return tuple((tuple(one.shape), dtype) for one, dtype in zip(asked, dtypes))
        if not any(rank_of(kind) for kind in of.types):
            return tuple(((), dtype) for dtype in dtypes)
        key = (of, fixed, tuple(x.shape for x in operands))
        if key not in self._shapes:
            self._shapes[key] = self._looked(of, fixed, operands)
        return tuple(zip(self._shapes[key], dtypes))

    def _looked(self, of, fixed, operands):
        """The shapes of what it returns: for these numbers where they are known, or for ones."""
        known = [None if isinstance(x, jax.core.Tracer) else _numpy(x, self._double) for x in operands]
        ones = [np.ones(x.shape, _host_dtype(x.dtype, self._double))[()] if k is None else k for x, k in zip(operands, known)]
        try:
            values = of.values(merged(fixed, ones))
        except Error as error:
            if all(k is not None for k in known):
                raise
            told = f"the shape of what `{of.name}` returns is not known while JAX traces it: it does not run on ones"
            help = "give it, as in `wengert.jax.function(f, result=jax.ShapeDtypeStruct((3,), float))`"
            raise refused("result-shape", told, help) from error
        return tuple(np.shape(x) for x in values)


def _listed(x):
    """Lists are arrays."""
    return jnp.asarray(x) if isinstance(x, list) else x


def _operand(x, name):
    """What JAX computes with: an array, or what stands for one."""
    try:
        x = x if isinstance(x, jax.Array) else jnp.asarray(x)
    except TypeError as error:
        raise refused("argument-type", f"an argument of `{name}` is nothing JAX knows", str(error)) from None
    if jnp.issubdtype(x.dtype, jnp.complexfloating) or jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended):
        raise refused("argument-type", f"an argument of `{name}` is of `{x.dtype}`", "pass floats, integers or truth values")
    return x


def _host_dtype(dtype, double):
    """What the elements of an argument are computed with."""
    if jnp.issubdtype(dtype, jnp.floating):
        return np.dtype(np.float64 if double or np.dtype(dtype).itemsize == 8 else np.float32)
    return np.dtype(bool if dtype == bool else np.int64)


def _numpy(x, double):
    """An array of JAX as NumPy's, in place where it can be."""
    x = np.asarray(x)
    x = np.asarray(x, _host_dtype(x.dtype, double))
    return x if x.ndim else x[()]


def _params(of, fixed, results, double):
    """What all operations have: the program, constants by position, results, and the precision; what derivatives are by (``by``, positions
    of operands) and along; which operands have one value per member, if there are members, and how many there are."""
    return dict(of=of, fixed=fixed, results=results, double=double, by=(), along=(), flags=(), size=0)


def _count(p):
    """How many operands are arguments of the function."""
    return len(p["of"].names) - len(p["fixed"])


def _lead(p):
    return (p["size"],) if p["flags"] else ()


def _avals(task, operands, p):
    """Shape and elements of what an operation gives."""
    lead, flags = _lead(p), p["flags"]

    def of_operand(k):
        x = operands[k]
        return (lead + tuple(x.shape[1:] if flags and flags[k] else x.shape), x.dtype)

    if task == "call":
        return [(lead + shape, dtype) for shape, dtype in p["results"]]
    if task == "push":
        return [(lead + p["results"][k][0], p["results"][k][1]) for k in p["of"].floats]
    by = [of_operand(k) for k in p["by"]]
    return [(lead, p["results"][0][1])] + by if task == "grad" else by


def _host(task, avals, p, *operands):
    """Runs an operation: arrays in, arrays out."""
    of, operands = p["of"], [_numpy(x, p["double"]) for x in operands]
    about = {name: p[name] for name in ("fixed", "by", "along", "flags", "size")}
    out = answered(task, of, operands=operands, **about)
    for x, (shape, _) in zip(out, avals):
        if x.shape != shape:
            told = f"`{of.name}` returns an array of shape {x.shape}, where {shape} was expected"
            help = "shapes may hang on the shapes of arguments, and on whole numbers that Python passes; or give `result`"
            raise refused("result-shape", told, help)
    return [np.asarray(x, dtype) for x, (_, dtype) in zip(out, avals)]


def _made(task):
    """An operation of JAX."""
    made = Primitive(f"wengert_{task}")
    made.multiple_results = True

    def run(*operands, **p):
        # Outside of `jit`: called at once, and errors are the function's own. Numbers may be Python's.
        operands = [x if hasattr(x, "shape") else jnp.asarray(x) for x in operands]
        return [jnp.asarray(x) for x in _host(task, _avals(task, operands, p), p, *operands)]

    def abstract(*operands, **p):
        return [jax.core.ShapedArray(*aval) for aval in _avals(task, operands, p)]

    def lowered(*operands, **p):
        avals = _avals(task, operands, p)
        structs = [jax.ShapeDtypeStruct(*aval) for aval in avals]
        return jax.pure_callback(functools.partial(_host, task, avals, p), structs, *operands)

    made.def_impl(run)
    made.def_abstract_eval(abstract)
    mlir.register_lowering(made, mlir.lower_fun(lowered, multiple_results=True))
    batching.primitive_batchers[made] = functools.partial(_members, made)
    return made


def _members(made, operands, dims, *, flags, size, **p):
    """An operation for members: of members already, all of both are members of one batch."""
    (outer,) = {x.shape[d] for x, d in zip(operands, dims) if d is not None}
    operands = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims)]
    now = tuple(d is not None for d in dims)
    if not flags:
        out = made.bind(*operands, flags=now, size=outer, **p)
        return out, [0] * len(out)
    merged = []
    for x, is_outer, is_inner in zip(operands, now, flags):
        if is_outer or is_inner:
            own = x.shape[is_outer + is_inner :]
            if not is_inner:
                x = x[:, None]
            x = jnp.broadcast_to(x, (outer, size, *own)).reshape(outer * size, *own)
        merged.append(x)
    both = tuple(a or b for a, b in zip(now, flags))
    out = made.bind(*merged, flags=both, size=outer * size, **p)
    return [x.reshape(outer, size, *x.shape[1:]) for x in out], [0] * len(out)


call_p, grad_p, push_p, pull_p, second_p = map(_made, ("call", "grad", "push", "pull", "second"))


def _is_zero(t):
    return type(t) is ad.Zero


def _zero(x):
    return ad.Zero(jax.typeof(x).to_tangent_aval())


def _moving(tangents):
    """The operands that there is a tangent of."""
    return tuple(k for k, t in enumerate(tangents) if not _is_zero(t) and t.dtype != jax.dtypes.float0)


def _spread(operands, p, which):
    """Operands of which each member gets its own."""
    if not p["flags"]:
        return list(operands), p
    operands, flags = list(operands), list(p["flags"])
    for k in which:
        if not flags[k]:
            operands[k] = jnp.broadcast_to(operands[k], (p["size"], *operands[k].shape))
            flags[k] = True
    return operands, {**p, "flags": tuple(flags)}


def _spread_tangents(tangents, p, which):
    """Tangents of these operands, one per member."""
    lead = _lead(p)
    return [t if not lead or p["flags"][k] else jnp.broadcast_to(t, lead + t.shape) for k, t in zip(which, tangents)]


def _with(p, operands, more, **changes):
    """The parameters of an operation that has further operands, one per member if there are any."""
    flags = p["flags"][: len(operands)] + (True,) * len(more) if p["flags"] else ()
    return {**p, "flags": flags, **changes}


def _dot(found, tangents, p, dtype):
    """The sum of products, of each member."""
    sums = []
    for x, t in zip(found, tangents):
        axes = tuple(range(1, x.ndim)) if p["flags"] else None
        sums.append(jnp.sum(x * t, axis=axes).astype(dtype))
    return functools.reduce(jnp.add, sums)


def _call_jvp(primals, tangents, **p):
    of, by = p["of"], _moving(tangents)
    if not by:
        out = call_p.bind(*primals, **p)
        return out, [_zero(x) for x in out]
    moved = _spread_tangents([tangents[k] for k in by], p, by)
    primals, p = _spread(primals, p, by)
    if of.is_one_float:
        value, *found = grad_p.bind(*primals, **{**p, "by": by})
        return [value], [_dot(found, moved, p, value.dtype)]
    out = call_p.bind(*primals, **p)
    found = iter(push_p.bind(*primals, *moved, **_with(p, primals, moved, by=by)))
    return out, [next(found) if k in of.floats else _zero(x) for k, x in enumerate(out)]


def _grad_jvp(primals, tangents, **p):
    by, along = p["by"], _moving(tangents)
    if not along:
        out = grad_p.bind(*primals, **p)
        return out, [_zero(x) for x in out]
    moved = _spread_tangents([tangents[k] for k in along], p, along)
    primals, p = _spread(primals, p, along)
    every = tuple(sorted({*by, *along}))
    value, *found = grad_p.bind(*primals, **{**p, "by": every})
    found = dict(zip(every, found))
    weight = jnp.ones(_lead(p), value.dtype)
    more = [weight, *moved]
    changes = second_p.bind(*primals, *more, **_with(p, primals, more, by=by, along=along)) if by else []
    change = _dot([found[k] for k in along], moved, p, value.dtype)
    return [value, *(found[k] for k in by)], [change, *changes]


def _push_jvp(primals, tangents, **p):
    count, by = _count(p), p["by"]
    args, along = primals[:count], primals[count:]
    out = push_p.bind(*primals, **p)
    changes = [_zero(x) for x in out]
    if not all(map(_is_zero, tangents[count:])):
        more = [ad.instantiate_zeros(t) for t in tangents[count:]]
        changes = push_p.bind(*args, *more, **p)
    moving = _moving(tangents[:count])
    if moving:
        moved = _spread_tangents([tangents[k] for k in moving], p, moving)
        twice = _twice(args, along, moved, moving, by, p)
        changes = [ad.add_tangents(a, b) for a, b in zip(changes, twice)]
    return out, changes


def _twice(args, along, moved, moving, by, p):
    """The second derivatives of the results along two directions: of each element, a product with its own Hessian."""
    shapes = [p["results"][k] for k in p["of"].floats]
    sizes = [int(np.prod(shape)) for shape, _ in shapes]
    rows = np.eye(sum(sizes))
    at = np.cumsum([0, *sizes])
    weights = [jnp.asarray(rows[:, a:b].reshape(-1, *s), d) for a, b, (s, d) in zip(at, at[1:], shapes)]
    flags = p["flags"]
    flags = flags[: len(args)] + (False,) * len(weights) + flags[len(args) :] if flags else ()
    one = lambda *weights: second_p.bind(*args, *weights, *along, **{**p, "by": moving, "along": by, "flags": flags})
    products = jax.vmap(one)(*weights)
    lead = len(_lead(p))
    sums = [jnp.sum(x * t, axis=tuple(range(1 + lead, x.ndim))) for x, t in zip(products, moved)]
    total = jnp.moveaxis(functools.reduce(jnp.add, sums), 0, -1)
    return [total[..., a:b].reshape(*_lead(p), *s).astype(d) for a, b, (s, d) in zip(at, at[1:], shapes)]


def _pull_jvp(primals, tangents, **p):
    count, by = _count(p), p["by"]
    args, weights = primals[:count], list(primals[count:])
    out = pull_p.bind(*primals, **p)
    changes = [_zero(x) for x in out]
    if not all(map(_is_zero, tangents[count:])):
        more = [ad.instantiate_zeros(t) for t in tangents[count:]]
        changes = pull_p.bind(*args, *more, **p)
    along = _moving(tangents[:count])
    if along:
        moved = _spread_tangents([tangents[k] for k in along], p, along)
        q = _with(p, primals, moved, by=by, along=along)
        found = second_p.bind(*args, *weights, *moved, **q)
        changes = [ad.add_tangents(a, b) for a, b in zip(changes, found)]
    return out, changes


def _second_jvp(primals, tangents, **p):
    count, of = _count(p), p["of"]
    if _moving(tangents[:count]):
        told = f"third derivatives of `{of.name}` are not among what JAX can have of it"
        raise refused("not-differentiable", told, "up to second derivatives are")
    weights = count + len(of.floats)
    out = second_p.bind(*primals, **p)
    changes = [_zero(x) for x in out]
    for part in (slice(count, weights), slice(weights, None)):
        if not all(map(_is_zero, tangents[part])):
            operands = list(primals)
            operands[part] = [ad.instantiate_zeros(t) for t in tangents[part]]
            changes = [ad.add_tangents(a, b) for a, b in zip(changes, second_p.bind(*operands, **p))]
    return out, changes


def _own(found, at, p):
    """Adjoints as the operands are: of those that all members share, the sum."""
    return [x.sum(axis=0) if p["flags"] and not p["flags"][k] else x for k, x in enumerate(found, at)]


def _push_transpose(adjoints, *operands, **p):
    count = _count(p)
    args = operands[:count]
    weights = [ad.instantiate_zeros(x) for x in adjoints]
    found = pull_p.bind(*args, *weights, **_with(p, args, weights))
    return [None] * count + _own(found, count, p)


def _pull_transpose(adjoints, *operands, **p):
    count = _count(p)
    args = operands[:count]
    tangents = [ad.instantiate_zeros(x) for x in adjoints]
    found = push_p.bind(*args, *tangents, **_with(p, args, tangents))
    return [None] * count + _own(found, count, p)


def _second_transpose(adjoints, *operands, **p):
    count = _count(p)
    weights = count + len(p["of"].floats)
    adjoints = [ad.instantiate_zeros(x) for x in adjoints]
    by, along = p["by"], p["along"]
    if not any(map(ad.is_undefined_primal, operands[count:weights])):
        # A Hessian is symmetric.
        known = operands[:weights]
        found = second_p.bind(*known, *adjoints, **_with(p, known, adjoints, by=along, along=by))
        return [None] * weights + _own(found, weights, p)
    args, directions = operands[:count], operands[weights:]
    flags = p["flags"][:count] + p["flags"][weights:]
    found = _twice(args, directions, adjoints, by, along, {**p, "flags": flags})
    return [None] * count + _own(found, count, p) + [None] * len(directions)


ad.primitive_jvps[call_p] = _call_jvp
ad.primitive_jvps[grad_p] = _grad_jvp
ad.primitive_jvps[push_p] = _push_jvp
ad.primitive_jvps[pull_p] = _pull_jvp
ad.primitive_jvps[second_p] = _second_jvp
ad.primitive_transposes[push_p] = _push_transpose
ad.primitive_transposes[pull_p] = _pull_transpose
ad.primitive_transposes[second_p] = _second_transpose
