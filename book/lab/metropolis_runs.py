"""Chapter mcmc_basics: runs of the report's experiment, with any of its mistakes, at any width."""

from __future__ import annotations

import numpy as np

from .metropolis import Independent, metropolis_hastings, normal_log_density
from .metropolis_laws import SAMPLERS

MEAN = np.array([5.0, 10.0])  # of the report's target
COVARIANCE = np.array([[1.0, 1.0], [1.0, 4.0]])
log_target = normal_log_density(MEAN, COVARIANCE)
DROPPED, PIECE = 500, 50_000  # samples at the start, and of all chains that are held in memory


def proposal(k: float, ratio: bool) -> Independent:
    """Gaussians ``k`` times as wide as the target's marginals, with their ratio or without."""
    found = Independent.normal(MEAN, k**2 * np.diag(np.diag(COVARIANCE)))
    if ratio:
        return found
    return Independent(found.sample, lambda y: np.zeros(len(y)))


def counted_runs(sampler: str, k: float, n_kept: int, n_runs: int, rng) -> list[np.ndarray]:
    """Points that a sampler counts, ``n_kept`` of each run, in pieces that fit into memory.

    Parameters
    ----------
    sampler : str
        A key of `metropolis_laws.SAMPLERS`.
    k : float
        Width of the proposals, in standard deviations of the marginals.
    n_kept, n_runs : int
        Points of a run, each of shape (2,), and independent runs.
    rng : numpy.random.Generator
    """
    ratio, repeat = SAMPLERS[sampler]
    proposed, start = proposal(k, ratio), np.tile(MEAN, (n_runs, 1))
    x = metropolis_hastings(log_target, proposed, start, DROPPED, rng).states[:, -1]
    parts: list[list[np.ndarray]] = [[] for _ in range(n_runs)]
    while min(sum(map(len, part)) for part in parts) < n_kept:
        chains = metropolis_hastings(log_target, proposed, x, min(n_kept, PIECE), rng)
        x = chains.states[:, -1]
        for part, states, accepted in zip(parts, chains.states, chains.accepted, strict=True):
            part.append(states[accepted | repeat].copy())
    return [np.concatenate(part)[:n_kept] for part in parts]
