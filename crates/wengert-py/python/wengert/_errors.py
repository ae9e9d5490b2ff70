"""What can go wrong. Every message shows the line of the user's own file, and the way out."""

__all__ = ["Error", "CompileError", "ArgumentError", "BackendError", "RunError"]


class Error(Exception):
    """What all errors of wengert have in common.

    Printed, it shows the source line and the way out. The same as data: ``code`` (``"index-out-of-range"``; see
    :func:`wengert.explain`), ``message``, ``help``, ``file``, ``line``, ``column``, and ``iterations``: the loops that were running,
    innermost first, each as the line where it begins and its iteration, counted from 0.
    """

    def __init__(self, text, code="", message="", help=None, place=None, iterations=()):
        super().__init__(text)
        self.text = text
        self.code = code
        self.message = message or text
        self.help = help
        self.file, self.line, self.column = place or (None, None, None)
        self.iterations = list(iterations)

    def __str__(self):
        return self.text

    def __reduce__(self):
        place = (self.file, self.line, self.column) if self.file is not None else None
        return type(self), (self.text, self.code, self.message, self.help, place, self.iterations)


class CompileError(Error):
    """The function is not a program that can be differentiated."""


class ArgumentError(Error, TypeError):
    """The arguments, or what to differentiate by, do not fit the function."""


class BackendError(Error, RuntimeError):
    """Native code could not be made of it."""


class RunError(Error, RuntimeError):
    """The program was run and failed: an index out of range, a loop that does not end, an assertion."""


for _class in (Error, CompileError, ArgumentError, BackendError, RunError):
    # Where people know them from, in tracebacks too.
    _class.__module__ = "wengert"


def told(kind, code, message, help=None, place=None, line_text=None):
    """An error of the package's own, in the form of the compiler's."""
    text = f"error[{code}]: {message}"
    if place is not None:
        file, line, column = place
        text += f"\n --> {file}:{line}" + (f":{column}" if column else "")
        if line_text is not None:
            margin = " " * len(str(line))
            text += f"\n{margin} |\n{line} | {line_text.rstrip()}\n{margin} |"
    if help:
        text += f"\n  = help: {help}"
    return kind(text, code, message, help, place)


def refused(code, message, help):
    """An error about the arguments of a call."""
    return told(ArgumentError, code, message, help)
