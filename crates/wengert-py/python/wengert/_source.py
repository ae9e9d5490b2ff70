"""From a Python function to the text that is compiled.

The text is that of the function and of the functions it calls, each with its file and line, after a part of imports and numbers.
What else they use from around them, arrays above all, is *captured*: it goes in beside the arguments, and is looked at in every call.

Reading order: :func:`collect`, :class:`_Collection`, :func:`_text_of`.
"""

import ast
import inspect
import math
import sys
import textwrap
import types
from dataclasses import dataclass, field

import numpy as np

from ._errors import CompileError, told

# The libraries whose members programs may use.
LIBRARIES = ("math", "numpy", "numpy.linalg", "scipy.special", "wengert")

# Modules that may stand in a program; what is used of them may be refused there.
_MODULES = LIBRARIES + ("scipy", "typing", "numpy.typing", "numpy.random", "random")


@dataclass(frozen=True)
class Text:
    """The source of a function: its name in the text, its file and first line, and the lines."""

    name: str
    file: str
    line: int
    text: str
    # The tree of the text; its lines are counted from 1.
    tree: ast.FunctionDef


@dataclass
class Collected:
    """A program: its parts, each with file and line, and what is around it."""

    name: str
    parts: list = field(default_factory=list)
    # The names of what is captured, and the objects.
    captured: list = field(default_factory=list)
    # Where names were looked up and what they stood for: (dictionary, name, object) or (cell, None, object).
    watched: list = field(default_factory=list)
    # Numbers in the text: where, and what they were.
    numbers: dict = field(default_factory=dict)

    def key(self):
        """What programs with one text have in common."""
        return (self.name, tuple(self.parts), tuple(name for name, _ in self.captured))


def text_of(function):
    """The source of a plain function or a lambda."""
    code = function.__code__
    name = function.__name__
    try:
        lines, line = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or code.co_filename
    except (OSError, TypeError):
        raise told(
            CompileError,
            "no-source",
            f"the source of `{name}` cannot be read",
            "it was made by `exec` or typed at a prompt: write it to a file, or give its text, as in "
            'wengert.from_source(text, "f")',
            (code.co_filename, code.co_firstlineno, None),
        ) from None
    if code.co_name == "<lambda>":
        return _lambda(function, lines, line, file)
    text = _dedented(lines)
    tree = _parsed(text, file, line)
    found = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not found:
        raise told(
            CompileError,
            "no-source",
            f"the source of `{name}` is not a function",
            "differentiate functions written with `def`, or a lambda",
            (file, line, None),
            lines[0],
        )
    return Text(found[0].name, file, line, _undecorated(text, found[0], function), found[0])


def _undecorated(text, tree, function):
    """The text without decorators that make no difference to it, whatever they are called there."""
    lines = text.splitlines(keepends=True)
    for decorator in tree.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        if _is_ours(named, function):
            for k in range(decorator.lineno - 1, decorator.end_lineno):
                lines[k] = "\n"
    return "".join(lines)


def _is_ours(named, function):
    if isinstance(named, ast.Attribute):
        return named.attr == "differentiable" or ast.unparse(named) in ("wengert.jax.function", "wengert.torch.function")
    if not isinstance(named, ast.Name):
        return False
    found = _look_up(function, named.id)
    known = getattr(sys.modules.get("wengert"), "differentiable", None)
    if found is not None:
        return found[2] is known
    return named.id in ("differentiable", "staticmethod")


def parts_of(text, filename):
    """The functions of a text, by name."""
    tree = _parsed(text, filename, 1)
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _dedented(lines):
    """Lines without the indentation of the first; those of a text in several lines may have less."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    if indent == 0:
        return "".join(lines)
    blank = lines[0][:indent]
    return "".join(line.removeprefix(blank) if line.startswith(blank) else line.lstrip(" \t") for line in lines)


def _parsed(text, file, line):
    try:
        return ast.parse(text)
    except SyntaxError as error:
        at = line + (error.lineno or 1) - 1
        raise told(
            CompileError,
            "no-source",
            f"the source cannot be read by itself: {error.msg}",
            "write the function with `def`, in lines of its own",
            (file, at, None),
            (text.splitlines() or [""])[min((error.lineno or 1), len(text.splitlines())) - 1],
        ) from None


def _lambda(function, lines, line, file):
    """A lambda as a function: its value is what it returns. Several in one place are told apart by where their code is."""
    whole = textwrap.dedent("".join(lines))
    tree = None
    # It may begin within an expression in brackets: the lines around it need not be whole.
    for text in (whole, f"({whole.strip()})", f"({whole.strip().rstrip(',')})", whole[whole.find("lambda") :].strip()):
        for end in range(len(text), 0, -1):
            try:
                tree = ast.parse(text[:end])
            except (SyntaxError, ValueError):
                if "\n" in text or len(text) - end > 200:
                    break
                continue
            break
        if tree is not None:
            whole = text[:end]
            break
    found = [] if tree is None else [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    if len(found) > 1:
        found = [node for node in found if _is_code_of(node, function.__code__)]
    if len(found) != 1:
        raise told(
            CompileError,
            "no-source",
            "which lambda is meant cannot be told from its source",
            "give it lines of its own, or write it with `def`",
            (file, line, None),
            lines[0],
        )
    node = found[0]
    name = "lambda_"
    body = ast.get_source_segment(whole, node.body)
    arguments = ast.unparse(node.args)
    # On one line, because brackets around it would not keep the lines of what is in them.
    text = f"def {name}({arguments}): return ({body})\n"
    first = line + node.lineno - 1
    return Text(name, file, first, text, _parsed(text, file, first).body[0])


def _is_code_of(node, code):
    expression = ast.Expression(ast.fix_missing_locations(ast.parse(ast.unparse(node), mode="eval").body))
    made = next(c for c in compile(expression, "", "eval").co_consts if isinstance(c, types.CodeType))
    same = ("co_code", "co_names", "co_varnames", "co_freevars")
    constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
    made_constants = [c for c in made.co_consts if not isinstance(c, types.CodeType)]
    if code.co_freevars:
        # What is free there is global where it stands alone.
        same = ("co_varnames",)
        free = set(made.co_names) >= set(code.co_freevars)
        return free and all(getattr(made, s) == getattr(code, s) for s in same) and made_constants == constants
    return all(getattr(made, s) == getattr(code, s) for s in same) and made_constants == constants


def collect(function, text, arguments=()):
    """The program of a function: its text is given, those of others are read.

    Numbers around it are part of the text, but for those named in ``arguments``, which are captured.
    """
    collection = _Collection(arguments)
    collection.add(text.name, function, text)
    return collection.finish(text.name)


class _Collection:
    """The functions found so far, and what their names stand for."""

    def __init__(self, arguments):
        self.arguments = set(arguments)
        # Name in the text to the object it stands for.
        self.names = {}
        self.imports = []
        self.constants = []
        self.functions = []
        self.out = Collected("")

    def add(self, name, function, text):
        """A function, and what it uses."""
        before = self.names.get(name, function)
        if before is not function:
            raise self._twice(name, text, text.tree)
        if name in self.names:
            return
        self.names[name] = function
        renamed = text
        if text.name != name:
            # It goes by another name here: only its head is written otherwise.
            lines = text.text.splitlines(keepends=True)
            head = text.tree.lineno - 1
            lines[head] = lines[head].replace(f"def {text.name}", f"def {name}", 1)
            renamed = Text(name, text.file, text.line, "".join(lines), text.tree)
        used, annotations = _used(text.tree)
        for other, node in used.items():
            self._use(other, node, function, text, is_type=other in annotations)
        self.functions.append(renamed)

    def finish(self, name):
        out = self.out
        out.name = name
        head = "".join(self.imports + self.constants)
        if head:
            out.parts.append(("<around it>", 1, head))
        out.parts.extend((text.file, text.line, text.text) for text in self.functions)
        return out

    def _use(self, name, node, function, text, is_type):
        found = _look_up(function, name)
        if found is None:
            return
        place, key, value = found
        if isinstance(value, types.ModuleType):
            if value.__name__ in _MODULES or not is_type:
                self._import(name, value, f"import {value.__name__} as {name}\n", text, node)
            return
        member = _member(value)
        if member is not None:
            self._import(name, value, f"from {member[0]} import {member[1]} as {name}\n", text, node)
            return
        inner = getattr(value, "_text", None)
        if isinstance(inner, Text):
            self.out.watched.append((place, key, value))
            self.add(name, value.python, inner)
            return
        if isinstance(value, types.FunctionType):
            self.out.watched.append((place, key, value))
            self.add(name, value, text_of(value))
            return
        if is_type:
            return
        if isinstance(value, types.BuiltinFunctionType) or isinstance(value, type) or callable(value):
            raise self._error(
                "unsupported-function",
                f"`{name}` is no function that can be differentiated",
                "write it in Python, or use what `math`, `numpy` and `scipy.special` have",
                text,
                node,
            )
        known = self.names.get(name, value)
        if known is not value and not _is_equal(known, value):
            raise self._twice(name, text, node)
        self.out.watched.append((place, key, value))
        if name in self.names:
            return
        self.names[name] = value
        literal = None if name in self.arguments else _literal(value)
        if literal is not None:
            self.out.numbers[name] = literal
            self.constants.append(f"{name} = {literal}\n")
        elif _is_array(value) or isinstance(value, (float, np.floating, int, np.integer, bool, np.bool_)):
            self.out.captured.append((name, value))
        else:
            kind = type(value).__name__
            raise self._error(
                "captured",
                f"`{name}` is {'an' if kind[:1].lower() in 'aeiou' else 'a'} `{kind}`, which cannot be captured",
                "numbers, arrays, lists of numbers and functions can; pass other things as arguments",
                text,
                node,
            )

    def _import(self, name, value, line, text, node):
        if self.names.get(name, value) is not value:
            raise self._twice(name, text, node)
        if name not in self.names:
            self.names[name] = value
            self.imports.append(line)

    def _twice(self, name, text, node):
        return self._error(
            "captured",
            f"`{name}` stands for two different things in the functions of this program",
            "give one of them another name",
            text,
            node,
        )

    def _error(self, code, message, help, text, node):
        line = text.line + node.lineno - 1
        lines = text.text.splitlines()
        shown = lines[node.lineno - 1] if node.lineno <= len(lines) else None
        return told(CompileError, code, message, help, (text.file, line, node.col_offset + 1), shown)


def _look_up(function, name):
    """Where a name is looked up, the key there, and what it stands for; nothing for what Python has itself and what is not
    there."""
    code = function.__code__
    if name in code.co_freevars and function.__closure__:
        cell = function.__closure__[code.co_freevars.index(name)]
        try:
            return cell, None, cell.cell_contents
        except ValueError:
            return None
    if name in function.__globals__:
        return function.__globals__, name, function.__globals__[name]
    return None


def _used(tree):
    """The names a function uses and does not set, each with where it is used first, and those of them that are in annotations
    alone."""
    used, annotations = {}, set()
    own = _assigned(tree)

    def visit(node, local, is_type):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load) and node.id not in local:
                if is_type and node.id not in used:
                    annotations.add(node.id)
                if not is_type:
                    annotations.discard(node.id)
                if node.id not in used or not is_type:
                    used.setdefault(node.id, node)
            return
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not tree:
            local = local | _assigned(node)
        for name, child in ast.iter_fields(node):
            if name == "decorator_list" and node is tree:
                continue
            typed = is_type or name in ("annotation", "returns")
            for one in child if isinstance(child, list) else [child]:
                if isinstance(one, ast.AST):
                    visit(one, local, typed)

    visit(tree, own, False)
    return used, annotations


def _assigned(tree):
    """The names a function sets: its parameters, and what its statements assign, define or loop over."""
    names = {a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)}
    names |= {a.arg for a in (tree.args.vararg, tree.args.kwarg) if a}
    work = list(tree.body) if isinstance(tree.body, list) else []
    while work:
        node = work.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        work.extend(ast.iter_child_nodes(node))
    return names


def _member(value):
    """The library and the name of one of its members."""
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return ("math", "pi") if value is math.pi else ("math", "e") if value is math.e else None
    for library in LIBRARIES:
        module = sys.modules.get(library)
        if module is not None and getattr(module, name, None) is value:
            return library, name
    return None


def _is_array(value):
    return isinstance(value, np.ndarray) or (hasattr(value, "__array__") and hasattr(value, "shape"))


def _is_equal(a, b):
    return type(a) is type(b) and isinstance(a, (int, float)) and a == b


def _literal(value):
    """A number, or a list of numbers, as it is written; nothing for what is not."""
    if isinstance(value, (bool, np.bool_)):
        return repr(bool(value))
    if isinstance(value, (int, np.integer)):
        return repr(int(value))
    if isinstance(value, np.float32):
        return None
    if isinstance(value, (float, np.floating)):
        return repr(float(value)) if math.isfinite(value) else None
    if isinstance(value, (list, tuple)) and value and len(value) <= 1000:
        items = [_literal(item) for item in value]
        if None in items:
            return None
        if isinstance(value, list):
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)},)"
    return None
