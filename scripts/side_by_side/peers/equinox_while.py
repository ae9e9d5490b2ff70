"""Equinox: its checkpointed `while_loop`, in reverse mode, for every loop."""

import equinox.internal as eqxi
import jax
from jax import numpy as jnp

from peers.jax_loops import Loops, all_rows, numbers  # noqa: F401

# More than any of the loops without an end in sight makes.
MOST = 2048


class Equinox(Loops):
    @staticmethod
    def times(step, state, n):
        return counted(lambda state, i: step(state, None), state, n)

    @staticmethod
    def over(step, state, xs):
        return counted(lambda state, i: step(state, xs[i]), state, len(xs))

    @staticmethod
    def until(goes_on, step, state):
        return eqxi.while_loop(goes_on, step, state, max_steps=MOST, kind="checkpointed", checkpoints=MOST)


def counted(step, state, n):
    state = jax.tree.map(jnp.asarray, state)
    _, state = eqxi.while_loop(
        lambda s: s[0] < n, lambda s: (s[0] + 1, step(s[1], s[0])), (jnp.asarray(0), state), max_steps=n, kind="checkpointed"
    )
    return state


globals().update(all_rows(Equinox, ["a", "a0", "b", "c", "d", "d2", "e", "f1", "f2", "f3", "g"]))
