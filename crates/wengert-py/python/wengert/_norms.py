"""How large adjoints are along a loop: where they die out nothing is learnt of what came before, and where they grow rounding does too.

The loop gets a probe: to every float that it carries, zeros are added at the start of its iterations. The derivative by the zeros of an
iteration is the adjoint of the variable there. So what is looked at is the gradient itself, and no number of it is another.
"""

import ast
import copy

import numpy as np

from . import _options, _trees
from ._derivatives import _function, value_and_grad
from ._errors import refused
from ._parts import dtype_of, is_float
from ._source import Collected
from ._wrt import At

# Bytes that adjoints may take.
MOST_BYTES = 64 * 2**20

_COUNT = "wengert_iteration"


def adjoint_norms(f, /, *args, line=None, most=500, **kwargs):
    """The size of the adjoint of everything a loop carries, at the start of its iterations, in the gradient of a function of one float.

    The loop is the one that runs most often, or that of ``line``, among those that are in no other. Of long loops ``most`` iterations are
    looked at, evenly. Numbers have their absolute value, arrays the root of the sum of squares. In a notebook it is a picture.

    >>> import wengert
    >>> def decay(x, n):
    ...     for i in range(n):
    ...         x = 0.5 * x
    ...     return x
    >>> norms = wengert.adjoint_norms(decay, 1.0, 4)
    >>> norms.iterations, norms.norms["x"]
    (array([0, 1, 2, 3]), array([0.0625, 0.125 , 0.25  , 0.5   ]))
    """
    f = _function(f)
    names = f.program().parameters
    given = {name: kwargs.pop(name) for name in list(kwargs) if name in _options.NAMES and name not in names}
    args = f.program().bind(args, kwargs)
    # What fails, fails in lines of the file.
    f(*args)
    collected = f._collected()
    loops = _loops(f, collected)
    if line is not None:
        loops = [loop for loop in loops if loop.at == line]
        if not loops:
            raise refused(
                "no-loop", f"`{f.__name__}` has no loop at line {line} that is in no other", "leave `line` out, or give that of a loop"
            )
    counts = [_Probed(f, loop.counting())(*args) for loop in loops]
    if not any(counts):
        raise refused("no-loop", f"`{f.__name__}` runs no loop with these arguments", "adjoints are looked at along a loop")
    count, loop = max(zip(counts, loops), key=lambda both: both[0])
    kinds, left_out = _kinds(f, loop, args)
    if not kinds:
        raise refused("no-loop", f"the loop of line {loop.at} carries no floats", "there are no adjoints along it")
    values = _Probed(f, loop.returning(kinds, loop.index))(*args)
    values = values if isinstance(values, tuple) else (values,)
    carried = [(n, np.asarray(v, dtype_of(kind))) for (n, kind), v in zip(kinds.items(), values)]
    size = sum(v.nbytes for _, v in carried)
    most = max(1, min(most, MOST_BYTES // max(size, 1)))
    every = -(-count // most)
    points = -(-count // every)
    probes = [np.zeros((points, *v.shape), v.dtype) for _, v in carried]
    probed = _Probed(f, loop.probed([(n, v.ndim) for n, v in carried], every))
    by = tuple(_probe(n) for n, _ in carried)
    value, found = value_and_grad(probed, by, **given)(*args, *probes)
    norms = {n: np.sqrt(np.sum(np.square(x.reshape(points, -1)), axis=1)) for (n, _), x in zip(carried, found)}
    return AdjointNorms(f.__name__, loop.at, np.arange(points) * every, norms, left_out)


def _kinds(f, loop, args):
    """The types of the floats that a loop carries, and the names of tuples, which are not looked at."""
    kinds, left_out = {}, []
    for name in loop.names:
        # As they are after it: what begins as a whole number may go on as a float.
        after = _Probed(f, loop.returning([name], loop.index + 1))
        at = At(after, args)
        found = at.program.result_types(at.args)
        if len(found) != 1:
            left_out.append(name)
        elif is_float(found[0]):
            kinds[name] = found[0]
    return kinds, left_out


class AdjointNorms:
    """How large adjoints are along a loop: ``iterations``, and ``norms`` by variable. Made by :func:`adjoint_norms`. Variables that are tuples
    are ``left_out``."""

    def __init__(self, name, line, iterations, norms, left_out):
        self.name, self.line, self.iterations, self.norms, self.left_out = name, line, iterations, norms, left_out

    def __repr__(self):
        lines = [f"adjoints along the loop of line {self.line} of {self.name}, at {len(self.iterations)} iterations"]
        for name, norms in self.norms.items():
            lines.append(f"  {name:<12} first {norms[0]:.3e}, last {norms[-1]:.3e}, largest {np.max(norms):.3e}")
        if self.left_out:
            lines.append(f"  not looked at, because they are tuples: {', '.join(self.left_out)}")
        return "\n".join(lines)

    def _repr_svg_(self):
        from . import _display

        title = f"{self.name}, loop of line {self.line}: size of adjoints"
        return _display.lines(title, "iteration", self.iterations, self.norms)


def _probe(name):
    return f"wengert_probe_{name}"


class _Probed(_trees.Around):
    """A function with another text, and with further parameters it may have there."""

    def __init__(self, function, tree):
        super().__init__(function)
        self._name = tree.name
        self._tree = tree

    def _collected(self):
        inner = self._of._collected()
        parts = []
        for file, line, text in inner.parts:
            tree = ast.parse(text)
            if any(isinstance(node, ast.FunctionDef) and node.name == self._name for node in tree.body):
                body = [self._tree if getattr(node, "name", None) == self._name else node for node in tree.body]
                text = ast.unparse(ast.fix_missing_locations(ast.Module(body, []))) + "\n"
            parts.append((file, line, text))
        return Collected(inner.name, parts, inner.captured, inner.watched)


class _Loop:
    """A loop of a function, and the names it carries on."""

    def __init__(self, tree, index, first):
        self.tree, self.index = tree, index
        self.node = tree.body[index]
        self.at = first + self.node.lineno - 1
        known = {a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)}
        for statement in tree.body[:index]:
            known |= _set(statement)
        own = {n.id for n in ast.walk(self.node.target) if isinstance(n, ast.Name)} if isinstance(self.node, ast.For) else set()
        self.names = sorted((_set(self.node) & known) - own)

    def _changed(self):
        tree = copy.deepcopy(self.tree)
        return tree, tree.body[self.index]

    def returning(self, names, end):
        """What these stand for before a statement of the function."""
        tree, _ = self._changed()
        kept = [_Returns("break").visit(node) if k == self.index else node for k, node in enumerate(tree.body[:end])]
        tree.body = [*kept, *ast.parse(f"return {', '.join(names)}").body]
        return tree

    def counting(self):
        """How often the loop runs."""
        tree, loop = self._changed()
        loop = _Returns(f"return {_COUNT}").visit(loop)
        loop.body[:0] = ast.parse(f"{_COUNT} = {_COUNT} + 1").body
        tree.body[self.index :] = [*ast.parse(f"{_COUNT} = 0").body, loop, *ast.parse(f"return {_COUNT}").body]
        return tree

    def probed(self, carried, every):
        """The function with probes."""
        tree, loop = self._changed()
        add = f"if {_COUNT} % {every} == 0:\n"
        for name, rank in carried:
            at = f"{_probe(name)}[{_COUNT} // {every}]"
            # In place: who shares the array sees the probe as well.
            add += f"    {name} += {at}\n" if rank else f"    {name} = {name} + {at}\n"
            tree.args.args.append(ast.arg(_probe(name)))
        loop.body[:0] = ast.parse(add + f"{_COUNT} = {_COUNT} + 1").body
        tree.body[self.index : self.index] = ast.parse(f"{_COUNT} = 0").body
        tree.args.defaults = []
        return tree


class _Returns(ast.NodeTransformer):
    """Returns within a loop as another statement."""

    def __init__(self, instead):
        self.instead = instead

    def visit_Return(self, node):
        return ast.parse(self.instead).body[0]

    def visit_FunctionDef(self, node):
        return node

    visit_Lambda = visit_FunctionDef


def _set(statement):
    """The names a statement sets, or sets elements of."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            base = node.value
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                base = base.value
            if isinstance(base, ast.Name):
                found.add(base.id)
    return found


def _loops(f, collected):
    """The loops of a function that are in no other."""
    for _, line, text in collected.parts:
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name == collected.name:
                is_parallel = lambda s: isinstance(s, ast.For) and "parallel" in ast.unparse(s.iter)
                return [
                    _Loop(node, k, line)
                    for k, statement in enumerate(node.body)
                    if isinstance(statement, (ast.For, ast.While)) and not is_parallel(statement)
                ]
    return []
