"""Draws of beta that adjust estimates of log Z at every sweep, and moves to neighbours.

The chains of a group share one vector of estimates, which moves once all of them have been swept:
stochastic approximation (Tan 2017), of which the Wang-Landau algorithm is a case. Groups share
nothing, so they run on threads; within one the order of chains and of sums is fixed, and the same
seed gives the same bits on any number of threads. The sweeps are those of `tempering`.
"""

from typing import NamedTuple

import numba
import numpy as np

from .ladder import Memory, note_end, search, weigh
from .random import bits31, high, low

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


class Adjusted(NamedTuple):
    """What is adjusted and added up, in place; groups of equally many chains come first."""

    log_z: np.ndarray  # (n_groups, K): estimates, 0 at the base
    visits: np.ndarray  # int64 (n_groups, K): how often each beta was drawn
    passages: np.ndarray  # int64 (n_chains,): from one end of the ladder to the other
    last_end: np.ndarray  # int64 (n_chains,): visited last, 0 or K - 1; -1 for none


class Rule(NamedTuple):
    """How beta is drawn, and what a draw adds to the estimates."""

    prior: np.ndarray  # (K,)
    log_prior: np.ndarray  # (K,)
    local: bool  # beta moves to a neighbour, or stays
    mixed: bool  # the update takes probabilities of betas, not the beta drawn


class Adapting(NamedTuple):
    """Beta is drawn with the estimates of log Z as they are, which the draws then adjust."""

    shifts: np.ndarray  # (K,): added to the log-probabilities of betas
    gains: np.ndarray  # (n_groups, n_sweeps)
    rule: Rule
    adjusted: Adjusted


@numba.njit(**_KERNEL)
def jump_anywhere(delta, u, ladder, mixed):
    """Draw the index of beta given the state; add to the sums what the update takes of it."""
    total = weigh(delta, ladder.betas, ladder.offsets, ladder.memory)
    p, sums = ladder.memory.p, ladder.sums
    new = search(p, ladder.memory.parts, u * total)
    if mixed:
        share = 1.0 / total
        for k in range(ladder.betas.size):
            sums[k] += p[k] * share
    else:
        sums[new] += 1.0
    return new


@numba.njit(**_KERNEL)
def proposed(k, other, n):
    """Probability with which ``other``, a neighbour of k, is proposed."""
    return 1.0 if k == 0 or k == n - 1 else 0.5


@numba.njit(**_KERNEL)
def jump_to_neighbour(old, delta, side, u, ladder, mixed):
    """Propose a neighbour, accept it as Metropolis and Hastings do; add to the sums."""
    n, sums = ladder.betas.size, ladder.sums
    first, stop = max(old - 1, 0), min(old + 2, n)
    p, p_bits, shifted, shifted_bits, parts = ladder.memory
    memory = Memory(p, p_bits, shifted, shifted_bits, parts[:1])
    weigh(delta, ladder.betas[first:stop], ladder.offsets[first:stop], memory)
    goal = old + 1 if old == 0 or (old < n - 1 and side < 0.5) else old - 1
    new, stay = old, 1.0
    for k in range(first, stop):
        if k == old:
            continue
        there, back = proposed(old, k, n), proposed(k, old, n)
        move = min(there, back * p[k - first] / p[old - first])
        if k == goal and u * there < move:
            new = k
        if mixed:
            sums[k] += move
            stay -= move
    if mixed:
        sums[old] += stay
    else:
        sums[new] += 1.0
    return new


@numba.njit(**_KERNEL)
def move(chain, group, delta, key, ladder, adapting):
    """Move a chain to another beta; count."""
    rule, adjusted = adapting.rule, adapting.adjusted
    u = (np.float64(bits31(0, high(key), low(key))) + 0.5) / 2147483648.0
    if rule.local:
        side = (np.float64(bits31(1, high(key), low(key))) + 0.5) / 2147483648.0
        k = jump_to_neighbour(ladder.index[chain], delta, side, u, ladder, rule.mixed)
    else:
        k = jump_anywhere(delta, u, ladder, rule.mixed)
    ladder.index[chain] = k
    adjusted.visits[group, k] += 1
    note_end(chain, k, ladder.betas.size, adjusted.passages, adjusted.last_end)


@numba.njit(**_KERNEL)
def adjust(group, sweep, n_chains, ladder, adapting):
    """``log_z += min(gain, prior) sums / (n_chains prior)``, less that of the base; empty sums."""
    log_z, gain = adapting.adjusted.log_z[group], adapting.gains[group, sweep]
    prior, sums = adapting.rule.prior, ladder.sums
    for k in range(log_z.size):
        log_z[k] += min(gain / prior[k], 1.0) * sums[k] / n_chains
        sums[k] = 0.0
    base = log_z[0]
    for k in range(log_z.size):
        log_z[k] -= base


@numba.njit(**_KERNEL)
def set_offsets(group, adapting, ladder):
    """Log-probabilities of betas given Delta = 0, by the estimates of a group."""
    log_prior, shifts, log_z = adapting.rule.log_prior, adapting.shifts, adapting.adjusted.log_z
    for k in range(shifts.size):
        ladder.offsets[k] = log_prior[k] - log_z[group, k] + shifts[k]
