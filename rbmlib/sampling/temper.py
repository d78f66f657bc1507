"""Tempering: chains that draw their beta, and those that adjust log Z on the way.

What stands here is the definition; the first line of each loop asks for the compiled one.
"""

from typing import NamedTuple

import numpy as np

from .._kernels.adaptive import Adjusted, Rule
from .._kernels.tempering import Kept
from ..context import steps
from ..numerics import logsumexp
from .compiled import compiled


class Sums(NamedTuple):
    """Over the sweeps of a block of time, for each chain: q(k | x) times 1, slope, slope^2."""

    mixed: np.ndarray  # (n_chains, 3, K)
    visited: np.ndarray  # (n_chains, 3, K): the same with 1 for the beta drawn, 0 elsewhere
    passages: np.ndarray  # (n_chains,): from one end of the ladder to the other
    last_end: np.ndarray  # (n_chains,): 0 or K - 1; -1 for none


def temper(
    path, v, index, betas, offsets, n_sweeps, stream, sums: Sums, kept: Kept, conditional="joint"
):
    """Sweeps, each followed by a draw of every chain's beta, ~ p*_k(x) exp(offsets[k]).

    ``index`` (n_chains,) and ``sums`` change in place; ``kept`` takes slopes and indices after
    every ``kept.every``-th sweep, ``kept.phase`` having passed since the last. Given v and h one
    slope serves all betas; given v alone, "marginal", there is one a beta.
    """
    if conditional == "joint" and (loops := compiled(path)):
        return loops.temper(v, index, betas, offsets, n_sweeps, stream, sums, kept)
    chains = np.arange(len(v))
    for count in steps(range(kept.phase + 1, kept.phase + n_sweeps + 1), "tempering"):
        v, logs, slopes = moved(path, v, betas[index], betas, stream, conditional)
        q = normalised(logs + offsets)
        index[:] = drawn(q, stream.random((len(v), 1)))
        own = slopes[chains, index]
        for power in range(3):
            sums.mixed[:, power] += q * slopes**power
            sums.visited[chains, power, index] += own**power
        note_ends(index, len(betas), sums.passages, sums.last_end)
        if count % kept.every == 0:
            kept.delta[count // kept.every - 1] = own
            kept.index[count // kept.every - 1] = index
    return v


def moved(path, v, beta, betas, stream, conditional):
    """States after a sweep, their log-densities and slopes at all betas, (n_chains, K)."""
    if conditional == "joint":
        v, delta = path.joint_transition(v, beta, stream)
        return v, delta[:, None] * betas, np.broadcast_to(delta[:, None], (len(v), len(betas)))
    v = path.transition(v, beta, stream)
    return v, path.log_density(v, betas), path.log_density_slope(v, betas)


def normalised(logits):
    return np.exp(logits - logsumexp(logits, axis=1)[:, None])


def drawn(q, u):
    return np.minimum((np.cumsum(q, axis=1) <= u).sum(axis=1), q.shape[1] - 1)


def note_ends(index, n, passages, last_end):
    """Count passages from one end of the ladder to the other."""
    at_end = (index == 0) | (index == n - 1)
    passages += at_end & (last_end >= 0) & (last_end != index)
    last_end[at_end] = index[at_end]


# self-adjusted ------------------------------------------------------------------------------


def adapt(
    path, v, index, betas, gains, rule: Rule, adjusted: Adjusted, stream, conditional="joint"
):
    """As `temper`, with log Z (n_groups, K) that each group of chains adjusts after every sweep.

    ``log_z_k += min(gain / prior_k, 1) share_k``, then less ``log_z_0``: ``share_k`` is the mean
    of q(k | x) over the group, or the share of the betas drawn (Tan 2017, eq. 9, 12). ``gains``
    (n_groups, n_sweeps); ``rule`` says how betas are drawn; ``adjusted`` is changed in place.
    """
    if conditional == "joint" and (loops := compiled(path)):
        return loops.adapt(v, index, betas, gains, rule, adjusted, stream)
    (n_groups, k), log_z = adjusted.log_z.shape, adjusted.log_z
    group = np.repeat(np.arange(n_groups), len(v) // n_groups)
    for gain in steps(gains.T, "adapting"):
        v, logs, _ = moved(path, v, betas[index], betas, stream, conditional)
        logits, uniforms = logs + (rule.log_prior - log_z)[group], stream.random((len(v), 2))
        if rule.local:
            law = neighbour_law(index, logits)
            index[:] = neighbours(law, index, *uniforms.T)
        else:
            law = normalised(logits)
            index[:] = drawn(law, uniforms[:, :1])
        share = (law if rule.mixed else np.eye(k)[index]).reshape(n_groups, -1, k).mean(axis=1)
        log_z += np.minimum(gain[:, None] / rule.prior, 1) * share
        log_z -= log_z[:, :1].copy()
        np.add.at(adjusted.visits, (group, index), 1)
        note_ends(index, k, adjusted.passages, adjusted.last_end)
    return v


def neighbour_law(index, logits):
    """Probabilities of the next index, (n_chains, K), of a proposed and accepted neighbour."""
    n, k = logits.shape
    chains, law, there = np.arange(n), np.zeros((n, k)), proposed(np.arange(k), k)
    for side in (-1, 1):
        other = index + side
        inside = (other >= 0) & (other < k)
        c, j, i = chains[inside], other[inside], index[inside]
        ratio = np.exp(np.minimum(logits[c, j] - logits[c, i], 700))
        law[c, j] = np.minimum(there[i], there[j] * ratio)
    law[chains, index] = 1 - law.sum(axis=1)
    return law


def neighbours(law, index, u, side):
    """Indices drawn from rows of ``law``, with the uniforms as the compiled draws take them."""
    k = law.shape[1]
    up = (index == 0) | ((index < k - 1) & (side < 0.5))
    goal = np.where(up, index + 1, index - 1)
    accepted = u * proposed(index, k) < law[np.arange(index.size), goal]
    return np.where(accepted, goal, index)


def proposed(index, k):
    """Probability with which a neighbour of ``index`` is proposed."""
    return np.where((index == 0) | (index == k - 1), 1.0, 0.5)
