"""Functions that can be run and differentiated."""

import functools
import sys
import threading
import types
import weakref

from . import _options, _source
from ._errors import CompileError, told
from ._wengert import Caller, Program

# Programs with one text are compiled once, as long as somebody has them.
_programs = weakref.WeakValueDictionary()
_lock = threading.RLock()


class Differentiable(Caller):
    """A function that runs as native code, and can be differentiated. Made by :func:`wengert.differentiable`.

    It is called as the function it was made of, which is its ``python``. The arrays it is given are never written to: a function that
    overwrites its arguments gets copies.
    """

    def __new__(cls, function, options, text):
        return super().__new__(cls, _options.run_options(options))

    def __init__(self, function, options, text):
        functools.update_wrapper(self, function)
        self.python = function
        self.options = options
        self._text = text
        # The names of numbers that have changed: from then on they are arguments.
        self._changing = set()
        self._numbers = {}
        self._last = None
        # For arguments made of parts: by what they are made of.
        self._flats = {}

    def _run_as(self, options):
        """The same function, run with these options as well."""
        return Differentiable(self.python, {**self.options, **options}, self._text)

    def _with_trees(self, args):
        from . import _trees

        function, _, parts = _trees.flat(self, args)
        return function(*parts)

    def _collected(self):
        """The text, and what is around it now."""
        return _source.collect(self.python, self._text, self._changing)

    def _program(self):
        """The program with what is around it now."""
        with _lock:
            collected = self._collected()
            changed = {n for n, now in collected.numbers.items() if self._numbers.get(n, now) != now}
            if changed:
                self._changing |= {n for n in changed if not _is_counted(collected.numbers[n])}
                collected = self._collected()
            self._numbers = collected.numbers
            key = (collected.key(), _defaults_key(self.python))
            values = [value for _, value in collected.captured]
            known = _programs.get(key)
            if known is not None:
                self._last = known
                return known.program.around(values, collected.watched)
            program = Program(
                collected.parts, collected.name, _defaults(self.python), collected.captured, collected.watched
            )
            self._last = _programs[key] = _Kept(program)
            return program

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"<differentiable {self.__module__}.{self.__qualname__}>"

    def _repr_html_(self):
        from . import _display

        return _display.program(self)

    def __reduce__(self):
        if _named(self.__module__, self.__qualname__) is self and self.__module__ != "__main__":
            # As functions are: by name. The program that was started has another one in other processes.
            return self.__qualname__
        collected = self._collected()
        about = (self.__module__, self.__qualname__, self.__doc__, _defaults(self.python))
        return _rebuilt, (collected.name, collected.parts, collected.captured, about, self.options)


class _Kept:
    """A program that others are made of."""

    def __init__(self, program):
        self.program = program


def _is_counted(literal):
    """Whether a number is written as an integer or a truth value, or is several numbers: these stay in the text, because sizes and
    branches may hang on them."""
    return literal in ("True", "False") or literal.lstrip("-").isdigit() or literal[:1] in "[("


def _defaults(function):
    """The defaults of a function's parameters, by name."""
    code = function.__code__
    given = function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    return dict(zip(names[len(names) - len(given) :], given))


def _defaults_key(function):
    return tuple((name, id(value)) for name, value in _defaults(function).items())


def differentiable(function=None, /, **options):
    """Makes a function that runs as native code and can be differentiated.

    Its source is read, never executed; what it may contain is in docs/language.md. It is compiled when it is first called, in
    milliseconds, and again for arguments of other kinds.

    >>> import wengert
    >>> @wengert.differentiable
    ... def root(a, x0=1.0):
    ...     x = x0
    ...     while abs(x * x - a) > 1e-12:
    ...         x = x - (x * x - a) / (2 * x)
    ...     return x
    >>> root(2.0)
    1.4142135623730951
    >>> value, slope = wengert.value_and_grad(root, wrt="a")(2.0)
    >>> slope
    0.3535533905932738

    Options say how it runs (see :func:`wengert.value_and_grad`), as in ``@wengert.differentiable(memory="64MiB")``; those of a call
    of :func:`wengert.grad` and its kin come before them.
    """
    options = _options.checked(options)
    if function is None:
        return functools.partial(differentiable, **options)
    if isinstance(function, Differentiable):
        return function._run_as(options)
    if isinstance(function, staticmethod):
        return staticmethod(differentiable(function.__func__, **options))
    if isinstance(function, types.MethodType):
        raise TypeError("a bound method cannot be differentiated: decorate it where the class defines it")
    if not isinstance(function, types.FunctionType):
        what = type(function).__name__
        raise told(
            CompileError,
            "no-source",
            f"a `{what}` has no source in Python",
            "differentiate functions written with `def`, or a lambda",
        )
    return Differentiable(function, options, _source.text_of(function))


def from_source(text, name=None, filename="<source>", **options):
    """A function of a source text: the one of that name, or the last.

    >>> import wengert
    >>> f = wengert.from_source("def half(x):\\n    return x / 2\\n\\ndef quarter(x):\\n    return half(half(x))\\n")
    >>> f(1.0), wengert.grad(f)(1.0)
    (0.25, 0.25)
    """
    functions = _source.parts_of(text, filename)
    chosen = [node for node in functions if name is None or node.name == name]
    # Without one, the program says what is wrong.
    name = chosen[-1].name if chosen else name or "f"
    Program([(filename, 1, text)], name, {}, [], [])
    namespace = {"__name__": "<wengert>", "__builtins__": __builtins__}
    return FromText(name, [(filename, 1, text)], [], _options.checked(options), namespace)


class FromText(Differentiable):
    """A function of a source text."""

    def __new__(cls, name, parts, captured, options, namespace):
        return super().__new__(cls, None, options, None)

    def __init__(self, name, parts, captured, options, namespace):
        self.__name__ = self.__qualname__ = name
        self.__module__ = "<wengert>"
        self.__doc__ = None
        self.options = options
        self._parts, self._captured, self._namespace = parts, captured, namespace
        self._made = None
        self._flats = {}

    def _run_as(self, options):
        return FromText(self.__name__, self._parts, self._captured, {**self.options, **options}, self._namespace)

    @functools.cached_property
    def python(self):
        """The function as Python runs it."""
        for file, line, text in self._parts:
            code = compile("\n" * (line - 1) + text, file, "exec")
            exec(code, self._namespace)  # noqa: S102: it is the user's own text
        self._namespace.update(self._captured)
        return self._namespace[self.__name__]

    def _collected(self):
        return _source.Collected(self.__name__, self._parts, self._captured)

    def _program(self):
        with _lock:
            if self._made is None:
                defaults = _defaults(self.python) if any(_has_defaults(t) for _, _, t in self._parts) else {}
                self._made = Program(self._parts, self.__name__, defaults, self._captured, [])
            return self._made

    def __reduce__(self):
        about = (self.__module__, self.__qualname__, self.__doc__, None)
        return _rebuilt, (self.__name__, self._parts, self._captured, about, self.options)


def _has_defaults(text):
    return any(node.args.defaults for node in _source.parts_of(text, "<source>"))


def _named(module, qualname):
    """What a module has under a name."""
    found = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _rebuilt(name, parts, captured, about, options):
    """A function that was pickled by its text: where it comes from, itself."""
    there = _named(about[0], about[1])
    if isinstance(there, Differentiable) and not isinstance(there, FromText) and there.options == options:
        collected = there._collected()
        if collected.parts == parts and not captured:
            return there
    namespace = {"__name__": "<wengert>", "__builtins__": __builtins__}
    made = FromText(name, parts, captured, options, namespace)
    made.__module__, made.__qualname__, made.__doc__, _ = about
    return made
