"""Simulated tempering of many chains: block Gibbs sweeps, each followed by a draw of beta.

The slope ``Delta(v, h)`` of the joint log-density is a sum of slopes over the active units. The
draw of the visible units computes their slopes anyway, so the sum costs little. After the draw of
beta given Delta, either a tally is updated or the estimates of log Z are adjusted (`adaptive`).
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from . import narrow, wide
from .adaptive import adapt_groups, ladder_of, note_end, search, weigh
from .layers import read_rows, write_rows
from .random import draw_key, uniform
from .simd import njit

DRAWS = 3  # draws in a sweep: hidden units, visible units, beta


class Tally(NamedTuple):
    """Sums over the sweeps of each chain; the first axis is the chain, so threads share nothing."""

    mixed: np.ndarray  # (n_chains, 3, K): sums of q_k, q_k Delta and q_k Delta**2
    visited: np.ndarray  # (n_chains, 3, K): the same with q_k = 1 for the beta drawn, 0 for others
    passages: np.ndarray  # int64 (n_chains,): moves from one end of the ladder to the other
    last_end: np.ndarray  # int64 (n_chains,): last end visited, 0 or K - 1; -1 for none


class Kept(NamedTuple):
    """Arrays for every ``every``-th Delta and index of beta of all chains of a run."""

    delta: np.ndarray  # (n_kept, n_chains)
    index: np.ndarray  # int16 (n_kept, n_chains)
    every: int
    phase: int  # sweeps since the last record
    first: int = 0  # column of the first chain of a chunk


@njit
def draw_betas(sweep, deltas, ladder, tempering, draw, run):
    """Draw the beta of every chain, and update the tally and the records.

    ``tempering`` holds offsets (K,), `Kept` and `Tally`; the probability of beta_k is
    ~ exp(beta_k Delta + offsets[k]).
    """
    (offsets, kept, tally), betas, (p, parts) = tempering, ladder.betas, ladder.memory
    passed = sweep + kept.phase + 1
    row = passed // kept.every - 1
    for chain in range(deltas.size):
        delta, u = deltas[chain], uniform(0, draw_key(run.seed, run.first_chain + chain, draw))
        total = weigh(delta, betas, offsets, ladder.memory)
        new = search(p, parts, u * total)
        share, sums, visited = 1.0 / total, tally.mixed[chain], tally.visited[chain]
        for k in range(betas.size):
            q = p[k] * share
            sums[0, k] += q
            sums[1, k] += q * delta
            sums[2, k] += q * delta * delta
        visited[0, new] += 1.0
        visited[1, new] += delta
        visited[2, new] += delta * delta
        note_end(chain, new, betas.size, tally.passages, tally.last_end)
        ladder.index[chain] = new
        if passed % kept.every == 0:
            kept.delta[row, kept.first + chain] = delta
            kept.index[row, kept.first + chain] = new


# the loops -----------------------------------------------------------------------------------


def begin(words, n_visible, model):
    """Return the chains in the form of `narrow` or `wide`, depending on the model."""


def gibbs_sweep(chains, slopes, model, draw, run):
    """Make a sweep of every chain at its beta, and fill ``slopes``."""


@overload(begin, jit_options={"error_model": "numpy"})
def _begin(words, n_visible, model):
    return (narrow if isinstance(model[0], types.Array) else wide).begin.py_func


@overload(gibbs_sweep, jit_options={"error_model": "numpy"})
def _gibbs_sweep(chains, slopes, model, draw, run):
    return (narrow if isinstance(model[0], types.Array) else wide).sweep.py_func


@njit
def set_betas(chains, betas, index):
    for c in range(index.size):
        chains.betas[c] = betas[index[c]]


@njit
def sweep(v, index, betas, slopes, model, run):
    """Make the sweeps of `gibbs.sweep`."""
    words = read_rows(v)
    chains = begin(words, v.shape[1], model)
    set_betas(chains, betas, index)
    for k in range(run.start, run.stop):
        gibbs_sweep(chains, slopes, model, run.first_draw + 2 * k, run)
    write_rows(words, v)


@njit
def temper(v, index, betas, slopes, tempering, adapting, model, run):
    """Make the sweeps and the draws of beta of `gibbs.temper`, or those of `gibbs.adapt` with its
    adjustments. Either ``adapting`` or ``tempering`` is None."""
    words, ladder = read_rows(v), ladder_of(betas, index)
    chains = begin(words, v.shape[1], model)
    for k in range(run.start, run.stop):
        draw = run.first_draw + DRAWS * k
        set_betas(chains, betas, index)
        gibbs_sweep(chains, slopes, model, draw, run)
        if tempering is not None:
            draw_betas(k, slopes, ladder, tempering, draw + 2, run)
        if adapting is not None:
            adapt_groups(k, slopes, ladder, adapting, draw + 2, run)
    write_rows(words, v)
