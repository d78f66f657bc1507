"""Processor seconds of the library's own inner loops, as chapters report them."""

from __future__ import annotations

import time

import numba
import numpy as np

from rbmlib._kernels import adaptive, tempering


def seconds_of(function, *arguments) -> float:
    """Processor seconds of a second call; the first one compiles."""
    function(*arguments)
    begun = time.process_time()
    function(*arguments)
    return time.process_time() - begun


@numba.njit
def _draw_only(n, delta, betas, offsets, memory):
    k = 0
    for _ in range(n):
        total = adaptive.weigh(delta + k, betas, offsets, memory)
        k = adaptive.search(memory.p, memory.parts, 0.5 * total)
    return k


@numba.njit
def _draw_and_add(n, delta, betas, offsets, memory, tally):
    k = 0
    for i in range(n):
        key = np.uint64(i)
        k = tempering.draw_beta(0, delta + k, key, betas, offsets, memory, tally)
    return k


def seconds_of_sums(n_draws: int, betas) -> float:
    """Processor seconds that ``n_draws`` draws of beta take for the sums they add to.

    The draws of `rbmlib.simulated_tempering` with their sums, less bare draws of the same betas.
    """
    n = len(betas)
    tally = tempering.Tally(*np.zeros((2, 1, 3, n)), *np.zeros((2, 1), np.int64))
    one = n_draws, 100.0, betas, -100.0 * betas, adaptive.memory_of(n)
    return max(0.0, seconds_of(_draw_and_add, *one, tally) - seconds_of(_draw_only, *one))
