"""Tempering: chains that draw their beta, and those that adjust log Z on the way."""

from typing import NamedTuple

import numpy as np

from .._kernels.adaptive import Adjusted, Rule  # noqa: F401
from ..context import steps
from ..numerics import logsumexp
from .compiled import compiled


class Sums(NamedTuple):
    """Over the sweeps of a block of time, for each chain: q(k | x) times 1, slope, slope^2."""

    mixed: np.ndarray  # (n_chains, 3, K)
    visited: np.ndarray  # (n_chains, 3, K): the same with 1 for the beta drawn, 0 elsewhere
    passages: np.ndarray  # (n_chains,): from one end of the ladder to the other
    last_end: np.ndarray  # (n_chains,): 0 or K - 1; -1 for none


def temper(path, v, index, betas, offsets, n_sweeps, stream, sums, kept, conditional="joint"):
    """Sweeps, each followed by a draw of every chain's beta, ~ p*_k(x) exp(offsets[k]).

    ``index`` (n_chains,) and ``sums`` change in place; ``kept``, two arrays (n_sweeps, n_chains),
    take slopes and indices. Given v and h one slope serves all betas; given v alone, "marginal",
    there is one a beta.
    """
    if conditional == "joint" and (loops := compiled(path)):
        return loops.temper(v, index, betas, offsets, n_sweeps, stream, sums, kept)
    chains = np.arange(len(v))
    for row in steps(range(n_sweeps), "tempering"):
        v, logs, slopes = moved(path, v, betas[index], betas, stream, conditional)
        q = np.exp(logs + offsets - logsumexp(logs + offsets, axis=1)[:, None])
        index[:] = drawn(q, stream.random((len(v), 1)))
        own = slopes[chains, index]
        for power in range(3):
            sums.mixed[:, power] += q * slopes**power
            sums.visited[chains, power, index] += own**power
        note_ends(index, len(betas), sums.passages, sums.last_end)
        kept[0][row], kept[1][row] = own, index
    return v


def moved(path, v, beta, betas, stream, conditional):
    """States after a sweep, their log-densities and slopes at all betas, (n_chains, K)."""
    if conditional == "joint":
        v, delta = path.joint_transition(v, beta, stream)
        return v, delta[:, None] * betas, np.broadcast_to(delta[:, None], (len(v), len(betas)))
    v = path.transition(v, beta, stream)
    return v, path.log_density(v, betas), path.log_density_slope(v, betas)


def drawn(q, u):
    return np.minimum((np.cumsum(q, axis=1) <= u).sum(axis=1), q.shape[1] - 1)


def note_ends(index, n, passages, last_end):
    at_end = (index == 0) | (index == n - 1)
    passages += at_end & (last_end >= 0) & (last_end != index)
    last_end[at_end] = index[at_end]


# self-adjusted ----------------------------------------------------------------------------------


def adapt(path, v, index, betas, gains, prior, log_z, stream, adjusted, conditional="joint"):
    """As `temper`, with log Z (n_groups, K) that each group of chains adjusts after every sweep.

    ``log_z_k += min(gain / prior_k, 1) share_k``, share_k the mean of q(k | x) over the group (Tan
    2017, eq. 12). ``gains`` (n_groups, n_sweeps); ``adjusted`` is changed in place.
    """
    if conditional == "joint" and (loops := compiled(path)):
        return loops.adapt(v, index, betas, gains, prior, stream, adjusted)
    group = np.repeat(np.arange(len(log_z)), len(v) // len(log_z))
    for gain in steps(gains.T, "adapting"):
        v, logs, _ = moved(path, v, betas[index], betas, stream, conditional)
        logits = logs + (np.log(prior) - log_z)[group]
        q = np.exp(logits - logsumexp(logits, axis=1)[:, None])
        index[:] = drawn(q, stream.random((len(v), 2))[:, :1])
        log_z += np.minimum(gain[:, None] / prior, 1) * q.reshape(len(log_z), -1, len(betas)).mean(
            1
        )
        log_z -= log_z[:, :1].copy()
        np.add.at(adjusted.visits, (group, index), 1)
        note_ends(index, len(betas), adjusted.passages, adjusted.last_end)
    return v
