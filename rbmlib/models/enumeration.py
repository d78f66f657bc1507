"""Enumeration of the smaller countable layer: exact log Z, exact draws."""

import numpy as np

from .._kernels import enumeration, threads
from ..context import settings
from ..numerics import logsumexp
from .layers import Bits

MOST_STATES = 2**30


def smaller_side(rbm):
    """The model turned so that the hidden layer is the countable one of fewest states."""
    turned = [m for m in (rbm, rbm.transposed()) if n_states(m.hidden) <= MOST_STATES]
    if not turned or not rbm.hidden.conditional:
        raise ValueError(
            f"{rbm!r} cannot be enumerated: expected a layer of Bits, Spins or "
            f"Categories with at most {MOST_STATES:,} states; use ais and reverse_ais"
        )
    return min(turned, key=lambda m: n_states(m.hidden))


def n_states(layer):
    if layer.values is None:
        return np.inf
    n_values, width = layer.values.shape
    return float(n_values) ** (len(layer) // width)


def log_densities(rbm, block=2**12):
    """log p*(h) of all states of the hidden layer, block by block: the other layer is summed."""
    n_values, width = rbm.hidden.values.shape
    powers = n_values ** np.arange(len(rbm.hidden) // width)
    n = int(n_states(rbm.hidden))
    for first in range(0, n, block):
        digits = np.arange(first, min(first + block, n))[:, None] // powers % n_values
        h = rbm.hidden.values[digits].reshape(len(digits), -1)
        yield h, rbm.hidden.own(h) + rbm.visible.cumulant(h @ rbm.weights.T + rbm.visible.bias)


def exact_log_z(rbm):
    """log Z by a sum over all states of the smaller countable layer."""
    rbm = smaller_side(rbm)
    if (blocks := compiled_blocks(rbm)) is None:
        blocks = (log_p for _, log_p in log_densities(rbm))
    return float(logsumexp([logsumexp(log_p) for log_p in blocks])) + rbm.log_scale


def compiled_blocks(rbm):
    """The same of two layers of Bits, compiled, in Gray-code order; else None."""
    if type(rbm.visible) is not Bits or type(rbm.hidden) is not Bits:
        return None
    n, rows = len(rbm.hidden), np.ascontiguousarray(rbm.weights.T)
    bits = min(n, enumeration.BLOCK_BITS)

    def block(number):
        out = np.empty(2**bits)
        enumeration.log_density_block(rows, rbm.hidden.bias, rbm.visible.bias, number, out)
        return out

    return threads.run_all(block, 2 ** (n - bits), settings.get().n_threads)


def exact_draws(rbm, n, rng):
    """Independent exact draws of the visible units."""
    small = smaller_side(rbm)
    rng, turned = checks.generator(rng), small is not rbm
    h, log_p = (np.concatenate(x) for x in zip(*log_densities(small)))
    below = np.cumsum(np.exp(log_p - log_p.max()))
    h = h[np.minimum(np.searchsorted(below, rng.random(n) * below[-1]), len(h) - 1)]
    return h if turned else small.visible.draw(h @ small.weights.T + small.visible.bias, rng)
