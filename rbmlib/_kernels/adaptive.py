"""Draws of beta, and estimates of log Z that are adjusted after every sweep.

A draw takes one of K indices with probabilities ``q_k ~ exp(beta_k Delta + offset_k)``, or moves to
a neighbour. It costs O(K) in float64 and uses the exponential of `weigh`, so the same seed gives
the same bits on any processor.

The chains of a group share one vector of estimates, which is adjusted once all chains have been
swept. This is stochastic approximation (Tan 2017), which includes the Wang-Landau algorithm.
Groups share nothing and run on threads. The order of chains and of sums in a group is fixed, so the
same seed gives the same bits on any number of threads.
"""

from typing import NamedTuple

import numpy as np

from .random import draw_key, uniform
from .simd import njit

PART = 16  # size of the partial sums of probabilities, which speed up a search
MAGIC = 1.5 * 2.0**52  # adding it rounds to the nearest integer, stored in the low bits


class Memory(NamedTuple):
    """Work space of `weigh`."""

    p: np.ndarray  # (K,)
    parts: np.ndarray  # sums of PART entries of p


class Ladder(NamedTuple):
    """The betas, the beta of each chain, and memory for draws of beta."""

    betas: np.ndarray  # (K,)
    index: np.ndarray  # int64 (n_chains,)
    offsets: np.ndarray  # (K,)
    sums: np.ndarray  # (K,): for the update of the estimates of log Z of a group
    memory: Memory


@njit
def memory_of(n):
    """Return work space for n betas."""
    return Memory(np.empty(n), np.empty((n + PART - 1) // PART))


@njit
def ladder_of(betas, index):
    """Return a ladder without offsets."""
    n = betas.size
    return Ladder(betas, index, np.empty(n), np.zeros(n), memory_of(n))


@njit
def weigh(delta, betas, offsets, memory):
    """Fill p with exp(x_k - max x), where x_k = betas[k] delta + offsets[k]; return the sum of p.

    2**t = 2**n 2**f as in `elementwise.exp_negative`, but in float64, with a relative error below
    1e-11 down to 2**-1000.
    """
    (p, parts), top = memory, -np.inf
    for k in range(betas.size):
        p[k] = betas[k] * delta + offsets[k]
    for k in range(betas.size):
        top = max(top, p[k])
    for k in range(betas.size):
        t = max((p[k] - top) * 1.4426950408889634, -1000.0)
        s = t + MAGIC
        f = t - (s - MAGIC)
        y = 7.054911620801121e-9 * f + 1.0178086009239699e-7
        y = y * f + 1.3215486790144307e-6
        y = y * f + 1.5252733804059838e-5
        y = y * f + 1.5403530393381608e-4
        y = y * f + 1.3333558146428441e-3
        y = y * f + 9.618129107628477e-3
        y = y * f + 5.5504108664821576e-2
        y = y * f + 2.4022650695910069e-1
        y = y * f + 6.931471805599453e-1
        bits = np.float64(y * f + 1.0).view(np.int64) + (np.float64(s).view(np.int64) << 52)
        p[k] = np.int64(bits).view(np.float64)
    total = 0.0
    for part in range(parts.size):
        parts[part] = 0.0
        for k in range(part * PART, min((part + 1) * PART, betas.size)):
            parts[part] += p[k]
        total += parts[part]
    return total


@njit
def search(p, parts, goal):
    """Return the first k at which the cumulative sum of p exceeds ``goal``."""
    part = 0
    while part < parts.size - 1 and goal >= parts[part]:
        goal -= parts[part]
        part += 1
    k, last = part * PART, min((part + 1) * PART, p.size) - 1
    while k < last and goal >= p[k]:
        goal -= p[k]
        k += 1
    return k


@njit
def note_end(chain, k, n, passages, last_end):
    if k == 0 or k == n - 1:
        if last_end[chain] >= 0 and last_end[chain] != k:
            passages[chain] += 1
        last_end[chain] = k


# adjusted estimates ---------------------------------------------------------------------------


class Adjusted(NamedTuple):
    """Estimates and counts, which are changed in place; all groups have the same size."""

    log_z: np.ndarray  # (n_groups, K): estimates, 0 at the base
    visits: np.ndarray  # int64 (n_groups, K): number of draws of each beta
    passages: np.ndarray  # int64 (n_chains,): moves from one end of the ladder to the other
    last_end: np.ndarray  # int64 (n_chains,): last end visited, 0 or K - 1; -1 for none


class Rule(NamedTuple):
    """The rule for draws of beta and for updates of the estimates."""

    prior: np.ndarray  # (K,)
    log_prior: np.ndarray  # (K,)
    local: bool  # beta moves to a neighbour or stays
    mixed: bool  # the update uses probabilities of betas instead of the beta drawn


@njit
def jump_anywhere(delta, u, ladder, mixed):
    """Draw the index of beta given the state, and add to the sums for the update."""
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


@njit
def proposed(k, other, n):
    """Return the probability of a proposal from k to its neighbour ``other``."""
    return 1.0 if k == 0 or k == n - 1 else 0.5


@njit
def jump_to_neighbour(old, delta, side, u, ladder, mixed):
    """Make a Metropolis-Hastings move to a neighbour, and add to the sums for the update."""
    n, sums = ladder.betas.size, ladder.sums
    first, stop = max(old - 1, 0), min(old + 2, n)
    p, parts = ladder.memory
    memory = Memory(p, parts[:1])
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


@njit
def adapt_groups(sweep, deltas, ladder, adapting, draw, run):
    """Draw the beta of every chain from the estimates of its group, then adjust the estimates.

    This adds min(gain, prior) sums / (n_chains prior) to log_z, whose base is then set to 0.
    ``adapting`` holds shifts (K,) of the log-probabilities of betas, gains (n_groups, n_sweeps),
    `Rule` and `Adjusted`.
    """
    shifts, gains, rule, adjusted = adapting
    size, index, sums = deltas.size // len(gains), ladder.index, ladder.sums
    for group in range(len(gains)):
        log_z, gain = adjusted.log_z[group], gains[group, sweep]
        for k in range(log_z.size):  # log-probabilities of betas given Delta = 0
            ladder.offsets[k] = rule.log_prior[k] - log_z[k] + shifts[k]
        for chain in range(group * size, (group + 1) * size):
            key = draw_key(run.seed, run.first_chain + chain, draw)
            delta, u = deltas[chain], uniform(0, key)
            if rule.local:
                side = uniform(1, key)
                new = jump_to_neighbour(index[chain], delta, side, u, ladder, rule.mixed)
            else:
                new = jump_anywhere(delta, u, ladder, rule.mixed)
            index[chain] = new
            adjusted.visits[group, new] += 1
            note_end(chain, new, log_z.size, adjusted.passages, adjusted.last_end)
        for k in range(log_z.size):
            log_z[k] += min(gain / rule.prior[k], 1.0) * sums[k] / size
            sums[k] = 0.0
        base = log_z[0]
        for k in range(log_z.size):
            log_z[k] -= base
