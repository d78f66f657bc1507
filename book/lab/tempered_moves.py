"""Moves of tempered chains of real numbers: acceptance, round trips, and what they leave as is."""

from __future__ import annotations

import numpy as np
from scipy import stats

import rbmlib as rl

BINS = 50


def acceptance(path: rl.DensityPath, betas, n: int, n_moves: int, seed: int) -> np.ndarray:
    """Mean acceptance of chains annealed to each beta, by chain and beta: (n, K)."""
    stream = np.random.default_rng(seed)
    own = np.tile(betas, n)
    x = path.sample_base(own.size, stream)
    for beta in betas:
        x = path.transition(x, np.minimum(own, beta), stream)
    found = []
    for _ in range(n_moves):
        step = np.interp(own, path.step_betas, path.step_sizes)
        moved = path.move(x, own, step, stream)
        x = moved.x
        found.append(moved.probability.reshape(n, -1))
    return np.mean(found, axis=0)


def round_trips(path: rl.DensityPath, betas, log_z, n: int, n_moves: int, seed: int) -> np.ndarray:
    """Round trips of each of n chains per 1,000 transitions, after a fifth as many unseen."""
    chains = path, betas, log_z, n
    warm = rl.simulated_tempering(*chains, max(100, n_moves // 5), seed, n_blocks=1)
    run = rl.simulated_tempering(*chains, n_moves, seed + 1, start=warm, n_blocks=1)
    return run.round_trips / n_moves * 1000


def p_of_uniform(mixture, x: np.ndarray) -> float:
    """p-value that the first coordinate follows a mixture of two Gaussians, by its counts.

    Put through its distribution function, the coordinate is uniform if it does.
    """
    u = stats.norm.cdf(x[:, :1], mixture.means[:, 0], np.sqrt(mixture.variance))
    bins = np.minimum(BINS * u.mean(axis=1), BINS - 1).astype(int)
    return float(stats.chisquare(np.bincount(bins, minlength=BINS)).pvalue)
