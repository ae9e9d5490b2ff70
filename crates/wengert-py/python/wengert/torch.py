"""Wengert's functions in PyTorch programs: ``wengert.torch.function(f)`` is a function of tensors that autograd goes through.

>>> import torch, wengert.torch
>>> def root(a, x):
...     while abs(x * x - a) > 1e-12:
...         x = x - (x * x - a) / (2 * x)
...     return x
>>> a = torch.tensor(4.0, dtype=torch.float64, requires_grad=True)
>>> wengert.torch.function(root)(a, 1.0).backward()
>>> a.grad
tensor(0.2500, dtype=torch.float64)

Autograd sees five functions, each a call into compiled code: the function (:class:`_Call`), its value and gradient (:class:`_Gradient`, of
functions of one float), tangents (:class:`_Push`), adjoints (:class:`_Pull`), and how adjoints change along a direction
(:class:`_Second`). Their derivatives are written in terms of each other, for members of a batch too, so ``backward`` can be gone through
again, and ``torch.func`` composes; third derivatives are an error. In a batch, members run through :func:`wengert.batch` where it can.

Reading order: :class:`Function`, :class:`_Asked`, the functions of autograd.
"""

import dataclasses
import functools

import numpy as np
import torch

from . import _trees
from ._errors import refused
from ._parts import Parts, answered, example, taken

__all__ = ["Function", "function"]


def function(f=None, **options):
    """A function of tensors: arguments are tensors, numbers, NumPy's arrays, and tuples, dictionaries and dataclasses of them; results are
    tensors.

    There are derivatives by the tensors of floats, with ``backward``, ``torch.autograd`` (``create_graph=True`` included) and ``torch.func``
    (``grad``, ``vjp``, ``jvp``, ``vmap``, ``hessian``), up to the second. Tensors that are contiguous are read where they are, and results are
    handed over; both are on the processor, and a tensor of another device is an error. Tensors of ``float32`` and ``float64`` have the
    precision they have in the package; smaller floats are computed with as ``float32``.

    ``options`` are those of :func:`wengert.differentiable`, and as that it decorates: ``@wengert.torch.function`` or
    ``@wengert.torch.function(memory="64MiB")``.
    """
    if f is None:
        return functools.partial(function, **options)
    return Function(f, options)


class Function:
    """A function of tensors. Made by :func:`function`."""

    def __init__(self, f, options):
        self.function = taken(f, options, "PyTorch")
        functools.update_wrapper(self, self.function)
        self._parts = {}

    def __reduce__(self):
        return Function, (self.function, {})

    def __repr__(self):
        return f"<{self.function!r} for PyTorch>"

    @torch.compiler.disable
    def __call__(self, *args, **kwargs):
        names = self.function.program().parameters
        given = self.function.program().bind(args, kwargs)
        structures = tuple(_trees.of(x, name) for x, name in zip(given, names))
        leaves = [leaf for x, s in zip(given, structures) for leaf in _trees.leaves(x, s)]
        fixed = tuple((k, x) for k, x in enumerate(leaves) if not isinstance(x, torch.Tensor))
        tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
        for tensor in tensors:
            _readable(tensor, self.function.__name__)
        asked = _Asked(self._of(structures, leaves), fixed)
        by = tuple(k for k, x in enumerate(tensors) if x.requires_grad and torch.is_grad_enabled())
        if by and asked.of.is_one_float:
            return _Gradient.apply(asked, by, *tensors)[0]
        out = _Call.apply(asked, *tensors)
        return None if not out else out[0] if len(out) == 1 else out

    def _of(self, structures, leaves):
        """The program for arguments of these kinds."""
        kinds = tuple((x.dtype, x.dim()) if isinstance(x, torch.Tensor) else _kind(x) for x in leaves)
        key = (structures, kinds)
        if key not in self._parts:
            of = [_example(x) if isinstance(x, torch.Tensor) else x for x in leaves]
            again = iter(of)
            args = tuple(_trees.rebuilt(s, again) for s in structures)
            flat = self.function
            if any(not s.is_leaf for s in structures):
                flat, _, of = _trees.flat(self.function, args)
            self._parts[key] = Parts(flat, of)
        return self._parts[key]


def _kind(x):
    return type(x), np.ndim(x), getattr(x, "dtype", None)


def _example(tensor):
    # Elements go by one name here and there; of a tensor that is traced they cannot be looked at.
    return example(np.dtype(str(_computed(tensor.dtype)).removeprefix("torch.")), tensor.dim())


def _computed(dtype):
    """What elements are computed with."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def _readable(tensor, name):
    """Refuses what a program cannot read."""

    def no(what, help):
        return refused("argument-type", f"a tensor given to `{name}` is {what}", help)

    if tensor.device.type != "cpu":
        raise no(f"on `{tensor.device}`: programs run on the processor", "move it there: `x.cpu()`")
    if tensor.layout != torch.strided:
        raise no("sparse", "pass `x.to_dense()`")
    if tensor.is_complex() or tensor.is_quantized:
        raise no(f"of `{tensor.dtype}`", "pass floats, integers or truth values")


def _numpy(tensor):
    """A tensor as an array, in place where it can be."""
    tensor = tensor.detach().resolve_neg()
    x = tensor.to(_computed(tensor.dtype)).numpy()
    return x if x.ndim else x[()]


def _tensor(x, dtype=None):
    """An array that a program made, as a tensor: handed over."""
    made = torch.from_numpy(x) if x.ndim and x.flags.writeable else torch.tensor(x)
    return made if dtype is None else made.to(dtype)


@dataclasses.dataclass(frozen=True)
class _Asked:
    """What all calls say: the program, arguments that are no tensors by position, which operands have one value per member, if there are
    members, and how many."""

    of: Parts
    fixed: tuple
    flags: tuple = ()
    size: int = 0

    @property
    def count(self):
        """How many operands are arguments of the function."""
        return len(self.of.names) - len(self.fixed)

    def run(self, task, operands, by=(), along=()):
        about = dict(by=by, along=along, flags=self.flags, size=self.size)
        return answered(task, self.of, self.fixed, [_numpy(x) for x in operands], **about)

    def with_more(self, count, more):
        """Of a call with as many of the operands, and further ones, one per member if there are any."""
        flags = self.flags[:count] + (True,) * more if self.flags else ()
        return dataclasses.replace(self, flags=flags)

    def own(self, found, k):
        """An adjoint as the operand is: of one that all members share, the sum."""
        return found.sum(0) if self.flags and not self.flags[k] else found

    def spread(self, tensor, k):
        """A tangent of an operand, one per member."""
        return tensor.expand(self.size, *tensor.shape) if self.flags and not self.flags[k] else tensor

    def dot(self, found, tangent):
        """The sum of products, of each member."""
        product = found * tangent
        return product.reshape(self.size, -1).sum(1) if self.flags else product.sum()


def _members(function):
    """How a function of autograd is taken for members: of members already, all of both are members of one batch. What is before the
    operands is handed on."""
    before = function.before

    def vmap(info, dims, asked, *rest):
        given, operands, dims = rest[:before], rest[before:], dims[1 + before :]
        outer, size, flags = info.batch_size, asked.size, asked.flags
        now = tuple(d is not None for d in dims)
        operands = [x if d is None else x.movedim(d, 0) for x, d in zip(operands, dims)]
        if not flags:
            asked = dataclasses.replace(asked, flags=now, size=outer)
            out = function.apply(asked, *given, *operands)
            return out, (0,) * len(out)
        every = []
        for x, is_outer, is_inner in zip(operands, now, flags):
            if is_outer or is_inner:
                own = x.shape[is_outer + is_inner :]
                x = x if is_inner else x.unsqueeze(1)
                x = x.expand(outer, size, *own).reshape(outer * size, *own)
            every.append(x)
        both = tuple(a or b for a, b in zip(now, flags))
        out = function.apply(dataclasses.replace(asked, flags=both, size=outer * size), *given, *every)
        return tuple(x.reshape(outer, size, *x.shape[1:]) for x in out), (0,) * len(out)

    function.vmap = staticmethod(vmap)
    return function


def _moving(tangents):
    return tuple(k for k, t in enumerate(tangents) if t is not None)


def _sum(a, b):
    return b if a is None else a if b is None else a + b


def _zeros(given, like):
    """Adjoints or tangents without gaps."""
    return [torch.zeros_like(x) if t is None else t for t, x in zip(given, like)]


class _Operation(torch.autograd.Function):
    """What the functions of autograd have in common: their operands are kept, and derivatives that nobody asks for are not made."""

    # How many arguments are between `asked` and the operands.
    before = 0

    @classmethod
    def keep(cls, ctx, inputs, also=()):
        ctx.asked, ctx.given = inputs[0], inputs[1 : 1 + cls.before]
        ctx.set_materialize_grads(False)
        operands = inputs[1 + cls.before :]
        ctx.kept = len(operands)
        ctx.save_for_backward(*operands, *also)
        ctx.save_for_forward(*operands, *also)

    @classmethod
    def needed(cls, ctx):
        """The operands that adjoints are wanted of."""
        return tuple(k for k, is_needed in enumerate(ctx.needs_input_grad[1 + cls.before :]) if is_needed)

    @classmethod
    def returned(cls, ctx, found):
        """What `backward` returns: adjoints by operand."""
        return (None,) * (1 + cls.before) + tuple(found.get(k) for k in range(ctx.kept))


@_members
class _Call(_Operation):
    """What the function returns."""

    @staticmethod
    def forward(asked, *tensors):
        return tuple(_tensor(x) for x in asked.run("call", tensors))

    @staticmethod
    def setup_context(ctx, inputs, output):
        _Call.keep(ctx, inputs, output)
        ctx.mark_non_differentiable(*(x for x in output if not x.is_floating_point()))

    @staticmethod
    def backward(ctx, *adjoints):
        asked, by = ctx.asked, _Call.needed(ctx)
        tensors, outs = ctx.saved_tensors[: ctx.kept], ctx.saved_tensors[ctx.kept :]
        weights = _zeros([adjoints[k] for k in asked.of.floats], [outs[k] for k in asked.of.floats])
        found = _Pull.apply(asked.with_more(asked.count, len(weights)), by, *tensors, *weights)
        return _Call.returned(ctx, {k: asked.own(x, k) for k, x in zip(by, found)})

    @staticmethod
    def jvp(ctx, _, *tangents):
        asked, by = ctx.asked, _moving(tangents)
        tensors = ctx.saved_tensors[: ctx.kept]
        moved = [asked.spread(tangents[k], k) for k in by]
        found = iter(_Push.apply(asked.with_more(asked.count, len(moved)), by, *tensors, *moved))
        return tuple(next(found) if k in asked.of.floats else None for k in range(len(asked.of.types)))


@_members
class _Gradient(_Operation):
    """The value of a function of one float, and its derivatives: with them at hand, going back is a product."""

    before = 1

    @staticmethod
    def forward(asked, by, *tensors):
        value, *found = asked.run("grad", tensors, by)
        return (_tensor(value), *(_tensor(x, tensors[k].dtype) for k, x in zip(by, found)))

    @staticmethod
    def setup_context(ctx, inputs, output):
        _Gradient.keep(ctx, inputs, output[1:])

    @staticmethod
    def backward(ctx, adjoint, *adjoints):
        asked, (by,) = ctx.asked, ctx.given
        tensors, partials = ctx.saved_tensors[: ctx.kept], ctx.saved_tensors[ctx.kept :]
        found = {}
        if adjoint is not None:
            for k, x in zip(by, partials):
                of_each = adjoint.reshape(adjoint.shape + (1,) * (x.dim() - adjoint.dim()))
                found[k] = asked.own((of_each * x).to(x.dtype), k)
        along = _moving(adjoints)
        if along:
            needed = _Gradient.needed(ctx)
            one = _weight_of_one(asked, adjoint, tensors)
            more = [one, *(adjoints[j] for j in along)]
            at = tuple(by[j] for j in along)
            more_asked = asked.with_more(asked.count, len(more))
            for k, x in zip(needed, _Second.apply(more_asked, needed, at, *tensors, *more)):
                found[k] = _sum(found.get(k), asked.own(x, k))
        return _Gradient.returned(ctx, found)

    @staticmethod
    def jvp(ctx, _, __, *tangents):
        asked, (by,) = ctx.asked, ctx.given
        tensors, partials = ctx.saved_tensors[: ctx.kept], dict(zip(by, ctx.saved_tensors[ctx.kept :]))
        along = _moving(tangents)
        moved = [asked.spread(tangents[k], k) for k in along]
        missing = tuple(k for k in along if k not in partials)
        if missing:
            partials |= zip(missing, _Gradient.apply(asked, missing, *tensors)[1:])
        change = functools.reduce(torch.add, [asked.dot(partials[k], t) for k, t in zip(along, moved)])
        more = [_weight_of_one(asked, change, tensors), *moved]
        changes = _Second.apply(asked.with_more(asked.count, len(more)), by, along, *tensors, *more)
        return (change, *changes)


def _weight_of_one(asked, like, tensors):
    like = tensors[0] if like is None else like
    return torch.ones((asked.size,) if asked.flags else (), dtype=_computed(like.dtype))


@_members
class _Push(_Operation):
    """Tangents of the float results, for tangents of these operands."""

    before = 1

    @staticmethod
    def forward(asked, by, *operands):
        return tuple(_tensor(x) for x in asked.run("push", operands, by))

    @staticmethod
    def setup_context(ctx, inputs, output):
        _Push.keep(ctx, inputs, output)

    @staticmethod
    def backward(ctx, *adjoints):
        return _back_through(ctx, _Push, _Pull, adjoints, lambda tangents, weights: [*weights, *tangents])

    @staticmethod
    def jvp(ctx, _, __, *moved):
        asked, (by,) = ctx.asked, ctx.given
        operands = ctx.saved_tensors[: ctx.kept]
        args, tangents = operands[: asked.count], operands[asked.count :]
        changes = [None] * len(asked.of.floats)
        if _moving(moved[asked.count :]):
            changes = _Push.apply(asked, by, *args, *_zeros(moved[asked.count :], tangents))
        along = _moving(moved[: asked.count])
        if along:
            directions = [asked.spread(moved[k], k) for k in along]
            tangents = [asked.spread(t, k) for k, t in enumerate(tangents, asked.count)]
            changes = [_sum(a, b) for a, b in zip(changes, _twice(asked, args, by, tangents, along, directions))]
        return tuple(changes)


def _back_through(ctx, own, transposed, adjoints, ordered):
    """Adjoints of the operands of what is linear in those after the arguments; ``ordered`` puts these and what is given by its results in the
    order of weights and directions."""
    asked, (by,) = ctx.asked, ctx.given
    operands, outs = ctx.saved_tensors[: ctx.kept], ctx.saved_tensors[ctx.kept :]
    args, needed, found = operands[: asked.count], own.needed(ctx), {}
    given = _zeros(adjoints, outs)
    if any(k >= asked.count for k in needed):
        back = transposed.apply(asked.with_more(asked.count, len(given)), by, *args, *given)
        found |= {k: asked.own(x, k) for k, x in enumerate(back, asked.count)}
    at = tuple(k for k in needed if k < asked.count)
    if at:
        linear = [asked.spread(x, k) for k, x in enumerate(operands[asked.count :], asked.count)]
        more = ordered(linear, given)
        back = _Second.apply(asked.with_more(asked.count, len(more)), at, by, *args, *more)
        found |= {k: asked.own(x, k) for k, x in zip(at, back)}
    return own.returned(ctx, found)


def _twice(asked, args, by, tangents, along, directions):
    """The second derivatives of the float results along two directions: of each element, a product with its own Hessian."""
    of = dataclasses.replace(asked, flags=asked.flags[: asked.count])
    outs = [x for x in _Call.apply(of, *args) if x.is_floating_point()]
    members = asked.size if asked.flags else 1
    found = []
    for k, out in enumerate(outs):
        elements = []
        for e in range(out.numel() // members):
            weights = [torch.zeros_like(x) for x in outs]
            weights[k].view(members, -1)[:, e] = 1.0
            more = [*weights, *tangents]
            products = _Second.apply(asked.with_more(asked.count, len(more)), along, by, *args, *more)
            elements.append(functools.reduce(torch.add, [asked.dot(x, d) for x, d in zip(products, directions)]))
        found.append(torch.stack(elements, -1).reshape(out.shape) if elements else torch.zeros_like(out))
    return found


@_members
class _Pull(_Operation):
    """Adjoints of these operands, for weights of the float results."""

    before = 1

    @staticmethod
    def forward(asked, by, *operands):
        return tuple(_tensor(x, operands[k].dtype) for k, x in zip(by, asked.run("pull", operands, by)))

    @staticmethod
    def setup_context(ctx, inputs, output):
        _Pull.keep(ctx, inputs, output)

    @staticmethod
    def backward(ctx, *adjoints):
        return _back_through(ctx, _Pull, _Push, adjoints, lambda weights, tangents: [*weights, *tangents])

    @staticmethod
    def jvp(ctx, _, __, *moved):
        asked, (by,) = ctx.asked, ctx.given
        operands = ctx.saved_tensors[: ctx.kept]
        args, weights = operands[: asked.count], operands[asked.count :]
        changes = [None] * len(by)
        if _moving(moved[asked.count :]):
            changes = _Pull.apply(asked, by, *args, *_zeros(moved[asked.count :], weights))
        along = _moving(moved[: asked.count])
        if along:
            more = [*(asked.spread(w, k) for k, w in enumerate(weights, asked.count))]
            more += [asked.spread(moved[k], k) for k in along]
            second = _Second.apply(asked.with_more(asked.count, len(more)), by, along, *args, *more)
            changes = [_sum(a, b) for a, b in zip(changes, second)]
        return tuple(changes)


@_members
class _Second(_Operation):
    """How adjoints of the operands ``by`` change along a direction of the operands ``along``."""

    before = 2

    @staticmethod
    def forward(asked, by, along, *operands):
        return tuple(_tensor(x, operands[k].dtype) for k, x in zip(by, asked.run("second", operands, by, along)))

    @staticmethod
    def setup_context(ctx, inputs, output):
        _Second.keep(ctx, inputs, output)

    @staticmethod
    def parts(ctx):
        asked = ctx.asked
        operands, weights = ctx.saved_tensors[: ctx.kept], asked.count + len(asked.of.floats)
        return operands[: asked.count], operands[asked.count : weights], operands[weights:], weights

    @staticmethod
    def backward(ctx, *adjoints):
        asked, (by, along) = ctx.asked, ctx.given
        args, weights, directions, at = _Second.parts(ctx)
        needed, found = _Second.needed(ctx), {}
        if any(k < asked.count for k in needed):
            raise _third(asked)
        outs = _zeros(adjoints, ctx.saved_tensors[ctx.kept :])
        if any(k >= at for k in needed):
            # A Hessian is symmetric.
            back = _Second.apply(asked.with_more(at, len(outs)), along, by, *args, *weights, *outs)
            found |= {k: asked.own(x, k) for k, x in enumerate(back, at)}
        if any(k < at for k in needed):
            directions = [asked.spread(d, k) for k, d in enumerate(directions, at)]
            back = _twice(asked, args, along, directions, by, outs)
            found |= {k: asked.own(x, k) for k, x in enumerate(back, asked.count)}
        return _Second.returned(ctx, found)

    @staticmethod
    def jvp(ctx, _, __, ___, *moved):
        asked, (by, along) = ctx.asked, ctx.given
        args, weights, directions, at = _Second.parts(ctx)
        if _moving(moved[: asked.count]):
            raise _third(asked)
        changes = [None] * len(by)
        for own, rest in ((moved[asked.count : at], directions), (weights, moved[at:])):
            if own is weights and _moving(rest):
                more = [*weights, *_zeros(rest, directions)]
            elif own is not weights and _moving(own):
                more = [*_zeros(own, weights), *directions]
            else:
                continue
            changes = [_sum(a, b) for a, b in zip(changes, _Second.apply(asked, by, along, *args, *more))]
        return tuple(changes)


def _third(asked):
    told = f"third derivatives of `{asked.of.name}` are not among what PyTorch can have of it"
    return refused("not-differentiable", told, "up to second derivatives are")
