"""Enumeration of the smaller countable layer: exact log Z, exact draws.

Z = sum_s p*(s) over all states of one layer, the other layer summed analytically, as of Bits
``log p*(h) = a h + sum_i softplus(b_i + (W h)_i)``. Two layers of Bits take compiled loops, in
Gray-code order, one weight row a step.
"""

from __future__ import annotations

import numpy as np

from .._kernels import float_sums, threads
from ..context import bar, settings
from ..numerics import logsumexp
from .layers import Bits

MOST_STATES = 2**30  # of 784 units take the better part of an hour
MOST_IN_A_TABLE = 2**22  # a table of all states is kept for sampling: 32 MB
BLOCK = 2**12  # states


def n_states(layer) -> float:
    """How many states a layer has; infinite if they cannot be counted."""
    if layer.values is None:
        return np.inf
    n_values, width = layer.values.shape
    with np.errstate(over="ignore"):  # of a thousand units: infinite, too
        return float(np.float64(n_values) ** (len(layer) // width))


def can_enumerate(rbm, most: float = MOST_IN_A_TABLE) -> bool:
    """Whether one of the layers has at most ``most`` states."""
    return min(n_states(rbm.visible), n_states(rbm.hidden)) <= most


def smaller_side(rbm, most: float, what: str, remedy: str):
    """The model turned so that the hidden layer is the countable one of fewest states."""
    if not can_enumerate(rbm, most):
        raise ValueError(
            f"rbm has {rbm.n_visible} visible and {rbm.n_hidden} hidden units: {what} at most "
            f"{int(np.log2(most))} units in one layer ({most:,} states); {remedy}"
        )
    turned = n_states(rbm.visible) < n_states(rbm.hidden)
    return rbm.transposed() if turned else rbm


def blocks(rbm):
    """(task, n_blocks): task(block) is log p* of the block's states of the hidden layer.

    Bit i (or digit i) of a state's number is the state of unit i.
    """
    if type(rbm.visible) is type(rbm.hidden) is Bits:
        bits = min(rbm.n_hidden, float_sums.BLOCK_BITS)
        rows = np.ascontiguousarray(rbm.weights.T)

        def of_bits(block):
            out = np.empty(2**bits)
            float_sums.log_density_block(rows, rbm.hidden_bias, rbm.visible_bias, block, out)
            return out

        return of_bits, 2 ** (rbm.n_hidden - bits)
    n = int(n_states(rbm.hidden))

    def of_any(block):
        h = states(rbm.hidden, np.arange(block * BLOCK, min((block + 1) * BLOCK, n)))
        return rbm.hidden.own(h) + rbm.visible.cumulant(rbm.visible_field(h))

    return of_any, -(-n // BLOCK)


def states(layer, numbers):
    """The states of these numbers, (n, n_units)."""
    n_values, width = layer.values.shape
    powers = n_values ** np.arange(len(layer) // width)
    return layer.values[numbers[:, None] // powers % n_values].reshape(len(numbers), -1)


def exact_log_z(rbm) -> float:
    """log Z by a sum over all states of the smaller countable layer."""
    rbm = smaller_side(rbm, MOST_STATES, "exact enumeration needs", "use rl.ais and rl.reverse_ais")
    task, n_blocks = blocks(rbm)
    with bar(n_blocks, "exact") as shown:
        logs = threads.run_all(
            lambda block: logsumexp(task(block)), n_blocks, settings.get().n_threads, shown.update
        )
    return float(logsumexp(logs)) + rbm.log_scale


def exact_draws(rbm, n: int, rng) -> np.ndarray:
    """Independent exact draws of the visible units (n, n_visible), of a table of all states."""
    small = smaller_side(rbm, MOST_IN_A_TABLE, "exact samples need", "run long chains instead")
    task, n_blocks = blocks(small)
    log_p = np.concatenate(threads.run_all(task, n_blocks, settings.get().n_threads))
    below = np.cumsum(np.exp(log_p - log_p.max()))
    number = np.searchsorted(below, rng.random(n) * below[-1], side="right")
    h = states(small.hidden, np.minimum(number, log_p.size - 1))
    if small is not rbm:
        return h
    return small.visible.draw(small.visible_field(h), rng).astype(float)
