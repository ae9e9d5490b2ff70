"""Derivatives of functions, in the forms people want them."""

import numpy as np

from . import _options, _trees
from ._errors import refused
from ._function import Differentiable, differentiable
from ._progress import shown_while
from ._wengert import Caller
from ._wrt import At, by_name, form, name_of, parameters


def _function(f, instead="second derivatives are `wengert.hessian(f)` and `wengert.hvp(f)`"):
    """A differentiable function of anything that can be one; ``instead`` says what to write where ``f`` is a derivative."""
    if isinstance(f, _Task):
        raise TypeError(f"the {f.__name__} cannot be used as a function here: {instead}")
    return f if isinstance(f, (Differentiable, Batch)) else differentiable(f)


class _Task:
    """What a callable made of a function has: the function, and how it is run."""

    def _about(self, f, wrt, given, what):
        self.function, self.wrt, self._given = f, wrt, given
        self.options = {**f.options, **given}
        self.__name__ = self.__qualname__ = f"{what} of {f.__name__}"
        self.__module__ = f.__module__
        self.__doc__ = f"{self.__name__}.\n\n{f.__doc__ or ''}".rstrip()

    def __repr__(self):
        by = "" if self.wrt is None else f", wrt={self.wrt!r}"
        return f"<{self.__name__}{by}>"


class _Gradient(_Task, Caller):
    """A gradient, with or without the value."""

    def __new__(cls, f, wrt, with_value, options):
        shape, names = form(f, wrt)
        options = _options.run_options({**f.options, **options})
        return Caller.__new__(cls, options, shape, names, with_value)

    def __init__(self, f, wrt, with_value, options):
        self._about(f, wrt, options, "value and gradient" if with_value else "gradient")
        self._with_value = with_value
        # For arguments made of parts.
        self._inner = {}

    def _program(self):
        return self.function.program()

    def _with_trees(self, args):
        """Of arguments made of parts: derivatives are made of the same parts."""
        at = At(self.function, args, self.wrt)
        key = (at.function, tuple(at.by))
        if key not in self._inner:
            self._inner[key] = _gradient(at.function, key[1], True, self._given)
        value, found = self._inner[key](*at.args)
        found = at.formed(dict(zip(at.by, found)))
        return (value, found) if self._with_value else found

    def __reduce__(self):
        return _gradient, (self.function, self.wrt, self._with_value, self._given)


class _Watched(_Gradient):
    """A gradient that shows how far it is."""

    def __call__(self, *args, **kwargs):
        with shown_while(self.run_options, self.__name__):
            return super().__call__(*args, **kwargs)


def _gradient(f, wrt, with_value, options):
    f = _function(f)
    if isinstance(f, Batch):
        return _BatchGradient(f, wrt, with_value, options)
    options = _options.checked(options)
    is_watched = {**f.options, **options}.get("progress")
    return (_Watched if is_watched else _Gradient)(f, wrt, with_value, options)


def grad(f, wrt=None, **options):
    """The gradient of a function that returns one float, as a function of the same arguments.

    ``wrt`` says what it is by, by name or position: of one parameter it is the derivative, of several, ``wrt=("a", "b")``, a tuple. Without
    it, it is by all floats and arrays of floats, as a dictionary by name, or of a function of one parameter the derivative itself.
    Derivatives have the shapes of their arguments. See :func:`value_and_grad` for the options.

    >>> import wengert
    >>> f = lambda x, k, n: k * x**3
    >>> wengert.grad(f, wrt="x")(2.0, 0.5, 1)
    6.0
    >>> wengert.grad(f)(2.0, 0.5, 1)
    {'x': 6.0, 'k': 8.0, 'n': 0.0}
    """
    return _gradient(f, wrt, False, options)


def value_and_grad(f, wrt=None, **options):
    """The value of a function and its gradient, as a function of the same arguments; as :func:`grad` otherwise.

    >>> import numpy as np, wengert
    >>> @wengert.differentiable
    ... def energy(x, k):
    ...     total = 0.0
    ...     for i in range(len(x)):
    ...         total += 0.5 * k * x[i] * x[i]
    ...     return total
    >>> wengert.value_and_grad(energy, wrt=("x", "k"))(np.array([1.0, 2.0]), 3.0)
    (7.5, (array([3., 6.]), 2.5))

    Options, here, for :func:`wengert.differentiable` and for all functions that run something:

    - ``memory="64MiB"``: bytes for what the way back through loops needs; where it needs more, iterations are run again. Changes no bit.
    - ``disk=("run", "10GiB")``: a folder for states beside the memory; ``resume="run"`` goes on with a run that was cut off there;
      ``fsync=True`` also after a loss of power.
    - ``threads=4``: how many threads batches and parallel loops run on. Changes no bit.
    - ``backend="jit"``: what runs it; see ``docs/python.md``. Changes no bit.
    - ``progress=True``: a line that shows how far a long run is.
    - ``max_iterations``, ``tape_limit``: when a run is given up.
    - ``precision="f32"``: states are kept with fewer digits; ``invert=True``: loops are taken back without them.
    """
    return _gradient(f, wrt, True, options)


def _call(f, args, kwargs, given=()):
    """The program of a function, one argument for each parameter, and how it is run."""
    program = f.program()
    options = _options.run_options({**f.options, **dict(given)}) if given else f.run_options
    return program, program.bind(args, kwargs), options


def _result(values):
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def _is_float(value):
    return isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def jvp(f, args, tangents, **options):
    """The value of a function, and its derivative along a direction, in forward mode.

    ``tangents`` has one entry for each argument, ``None`` where the argument stays fixed, or is a dictionary by name.

    >>> import wengert
    >>> wengert.jvp(lambda x, y: (x * y, x + y), (3.0, 5.0), {"x": 1.0})
    ((15.0, 8.0), (5.0, 1.0))
    """
    f = _function(f)
    _, args, options = _call(f, tuple(args), None, options)
    at = At(f, args)
    values, derivatives = at.program.jvp(at.args, at.directions(by_name(f, tangents, "tangents")), options)
    return _result(values), _result(derivatives)


def vjp(f, /, *args, wrt=None, **kwargs):
    """The value of a function, and a function that pulls adjoints of its float results back to its parameters.

    The adjoint of a result has its shape; of several results, a tuple. What it gives has the form of :func:`grad`.

    >>> import wengert
    >>> value, pull = wengert.vjp(lambda x, y: (x * y, x + y), 3.0, 5.0, wrt=("x", "y"))
    >>> value, pull((1.0, 10.0))
    ((15.0, 8.0), (15.0, 13.0))
    """
    f = _function(f)
    given = {name: kwargs.pop(name) for name in list(kwargs) if name in _options.NAMES and name not in parameters(f)}
    _, args, options = _call(f, args, kwargs, given)
    at = At(f, args, wrt)
    value = f(*args)

    def pull(adjoint):
        adjoints = list(adjoint) if isinstance(adjoint, (tuple, list)) and isinstance(value, tuple) else [adjoint]
        _, found = at.program.vjp(at.args, adjoints, at.by, options)
        return at.formed(found)

    return value, pull


class _Plain(_Task):
    """A callable made of a function that needs no speed of its own."""

    def __init__(self, f, wrt, options, what):
        self._about(f, wrt, _options.checked(options), what)
        # What is wrong with it is said here.
        form(f, wrt)

    def __call__(self, *args, **kwargs):
        _, args, options = _call(self.function, args, kwargs, self._given)
        return self._run(At(self.function, args, self.wrt), options)

    def __reduce__(self):
        return type(self), (self.function, self.wrt, *self._more())

    def _more(self):
        return (self._given,)


class _Jacobian(_Plain):
    def __init__(self, f, wrt, mode, options):
        super().__init__(f, wrt, options, "Jacobian")
        self._mode = mode

    def _more(self):
        return self._mode, self._given

    def _run(self, at, options):
        _, blocks = at.program.jacobian(at.args, at.by, self._mode, options)
        by_result = {}
        for result, name, derivative in blocks:
            by_result.setdefault(result, {})[name] = derivative
        rows = [at.formed(found) for found in by_result.values()]
        return _result(rows)


def jacobian(f, wrt=None, mode=None, **options):
    """The derivative of every result by every parameter, as a function of the same arguments.

    Of one result by one parameter it has the axes of the result, then those of the parameter. It has the form of :func:`grad`; of several
    results, a tuple of that. ``mode`` is "forward" or "reverse"; without it, the one that takes fewer runs.

    >>> import numpy as np, wengert
    >>> wengert.jacobian(lambda x: x * x)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])
    """
    return _Jacobian(_function(f), wrt, mode, options)


class _Hessian(_Plain):
    def __init__(self, f, wrt, options):
        super().__init__(f, wrt, options, "Hessian")

    def _run(self, at, options):
        _, _, blocks = at.program.hessian(at.args, at.by, options)
        rows = {}
        for (a, b), derivative in blocks.items():
            rows.setdefault(a, {})[b] = derivative
        return at.formed({a: at.formed(row) for a, row in rows.items()})


def hessian(f, wrt=None, **options):
    """The second derivatives of a function that returns one float, as a function of the same arguments.

    By one parameter it has the parameter's axes twice; by several, it is a tuple of tuples, or a dictionary of dictionaries.

    >>> import wengert
    >>> wengert.hessian(lambda x, y: x * x * y, wrt=("x", "y"))(3.0, 5.0)
    ((10.0, 6.0), (6.0, 0.0))
    """
    return _Hessian(_function(f), wrt, options)


class _HessianProduct(_Plain):
    def __init__(self, f, wrt, options):
        super().__init__(f, wrt, options, "Hessian product")

    def __call__(self, *args, **kwargs):
        if "direction" in kwargs:
            direction = kwargs.pop("direction")
        elif args:
            *args, direction = args
        else:
            raise TypeError("give the arguments of the function, then the direction")
        _, args, options = _call(self.function, tuple(args), kwargs, self._given)
        at = At(self.function, args, self.wrt)
        if at.form == "single":
            names = at.names or parameters(self.function)
            direction = {names[0]: direction}
        elif at.form == "tuple":
            direction = dict(zip(at.names, direction, strict=True))
        else:
            direction = by_name(self.function, direction, "directions")
        _, _, product = at.program.hvp(at.args, at.directions(direction), at.by, options)
        return at.formed(product)


def hvp(f, wrt=None, **options):
    """The Hessian of a function times a direction, without the Hessian: a function of the arguments and, after them, the direction, which
    has the form of the gradient.

    >>> import numpy as np, wengert
    >>> f = lambda x: x[0] * x[0] * x[1]
    >>> wengert.hvp(f)(np.array([3.0, 5.0]), np.array([1.0, 0.0]))
    array([10.,  6.])

    So it is what ``scipy.optimize.minimize`` takes as ``hessp``.
    """
    return _HessianProduct(_function(f), wrt, options)


class Sparse(tuple):
    """A sparse matrix where SciPy is not installed: ``shape``, ``indptr``, ``indices`` and ``data``, as in ``scipy.sparse.csr_array``."""

    def __new__(cls, shape, indptr, indices, data):
        self = super().__new__(cls, (shape, indptr, indices, data))
        self.shape, self.indptr, self.indices, self.data = shape, indptr, indices, data
        return self

    def __getnewargs__(self):
        return tuple(self)

    def toarray(self):
        """All entries."""
        out = np.zeros(self.shape)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        out[rows, self.indices] = self.data
        return out


class _SparseDerivative(_Plain):
    def __init__(self, f, wrt, is_hessian, options):
        super().__init__(f, wrt, options, "sparse Hessian" if is_hessian else "sparse Jacobian")
        self._is_hessian = is_hessian

    def _more(self):
        return self._is_hessian, self._given

    def _run(self, at, options):
        _, shape, starts, columns, entries, _ = at.program.sparse(at.args, at.by, self._is_hessian, options)
        try:
            from scipy.sparse import csr_array
        except ImportError:
            return Sparse(shape, starts, columns, entries)
        return csr_array((entries, columns, starts), shape=shape)


def sparse_jacobian(f, wrt=None, **options):
    """The Jacobian as a ``scipy.sparse.csr_array``: all float results in a row down, all parameters in a row across. Which entries can be
    other than zero is found out, and few runs give them all. Without SciPy it is a :class:`Sparse`.

    >>> import numpy as np, wengert
    >>> def chain(x):
    ...     y = np.zeros(len(x))
    ...     for i in range(1, len(x)):
    ...         y[i] = x[i] * x[i - 1]
    ...     return y
    >>> wengert.sparse_jacobian(chain)(np.array([2.0, 3.0, 5.0])).toarray()
    array([[0., 0., 0.],
           [3., 2., 0.],
           [0., 5., 3.]])
    """
    return _SparseDerivative(_function(f), wrt, False, options)


def sparse_hessian(f, wrt=None, **options):
    """The Hessian as a ``scipy.sparse.csr_array``, as :func:`sparse_jacobian`."""
    return _SparseDerivative(_function(f), wrt, True, options)


def linearize(f, /, *args, wrt=None, **kwargs):
    """The derivative of a function at a point as a ``scipy.sparse.linalg.LinearOperator``: ``A @ v`` is forward mode along ``v``, ``A.T @ u``
    reverse mode. What the function returned is its ``value``. It is by one parameter, a number or an array, and of one result.

    >>> import numpy as np, wengert
    >>> A = wengert.linearize(lambda x: x * x, np.array([1.0, 3.0]))
    >>> A @ np.array([1.0, 1.0]), A.T @ np.array([1.0, 0.0])
    (array([2., 6.]), array([2., 0.]))
    """
    from scipy.sparse.linalg import LinearOperator

    f = _function(f)
    names = parameters(f)
    if wrt is None and len(names) > 1:
        raise refused(
            "nothing-to-differentiate",
            f"`{f.__name__}` has {len(names)} parameters, and a linear operator is by one",
            f"say which, as in `wrt={names[0]!r}`",
        )
    name = name_of(f, 0 if wrt is None else wrt)
    given = {key: kwargs.pop(key) for key in list(kwargs) if key in _options.NAMES and key not in names}
    _, args, options = _call(f, args, kwargs, given)
    if _trees.is_tree(args[names.index(name)]):
        message = f"`{name}` is made of parts, and a linear operator is by one number or array"
        raise refused("argument-type", message, "pass the part it is by as an argument of its own")
    value = f(*args)
    if not _is_float(value):
        message = f"`{f.__name__}` returns {'several values' if isinstance(value, tuple) else 'no float'}"
        raise refused("not-a-scalar", message, "a linear operator is of one float or one array of floats")
    at = At(f, args, name)
    (own,) = at.by
    point = np.asarray(args[names.index(name)], dtype=float)
    shape_in, shape_out = point.shape, np.shape(value)

    def along(v):
        v = np.asarray(v, dtype=float).reshape(shape_in)
        _, tangents = at.program.jvp(at.args, {own: v if shape_in else float(v)}, options)
        return np.ravel(tangents[0])

    def back(u):
        u = np.asarray(u, dtype=float).reshape(shape_out)
        _, adjoints = at.program.vjp(at.args, [u if shape_out else float(u)], [own], options)
        return np.ravel(adjoints[own])

    sizes = (int(np.prod(shape_out)), int(np.prod(shape_in)))
    operator = LinearOperator(sizes, matvec=along, rmatvec=back, dtype=float)
    operator.value = value
    return operator


class Batch:
    """A function over many values of some of its arguments. Made by :func:`batch`."""

    def __init__(self, f, over, options):
        self.function, self._given = f, _options.checked(options)
        self.over = [name_of(f, one) for one in ([over] if isinstance(over, (str, int)) else over)]
        self.options = {**f.options, **self._given}
        self.__name__, self.__module__ = f.__name__, f.__module__
        self.__qualname__, self.__doc__ = f.__qualname__, f.__doc__

    @property
    def run_options(self):
        return _options.run_options(self.options)

    def program(self):
        return self.function.program()

    def __call__(self, *args, **kwargs):
        _, args, options = _call(self, args, kwargs)
        at = At(self.function, args, over=self.over)
        return _result(at.program.batch(at.args, at.over, options))

    def __repr__(self):
        return f"<batch of {self.__name__} over {', '.join(self.over)}>"


class _BatchGradient(_Plain):
    def __init__(self, f, wrt, with_value, options):
        super().__init__(f, wrt, options, "gradient")
        self._with_value = with_value

    def _more(self):
        return self._with_value, self._given

    def __call__(self, *args, **kwargs):
        _, args, options = _call(self.function, args, kwargs, self._given)
        at = At(self.function.function, args, self.wrt, self.function.over)
        values, found = at.program.batch_gradient(at.args, at.over, at.by, options)
        found = at.formed(found)
        return (values, found) if self._with_value else found


def batch(f, over, **options):
    """A function over many values of the arguments named by ``over``: these have one more axis, the first, and so have the results.

    Members run on all cores, each on its own path. :func:`grad` and :func:`value_and_grad` of it give, by arguments that differ, each
    member's derivative, and by those that all share the sum.

    >>> import numpy as np, wengert
    >>> def root(a, x):
    ...     while abs(x * x - a) > 1e-12:
    ...         x = x - (x * x - a) / (2 * x)
    ...     return x
    >>> roots = wengert.batch(root, over="a")
    >>> roots(np.array([4.0, 100.0]), 1.0)
    array([ 2., 10.])
    >>> wengert.grad(roots, wrt="a")(np.array([4.0, 100.0]), 1.0)
    array([0.25, 0.05])
    """
    return Batch(_function(f, "derivatives of many are `wengert.grad(wengert.batch(f, over=..))`"), over, options)
