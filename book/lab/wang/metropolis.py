"""The Metropolis-Hastings sampler of the report, with either of its mistakes, or without.

The target of Wang's report is a Gaussian with correlation 1/2, its proposals are Gaussians of the
two marginals, k times as wide. In standardised coordinates both are known, and so is the density
that a chain has in the long run which drops the ratio of the proposals, or does not repeat the old
state after a rejection, or both: a sum over a grid gives its moments.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from rbmbook.metropolis import Independent, metropolis_hastings, normal_log_density
from rbmlib import datasets

# Name: whether the ratio of the proposals is kept, whether a rejected proposal repeats the state.
SAMPLERS = {
    "correct": (True, True),
    "no ratio": (False, True),
    "no repeat": (True, False),
    "both mistakes": (False, False),
}
TRUTH = 0.5  # correlation of the target
REACH = 6.0  # standard deviations on either side
MEAN = np.array([5.0, 10.0])  # of the report's target
COVARIANCE = np.array([[1.0, 1.0], [1.0, 4.0]])
log_target = normal_log_density(MEAN, COVARIANCE)
DROPPED, PIECE = 500, 50_000  # samples at the start, and of all chains that are held in memory


class Law(NamedTuple):
    """Of the points that a sampler counts, in the long run."""

    correlation: float
    variance: float  # of a coordinate whose variance in the target is 1
    accepted: float  # share of the proposals


@lru_cache(maxsize=128)
def long_run(sampler: str, k: float = 1.0, n: int = 301) -> Law:
    """What a sampler counts in the long run, by quadrature on an ``n`` x ``n`` grid.

    ``k`` is the width of the proposals, in standard deviations of the marginals.

    Examples
    --------
    >>> round(long_run("correct").correlation, 4), round(long_run("no ratio").correlation, 4)
    (0.5, 0.2857)
    """
    ratio, repeat = SAMPLERS[sampler]
    grid = np.linspace(-REACH, REACH, n)
    s, t = (g.ravel() for g in np.meshgrid(grid, grid))

    def log_pi(s, t):  # variances 1, correlation 1/2
        return -2 / 3 * (s**2 - s * t + t**2)

    # Proposals at k times the grid, in the order of their weight w: pi / q, or pi alone.
    q = np.exp(-(s**2 + t**2) / 2)
    log_w = log_pi(k * s, k * t) + ratio * (s**2 + t**2) / 2
    order = np.argsort(log_w)
    log_w, q = log_w[order], q[order] / q.sum()
    lower = np.concatenate([[0], np.cumsum(q * np.exp(log_w - log_w[-1]))])
    upper = np.concatenate([np.cumsum(q[::-1])[::-1], [0]])
    here = log_pi(s, t) + ratio * (s**2 + t**2) / (2 * k**2)
    rank = np.searchsorted(log_w, here)
    leaving = lower[rank] * np.exp(log_w[-1] - here) + upper[rank]  # sum of q min(1, w' / w)

    density = np.exp(log_pi(s, t) - (not ratio) * (s**2 + t**2) / (2 * k**2))
    accepted = (density * leaving).sum() / density.sum()
    density *= 1 if repeat else leaving
    density /= density.sum()
    variance = (density * s**2).sum()
    return Law(float((density * s * t).sum() / variance), float(variance), float(accepted))


def published():
    """The report's table: n_runs, correlation (4.912 is printed for 0.4912), variance."""
    table = pd.read_csv(datasets.committed("published/report_mh_correlation.csv"))
    return table.assign(correlation=table["mean_correlation_as_printed"] / 10)


def proposal(k: float, ratio: bool) -> Independent:
    """Gaussians ``k`` times as wide as the target's marginals, with their ratio or without."""
    found = Independent.normal(MEAN, k**2 * np.diag(np.diag(COVARIANCE)))
    return found if ratio else Independent(found.sample, lambda y: np.zeros(len(y)))


def counted_runs(sampler: str, k: float, n_kept: int, n_runs: int, rng) -> list[np.ndarray]:
    """Points that a sampler counts, ``n_kept`` of each run, in pieces that fit into memory."""
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
