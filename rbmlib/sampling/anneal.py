"""Loops of annealing and of sweeps, which are the definition.

If a path has compiled loops (`compiled`), these run instead. They agree up to the rounding of
fixed-point weights, and give the same bits on every processor. Random numbers come from a
`ChainStream`, which has one stream for each chain.
"""

from typing import NamedTuple

import numpy as np

from .. import checks
from ..context import steps
from ..numerics import ChainStream, logmeanexp
from ..paths.path import Path
from ..schedules import linear
from .compiled import compiled
from .sample import bytes_of_chain


def anneal(path, v, betas, stream, looks=(), look=None, of_states=True):
    """Run annealed importance sampling along ``betas`` (Neal 2001), which rise or fall.

    If states are drawn from p_betas[0], the final states are properly weighted for p_betas[-1].
    ``look(k, v, log_weights)`` is called after the steps ``looks`` (indices of betas). If
    ``of_states`` is False, a compiled loop does not stop, and calls it at the end with v = None.
    """
    if loops := compiled(path, corrected=True):
        return loops.anneal(v, betas, stream, looks, look, of_states)
    log_weights = np.zeros(len(v))
    for k in steps(range(1, len(betas)), "annealing"):
        before, after = path.log_density(v, betas[k - 1 : k + 1]).T
        log_weights += after - before
        v = path.transition(v, betas[k], stream)
        if k in looks:
            look(k, v, log_weights)
    return v, log_weights


def annealed(path, n_chains: int, n_steps: int, rng):
    """Return the last states of chains annealed in equal steps, and their log-weights."""
    stream = ChainStream(rng, n_chains)
    states, gains = anneal(path, path.sample_base(n_chains, stream), linear(n_steps), stream)
    return states, gains + path.log_z_base


def sweep(path, v, beta, n_sweeps, stream):
    """Run ``n_sweeps`` transitions at ``beta``, one number or one for each chain."""
    if loops := compiled(path):
        return loops.sweep(v, beta, n_sweeps, stream)
    for _ in steps(range(n_sweeps), "sweeps"):
        v = path.transition(v, beta, stream)
    return v


class Pilot(NamedTuple):
    """A short annealing run that provides the start of simulated tempering."""

    log_z_path: np.ndarray  # (K,): estimates of log Z at the betas
    bottom: np.ndarray  # (n_chains, n): draws of the base
    top: np.ndarray  # (n_chains, n): annealed to beta = 1, not weighted
    log_weights: np.ndarray  # (n_chains,): of the annealed states, log Z of the base included
    log_weights_path: np.ndarray  # (K, n_chains): at every beta, base not included


def pilot(path: Path, betas, n_chains: int = 100, n_steps: int = 1000, rng=None) -> Pilot:
    """Anneal ``n_chains`` through the betas in about ``n_steps`` steps (a few tenths of a second).

    Its estimates of log Z at every beta, by annealed importance sampling, are good enough for
    tempered chains to move along the ladder; equal estimates are not.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.load_rbm("pcd_10"))
    >>> rl.pilot(path, rl.schedules.linear(9), rng=0).log_z_path.shape
    (10,)
    """
    checks.instance("path", path, Path, checks.PATH_MEANING)
    betas = checks.ladder(betas)
    n_chains, n_steps = checks.count("n_chains", n_chains, 2), checks.count("n_steps", n_steps)
    checks.in_memory("n_chains", n_chains, bytes_of_chain(path) + 8 * betas.size)
    each = -(-n_steps // (betas.size - 1))  # steps from one beta to the next
    fine = np.interp(np.arange(each * (betas.size - 1) + 1) / each, np.arange(betas.size), betas)
    fine[::each] = betas
    stream, along = ChainStream(rng, n_chains), np.zeros((betas.size, n_chains))

    def look(k, _, log_weights):
        along[k // each] = log_weights

    bottom = path.sample_base(n_chains, stream)
    looks = range(each, fine.size, each)
    top, log_weights = anneal(path, bottom, fine, stream, looks, look, of_states=False)
    log_z_path = path.log_z_base + logmeanexp(along, axis=1)
    return Pilot(log_z_path, bottom, top, log_weights + path.log_z_base, along)


def both_ends(path, betas, n_chains: int, n_steps: int, rng):
    """Return log Z of a pilot, states and indices; odd chains start at beta = 1, others at 0."""
    first, odd = pilot(path, betas, max(n_chains, 10), n_steps, rng), np.arange(n_chains) % 2 == 1
    start = np.where(odd[:, None], first.top[:n_chains], first.bottom[:n_chains])
    return first.log_z_path, start, np.where(odd, betas.size - 1, 0)
