"""JAX with `jax.checkpoint`: a scan over pieces of a scan, whose inner states are computed again."""

import jax
from jax import lax

from peers.jax_loops import Loops, all_rows, numbers  # noqa: F401


def pieces(n):
    """The length of a piece: the divisor of n that comes closest to its root from below."""
    return max(k for k in range(1, int(n**0.5) + 1) if n % k == 0)


class Checkpointed(Loops):
    @staticmethod
    def times(step, state, n):
        piece = pieces(n)

        @jax.checkpoint
        def several(state, _):
            return Loops.times(step, state, piece), None

        return lax.scan(several, state, None, length=n // piece)[0]

    @staticmethod
    def over(step, state, xs):
        n = len(xs)
        xs = xs.reshape(n // pieces(n), pieces(n), *xs.shape[1:])

        @jax.checkpoint
        def several(state, xs):
            return Loops.over(step, state, xs), None

        return lax.scan(several, state, xs)[0]


# The other rows have no loop of known length over which a state is carried.
globals().update(all_rows(Checkpointed, ["a", "a0", "b", "c", "d", "d2", "e", "g", "l", "l_hvp"]))
