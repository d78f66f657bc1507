"""Simulated tempering of many chains: block Gibbs sweeps, with a draw of beta after each.

The slope ``Delta(v, h)`` of the joint log-density is a sum over the active visible units of their
slopes, which the draw of these units has at hand, so a sweep costs little more than without.
Given Delta, beta is drawn and either added to a tally, or the estimates of log Z are
adjusted (`adaptive`).
"""

from typing import NamedTuple

import numpy as np

from . import groups, narrow, wide
from .adaptive import adapt_groups, ladder_of, note_end, search, weigh
from .layers import read_rows, write_rows
from .random import draw_key, uniform
from .simd import njit

f32 = np.float32


DRAWS = 3  # of a sweep: hidden units, visible units, beta


class Tally(NamedTuple):
    """What is added up on the way; chains first, so that threads share nothing."""

    mixed: np.ndarray  # (n_chains, 3, K): sums of q_k, q_k Delta and q_k Delta**2
    visited: np.ndarray  # (n_chains, 3, K): the same with 1 for the beta drawn, 0 for others
    passages: np.ndarray  # int64 (n_chains,): from one end of the ladder to the other
    last_end: np.ndarray  # int64 (n_chains,): visited last, 0 or K - 1; -1 for none


class Kept(NamedTuple):
    """Where every ``every``-th Delta and index of beta goes, of all chains of a run."""

    delta: np.ndarray  # (n_kept, n_chains)
    index: np.ndarray  # int16 (n_kept, n_chains)
    every: int
    phase: int  # sweeps since the last that was kept
    first: int = 0  # column of the first chain of a chunk


class Tempering(NamedTuple):
    """Beta k is drawn with probability ~ exp(beta_k Delta + offsets[k]), and tallied."""

    offsets: np.ndarray
    kept: Kept
    tally: Tally


@njit
def add_visit(sums, k, delta):
    sums[0, k] += 1.0
    sums[1, k] += delta
    sums[2, k] += delta * delta


@njit
def draw_beta(chain, delta, key, betas, offsets, memory, tally):
    """Draw the index of beta given the state of a chain, and add to the tally."""
    p = memory.p
    total = weigh(delta, betas, offsets, memory)
    u = uniform(0, key)
    new = search(p, memory.parts, u * total)
    share, sums = 1.0 / total, tally.mixed[chain]
    for k in range(betas.size):
        q = p[k] * share
        sums[0, k] += q
        sums[1, k] += q * delta
        sums[2, k] += q * delta * delta
    add_visit(tally.visited[chain], new, delta)
    note_end(chain, new, betas.size, tally.passages, tally.last_end)
    return new


@njit
def draw_betas(sweep, deltas, ladder, tempering, draw, run):
    """Draw the beta of every chain; tally, and keep what is to be kept."""
    (offsets, kept, tally), memory, index = tempering, ladder.memory, ladder.index
    passed = sweep + kept.phase + 1
    row = passed // kept.every - 1
    for chain in range(deltas.size):
        key = draw_key(run.seed, run.first_chain + chain, draw)
        delta = deltas[chain]
        index[chain] = draw_beta(chain, delta, key, ladder.betas, offsets, memory, tally)
        if passed % kept.every == 0:
            kept.delta[row, kept.first + chain] = delta
            kept.index[row, kept.first + chain] = index[chain]


@njit
def sweeps(v, index, betas, slopes, tempering, adapting, few, many, draws, run):
    """Sweeps of `gibbs.sweep`, `temper` and `adapt`: of ``draws`` draws each.

    The model is ``few`` or ``many``, the other is None, and so is what is not asked for of
    ``slopes`` (n_chains,), ``tempering`` and ``adapting``.
    """
    ladder = ladder_of(betas, index)
    if few is not None:
        words, chain = read_rows(v), narrow.empty_chain(v.shape[1])
        own = np.empty(index.size, f32)
    if many is not None:
        group = wide.read_group(v, many.hidden.n_units)
        words, own = group.visible.words, group.betas
        sparse = groups.prepare(group.visible, many.visible.n_units)
    for sweep in range(run.start, run.stop):
        draw = run.first_draw + draws * sweep
        for c in range(index.size):
            own[c] = betas[index[c]]
        if few is not None:
            narrow.sweep(words, chain, own, slopes, few, draw, run)
        if many is not None:
            sparse = wide.sweep(group, sparse, slopes, many, draw, run)
        if tempering is not None:
            draw_betas(sweep, slopes, ladder, tempering, draw + 2, run)
        if adapting is not None:
            adapt_groups(sweep, slopes, ladder, adapting, draw + 2, run)
    write_rows(words, v)
