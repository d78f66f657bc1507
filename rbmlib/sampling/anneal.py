"""Annealing and sweeps: the loops. What stands here is the definition.

Where a path has compiled loops (`compiled`), they are asked for in the first line: they do the same,
to the rounding of fixed-point weights, and give the same bits on every processor.
Random numbers are a `ChainStream`'s: one stream a chain.
"""

from typing import NamedTuple

import numpy as np

from ..context import steps
from ..numerics import ChainStream, logmeanexp
from .compiled import compiled


def anneal(path, v, betas, stream, looks=(), look=None):
    """Annealed importance sampling along ``betas`` (Neal 2001), rising or falling.

    States drawn from p_betas[0] leave with weights that are proper for p_betas[-1]. After the
    steps ``looks`` (indices of betas) ``look(k, v, log_weights)`` is called.
    """
    if loops := compiled(path, corrected=True):
        return loops.anneal(v, betas, stream, looks, look)
    log_weights = np.zeros(len(v))
    for k in steps(range(1, len(betas)), "annealing"):
        before, after = path.log_density(v, betas[k - 1 : k + 1]).T
        log_weights += after - before
        v = path.transition(v, betas[k], stream)
        if k in looks:
            look(k, v, log_weights)
    return v, log_weights


def sweep(path, v, beta, n_sweeps, stream):
    """``n_sweeps`` transitions at ``beta``: a number, or one a chain."""
    if loops := compiled(path):
        return loops.sweep(v, beta, n_sweeps, stream)
    for _ in steps(range(n_sweeps), "sweeps"):
        v = path.transition(v, beta, stream)
    return v


class Pilot(NamedTuple):
    """A short annealing run: log Z at the betas, chains at both ends of the ladder."""

    log_z: np.ndarray
    bottom: np.ndarray
    top: np.ndarray
    log_weights: np.ndarray  # (K, n_chains) of every chain at every beta


def pilot(path, betas, n_chains, n_steps, rng):
    """Anneal chains through the betas in about ``n_steps`` steps."""
    each = -(-n_steps // (betas.size - 1))
    fine = np.interp(np.arange(each * (betas.size - 1) + 1) / each, np.arange(betas.size), betas)
    fine[::each] = betas
    stream, along = ChainStream(rng, n_chains), np.zeros((betas.size, n_chains))

    def look(k, _, log_weights):
        along[k // each] = log_weights

    bottom = path.sample_base(n_chains, stream)
    top, _ = anneal(path, bottom, fine, stream, range(each, fine.size, each), look)
    return Pilot(path.log_z_base + logmeanexp(along, axis=1), bottom, top, along)


def both_ends(path, betas, n_chains, n_steps, rng):
    """A pilot's log Z; every second chain at beta = 1 with an annealed state, the others at 0."""
    first, odd = pilot(path, betas, max(n_chains, 10), n_steps, rng), np.arange(n_chains) % 2 == 1
    start = np.where(odd[:, None], first.top[:n_chains], first.bottom[:n_chains])
    return first, start, np.where(odd, betas.size - 1, 0)
