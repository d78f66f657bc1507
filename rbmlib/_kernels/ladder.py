"""Draws of beta: K numbers with probabilities ``q_k ~ exp(beta_k Delta + offset_k)``.

O(K) a draw, in float64, with an exponential of our own (`weigh`), so that the same seed gives the
same bits on any processor.
"""

from typing import NamedTuple

import numba
import numpy as np

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}

PART = 16  # probabilities are summed in parts: a sum can then be searched
_MAGIC = 1.5 * 2.0**52  # adding it rounds to the nearest integer, left in the low bits


class Memory(NamedTuple):
    """Work space of `weigh`."""

    p: np.ndarray  # (K,)
    p_bits: np.ndarray  # its int64 view
    shifted: np.ndarray  # (K,)
    shifted_bits: np.ndarray
    parts: np.ndarray  # sums of PART entries of p


class Ladder(NamedTuple):
    """The betas, where the chains stand, and what a draw of another beta takes."""

    betas: np.ndarray  # (K,)
    index: np.ndarray  # int64 (n_chains,)
    offsets: np.ndarray  # (K,)
    sums: np.ndarray  # (K,): what a group of chains adds to its estimates of log Z
    memory: Memory


@numba.njit(**_KERNEL)
def memory_of(n):
    """Work space for n betas."""
    p, shifted = np.empty(n), np.empty(n)
    parts = np.empty((n + PART - 1) // PART)
    return Memory(p, p.view(np.int64), shifted, shifted.view(np.int64), parts)


@numba.njit(**_KERNEL)
def ladder_of(betas, index):
    """A ladder whose offsets are still to be set."""
    n = betas.size
    return Ladder(betas, index, np.empty(n), np.zeros(n), memory_of(n))


@numba.njit(**_KERNEL)
def weigh(delta, betas, offsets, memory):
    """``p[k] = exp(x_k - max x)``, ``x_k = betas[k] delta + offsets[k]``; returns their sum.

    2**t = 2**n 2**f as in `elementwise.exp_negative`, in float64: relative error below 1e-11,
    to 2**-1000. ``p`` is that of the memory.
    """
    p, p_bits, shifted, shifted_bits, parts = memory
    top = -np.inf
    for k in range(betas.size):
        p[k] = betas[k] * delta + offsets[k]
    for k in range(betas.size):
        top = max(top, p[k])
    for k in range(betas.size):
        t = max((p[k] - top) * 1.4426950408889634, -1000.0)
        s = t + _MAGIC
        f = t - (s - _MAGIC)
        y = 7.054911620801121e-9 * f + 1.0178086009239699e-7
        y = y * f + 1.3215486790144307e-6
        y = y * f + 1.5252733804059838e-5
        y = y * f + 1.5403530393381608e-4
        y = y * f + 1.3333558146428441e-3
        y = y * f + 9.618129107628477e-3
        y = y * f + 5.5504108664821576e-2
        y = y * f + 2.4022650695910069e-1
        y = y * f + 6.931471805599453e-1
        p[k] = y * f + 1.0
        shifted[k] = s
    for k in range(betas.size):
        p_bits[k] += shifted_bits[k] << 52
    total = 0.0
    for part in range(parts.size):
        parts[part] = 0.0
        for k in range(part * PART, min((part + 1) * PART, betas.size)):
            parts[part] += p[k]
        total += parts[part]
    return total


@numba.njit(**_KERNEL)
def search(p, parts, goal):
    """The first k whose cumulative sum exceeds ``goal``."""
    part = 0
    while part < parts.size - 1 and goal >= parts[part]:
        goal -= parts[part]
        part += 1
    k, last = part * PART, min((part + 1) * PART, p.size) - 1
    while k < last and goal >= p[k]:
        goal -= p[k]
        k += 1
    return k


@numba.njit(**_KERNEL)
def note_end(chain, k, n, passages, last_end):
    if k == 0 or k == n - 1:
        if last_end[chain] >= 0 and last_end[chain] != k:
            passages[chain] += 1
        last_end[chain] = k
